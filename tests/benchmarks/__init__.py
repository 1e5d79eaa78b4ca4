"""How fast and how large it is, measured beside the aims; `python -m tests.benchmarks`. Asserts nothing."""
