"""What the reports of a collection count as, so that their mean errs least: the decoder program in the data's units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ...mechanisms.table.table import TabulatedMechanism
from ...mechanisms.table.unit_interval import UnitInterval
from ...solvers.biased import MeanError, SummedProgram, UserSet, solve_decoder, trusted
from ...solvers.modulus.polyhedron import Polyhedron
from ...solvers.robust import BoxSet
from ..assumptions.base import Assumed
from ..counting.counts import ReportCounts
from ..input_grid import InputGrid
from ..means.decoder import mean_decoder
from ..means.decoding import plain_decoder
from ..means.unbiasing import knot_importance, normalised
from .designed import told_by

UNIFORM_SHARE = 1e-3
"""Mixed into a prior, as designs do: a factor of nothing is nothing, and last year may have missed a value."""

TOLERANCE = 1e-5
"""Relative gap of the error to what the best decoder has; more digits than any trust is known to."""


@dataclass(frozen=True, eq=False)
class Decoded:
    """Numbers for all reports, and what their mean errs by at most, in the units of the values.

    Attributes
    ----------
    values : list of list of (m,) ndarray of float
        Of each group of users and each of its services; those of a user's reports are added up.
    before : list of list of (m,) ndarray of float
        What they count as in a plain average: unbiased where that can be, else the report itself.
    error : MeanError
        Against the mean of the users' own values; rounding between knots is included.
    error_before : MeanError
        The same of `before`.
    lower_bound : float or None
        No decoder of these reports has a smaller root mean squared error for values at knots; None where groups of
        users have decoders apart.
    relative_gap : float
        Between such bounds and what was reached for values at knots.
    knots, means : (n,) ndarray of float
        What values at the knots count as on average, over all groups.
    """

    values: list[list[np.ndarray]]
    before: list[list[np.ndarray]]
    error: MeanError
    error_before: MeanError
    lower_bound: float | None
    relative_gap: float
    knots: np.ndarray
    means: np.ndarray


def trusted_prior(counts: ReportCounts, prior: ArrayLike | None, trust: float) -> BoxSet:
    """Return the priors on the finest table's knots that are within the trust of the given one, or of a table's own.

    Either with its even share; the table's own with that of its design.

    Raises
    ------
    InputError
        No prior, weights of another number of knots, a trust below 1, or tables whose knots disagree.
    """
    n = InputGrid.common(counts.mechanisms).size
    share = UNIFORM_SHARE
    if prior is None:
        own = [table for table in counts.mechanisms if table.prior is not None and table.knots.size == n]
        if not own or own[0].prior is None:
            raise InputError("a bias-aware mean needs a prior, and no table carries one: give it, --prior FILE")
        prior, told = own[0].prior.weights, told_by(own[0])
        share = UNIFORM_SHARE if told is None else told.uniform_share
    return trusted(normalised("prior", n, prior), trust, share=share)


def assumed_within(priors: BoxSet, trust: float) -> Assumed:
    """Return the set as what an interval assumes.

    Example
    -------
    >>> assumed_within(BoxSet(np.array([0.2, 0.4]), np.array([0.5, 0.9])), 2.0).start.round(3)
    array([0.35, 0.65])
    """
    low, high = priors.low[:, None], priors.high[:, None]
    one, sums = np.eye(len(low)), np.append(np.ones(len(low)), -1.0)
    # The sum of weights is a variable of its own, which keeps the matrix sparse.
    rows = np.vstack([np.hstack([one, -low]), np.hstack([-one, high])])
    within = Polyhedron(np.hstack([one, np.zeros_like(low)]), rows, sums[None], 2.0)
    room = priors.high - priors.low
    start = priors.low + (1.0 - priors.low.sum()) * room / max(room.sum(), np.finfo(float).tiny)
    return Assumed(f"trust={trust:g}", within, start)


def decode(counts: ReportCounts, priors: BoxSet, *, alike: bool) -> Decoded:
    """Return the best numbers for the reports of all groups of users.

    Alike users have values of one distribution, whichever services they report to: one program for all of them. Others
    may differ from group to group, each within the trust: a program for each group, as if it were all users, whose bias
    bounds add up, weighed by the groups' shares.  (With groups' own priors the error squared is at most sum_g a_g
    max q.v_g / N + (sum_g a_g B_g)^2; where all groups report to the same tables that program is the least of it.)
    """
    grid, users = InputGrid.common(counts.mechanisms), counts.n_users
    grid.require_modest(counts.mechanisms)
    unit = UnitInterval.of(grid.points)
    rows = [np.asarray(grid.rows(table)) for table in counts.mechanisms]
    sets = [UserSet(g.n_users / users, [rows[j] for j in g.services]) for g in counts.groups]
    plain = [_plain(table, alone=len(counts.services) == 1) for table in counts.mechanisms]
    before = [[plain[j] / len(g.services) for j in g.services] for g in counts.groups]
    if alike:
        parts = [(1.0, SummedProgram(unit.knots, sets, priors, users))]
    else:
        parts = [(s.share, SummedProgram(unit.knots, [UserSet(1.0, s.tables)], priors, users)) for s in sets]
    found = [solve_decoder(program, tolerance=TOLERANCE) for _, program in parts]
    split = [each for (_, program), best in zip(parts, found, strict=True) for each in program.split(best.solution)]
    places = [[(d - unit.middle / len(g)) / unit.half for d in g] for g in before]
    stacked = [np.concatenate([d for g in places for d in g])] if alike else [np.concatenate(g) for g in places]
    biases = [program.moments(best.solution)[1] for (_, program), best in zip(parts, found, strict=True)]
    bias = sum(share * b for (share, _), b in zip(parts, biases, strict=True))
    return Decoded(
        [[unit.middle / len(g) + unit.half * d for d in g] for g in split],
        before,
        _error(parts, [best.solution for best in found], unit.half),
        _error(parts, stacked, unit.half),
        unit.half * found[0].bound if len(found) == 1 else None,
        max(best.gap for best in found),
        grid.points,
        grid.points + unit.half * bias,
    )


def _error(parts: Sequence[tuple[float, SummedProgram]], values: Sequence[np.ndarray], half: float) -> MeanError:
    """Return the error of all users' mean: noise adds up by its square, what is trusted by itself."""
    square = bias = 0.0
    for (share, program), given in zip(parts, values, strict=True):
        error = program.error(given)
        square += share * (error.noise**2 + _rounding(program.knots, program.moments(given)[1]) / program.users)
        bias += share * error.bias_bound
    return MeanError(half * math.hypot(math.sqrt(square), bias), half * math.sqrt(square), half * bias)


def _rounding(knots: np.ndarray, bias: np.ndarray) -> float:
    """Return the most that rounding adds to the mean squared error of a report, for values between knots.

    At x between knots A and B the error squared is, on average, linear between theirs plus (x - A)(B - x)(1 + 2 s), s
    the slope of the bias.
    """
    widths = np.diff(knots)
    return float(np.max(widths**2 / 4 * np.maximum(1 + 2 * np.diff(bias) / widths, 0.0)))


def _plain(mechanism: TabulatedMechanism, *, alone: bool) -> np.ndarray:
    """Return what outputs count as in a plain average, (m,): unbiased numbers, or the outputs' own means.

    Those of `estimate_mean`, or of `estimate_combined_mean`.
    """
    try:
        values = mean_decoder(mechanism).values if alone else None
        return plain_decoder(mechanism) if values is None else values
    except InputError:
        return np.average(mechanism.output_mean, axis=0, weights=knot_importance(mechanism, None))
