"""Several attributes of a user, at one service or several: from rows of bundles to counts of one attribute at a time.

Only `count` comes in, with services whose mechanism is `AttributeSampling`. What goes out, `AttributeCounts`, holds the
`ReportCounts` of each attribute, so that estimators know nothing of bundles. A new rule for rows is one in `rows`.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
