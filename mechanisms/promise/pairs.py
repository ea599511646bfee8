"""Promises that say a log-ratio for each pair of knots: P(y | i) <= e^D_ij P(y | k) for every output y.

That is one promise, however D is said: by a distance, by budgets of values, by blocks, by a matrix. It holds of knots
alone: a value that was rounded at random between two would have a law that neither promises.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ..budget import MAX_EPSILON, MIN_EPSILON
from ..errors import InputError
from .closure import closure
from .promise import Promise


@dataclass(frozen=True)
class OfPairs(Promise):
    """A promise of each pair of knots, by a matrix D of log-ratios, inf where nothing is promised.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.mechanisms import Metric
    >>> from optldp.mechanisms.promise import OfPairs
    >>> isinstance(Metric(0.5), OfPairs), Metric(0.5).said(np.array([0.0, 3.0])).tolist()
    (True, [[0.0, 1.5], [1.5, 0.0]])
    """

    kind: ClassVar[str] = "pairwise"
    holds_between_knots: ClassVar[bool] = False

    @abstractmethod
    def said(self, knots: np.ndarray) -> np.ndarray:
        """Return D (n, n) as it is said, zero on the diagonal and positive beside it."""

    @property
    def size(self) -> int | None:
        """How many knots it is of; None for any."""
        return None

    @property
    def leaves_out(self) -> bool:
        """Whether nothing is promised of some pair, once paths are followed; no promise by |x - x'| does."""
        return self.size is not None and bool(np.isinf(self.limits(np.arange(float(self.size)))).any())

    def misfit(self, knots: np.ndarray) -> str:
        if self.size in (None, knots.size):
            return ""
        return f"a promise of {self.kind} must be of each knot, got one of {self.size} values for {knots.size} knots"

    def exactly(self, said: np.ndarray, knots: np.ndarray, i: int, k: int) -> Fraction:
        """Return D_ik as the fraction that is promised; `said` has it in doubles."""
        return Fraction(float(said[i, k]))

    def pairs(self, said: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return pairs of knots (p,), (p,) of which all others follow: here all of which anything is said."""
        wanted = np.isfinite(said)
        np.fill_diagonal(wanted, False)
        first, second = np.nonzero(wanted)
        return first, second

    def limits(self, knots: np.ndarray) -> np.ndarray:
        return closure(self.said(knots))

    def shortened(self, knots: np.ndarray) -> tuple[int, int, int]:
        """Return of how many pairs more is promised than said, as paths are shorter, and the pair it matters most for.

        Example
        -------
        >>> import numpy as np
        >>> from optldp.mechanisms.promise import Ratios
        >>> Ratios([[0, 1, 5], [1, 0, 2], [5, 2, 0]]).shortened(np.arange(3.0))
        (2, 0, 2)
        """
        said, closed = self.said(knots), self.limits(knots)
        less = closed < said * (1 - 1e-12)  # sums of distances round
        # Infinity less infinity is no number; any finite stand-in above all logs of doubles will do.
        lost = np.where(less, np.minimum(said, 1e300) - np.where(less, closed, 0.0), 0.0)
        i, k = np.unravel_index(int(np.argmax(lost)), lost.shape)
        return int(less.sum()), int(i), int(k)


def square(rows: Sequence[Sequence[float]], what: str) -> tuple[tuple[float, ...], ...]:
    """Return a square matrix of numbers, zero on the diagonal and positive or inf beside it, or raise InputError.

    Example
    -------
    >>> square([[0, 1], [np.inf, 0]], "log-ratios")
    ((0.0, 1.0), (inf, 0.0))
    """
    try:
        matrix = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} must be a square matrix of numbers, got {rows!r:.60}") from None
    n = len(matrix) if matrix.ndim else 0
    if matrix.shape != (n, n) or n < 2:
        raise InputError(f"{what} must be a square matrix of at least two values, got shape {matrix.shape}")
    wrong = np.argwhere(~(matrix >= 0) | ((matrix == 0) != np.eye(n, dtype=bool)))
    if len(wrong):
        i, k = wrong[0].tolist()
        cure = "0 makes two values the same: give them one row" if matrix[i, k] == 0 else "inf promises nothing"
        raise InputError(
            f"{what} must be positive, and 0 of a value and itself alone, got {float(matrix[i, k])!r} for values {i} "
            f"and {k}: {cure}"
        )
    if not np.isfinite(matrix[~np.eye(n, dtype=bool)]).any():
        raise InputError(f"{what} must be finite for some pair, got inf for all: nothing would be promised")
    return tuple(map(tuple, matrix.tolist()))


def largest(said: np.ndarray) -> float:
    """Return the largest finite log-ratio that a matrix promises, once paths are followed: the epsilon of a table.

    Raises InputError for one that no epsilon may be.

    Example
    -------
    >>> largest(np.array([[0.0, 2.0], [np.inf, 0.0]]))
    2.0
    """
    closed = closure(said)
    most = float(closed[np.isfinite(closed)].max())
    if not MIN_EPSILON <= most <= MAX_EPSILON:
        raise InputError(
            f"the largest log-ratio that is promised must be from {MIN_EPSILON:g} to {MAX_EPSILON:g}, got {most:g} "
            "once paths are followed: give inf for less, or distances, which have no such limit"
        )
    return most
