"""Reports where they lie: queries that count them, cells to join by, and counting in frames that are not read yet.

All that an engine has to do is to count equal rows; what the answer means, `counting` knows. `query` writes the one
query, which the command line prints; `collect_lazily` asks the same of a frame that Narwhals wraps, and
`perturb_partition` is what a task of a cluster calls to draw reports. A new dialect is a name in `DIALECTS` for
sqlglot, a new engine the name of its class in `LAZY` for Narwhals: neither has a class here.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
