"""The benchmarks as lighteval tasks, and the launcher that runs them with our truncation, log and intervals."""
