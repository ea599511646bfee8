"""What is known beforehand: a prior over a line or categories, the ways in which it may be wrong, rounding to knots.

Everything above comes in, it knows only tables below. A new ambiguity is a class in `ambiguity` with its set of
priors; a new space of values is a file beside `categorical`.
"""
