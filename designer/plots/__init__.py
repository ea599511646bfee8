"""Figures: each takes a result and returns a matplotlib figure that can be read without colour.

`style`, `scales` and `labels` are shared, results of every room may come in, and only pages and commands ask. A new
figure is a file here with a test that looks at its labels.
"""
