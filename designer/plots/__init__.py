"""Figures: each takes a result, and axes if it is to draw on them, and returns the axes; none needs colour.

Functions are named after what they show, files after how they show it: importing a file of the function's name would
put it in the function's place. `scales` and `labels` are shared, the look and the figures of estimates stand in
`estimators/plots`. They ask of results what `drawn` says, so they stand below them, and a result's `plot` calls its
figure. A new one is a file here, a line in `__init__.pyi` and one in `tests/designer/plots/test_given_axes.py`, which
tries every figure, with a test that looks at its labels.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
