"""Intervals that assume nothing of a distribution: what every distribution says that explains the reports.

`explained` holds what the reports say of weights at points, `numbers` the estimates whose intervals are of it. Who
comes in has a likelihood and estimated weights; `distributions` does.
"""
