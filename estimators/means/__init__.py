"""Means from counts: unbiased decoders of one table or several, weights of services and users, winsorising.

`mean` and `combined` are the doors, for users, plans and commands; rooms above take the decoders. A new estimator of
the mean is a file that gives each report a number, the standard error follows from the counts; its name is a line in
`estimators.methods`.
"""
