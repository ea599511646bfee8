"""Exact tables as short as they are: a floor common to all rows, and for each knot where the window above it starts.

An optimal unbiased table says n times m numbers and is made of 2 m + n. `windows` has the whole numbers, the law and
the draw; `form` the mechanism that clients load; `making` brings a table, or what a solver found, to this form.
Whoever needs the matrix asks `expand`, which gives the same law, word for word of randomness; the rules and their
proof are in docs/floor-form.md.
"""

from ..lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
