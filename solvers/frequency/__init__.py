"""Which sets of categories the reports of a frequency oracle support, so that frequencies are known best.

`optimum` is the door and `relaxation` proves a bound over all 2^K sets, for the objective `Frequencies` and for
`information`. A new structure of weights is one more kind of program in `program`.
"""
