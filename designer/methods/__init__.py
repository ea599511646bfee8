"""Other ways to a mechanism than an objective's own optimum: closed forms, AAA's lattice, a floor of few pieces.

What they build is judged by the objective beside its certified optimum, in `designs`; comparisons and commands come in
for names. A new method is a file with a frozen dataclass of `Method`; if it is to have a name, a line in `registry`.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
