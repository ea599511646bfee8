"""Losses of a single report: by name, by a function, a matrix or an expression."""
