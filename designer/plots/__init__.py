"""Figures: each takes a result, and axes if it is to draw on them, and returns the axes; none needs colour.

Functions are named after what they show, files after how they show it: importing a file of the function's name would
put it in the function's place. `style`, `scales` and `labels` are shared. Results of every room below may come in, and
so none of them draws itself: pages and commands ask. A new figure is a file here, a line in `__init__.pyi` and one in
`tests/designer/plots/test_given_axes.py`, which tries every figure, with a test that looks at its labels.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
