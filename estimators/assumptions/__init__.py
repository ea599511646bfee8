"""What may be assumed of a distribution, declared and never guessed: convex classes, each a small object.

`base` has the contract and intersections, `near_prior` what lies near a prior, `shapes` what has one peak or falls.
`needed` measures how many people must be exempt. Who comes in declares one; a new assumption is a class beside these.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
