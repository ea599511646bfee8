r"""A closed form for the error of a mean: on the part of the interval that pays, with its reports shifted.

Values are clipped to [l, u], perturbed by the family on that interval and decoded without bias there; every report then
counts as the same constant more.  With c_i = clip(x_i, l, u) and V the family's variance on [-1, 1],

    b_i = c_i - x_i + shift,      v_i = (u - l)^2 / 4 V((2 c_i - l - u) / (u - l)) + b_i^2.

**The shift** is known for every table and every set A of priors: R^2 = max q.v / N + (max |q.b|)^2 is convex in it, and
least where the largest and the smallest q.b of A are opposite: away from there its second part grows by 2 B a unit, and
its first falls by at most 2 B / N.  And c_i - x_i falls with x, so that these two belong to the same two priors of a
box for all l and u: its excess on the lowest values, and on the highest.

**The ends** are searched: all pairs of some knots at once, then ever finer around the best; what is returned is judged
by the objective as any table is.

Source: derived here; for clipping with noise of a given shape see the sources of docs/theory/error.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...mechanisms.table.table import TabulatedMechanism
from ...solvers.biased import Clip, ErrorProgram
from ...solvers.robust import BoxSet

Variances = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Of clipped knots (k, n) and the ends (k,) and (k,) of k intervals on [-1, 1]: the variances (k, n) there."""

COARSE = 41
"""Knots of which all pairs are tried first; 820 pairs cost milliseconds, and the error changes slowly between them."""

FINE = 9
"""Places for each end, around the best so far, in a finer search."""

CLOSER = 3.0
"""By what each finer search is closer."""

SEARCHES = 9
"""Finer searches: the ends are then known to 1e-4 of the distance of knots, and the error better still."""

NARROWEST = 2e-3
"""Width of the smallest interval, on [-1, 1]: a report on less is as good as a constant."""

SAME = 1e-9
"""Share of the width by which an end may miss a knot and be there: two knots so near are one."""

PLACES = 257
"""On [-1, 1], at which a family's variance is tabulated; between them it is a piece of a parabola, off by 1e-5."""


