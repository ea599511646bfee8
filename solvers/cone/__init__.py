"""What privacy allows a column of a table to be: a cone, given by how far logarithms of two entries may be apart.

`cone` has the one class, `privacies` a function for each kind of privacy, `closure` and `tree` what cones are made of;
`oracle` finds the cheapest column of a cone and `flow` proves a price from multipliers alone. Whoever writes programs
over tables comes in here. Another privacy is another function there.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
