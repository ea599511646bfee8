"""What a collector learns who receives reports mixed and without names: bounds from above and from below.

`Shuffled` is the door; commands and plans come in. `upper` and `lower` have the mathematics, on probabilities alone,
`binomials` sums whose rounding is bounded, `rows` and `distinguishers` what they take from a mechanism. A mechanism
whose exact law is not a table is registered with `rows.numerators_of` if it has one.
"""

from ..lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
