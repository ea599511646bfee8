"""Whether counts can be of the mechanism that they are read with: what of each kind says so, and the test of it.

`law_test` knows a matrix of probabilities and counts, and no mechanism; `parts` is the one place that says what of
which kind can be tested; `fit` is the door. Commands come in by it, after an estimate. A new kind of counts is a branch
of `parts`.
"""
