"""What is known beforehand: a prior over a line or categories, the ways in which it may be wrong, rounding to knots.

Everything above comes in, it knows only tables below. A new ambiguity is a class in `ambiguity` with its set of
priors; a new space of values is a file beside `categorical`; `trust` measures by how much a prior was wrong.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
