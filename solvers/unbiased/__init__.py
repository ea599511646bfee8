"""The unbiased ratio program, solved twice: with outputs free on the line, and with outputs given.

`optimal_mechanism` is the door to the first, `fixed_outputs` and `ratio_program` to the second, and `pricing` turns any
multipliers into a lower bound: for the objectives of variance, and for `robust` and `levels`. A new way of solving is
a file that returns a table and multipliers, priced like those of the others.
"""
