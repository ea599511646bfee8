"""The error of a mean against the clip point: why the optimum cuts where it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from threadpoolctl import threadpool_limits

from ...estimators.means.error import largest_error
from ...mechanisms.display.display import Shown
from ...mechanisms.display.summary import Profile, Told
from ...mechanisms.errors import InputError
from ...mechanisms.table.provenance import Provenance
from ...mechanisms.table.table import TabulatedMechanism
from ...mechanisms.table.unit_interval import UnitInterval
from ...mechanisms.units import units_label
from ...solvers.biased import MeanError
from ...solvers.robust import BoxSet
from ...solvers.robust.robust_program import RobustProgram
from ...solvers.robust.saddle_point import solve_robust
from ..methods.clipped import centring_shift
from ..objectives.base import Problem
from ..objectives.error import Error
from .result import Design

POINTS = 24
"""Clip points at most, as evenly spaced as knots are, and one that cuts nothing: more are not told apart."""

DRAWN = 1e-3
"""Relative gap of each table's noise: a twentieth of a line's width."""


@dataclass(frozen=True, eq=False, repr=False)
class ClipCurve(Shown):
    """Errors of clips at some knots, beside the optimum.

    Attributes
    ----------
    design : Design
        Of the least error, by `Error`.
    end : {"low", "high"}
        The end of the values that is cut; the other stays as in the design.
    clips : (k,) ndarray
        Knots, increasing; in units, as are the errors. The last or the first cuts nothing at this end.
    errors : tuple of MeanError
        Of the best unbiased table on the remaining interval, with the best shift: the error and its two parts.

    Example
    -------
    >>> from optldp import Error
    >>> from optldp.designer import Prior, design
    >>> from optldp.designer.designs import clip_curve
    >>> prior = Prior.on_knots([0, 1, 2, 3], [8, 4, 2, 1], source="public")
    >>> clip_curve(design(prior, 1.0, objective=Error(1000))).clips
    array([1., 2., 3.])
    """

    design: Design
    end: Literal["low", "high"]
    clips: np.ndarray
    errors: tuple[MeanError, ...]

    def _line(self) -> dict[str, Any]:
        return {"end": self.end, "clips": self.clips.size, "rmse": self.design.value, "n": self.design.objective.n}

    def _told(self) -> Told:
        units = getattr(self.design.prior, "units", "")
        errors = np.array([error.rmse for error in self.errors])
        across, up = units_label("clip", units), units_label("error of the mean", units)
        return Told(self._line(), self._columns(), Profile(self.clips, errors, across, up))

    def _columns(self) -> dict[str, Any]:
        names = ("rmse", "noise", "bias_bound")
        return {"clip": self.clips} | {name: [getattr(error, name) for error in self.errors] for name in names}


def clip_curve(made: Design, *, progress: Callable[[int, int], None] | None = None) -> ClipCurve:
    """Return the errors of clips at other places, for a design of the least error; this takes some seconds.

    Parameters
    ----------
    made : Design
        By `Error`.
    progress : callable, optional
        Called with the number of clips done and in all.

    Returns
    -------
    curve : ClipCurve
        `plots.clip_errors` draws it.

    Raises
    ------
    InputError
        A design by another objective.
    SolverError
        A clip's table was not found.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.designer import Error, Prior, design
    >>> from optldp.designer.designs import clip_curve
    >>> knots = np.linspace(0, 100, 11)
    >>> prior = Prior.on_knots(knots, np.exp(-knots / 8), source="public")
    >>> found = clip_curve(design(prior, 1.0, objective=Error(20_000)))
    >>> found.end, min(error.rmse for error in found.errors) >= found.design.bound
    ('high', True)
    """
    if not isinstance(made.objective, Error):
        raise InputError(f"a curve of clips needs a design by Error(n), got one by {made.objective.label}")
    problem, found, last = made.certificate.problem, made.evidence, made.prior.knots.size - 1
    knots, box = made.prior.knots, made.objective.priors(problem)
    below, above = found.clip_low - knots[0], knots[-1] - found.clip_high
    # Where nothing is cut, the end that is farther from the mean is the one that would be.
    end = "high" if (above, knots[-1] - made.prior.mean) >= (below, made.prior.mean - knots[0]) else "low"
    other = int(np.argmin(np.abs(knots - (found.clip_low if end == "high" else found.clip_high))))
    first, final = (min(other + 1, last), last) if end == "high" else (0, max(other - 1, 0))
    index = np.arange(final, first - 1, -max(1, -(-(final - first) // POINTS)))[::-1]
    index = index if end == "high" else final - index[::-1]
    errors = []
    for k in index:
        table = _unbiased_between(problem, box, *((other, int(k)) if end == "high" else (int(k), other)))
        errors.append(largest_error(table, box, made.objective.n, on_knots=not made.prior.rounding.any()))
        if progress is not None:
            progress(len(errors), len(index))
    return ClipCurve(made, end, knots[index], tuple(errors))


def _unbiased_between(problem: Problem, box: BoxSet, low: int, high: int) -> TabulatedMechanism:
    """The best unbiased table between two knots for the worst prior, what is outside at its ends, and shifted.

    What the ends' own weights may be is the sum over all that is moved there.
    """
    knots = problem.prior.knots
    place = np.clip(np.arange(len(knots)), low, high) - low
    low_sums, high_sums = (np.bincount(place, bound).astype(np.float64) for bound in (box.low, box.high))
    summed = BoxSet(low_sums, np.minimum(high_sums, 1.0))
    unit = UnitInterval.of(knots[low : high + 1])
    with threadpool_limits(1, user_api="blas"):  # as in `Variance`
        best = solve_robust(RobustProgram(unit.knots, problem.inner_ratio, summed), tolerance=DRAWN).solution
    bias = np.clip(knots, knots[low], knots[high]) - knots
    outputs = unit.values(best.outputs) + centring_shift(box, bias)
    return TabulatedMechanism.from_points(
        knots, outputs, best.probabilities[place], problem.epsilon, provenance=Provenance("clip")
    )
