"""Many designs at once: methods against budgets, bounds with each objective, saved row by row so that nothing is lost.

`compare`, `sweep` and `bounds` are the doors; results are rows that plots and reports read. What can be compared is
added in `objectives` and `methods`; a new comparison is a file that makes rows of designs.
"""
