"""The forms in which people keep columns: encodings, separators, compression, marks of decimals, dates and times.

What is not the plain case (comma separated UTF-8, decimal points) is recognised here, or refused where two readings
would give two numbers. It knows bytes, cells and SQL, not rows or columns by name: `columns`, above it, does. A new
form of a file is a branch in `plain_file`; a new kind of cell is one in `notation`.
"""

from ....mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
