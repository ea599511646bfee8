"""Ways of collecting from the same people over time: what they send in a year, and what of a whole life is promised.

A way is a `Bundle` made of a mechanism for one report and of a public rule for who reports when; it never looks at
values to decide whether a user reports. Files, the state that a device keeps, and estimators come in. A new way is a
file beside `panel`, with the same members that `Way` names.
"""

from ..lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
