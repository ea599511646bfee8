"""Budgets that users chose themselves: one estimate from reports at several levels.

`counts` keeps levels apart, and holds reports as `reports` says for the space of their values; `mle`, `auem` and
`numbers` estimate from them, `attributes` does so for each of several attributes, and `count` and commands come in
there. A new estimator is a file that weighs the levels' counts.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
