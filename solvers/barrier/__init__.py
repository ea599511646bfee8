"""The unbiased optimum by a barrier over the output line: thousands of knots in a second.

`barrier_method` is the door: from knots, weights and a ratio to a floor and multipliers. `problem` says what is
maximised, `column_value` has F and its integrals, `dense_newton` and `sparse_newton` the steps, `path` the way,
`grids` the way from few knots to many, `primal` the floor of a point. Nothing here knows of programs, tables or
certificates; those who come in, `unbiased` alone so far, recompute all of them. A new way to solve a step is a class
like the two there are.
"""
