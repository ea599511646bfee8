"""Means and shares of keys out of reports on sets of pairs.

`published` is the estimator of the papers, `fit` maximum likelihood; both take `counts`, and `poisoning` and commands
read what they return. A new one is a file beside them.
"""
