"""Several levels of privacy on the same outputs, of which a report tells little: one program for all of them.

`optimal_levels` is the door for outputs that are given, `outputs` the one for outputs of its own choice;
`levels_program` has the program and the bound that multipliers prove, `blocks` the algebra that makes a step cheap.
Another tie between levels is a pair of rows in `levels_program` and in `blocks`.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
