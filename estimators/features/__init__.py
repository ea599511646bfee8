"""From reports of features to what hangs together: correlations, covariances and slopes, with intervals that hold.

Each target is a file, and an entry of `estimate`; all start from the means of the features.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
