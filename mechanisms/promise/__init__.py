"""What a mechanism promises of any two values: pure privacy, all but a delta of it, or a log-ratio for each pair.

Promises are plain data, and know no table: `promise` has the contract, `pairs` that of those that say a log-ratio for
each pair of knots, `document` what a file says of them. Whoever promises, proves or shows comes in. A new kind is a
file beside `ratios` and an entry of `registry.PRIVACIES`.
"""

from ..lazy_names import lazy_names

__getattr__, __dir__, _ = lazy_names(__name__, __file__)
__all__ = ["Blocks", "ByValue", "Ratios", "Sensitive"]  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has them
"""Public names that no layer has: of the others users take `Approximate`, `Metric` and `Pure` from theirs."""
