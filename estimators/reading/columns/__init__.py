"""Columns of files: numbers, texts and keyed reports out of CSV, Parquet and frames, with clear words for bad rows.

It knows files and rows, not mechanisms, and every room of estimators and commands may come in. A new file format is a
branch in `files`; a new kind of cell is a file that says what is none and why.
"""

from ....mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
