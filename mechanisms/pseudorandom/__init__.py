"""Reports that are a function of a secret, the user and the value: drawn again, a report is the same one.

For whoever holds the values and draws where tasks are repeated. `secret` guards the secret, `words` makes random words
of it, `reports` draws by them; the mechanisms never learn where their words come from. A new kind of mechanism is a
branch in `reports` that says what it draws for one user.
"""

from ..lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
