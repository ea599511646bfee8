"""The table itself on given outputs, for any privacy that is a cone and any loss, with its certificate.

`program` has the program, what any table is worth and the bound that any multipliers prove; `optimum` is the door, and
hands the rows to HiGHS. Another loss is another matrix; another way to solve is another file beside `optimum`, whose
answers are judged by `program` alone.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
