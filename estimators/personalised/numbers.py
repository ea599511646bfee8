"""The distribution of numbers, and their mean, from reports whose users chose their budgets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...mechanisms.errors import InputError
from ...mechanisms.table.table import TabulatedMechanism
from ...solvers.likelihood.fit import MixtureFit, start_weights
from ..distributions.distribution import DistributionEstimate
from ..input_grid import InputGrid
from ..intervals import check_level
from .counts import PersonalisedCounts
from .covariance import joint_covariance
from .estimate import LevelShares
from .fit import JointFit, fit_jointly
from .likelihood import TabledPersonalised


@dataclass(frozen=True, eq=False)
class PersonalisedDistribution:
    """A distribution with bands, mean and quantiles, and the shares of the levels.

    Parameters
    ----------
    distribution : DistributionEstimate
        Its fit's certificate is the joint one.
    shares : LevelShares
    fit : JointFit
    """

    distribution: DistributionEstimate
    shares: LevelShares
    fit: JointFit


def personalised_distribution(
    counts: PersonalisedCounts, *, grid: InputGrid | None = None, level: float = 0.95
) -> PersonalisedDistribution:
    r"""Maximise the likelihood of the reports over the distribution of the values and the shares of the levels.

    As `personalised_mle` does for categories.  Levels' tables may have different outputs: reports are told apart by
    which output of each level's table they are, the common refinement of all outputs.  A cell's law is uniform, so a
    report has density P_i[k, cell] / width under level i; at a point, a level without that point cannot have made it.
    Where levels are in the clear only the own level's output counts.  It costs R (t + K)^2 a step and t D K
    numbers for D cells of the refinement.

    The exact maximum is a few spikes (see `estimate_distribution`): its mean is good, its shape is not smooth.  Where
    levels are in the clear, `estimate_distribution` with each level as a service has smoothing too.

    Parameters
    ----------
    counts : PersonalisedCounts
        Of numbers.
    grid : InputGrid, optional
        K components. Default: the knots that all tables share.
    level : float
        Coverage of the bands, in (0, 1).

    Raises
    ------
    InputError
        No reports, reports of categories, tables with other laws within outputs whose levels are protected, a grid
        outside the domain or, by default, knots that disagree.

    Example
    -------
    >>> from optldp.mechanisms.composed.personalised import PersonalisedMechanism
    >>> from optldp.mechanisms import make_exact, piecewise
    >>> tables = [make_exact(piecewise(np.linspace(0, 1, 9), e)).mechanism for e in (1.0, 2.0)]
    >>> made = PersonalisedMechanism(tables, 0.5)
    >>> values, levels = np.full(20_000, 0.25), np.arange(20_000) % 2
    >>> sent = made.sample(values, levels, np.random.default_rng(1))
    >>> found = personalised_distribution(PersonalisedCounts.from_reports(made, sent)).distribution.mean()
    >>> bool(abs(found.mean - 0.25) < 4 * found.std_error)
    True
    """
    check_level(level)
    counts.require_reports()
    tables = counts.mechanism.tables
    if not tables:
        raise InputError("values must be numbers, got categories: use personalised_mle")
    place = InputGrid.common(tables) if grid is None else grid
    likelihood = tabled_likelihood(counts, tables, place)
    many, size = likelihood.n_levels, likelihood.n_values
    fit = fit_jointly(likelihood, start_weights(None, many), start_weights(None, size))
    covariance = joint_covariance(likelihood, fit.shares, fit.weights)
    missing = max(0.0, fit.joint_certificate)
    evidence = MixtureFit(
        fit.weights,
        fit.loglik,
        fit.joint_certificate,
        likelihood.total * math.log1p(missing),
        fit.iterations,
        "interior-point",
        fit.stop,
    )
    found = DistributionEstimate(
        place, fit.weights, covariance[many:, many:], level, counts.n_users, "em", evidence, None, size
    )
    return PersonalisedDistribution(found, LevelShares(fit.shares, covariance[:many, :many]), fit)


def tabled_likelihood(
    counts: PersonalisedCounts, tables: Sequence[TabulatedMechanism], grid: InputGrid
) -> TabledPersonalised:
    """Return the likelihood of the reports of numbers; the arguments are as above.

    Raises InputError for a law within outputs that is not uniform where levels are protected.
    """
    clear = counts.mechanism.level_epsilon is None
    for table in tables:
        if not clear and table.within.kind != "uniform" and not table.is_discrete:
            raise InputError(
                f"cells must have a uniform law where levels are protected, got {table.within.kind}: report levels in "
                "the clear, or use another family"
            )
    distinct, which = np.unique(counts.reports, axis=0, return_inverse=True)
    widths = np.array([(t.high - t.low)[o] for t, o in zip(tables, distinct.T, strict=True)])  # (t, D)
    possible = distinct.T >= 0
    at_point = (possible & (widths == 0)).any(axis=0)
    laws = np.zeros((len(tables), len(distinct), grid.size))
    for i, table in enumerate(tables):
        if clear:
            weights = possible[i].astype(np.float64)
        else:
            made = possible[i] & ((widths[i] == 0) == at_point)
            weights = np.where(made, 1.0 / np.where(at_point, 1.0, np.where(made, widths[i], 1.0)), 0.0)
        laws[i] = grid.rows(table).T[distinct[:, i]] * weights[:, None]
    response = counts.mechanism.level_response
    return TabledPersonalised(counts.levels, which.reshape(-1), counts.counts, response, laws)
