"""Mechanisms for categories: tables, unary encodings, local hashing, and the choice of the best one.

All are a `CategoricalMechanism`, whose pure protocol is what estimators use. A new one is a file with a class of that
kind, a line in `oracle_choice`, and a case for the test that enumerates samplers.
"""
