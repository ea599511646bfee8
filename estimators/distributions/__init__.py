"""Distributions from counts: likelihoods on a grid of inputs, smoothing, mixture reduction, and how far two are apart.

`estimation` is the door, `distribution` what it returns. A new method is a file that turns a likelihood into weights
and a branch in `estimation`; metrics have a file of their own.
"""
