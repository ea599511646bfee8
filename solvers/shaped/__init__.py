"""Mechanisms with a floor of few pieces: lengths and heights found by search from many starts, certified by rows.

`search` is the door, for the method `Pieces`; `floor` is the program at given lengths, `starts` where to begin. A new
shape is a function of its lengths with its gradient.
"""
