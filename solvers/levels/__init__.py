"""Several levels of privacy on the same outputs, of which a report tells little: one program for all of them.

`optimum` is the door, `program` has the program and the bound that multipliers prove, `blocks` the algebra that makes
a step cheap. Another tie between levels is a pair of rows in `program` and in `blocks`.
"""
