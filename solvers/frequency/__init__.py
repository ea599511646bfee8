"""Which sets of categories the reports of a frequency oracle support, so that frequencies are known best.

`optimal_sets` is the door, for the objective `Frequencies` and for `information`: `generation` weighs sets as they
price out, `growth` exchanges more of them than can be weighed, and `relaxation` or, where few weights differ,
`classes` proves a bound over all 2^K. `workload` asks for queries instead: where these are few, `few_queries` finds
points that reports are read as, and `few_bound` prices all sets at once. A new structure of weights is one more kind
of program in `frequency_program`.
"""
