"""The other way round: which budget for an error, which error for a budget, which mechanism for a case.

It asks designs and simulates estimators, `advice` by the bootstrap. A new question is a file with a search over
`search`.
"""
