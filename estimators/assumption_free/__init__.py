"""Intervals that assume nothing of a distribution: what every distribution says that explains the reports.

`bounds` says numbers by the ends of linear ones, which `affine_pairs` has, `linear_numbers` has the estimates whose
intervals are these, `points` where mass may lie.
"""
