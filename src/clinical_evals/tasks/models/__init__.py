"""Models that answer: transformers, vLLM, an endpoint; behind one interface (`generation`)."""
