"""Objectives that are questions about the distribution: a share, its function, a quantile, linear queries.

`question` has what shares and the distribution function share: numbers of the distribution, people, and the length of
an interval that assumes nothing (the solver is `solvers/lengths`). `quantile` and `workload` ask for variances. A new
question is a file with its numbers, and an entry of `registry`.
"""
