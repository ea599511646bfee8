"""From counted reports and their tables to a likelihood on a grid of inputs, in the form that suits its size."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ...solvers.likelihood.dense import DenseLikelihood
from ...solvers.likelihood.mixture import MixtureLikelihood, SumLikelihood
from ...solvers.likelihood.runs import RunLikelihood, jumps_of, jumps_of_products
from ...solvers.likelihood.tuples import TupleLikelihood
from ..counting.counts import ReportCounts, ReportGroup
from ..input_grid import InputGrid
from ..rounds.pooled import of_one_table, pooled, reports_worth_one

DENSE_FACTOR = 12
"""Combinations of outputs per combination seen up to which a full table is faster: its products run at the speed of
arithmetic, those with rows that were gathered at the speed of memory (measured)."""

DENSE_CELLS = 2**26
"""Largest full table of combinations: half a gibibyte."""

RUN_SHARE = 0.4
"""Jumps per entry up to which prefix sums are preferred: a sparse product takes as long for an entry as a product with
rows does, which waits for memory, and the second-order method gains far more (measured)."""

LARGEST_RATIO = 2.0**24
"""Largest ratio of two probabilities of one combination of outputs for prefix sums: they add and subtract the large
ones, and leave the small ones half of a double's digits."""

MOST_SCALES = 16
"""Outcomes of services without runs that a likelihood of runs is split by: each part has its own prefix sums."""


THINNING_SEED = 0
"""The same reports give the same sample of them. Any number would do."""


def likelihood_of(counts: ReportCounts, grid: InputGrid, *, atoms: ArrayLike = ()) -> MixtureLikelihood:
    r"""Return the likelihood of the counted reports as a function of the weights of the grid's components.

    A user's reports are independent given the value, so the probability of outputs (o_1, ..., o_J) under component
    k is the product over the user's services of P_j[k, o_j]; users of other services are other terms of the sum.
    (For points between knots and for cells the product of averages replaces the average of products. This is exact for
    one service, and has an error of the square of the grid's spacing for several.)

    For rounds (files of different times with one table) it is the likelihood of the pooled reports, each counted as 1 /
    `reports_worth_one`, so that uncertainty follows the number of users. (It is that power of the likelihood of
    independent users whose values follow the average of the files' distributions.)

    Parameters
    ----------
    counts : ReportCounts
        At least one user; every service with a report.
    grid : InputGrid
        K components, within the domain of the tables.
    atoms : (C,) array_like of float
        Increasing values that are components of their own, after those of the grid.

    Returns
    -------
    likelihood : MixtureLikelihood

    Raises
    ------
    InputError
        No users, a service nobody reported to, a grid or atoms outside the domain, a fit that would take too much, or
        rounds of different tables.

    Source: Du, Ye, Fu and Hu (2025), equations (12) to (14).

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import InputGrid, ReportCounts, likelihood_of
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> table = duchi([-1.0, 1.0], 1.0)
    >>> counts = ReportCounts.from_reports(table, table.high[[0, 0, 1]])
    >>> likelihood_of(counts, InputGrid.common([table])).mix(np.array([0.5, 0.5]))
    array([0.5, 0.5])
    """
    counts.require_reports()
    grid.require_modest(counts.mechanisms)
    if counts.rounds:
        _require_one_table(counts)
        return likelihood_of(pooled(counts), grid, atoms=atoms).scaled(1 / reports_worth_one(counts))
    return _likelihood(counts.groups, _views(counts, grid, atoms))


def thinned_likelihood(counts: ReportCounts, grid: InputGrid, atoms: ArrayLike, users: int) -> MixtureLikelihood:
    """Return `likelihood_of` about so many of the users, drawn at random by a fixed seed.

    Example
    -------
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> table = duchi([-1.0, 1.0], 1.0)
    >>> counts = ReportCounts.from_reports(table, np.repeat(table.high, 500))
    >>> 80 < thinned_likelihood(counts, InputGrid.common([table]), (), 100).total < 120
    True
    """
    if counts.rounds:
        worth = reports_worth_one(counts)
        return thinned_likelihood(pooled(counts), grid, atoms, round(users * worth)).scaled(1 / worth)
    rng, groups = np.random.default_rng(THINNING_SEED), []
    for group in counts.groups:
        drawn = rng.binomial(group.counts, min(1.0, users / counts.n_users))
        if (seen := drawn > 0).any():
            groups.append(ReportGroup(group.services, group.outputs[seen], drawn[seen]))
    return _likelihood(groups or counts.groups, _views(counts, grid, atoms))


