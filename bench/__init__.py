"""Benchmarks: speed as ratios within one run, growth with the input, peak memory. Never timed tests."""
