"""Mechanisms for sets of pairs of a key and a number: what a report shows of each key, and which of them is best.

`mechanism` is the door, for users, files, the ledger and estimators; responses, encodings and fakes are its parts. A
new way of showing pairs is a file beside `unary`, with its text form in `report_text`.
"""

from ..lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
