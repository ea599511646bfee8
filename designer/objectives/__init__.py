"""What can be wanted of a mechanism: each objective judges any table, solves for the best one and proves a bound.

`base` has the contract and what a problem is; solvers are known in this room and in `methods`, and in none above. A new
objective is a file with a frozen dataclass of `Objective`, and an entry of `registry`, by which commands know it.
"""
