"""Benchmarks: what an answer costs, beside the least that the same stack could take."""
