"""Figures: each takes a result, and axes if it is to draw on them, and returns the axes; none needs colour.

They ask of results only what `drawn` says; a result's `plot`, the report and commands come in by the names of
`__init__.pyi`. A new one is a file named after how it shows (its function's own name would hide the function), a line
there and one in `tests/designer/plots/test_given_axes.py`, with a test that looks at its labels.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
