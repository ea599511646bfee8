"""The unbiased ratio program, solved twice: with outputs free on the line, and with outputs given.

`optimum` is the door to the first, `fixed_outputs` and `ratio_program` to the second; `pricing` turns any multipliers
into a lower bound. A new way of solving is a file that returns a table and multipliers, priced like those of the
others.
"""
