"""Noise of one shape for every value, with promises that are not pure: Gaussian, and geometric noise on counts.

Each file tabulates one kind by exact integration or summation and says what the table promises; `registry.ADDITIVE`
lists them for everybody above. New noise is a file with a function of knots and a promise that returns a table, and a
line in the registry. Pure closed forms are in `families`.
"""