@dataclass(frozen=True, eq=False)
class Clipping:
    """Errors of any family on any intervals, for one set of priors and one number of users.

    Parameters
    ----------
    program : ErrorProgram
        Its priors a `BoxSet`, its knots on [-1, 1].
    """

    program: ErrorProgram
    box: BoxSet

    @classmethod
    def of(cls, program: ErrorProgram) -> Clipping:
        assert isinstance(program.priors, BoxSet)
        return cls(program, program.priors)

    def errors(
        self, low: np.ndarray, high: np.ndarray, variances: Variances
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return R (k,), the shift (k,) that makes it least, and v (k, n), all on [-1, 1].

        Parameters
        ----------
        low, high : (k,) ndarray
            Ends of intervals.
        variances : callable
            Of the family.
        """
        x, box, users = self.program.knots, self.box, self.program.users
        clipped = np.clip(x, low[:, None], high[:, None])
        bias = clipped - x
        most, least = bias @ box.largest(1 - x)[1], bias @ box.largest(1 + x)[1]
        shift = -0.5 * (most + least)
        v = variances(clipped, low, high) + (bias + shift[:, None]) ** 2
        return np.sqrt(_largest(box, v) / users + (0.5 * (most - least)) ** 2), shift, v

    def best(self, variances: Variances) -> tuple[float, Clip, np.ndarray]:
        """Return the least R that was found, its clip, and the prior of the box that is worst for its variance."""
        x = self.program.knots
        some = x[np.unique(np.linspace(0, len(x) - 1, COARSE).round().astype(int))]
        i, j = np.triu_indices(len(some), 1)
        low, high = some[i], some[j]
        reach = float(np.diff(some).max())
        best = self._best_of(low, high, variances)
        for _ in range(SEARCHES):
            low, high = (at_knots(ends, x) for ends in _around(best[1], reach))
            best = self._best_of(low, high, variances)
            reach /= CLOSER
        error, clip, v = best
        return error, clip, self.box.largest(v)[1]

    def _best_of(self, low: np.ndarray, high: np.ndarray, variances: Variances) -> tuple[float, Clip, np.ndarray]:
        """The least error of some intervals, its clip, and v (n,) there."""
        found, shift, v = self.errors(low, high, variances)
        at = int(np.argmin(found))
        return float(found[at]), Clip(float(low[at]), float(high[at]), float(shift[at])), v[at]


def centring_shift(box: BoxSet, bias: np.ndarray) -> float:
    """Return what to add to a bias (n,) that does not rise with the value, so that its largest sizes over a box agree.

    Example
    -------
    >>> centring_shift(BoxSet(np.full(2, 0.25), np.full(2, 0.75)), np.array([0.0, -1.0]))
    0.5
    """
    order = np.arange(len(bias), dtype=np.float64)
    most, least = (float(bias @ box.largest(each)[1]) for each in (order[::-1], order))
    return -0.5 * (most + least)


def at_knots(ends: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """Return ends of intervals, those that are next to a knot put there.

    Example
    -------
    >>> at_knots(np.array([0.5, 1 + 1e-12]), np.array([0.0, 1.0, 2.0]))
    array([0.5, 1. ])
    """
    after = np.clip(np.searchsorted(knots, ends), 1, len(knots) - 1)
    nearest = np.where(ends - knots[after - 1] < knots[after] - ends, knots[after - 1], knots[after])
    return np.where(np.abs(ends - nearest) <= SAME * (knots[-1] - knots[0]), nearest, ends)


def _around(clip: Clip, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Return intervals whose ends are both near those of a clip, itself among them."""
    steps = np.linspace(-reach, reach, FINE)
    low, high = (each.ravel() for each in np.meshgrid(clip.low + steps, clip.high + steps))
    low, high = np.append(np.clip(low, -1, 1), clip.low), np.append(np.clip(high, -1, 1), clip.high)
    wide = high - low >= NARROWEST
    wide[-1] = True
    return low[wide], high[wide]


def _largest(box: BoxSet, values: np.ndarray) -> np.ndarray:
    """Return max over the box of q.values for each row (k, n), by sorting as `BoxSet.largest` does."""
    order = np.argsort(-values, axis=1)
    width = (box.high - box.low)[order]
    raised = np.clip(1 - box.low.sum() - (np.cumsum(width, axis=1) - width), 0, width)
    return values @ box.low + (raised * np.take_along_axis(values, order, axis=1)).sum(1)


def scaled_variances(unit: TabulatedMechanism) -> Variances:
    """Return the variances of a family that is the same on every interval but for its scale.

    Parameters
    ----------
    unit : TabulatedMechanism
        On `PLACES` even knots of [-1, 1], unbiased.
    """
    places, known = unit.knots, unit.knot_variances

    def variances(clipped: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        half, middle = 0.5 * (high - low)[:, None], 0.5 * (high + low)[:, None]
        return half**2 * np.interp((clipped - middle) / half, places, known)

    return variances


def variances_by_knots(of: Callable[[np.ndarray], np.ndarray]) -> Variances:
    """Return the variances of a family that depends on the very knots: one interval after the other.

    Parameters
    ----------
    of : callable
        Of increasing knots, their variances.
    """

    def variances(clipped: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        made = np.empty_like(clipped)
        for k, row in enumerate(clipped):
            points, where = np.unique(row, return_inverse=True)
            made[k] = of(points)[where] if len(points) > 1 else 0.0
        return made

    return variances


def spread_rows(table: TabulatedMechanism, knots: np.ndarray, clip: Clip) -> TabulatedMechanism:
    """Return a table of clipped knots as one of the knots themselves, its reports shifted; all in the knots' units.

    Parameters
    ----------
    table : TabulatedMechanism
        On the distinct values of np.clip(knots, clip.low, clip.high).

    Example
    -------
    >>> from optldp.mechanisms import duchi
    >>> made = spread_rows(duchi([0, 1, 2], 1.0), np.arange(5.0), Clip(0.0, 2.0, 0.25))
    >>> made.knot_means.round(9).tolist()
    [0.25, 1.25, 2.25, 2.25, 2.25]
    """
    where = np.searchsorted(table.knots, np.clip(knots, clip.low, clip.high))
    moved = table.affine(1.0, clip.shift)
    origin = moved.provenance
    parameters = {**origin.parameters, "clip_low": clip.low, "clip_high": clip.high, "shift": clip.shift}
    parameters.pop("relabelled", None)
    return replace(
        moved,
        knots=knots,
        probabilities=moved.probabilities[where],
        within=moved.within.take_rows(where),
        provenance=replace(origin, parameters=parameters),
    )
