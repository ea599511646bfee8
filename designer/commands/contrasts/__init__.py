"""`estimate` for decisions: `versus` for differences, `grouped` for groups and weights, `refused` for what fits none.

What is computed lives in `optldp.estimators.contrasts`. Lists of frequencies are ranked by `kinds.categories`, as they
are for every estimate of categories.
"""
