"""Many designs at once: methods against budgets, bounds with each criterion, saved row by row so that nothing is lost.

`compare`, `sweep` and `bounds` are the doors; results are rows that plots and reports read. A new criterion is a
class in `criteria`.
"""
