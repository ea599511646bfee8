"""Collections over time: the problem, and what each way of collecting would cost, so that the best is computed.

Who plans and the command line come in. A new way is a file with its errors and an entry of `_ways` in `plan`.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
