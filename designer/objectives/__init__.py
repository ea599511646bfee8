"""What can be wanted of a mechanism: each objective judges any table, solves for the best one and proves a bound.

`base` has the contract and what a problem is; solvers are known in this room and in `methods`, and in none above. A new
objective is a file with a frozen dataclass of `Objective`, and an entry of `registry`, by which commands know it.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
