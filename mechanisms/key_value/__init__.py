"""Mechanisms for sets of pairs of a key and a number: what a report shows of each key, and which of them is best.

`mechanism` is the door; responses, encodings and fakes are its parts. A new way of showing pairs is a file beside
`unary`, with its text form in `report_text`.
"""
