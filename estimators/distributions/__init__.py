"""Distributions from counts: likelihoods on a grid of inputs, smoothing, mixture reduction, and how far two are apart.

`estimation` is the door, for users, plans and protocols, and `distribution` what it returns. A new way is a file
with a `Way` and an entry of `DISTRIBUTIONS` in `estimators/methods.py`; a new distance is a function in `metrics`,
which plans use, and whoever knows the truth.
Linear queries, which need no grid, are answered by `queries`.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
