"""Budgets that users chose themselves: one estimate from reports at several levels.

`counts` keeps levels apart; `mle`, `auem` and `numbers` estimate from them, and `count` and commands come in there. A
new estimator is a file that weighs the levels' counts.
"""
