"""The verb: `design` turns a prior, a budget and an objective into a mechanism with its certificate.

`judging` solves once and judges every mechanism beside the solution; comparisons and plans come in there. What is new
is seldom new here, but an objective, a method, or a kind of values, which is a file beside `attributes` and a branch in
`design`; or a curve through several designs, such as `trade_off` and `clips`.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
