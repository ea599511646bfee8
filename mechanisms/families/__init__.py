"""Closed forms as tables: Laplace, Duchi, piecewise, hybrid, three outputs, PTT, square wave, randomised response.

Each file tabulates one family by exact integration and cites its paper; `registry.FAMILIES` lists them for everybody
above. A new family is a file with a function of knots and epsilon that returns a table, and a line in the registry.
"""
