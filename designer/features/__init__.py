"""Mechanisms of one feature a user, for what hangs together between columns: correlation, covariance, regression.

With a pilot, records of a survey, the feature is the target's influence function; without one it is a list of moments.
A new target is a file here that makes `FeaturesDesign`, and an entry of `registry`.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
