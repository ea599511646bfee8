"""Histories that change at most so often: how far rows reach over them, the best rows to report, and lower bounds.

Who plans collections over time comes in. Nothing here knows of reports: numbers come in as variances and budgets.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
