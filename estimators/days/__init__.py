"""Counts that add up over time: a row for each table, day and report, read again and again from growing answers.

`counts` reads files of them and takes of each table's day the fullest answer, so that neither the order of answers nor
their number matters; `collected` makes them here, of one batch of reports after another; `drift` tests whether days
differ. Engines make them by the query of `engines.daily`.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
