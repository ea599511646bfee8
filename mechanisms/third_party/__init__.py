"""Mechanisms whose reports others drew: the law that they say they used, as an exact one, with a mark that stays.

`adopt` makes the law, `Written` reads reports as the other package wrote them, `SeededHashing` is local hashing by the
hash that those packages use. Another package's mechanism is a name in `LAWS`, another way of writing reports one in
`WRITTEN`. Whether the reports were really drawn by the law nobody can prove from here, and everything says so.
"""

from ..lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
