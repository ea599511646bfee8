"""One call from counted reports to an estimated distribution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...mechanisms.errors import InputError, SolverError, unwired
from ...mechanisms.registered import registered
from ...solvers import Progress
from ...solvers.likelihood.fit import Method
from ..affine_pairs.intervals import AffinePairs
from ..affine_pairs.outcomes import Outcomes
from ..assumption_free.bounds import Bounds
from ..assumption_free.points import at_points
from ..assumptions.base import Assumed, Assumption
from ..counting.counts import ReportCounts
from ..input_grid import InputGrid
from ..methods import DISTRIBUTION_METHODS, DISTRIBUTIONS, DistributionMethod, unknown
from ..rounds.one_value import require_one_value
from ..rounds.pooled import of_one_table, shares_of
from .averaged import averaged
from .distribution import DistributionEstimate
from .mixture_reduction import Operation, Rule
from .scatter import BIASED
from .way import Way


def estimate_distribution(
    counts: ReportCounts,
    *,
    method: DistributionMethod = "smooth",
    grid: InputGrid | None = None,
    solver: Method | None = None,
    certificate: float | None = None,
    loglik_change: float | None = None,
    threshold: float | None = None,
    rule: Rule | None = None,
    operation: Operation | None = None,
    least_components: int | None = None,
    bic_rise: float | None = None,
    assume: Assumption | Sequence[Assumption] = (),
    progress: Callable[[Progress], None] | None = None,
    split_progress: Callable[[int, int], None] | None = None,
) -> DistributionEstimate:
    """Estimate the distribution of the inputs from the reports of all services at once.

    Joined services must have measured one value of each user, which is tested (`require_one_value`). Files of different
    times are rounds, ``count(..., rounds=True)``: the estimate averages the files' distributions, weighted by numbers
    of reports, with intervals that count users (`reports_worth_one`). Rounds with different tables have separate fits,
    and the average's intervals hold however the fits depend on each other (`AveragedBounds`).

    Parameters
    ----------
    counts : ReportCounts
        Of one service, or of several with the same or different users: users of several services enter with the product
        of their reports' probabilities, called ULE in the papers. Or of rounds.
    method : {"smooth", "em", "ule", "ems", "mr"}
        "smooth": log densities averaged over their smoothness, with masses at zero, the ends and round values where the
        reports show them (`smooth_likelihood`). If no such fit is found, "em" takes its place, and `instead_of` records
        it. "em", and "ule", its name for several services: the exact maximum likelihood, which overfits. "ems": EM with
        smoothing. "mr": mixture reduction.
    grid : InputGrid, optional
        Default: the knots that all tables share.
    solver : {"auto", "em", "squarem", "interior-point"}, optional
        For "em" and "ule": how the maximum is found. Default: "auto".
    certificate, loglik_change : float, optional
        When to stop; for "em" and "ule" as in `fit_mixture`. For "ems" and "mr" only `loglik_change`, default 1e-3.
        (Plain EM that is stopped early smooths too; `solver="em", loglik_change=1e-3` is what the papers run.)
    threshold, rule, operation, least_components, bic_rise : optional
        For "mr", as in `mixture_reduction`.
    assume : Assumption or sequence of Assumption
        What intervals may assume about the distribution, all of which must hold: `Factor`, `Shape`, `Unimodal`,
        `Monotone` of `estimators.assumptions`. Default: nothing. The estimate itself does not use it.
    progress, split_progress : callable, optional
        Called at the start of a fit and after each step; for "smooth" with the number of sets of masses tried, and of
        all sets.

    Returns
    -------
    estimate : DistributionEstimate

    Raises
    ------
    InputError
        An unknown method, a setting of another method, tables whose knots disagree (say which
        grid), a service without reports, services that have not measured one value; assumptions that do not fit the
        tables or each other, or assumptions for rounds of different tables, whose intervals take none.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import estimate_distribution
    >>> from optldp.estimators import ReportCounts
    >>> from optldp.mechanisms.families.square_wave import square_wave
    >>> table = square_wave(np.linspace(0.0, 1.0, 33), 2.0)
    >>> reports = table.sample(np.full(20_000, 0.25), np.random.default_rng(1))
    >>> estimate = estimate_distribution(ReportCounts.from_reports(table, reports))
    >>> found = estimate.quantile(0.5)
    >>> round(found.value, 2), bool(found.low < 0.25 < found.high)  # every value is a quarter
    (0.25, True)
    """
    way = DISTRIBUTIONS.get(method)
    if way is None:
        raise InputError(unknown("method", DISTRIBUTION_METHODS, method))
    settings = {
        "solver": solver,
        "certificate": certificate,
        "loglik_change": loglik_change,
        "threshold": threshold,
        "rule": rule,
        "operation": operation,
        "least_components": least_components,
        "bic_rise": bic_rise,
    }
    given = {name: value for name, value in settings.items() if value is not None}
    if useless := [name for name in given if name not in way.settings]:
        takers = [name for name, other in DISTRIBUTIONS.items() if useless[0] in other.settings]
        raise InputError(f"{useless[0]} is for {', '.join(takers)}, got method {method!r}: leave it out")
    place = InputGrid.common(counts.mechanisms) if grid is None else grid
    progresses: dict[str, Any] = {"progress": progress, "split_progress": split_progress, "assume": _listed(assume)}
    if not counts.rounds:
        require_one_value(counts)
        return _estimated(counts, place, method, given, **progresses)
    counts.require_reports()
    alike = of_one_table(counts)
    if len(alike) > 1 and progresses["assume"]:
        raise InputError(
            f"assumptions are of rounds of one table, or of users who report once, got rounds of {len(alike)} tables: "
            "leave it out"
        )
    parts = [_estimated(counts.only(files), place, method, given, **progresses) for files in alike]
    own = {
        service.name: _estimated(replace(counts.only([j]), rounds=False), place, method, given, **progresses)
        for j, service in enumerate(counts.services)
    }
    together = averaged(parts, shares_of(counts, alike)) if len(parts) > 1 else parts[0]
    return replace(together, n=counts.n_users, rounds=own)


def _estimated(
    counts: ReportCounts,
    place: InputGrid,
    method: DistributionMethod,
    given: dict[str, Any],
    *,
    progress: Callable[[Progress], None] | None,
    split_progress: Callable[[int, int], None] | None,
    assume: tuple[Assumption, ...],
) -> DistributionEstimate:
    """The fit to one likelihood of all reports."""
    entry = DISTRIBUTIONS[method]
    try:
        found = _taken(method).fitted(counts, place, given, progress, split_progress)
    except SolverError:  # of reports of nearly one value no log density may be found; the exact fit always is
        if not entry.instead:
            raise
        exact = _estimated(
            counts, place, entry.instead, {}, progress=progress, split_progress=split_progress, assume=assume
        )
        return replace(exact, instead_of=method)
    return DistributionEstimate(
        place,
        found.fit.weights,
        found.covariance,
        counts.n_users,
        entry.same_as or method,
        found.fit,
        found.components,
        smooth=found.smooth,
        explained=None if method == BIASED else _explained(counts, place, found.fit.weights, assume),
    )


def _taken(method: DistributionMethod) -> Way:
    if method not in DISTRIBUTIONS:
        raise unwired("method", method)
    return registered("optldp.estimators.distributions", DISTRIBUTIONS[method].at, "method", method)


def _listed(assume: Assumption | Sequence[Assumption]) -> tuple[Assumption, ...]:
    return (assume,) if isinstance(assume, Assumption) else tuple(assume)


def _explained(counts: ReportCounts, grid: InputGrid, weights: np.ndarray, assume: tuple[Assumption, ...]) -> Bounds:
    """What the reports say of all distributions, or of those that are assumed."""
    outcomes = Outcomes.of(counts, at_knots=bool(assume))
    held = Assumed.of(assume, outcomes.points, _likely(counts, outcomes.points))
    return AffinePairs(outcomes, held, at_points(grid, weights, counts.mechanisms).rounded(outcomes.points))


def _likely(counts: ReportCounts, points: np.ndarray) -> np.ndarray | None:
    """The prior that a table carries on all knots, which the choice of estimates begins at."""
    held = (table.prior.weights for table in counts.mechanisms if table.prior and table.knots.size == points.size)
    return next(held, None)


def estimate_alone(counts: ReportCounts, method: DistributionMethod, grid: InputGrid) -> tuple[np.ndarray, float]:
    """Return the (K,) weights that a method estimates, and their mean, without what says how well: for simulations.

    Where a method finds no fit they are those of the one that takes its place, as `estimate_distribution` has them.

    Example
    -------
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> table = duchi([-1, 1], 1.0)
    >>> counts = ReportCounts.from_reports(table, table.low[[0, 1, 1, 0]])
    >>> weights, mean = estimate_alone(counts, "em", InputGrid.knots([-1, 1]))
    >>> weights.round(3), round(mean, 3)
    (array([0.5, 0.5]), 0.0)
    """
    try:
        return _taken(method).alone(counts, grid)
    except SolverError:  # as `estimate_distribution` does
        if not DISTRIBUTIONS[method].instead:
            raise
        return estimate_alone(counts, DISTRIBUTIONS[method].instead, grid)
