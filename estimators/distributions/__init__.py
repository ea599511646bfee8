"""Distributions from counts: likelihoods on a grid of inputs, smoothing, mixture reduction, and how far two are apart.

`estimation` is the door, for users, plans and protocols, and `distribution` what it returns. A new method is a file
that turns a likelihood into weights and a branch in `estimation`; a new distance is a function in `metrics`, which
plans use, and whoever knows the truth.
"""
