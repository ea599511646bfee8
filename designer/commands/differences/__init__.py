"""`estimate` for decisions: `versus` for differences, `grouped` for groups and weights, `refused` for what fits none.

What is computed lives in `optldp.estimators.differences`. Lists of frequencies are ranked by `handlers.categories`, as
they are for every estimate of categories.
"""
