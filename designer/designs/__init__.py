"""The verb: `design` turns a prior, a budget and an objective into a mechanism with its certificate.

`judging` solves once and judges every mechanism beside the solution; comparisons and plans come in there. What is new
is seldom new here, but an objective, a method, or a kind of values, which is a file beside `attributes` and a branch in
`design`.
"""
