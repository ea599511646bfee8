"""From a prior and a budget to a table, with the evidence: one file for each program that is asked.

Solvers are known here and in no room above. A new objective is a file that calls its solver, makes its table and
recomputes its certificate.
"""
