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


def _marginals(points: np.ndarray) -> np.ndarray:
    return np.vstack([(np.unique(column)[:, None] == column).astype(float) for column in points.T])


def _moments_of_two(points: np.ndarray) -> np.ndarray:
    low, high = points.min(0), points.max(0)
    x, y = ((2 * points - low - high) / np.where(high > low, high - low, 1.0)).T
    return np.vstack([x, y, x**2, y**2, x * y])


OF_PLACES: dict[str, Callable[[np.ndarray], np.ndarray]] = {"marginals": _marginals, "moments": _moments_of_two}
"""By name, of the points (n, 2) that values are, two columns' values in each: the shares of each column's values, x's
and then y's; the means of x, y, their squares and their product, each column on its range as [-1, 1]."""

NAMES = {**QUERIES, **OF_PLACES}
"""All names, of whichever values."""


def queries_of(asked: str | ArrayLike, places: np.ndarray, *, labels: bool = False) -> np.ndarray:
    """Return what is asked of n values as weights (q, n): the answers are these times the frequencies.

    Parameters
    ----------
    asked : str or (q, n) array_like
    places : (n,) or (n, 2) ndarray
        The latter of points, which are values of two columns.
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
        named = QUERIES if places.ndim == 1 else OF_PLACES
        if asked not in (known := OF_LABELS if labels else tuple(named)):
            hint = ": marginals are of a prior with columns x, y, weight" if asked == "marginals" else ""
            raise InputError(f"a workload must be {', '.join(known)}, or numbers of your own, got {asked!r}{hint}")
        return named[asked](places)
    try:
        matrix = np.asarray(asked, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"a workload must be numbers, got: {error}") from None
    if matrix.ndim != 2 or matrix.shape[1] != len(places) or not np.isfinite(matrix).all():
        raise InputError(
            f"a workload must be finite numbers, queries x {len(places)} values, got shape {matrix.shape}: write a row "
            "for each query, in the order of the prior"
        )
    return matrix
