"""The table itself on given outputs, for any privacy that is a cone and any loss, with its certificate.

`channel_program` has the program, what any table is worth and the bound that any multipliers prove; `optimal_table`
is the door. Where the cone is a tree it goes to an interior point: variables are the nodes of every column
(`tree_program`), a Newton step (`newton`) eliminates them from the leaves (`elimination`), what couples the outputs
is a sum of inverses over them (`covariance`), `interior_point` has the loop, and `thinning` leaves out outputs that
are hardly reported. Large cones of any other form go the same way with a matrix for each output (`graph_program`).
Elsewhere, and where that fails, rows go to HiGHS (`highs`). `repair` makes any solver's table right. Another loss is
another matrix; another way to solve is another file, whose answers are judged by `channel_program` alone.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
