"""The best rows over a floor when each row's mean is given, and the means of a clip.

For a given floor and a given mean of its own every row has the least variance on a window (`unbiased.window_rows`), so
also the least squared distance from its knot.  Rows with equal means are equal.  Means of the form

    clip(x, low, high) + shift

are those of a table that is unbiased on a shorter interval, takes what lies outside for its ends, and adds a constant.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...mechanisms.errors import SolverError
from ..arrays import Array, Indices
from ..barrier.windows import Windows
from ..robust.robust_program import RobustProgram
from ..robust.saddle_point import sparse_minimax
from ..robust.sets import BoxSet
from ..unbiased.unbiased_program import UnbiasedProgram
from ..unbiased.window_rows import stretched_rows

ALIKE = 1e-12
"""Means that differ by less, in half-widths of the domain, are one; a row of a point is a report of a constant."""

NOTHING = 1e-6
"""An end that is cut by less is not cut."""

FEW = 3
"""Outputs that need no thinning."""


@dataclass(frozen=True)
class Clip:
    """Means clip(x, low, high) + shift.

    Attributes
    ----------
    low, high : float
        Places on the line of the knots, between knots or on them; the first and the last knot where nothing is cut.
    shift : float

    Example
    -------
    >>> from optldp.solvers.biased import Clip
    >>> Clip(-1.0, 0.25, 0.05).high  # values above a quarter count as a quarter, and all of them as a little more
    0.25
    """

    low: float
    high: float
    shift: float

    def means(self, knots: Array) -> Array:
        """Return what values at the knots are counted as on average, (n,)."""
        return np.clip(knots, self.low, self.high) + self.shift

    @classmethod
    def near(cls, knots: Array, means: Array, weights: Array) -> Clip:
        """Return the clip with these ends and, as shift, the median bias of the knots between them.

        Example
        -------
        >>> import numpy as np
        >>> from optldp.solvers.biased import Clip
        >>> knots = np.linspace(-1, 1, 5)
        >>> Clip.near(knots, np.array([-0.875, -0.375, 0.125, 0.25, 0.25]), np.full(5, 0.2))
        Clip(low=-1.0, high=0.125, shift=0.125)
        """
        low, high = float(means.min()), float(means.max())
        order = np.argsort(means - knots)
        inner = weights * ((means > low + ALIKE) & (means < high - ALIKE))
        if not inner.sum() > 0:
            inner = weights
        middle = int(np.searchsorted(np.cumsum(inner[order]), 0.5 * inner.sum()))
        shift = float((means - knots)[order[middle]])
        low, high = low - shift, high - shift
        low = float(knots[0]) if low < knots[0] + NOTHING else low
        high = float(knots[-1]) if high > knots[-1] - NOTHING else high
        return cls(low, high, shift)


class ClippedRows(NamedTuple):
    """The mechanism of least error, and the numbers that values count as.

    Attributes
    ----------
    outputs : (k,) ndarray
        Increasing, in the program's scale; at most 3n unless rounding stopped the clean-up.
    probabilities : (n, k) ndarray
        Rows sum to one, columns are within the ratio.
    clip : Clip or None
        Numbers that values count as, if they are a clip and a shift.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.biased import ErrorProgram, solve_error, trusted
    >>> knots, prior = np.linspace(-1, 1, 9), np.exp(-2 * np.arange(9.0))
    >>> best = solve_error(ErrorProgram(knots, np.e, trusted(prior / prior.sum(), 2.0), 10_000))
    >>> round(best.solution.clip.high, 1)
    -0.6
    """

    outputs: Array
    probabilities: Array
    clip: Clip | None


def rows_with_means(ratio: float, outputs: Array, floor: Array, means: Array) -> tuple[Array, Array]:
    """Return (outputs, rows) over the floor, the outputs stretched by the least that makes the rows exist.

    Parameters
    ----------
    outputs, floor : (m,) ndarray
        Increasing outputs and the floor t > 0 of each.
    means : (n,) ndarray
        Of the rows, in any order.

    Raises
    ------
    SolverError
        No rows with these means exist even after stretching.

    Example
    -------
    >>> outputs, P = rows_with_means(3.0, np.array([-2.0, 2.0]), np.full(2, 0.25), np.array([-1.0, 0.5, 0.5]))
    >>> P.round(9).tolist()
    [[0.75, 0.25], [0.375, 0.625], [0.375, 0.625]]
    """
    at, rows, middle, half = distinct_means(means)
    if not half > ALIKE:
        return np.array([middle]), np.ones((len(means), 1))
    program = UnbiasedProgram(at, np.full(len(at), 1 / len(at)), ratio)
    found, P = stretched_rows(program, (outputs - middle) / half, floor)
    return middle + half * found, P[rows]


def distinct_means(means: Array) -> tuple[Array, Indices, float, float]:
    """Return the distinct means put to [-1, 1], which of them is whose, and middle and half-width of what they span.

    Example
    -------
    >>> distinct_means(np.array([0.5, 0.25, 0.5, 0.0]))
    (array([-1.,  0.,  1.]), array([2, 1, 2, 0]), 0.25, 0.25)
    """
    middle, half = 0.5 * float(means.max() + means.min()), 0.5 * float(means.max() - means.min())
    at, rows = np.unique(np.clip((means - middle) / max(half, ALIKE), -1, 1), return_inverse=True)
    return at, rows, middle, half


def sparse_rows_with_means(
    ratio: float, outputs: Array, floor: Array, means: Array, box: BoxSet
) -> tuple[Array, Array]:
    """Return `rows_with_means` over fewer outputs, at most three per distinct mean, the variances of all rows kept
    or made less.

    Parameters
    ----------
    box : BoxSet
        Judges that nothing was lost.

    Raises
    ------
    SolverError
        No rows with these means exist over the floor.
    """
    try:
        outputs, P = rows_with_means(ratio, outputs, floor, means)
    except SolverError:  # rounding left the floor short of the outermost means: they give way
        means = np.clip(means, *Windows(ratio, outputs, floor).reach)
        outputs, P = rows_with_means(ratio, outputs, floor, means)
    at, rows, middle, half = distinct_means(means)
    if len(outputs) <= FEW:
        return outputs, P
    low, high = (np.bincount(rows, bound).astype(np.float64) for bound in (box.low, box.high))
    program = RobustProgram(at, ratio, BoxSet(low, high))
    with suppress(SolverError):
        found, fewer = sparse_minimax(program, (outputs - middle) / half, P.min(0))
        return middle + half * found, fewer[rows]
    return outputs, P
