"""The other way round: which budget for an error, which error for a budget, which mechanism for a case.

It asks designs and simulates estimators, `advice` by the bootstrap; `theorems` has what papers prove beforehand, in the
form that holds. A new question is a file with a search over `search`, its name a line in `__init__.pyi` where the
designer's own face has no room for it.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
