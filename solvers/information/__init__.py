"""The tables whose reports tell most of the value, over patterns of interval supports, with bounds over all patterns.

`tiling`, `optimal_patterns` and `fisher` are the doors, for mutual information and for the trace of the inverse Fisher
information; the objective `Information` comes in. A new measure of information is a file with its gradient per
pattern, priced by `masses`.
"""
