"""Mechanisms made of others: one for each level of privacy that users choose, and one for each of several attributes.

They hold tables, or mechanisms for categories or pairs, spend one budget, and are written as one document; files,
estimators and designs come in. A new composition is a `Bundle` here that says what its parts cost together.
"""

from ..lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
