"""Frequencies of categories: support counts, unbiased decoders, consistency, maximum likelihood.

`estimation` is the door. A new way of making frequencies consistent is a function in `consistency`; a new kind of
reports is counted in `category_counts`.
"""
