"""What a table may claim: `verify` judges, `prove` proves by integers, `make_exact` makes a table that can be proved.

It asks no table how it was made, and whoever hands out, writes or loads a table comes in. A new condition goes into
`verification` for tables in doubles and into `proof` for exact ones, with a table that breaks it alone as its test.
"""

from ..lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
