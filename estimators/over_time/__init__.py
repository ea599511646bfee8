"""Series of means over periods that different users reported in: each, their average, their changes, and smoothed.

Whoever has an estimate of each period comes in, of whatever mechanism.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
