"""Frequencies of categories: support counts, unbiased decoders, consistency, maximum likelihood.

`estimation` is the door, for users, plans and rooms above. A new way of making frequencies consistent is a function in
`consistency`; a new kind of reports is counted in `category_counts`.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
