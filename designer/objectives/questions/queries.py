"""What is asked of a distribution: workloads of linear queries by their names, or numbers in a file."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ....mechanisms.errors import InputError

MOST_RANGES = 256
"""Values of which all ranges are asked at most: 32 896 queries."""


def _ranges(places: np.ndarray) -> np.ndarray:
    n = places.size
    if n > MOST_RANGES:
        raise InputError(f"all ranges are asked of at most {MOST_RANGES} values, got {n}: use fewer knots, or prefix")
    first, last = np.triu_indices(n)
    values = np.arange(n)
    return ((first[:, None] <= values) & (values <= last[:, None])).astype(float)


QUERIES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "prefix": lambda places: np.tri(places.size),
    "ranges": _ranges,
    "moments": lambda places: np.vstack([places, places**2]),
}
"""By name, of the places (n,) of values on their domain as [-1, 1]."""

OF_LABELS = ("prefix", "ranges")
"""Names of those that need an order, and no distance."""

SAYS = "prefix (shares up to each value), ranges (of all ranges), moments (mean and mean square on [-1, 1]), or a FILE"
"""Of the names, for help."""


def queries_of(asked: str | ArrayLike, places: np.ndarray, *, labels: bool = False) -> np.ndarray:
    """Return what is asked of n values as weights (q, n): the answers are these times the frequencies.

    Parameters
    ----------
    asked : str or (q, n) array_like
    places : (n,) ndarray
    labels : bool
        Whether values are labels in an order, without places.

    Raises
    ------
    InputError
        A name that there is not, or numbers of another shape.

    Example
    -------
    >>> queries_of("prefix", np.array([-1.0, 0.0, 1.0])).tolist()
    [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]]
    """
    if isinstance(asked, str):
        if asked not in (known := OF_LABELS if labels else tuple(QUERIES)):
            raise InputError(f"a workload must be {', '.join(known)}, or numbers of your own, got {asked!r}")
        return QUERIES[asked](places)
    try:
        matrix = np.asarray(asked, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"a workload must be numbers, got: {error}") from None
    if matrix.ndim != 2 or matrix.shape[1] != places.size or not np.isfinite(matrix).all():
        raise InputError(
            f"a workload must be finite numbers, queries x {places.size} values, got shape {matrix.shape}: write a row "
            "for each query, in the order of the prior"
        )
    return matrix
