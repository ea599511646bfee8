"""Features: one number that a device computes of several columns of its record, and a mechanism that reports it.

A formula is data, never code: a client has the few that stand in `formulas`. A new one is a class there, with its name.
"""

from ..lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
