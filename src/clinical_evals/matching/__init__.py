"""From answers to codes: items of an answer, official titles, embeddings, and the scorer over them."""
