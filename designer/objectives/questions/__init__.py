"""Objectives that are questions about the distribution: how short an honest interval of the answer can be.

`question` has what they share: numbers of the distribution, people, and the interval with nothing assumed (the solver
is `solvers/lengths`). A new question is a file with its numbers, and an entry of `registry`.
"""
