"""Means that are biased where that pays: what each report counts as is chosen for these users and a trusted prior.

`mean` is the door for one table or several services, `attributes` for several attributes; `decoders` hands the reports
to `solvers.biased` and says what comes back in the data's units, `designed` reads what a table was designed for.
Nothing that a file claims is believed: errors and bias bounds are computed from its probabilities, the prior and the
trust.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
