"""What users hold: numbers of an interval, labels, sets of pairs, columns of several of these.

A space checks values, says what of them a mechanism draws a report of, and tells equal values from others; whoever asks
a user for a value asks the mechanism's `inputs`, and nobody else parses values. A new kind of value is a `Space` here.
"""
