"""What users have spent, on disk: sealed records in SQLite, so that a repeated question gets the same report again.

`ledger` is the door, for whoever answers for users; no other room comes in. `book` holds tables and seals, `file` the
database and its dangers. A new kind of mechanism can be booked once `kinds` says how its values and reports are
written down. `periods` is the state of a way over time, which needs no key.
"""

from ..lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