def _require_one_table(counts: ReportCounts) -> None:
    if len(of_one_table(counts)) > 1:
        raise InputError(
            f"rounds must have one table for a likelihood, got {len(counts.services)} rounds of different tables: "
            "estimate_distribution averages a fit to each"
        )


def _views(counts: ReportCounts, grid: InputGrid, atoms: ArrayLike = ()) -> list[np.ndarray]:
    views, places = [grid.rows(mechanism) for mechanism in counts.mechanisms], np.asarray(atoms, dtype=np.float64)
    if not places.size:
        return views
    points = InputGrid.knots(places)
    return [np.vstack([view, points.rows(table)]) for view, table in zip(views, counts.mechanisms, strict=True)]


def _likelihood(groups: Sequence[ReportGroup], rows: list[np.ndarray]) -> MixtureLikelihood:
    parts = [_group_likelihood(group, [rows[j] for j in group.services]) for group in groups]
    return parts[0] if len(parts) == 1 else SumLikelihood(parts)


def _group_likelihood(group: ReportGroup, views: list[np.ndarray]) -> MixtureLikelihood:
    """Pick the body by size: jumps, a full table, or rows."""
    outputs, counts = _with_unseen(group, views[0]) if len(views) == 1 else (group.outputs, group.counts)
    jumps = [jumps_of([view.T]).nnz / view.size for view in views]
    smooth = [j for j, share in enumerate(jumps) if share > RUN_SHARE]
    runs = [j for j in range(len(views)) if j not in smooth]
    scales = math.prod(views[j].shape[1] for j in smooth)
    exact = math.prod(_largest_ratio(views[j]) for j in runs) <= LARGEST_RATIO
    if runs and exact and scales <= MOST_SCALES and sum(jumps[j] for j in runs) <= RUN_SHARE:
        return _run_likelihood(outputs, counts, views, smooth, runs)
    sizes = [view.shape[1] for view in views]
    if len(views) > 1 and math.prod(sizes) <= min(DENSE_CELLS, DENSE_FACTOR * len(counts)):
        table = np.zeros(sizes)
        table[tuple(outputs.T)] = counts
        return DenseLikelihood(views, table)
    return TupleLikelihood(views, outputs, counts)


def _with_unseen(group: ReportGroup, view: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """List all possible outputs (R, 1) of a single service and their counts.

    Those unseen cost nothing, and say what could have been seen.
    """
    counts = np.zeros(view.shape[1], dtype=np.int64)
    counts[group.outputs[:, 0]] = group.counts
    listed = np.flatnonzero(view.any(axis=0) | (counts > 0))
    return listed[:, None].astype(np.int32), counts[listed]


def _largest_ratio(view: np.ndarray) -> float:
    """Largest ratio of the probabilities of one outcome under two components."""
    most, least = view.max(axis=0), view.min(axis=0)
    possible = most > 0
    return float(np.divide(most, least, out=np.full(most.size, np.inf), where=least > 0)[possible].max())


def _run_likelihood(
    outputs: np.ndarray, counts: np.ndarray, views: list[np.ndarray], smooth: list[int], runs: list[int]
) -> MixtureLikelihood:
    """Likelihood of runs, one part for each combination of outputs of the services that have none."""
    sizes = [views[j].shape[1] for j in smooth]
    member = np.zeros(len(outputs), dtype=int)
    for j, size in zip(smooth, sizes, strict=True):
        member = member * size + outputs[:, j]
    parts = []
    for number in np.flatnonzero(np.bincount(member)).tolist():
        rows, outcomes = member == number, np.unravel_index(number, sizes) if smooth else ()
        scale = math.prod((views[j][:, o] for j, o in zip(smooth, outcomes, strict=True)), start=np.ones(len(views[0])))
        jumps = jumps_of_products([views[j] for j in runs], outputs[rows][:, runs])
        parts.append(RunLikelihood(jumps, counts[rows], scale))
    return parts[0] if len(parts) == 1 else SumLikelihood(parts)
