"""Frequencies of categories: support counts, unbiased decoders, consistency, maximum likelihood.

`estimation` is the door, for users, plans and rooms above. A new way to frequencies is a file beside `empirical_bayes`
and an entry of `FREQUENCIES` in `estimators/methods.py`; a new kind of reports is counted in `category_counts`.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
