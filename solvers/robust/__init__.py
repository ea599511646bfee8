"""The largest expected variance over a set of priors, least: minimax, trade-offs, and balls around a prior.

`saddle_point` and `minimax` are the doors, `sets` the priors that may be; pricing comes from the room of the unbiased
program. `line_path` and its neighbours are the barrier over the output line with weights that move. A new set of
priors is a class in `sets`, with its support function and a test against cvxpy.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
