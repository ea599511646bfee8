"""Mechanisms for categories: tables, unary encodings, subsets, hashing, projective geometry, and which is best.

All are a `CategoricalMechanism`, whose law or pure protocol is all that estimators, files and compositions use. A new
one is a file with a class of that kind, a place in `bundle_kinds` of `files/bundle.py` and a name in
`designer/methods/oracles.py`, with a case for the test that enumerates samplers.
"""

from ..lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
