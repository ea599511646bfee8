"""Places in the plane: two numbers each, of a declared list."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..promise import Metric
from .categories import Categories
from .space import require_no_clip

COLUMNS = ("x", "y")
"""What their numbers are called in files."""

ROUNDED = 8 * 2.0**-53
"""Share by which a distance in doubles may exceed the true one: of two differences, a hypotenuse, and this factor."""


class Places(Categories):
    """Places that people may be at, in a fixed order: categories between which there is a distance.

    As a category a place is the text of its numbers, such as "0.5,-2". Distances are Euclidean, in units of x and y.

    Parameters
    ----------
    points : (K, 2) array_like of float
        At least two, finite and all different.

    Raises
    ------
    InputError
        Fewer than two places, another shape, a number that is not finite, or a place that comes twice.

    Example
    -------
    >>> from optldp.mechanisms.spaces.places import Places
    >>> places = Places([[0, 0], [3, 0], [0, 4]])
    >>> places.labels, places.codes([[0, 4], [0, 0]]).tolist()
    (('0,0', '3,0', '0,4'), [2, 0])
    >>> places.apart(places).round(9).tolist()[1]
    [3.0, 0.0, 5.0]
    """

    def __init__(self, points: ArrayLike) -> None:
        found = _points(points)
        if not np.isfinite(found).all():
            raise InputError("places must be two finite numbers each, got others")
        super().__init__([_text(x, y) for x, y in found.tolist()])

    @classmethod
    def of_labels(cls, labels: Sequence[str]) -> Self:
        """Return the places of such texts; InputError for others, and for ones that this would write otherwise."""
        try:
            made = cls([[float(number) for number in label.split(",")] for label in labels])
        except ValueError:
            raise InputError("places must be two numbers with a comma between them, got others") from None
        if made.labels != tuple(labels):
            raise InputError("places must be the shortest text of their numbers, got others: write 0.5,-2")
        return made

    @cached_property
    def points(self) -> np.ndarray:
        """The numbers of each, (K, 2)."""
        found = np.array([[float(number) for number in label.split(",")] for label in self.labels])
        found.setflags(write=False)
        return found

    def apart(self, others: Places) -> np.ndarray:
        """Return the distance of each to each of others, (K, M)."""
        across, up = (np.subtract.outer(self.points[:, k], others.points[:, k]) for k in (0, 1))
        return np.hypot(across, up)

    def metric(self, epsilon: float) -> Metric:
        """Return the promise of epsilon per unit of distance, none of which is longer than the true one."""
        return Metric(epsilon, distance=self.apart(self) * (1 - ROUNDED))

    def locate(self, values: ArrayLike) -> np.ndarray:
        """Return the position of each of N places (N, 2), or of their texts (N,), and -1 for what is none of them."""
        given = np.asarray(values)
        if given.ndim != 2:
            return super().locate(given)
        order, known = self._sorted
        wanted = _complex(_points(given))
        at = np.minimum(np.searchsorted(known, wanted), len(self) - 1)
        return np.where(known[at] == wanted, order[at], -1)

    @cached_property
    def _sorted(self) -> tuple[np.ndarray, np.ndarray]:
        known = _complex(self.points)
        order = np.argsort(known)
        return order, known[order]

    def admitted(self, values: ArrayLike, *, clip: bool = False) -> np.ndarray:
        """Return the positions (N,) of places (N, 2) or of their texts (N,); none can be clipped."""
        require_no_clip("places", clip=clip)
        return self.codes(values)

    def code(self, value: object) -> int | None:
        """Return the position of a place, two numbers or their text; None if it is none of them."""
        if isinstance(value, tuple | list | np.ndarray) and len(value) == len(COLUMNS):
            try:
                found = int(self.locate([value])[0])
            except InputError:
                return None
            return None if found < 0 else found
        return super().code(value)


def _points(points: ArrayLike) -> np.ndarray:
    try:
        found = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"places must be numbers, a row of two for each, got {points!r:.40}") from None
    if found.ndim != 2 or found.shape[1] != len(COLUMNS):
        raise InputError(f"places must be numbers, a row of two for each, got shape {found.shape}")
    return found + 0.0  # -0 is 0


def _complex(points: np.ndarray) -> np.ndarray:
    return points[:, 0] + 1j * points[:, 1]


def _text(x: float, y: float) -> str:
    return ",".join(repr(number).removesuffix(".0") for number in (x, y))
