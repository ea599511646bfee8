"""Tables that may be biased where that pays: the least error of a mean of n users under any prior of a set.

`least_error` is the door to the best table, `decoder` to the best numbers for the reports of a given one, or of
several (`reports`, `summed`); `error_program` judges any table and turns any multipliers into a bound.  `adversary`
has the priors that are worst for variance and bias, and their equations, which all programs of this kind share;
pricing and the path's steps are those of the unbiased program.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
