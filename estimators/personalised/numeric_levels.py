"""The distribution of numbers, and their mean, from reports whose users chose their budgets."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...mechanisms.cost import require_affordable, table_cost
from ...mechanisms.errors import InputError
from ...mechanisms.table.table import TabulatedMechanism
from ...solvers.likelihood.fit import MixtureFit, start_weights
from ..affine_pairs.at_levels import PairsAtLevels
from ..affine_pairs.intervals import LIKELY, AffinePairs
from ..affine_pairs.outcomes import Outcomes
from ..assumption_free.points import AtPoints, at_points
from ..assumptions.base import Assumed
from ..estimate import check_target
from ..input_grid import InputGrid
from ..intervals import Sample
from ..means.decoding import decoded_variances, plain_decoder
from ..means.mean import MeanEstimate
from ..means.noise import MechanismNoise, fixed_users_variance
from ..means.unbiasing import UNBIASED_TOLERANCE
from ..methods import Target
from .counts import PersonalisedCounts
from .covariance import joint_covariance
from .estimate import LevelShares, PersonalisedDistribution
from .every_report import every_report
from .fit import fit_jointly
from .likelihood import TabledPersonalised
from .reports import tables_of


def personalised_distribution(counts: PersonalisedCounts, *, grid: InputGrid | None = None) -> PersonalisedDistribution:
    r"""Maximise the likelihood of the reports over the distribution of the values and the shares of the levels.

    As `personalised_mle` does for categories.  Levels' tables may have different outputs: reports are distinguished by
    the common refinement of all levels' outputs.  A cell's law is uniform, so a report has density P_i[k, cell] / width
    under level i; at a point, a level without that point cannot have made it. If levels are in the clear, only the
    output at the user's own level counts.  It costs R (t + K)^2 a step and t D K numbers for D cells of the refinement.

    Intervals are pairs of linear estimates that hold for all distributions, as in `estimate_distribution`: of levels in
    the clear, which are as services, and of protected ones for any shares of them that the reports do not contradict.

    The exact maximum is a few spikes (see `estimate_distribution`): its mean is good, its shape is not smooth.  Where
    levels are in the clear, `estimate_distribution` with each level as a service has smoothing too.

    Parameters
    ----------
    counts : PersonalisedCounts
        Of numbers.
    grid : InputGrid, optional
        K components. Default: the knots that all tables share.

    Returns
    -------
    estimate : PersonalisedDistribution
        The weights of the grid; ``estimate.mean()`` is the mean, with its standard error.

    Raises
    ------
    InputError
        No reports, reports of categories, tables with other laws within outputs whose levels are protected, a grid
        outside the domain or, by default, knots that disagree.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import PersonalisedCounts
    >>> from optldp.estimators import personalised_distribution
    >>> from optldp.mechanisms import make_exact, piecewise
    >>> from optldp.mechanisms.combinators.personalised import PersonalisedMechanism
    >>> tables = [make_exact(piecewise(np.linspace(0, 1, 9), e)).mechanism for e in (1.0, 2.0)]
    >>> made = PersonalisedMechanism(tables, 0.5)
    >>> values, levels = np.full(20_000, 0.25), np.arange(20_000) % 2
    >>> sent = made.sample(values, levels, np.random.default_rng(1))
    >>> found = personalised_distribution(PersonalisedCounts.from_reports(made, sent)).mean()
    >>> round(found.value, 3), round(found.std_error, 3)
    (0.249, 0.004)
    """
    counts.require_reports()
    tables = tables_of(counts.mechanism)
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
    n = counts.n_users
    shares = LevelShares(counts.mechanism.epsilons, fit.shares, covariance[:many, :many], n, "mle")
    seen = at_points(place, fit.weights, tables)
    explained = _explained(counts, tables, fit.shares, seen)
    about = (place, fit.weights, covariance[many:, many:], n, "em", evidence, size)
    return PersonalisedDistribution(*about, explained=explained, level_shares=shares, joint=fit)


def _explained(
    counts: PersonalisedCounts, tables: Sequence[TabulatedMechanism], shares: np.ndarray, seen: AtPoints
) -> AffinePairs:
    """What reports say of all distributions: at levels in the clear like services, else for any shares of levels."""
    mechanism, (every, sizes) = counts.mechanism, every_report(counts.mechanism)
    clear = mechanism.level_epsilon is None
    points = np.unique(np.concatenate([table.knots for table in tables]))
    weights, held = seen.rounded(points), Assumed.of([], points)
    place = {key: at for at, key in enumerate(_keys(every))}
    seen_at = [place[key] for key in _keys(counts)]
    reports = np.bincount(seen_at, counts.counts, every.levels.size).astype(np.int64)
    laws = tabled_likelihood(every, tables, InputGrid.knots(points)).laws_of_reports() * sizes
    known = counts.level_counts / counts.n_users if clear else (1.0 - LIKELY) * shares + LIKELY / shares.size
    law = np.einsum("i,ikm->km", known, laws)
    can = law.any(axis=0)
    outcomes = Outcomes(points, law[:, can], reports[can], seen.between)
    if clear:
        return AffinePairs(outcomes, held, weights)
    decoder, reported = mechanism.level_report.decoder, every.levels[can]
    return PairsAtLevels(outcomes, held, weights, laws=laws[:, :, can], reported=reported, decoder=decoder)


def _keys(counts: PersonalisedCounts) -> list[tuple[int, ...]]:
    """What tells reports apart: the level and the report, in the clear as that level's table has it."""
    rows = counts.reports
    if counts.mechanism.level_epsilon is None:
        rows = np.take_along_axis(rows, counts.levels[:, None], axis=1)
    return [tuple(row) for row in np.column_stack([counts.levels, rows]).tolist()]


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
    what = f"the laws of {len(distinct)} different reports of {len(tables)} levels on {grid.size} cells"
    require_affordable(what, table_cost(len(tables) * len(distinct), grid.size), "use fewer --cells (an InputGrid)")
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


def personalised_mean(
    counts: PersonalisedCounts, *, target: Target = "population", drawn_from: int | None = None
) -> MeanEstimate:
    r"""Estimate the mean of the inputs from reports at different budgets.

    Levels in the clear: the unbiased means of the levels, weighted by n_i / v_i, with v_i the variance of a decoded
    report averaged over the table's knots.  The weights do not depend on reports, so the mean is unbiased if levels do
    not depend on values.  Levels protected, with one decoder unbiased for all levels, as on the common outputs of a
    design for `Levels`: the same by reported levels, where v_i mixes the variances of all levels that may have been
    reported as i, taken as equally common.  Otherwise reports cannot be decoded without their level, and the mean is
    that of `personalised_distribution`.

    Parameters
    ----------
    counts : PersonalisedCounts
        Of numbers.  `one_report` of the estimate allows a user to claim any level that somebody reported.
    target : {"population", "users"}
        Whose mean it is. With "users", these very ones, the error is the noise and the difference of heavily weighted
        levels from the others; this needs levels in the clear.
    drawn_from : int, optional
        With the target "users": the number of all users, of whom those who reported are a random part.

    Returns
    -------
    estimate : MeanEstimate
        In the units of the inputs.

    Raises
    ------
    InputError
        Reports of categories, another target, or that of users where levels are protected, a level in the clear with a
        single report, tables that allow no unbiased mean, and for protected levels the errors of
        `personalised_distribution`.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import PersonalisedCounts, personalised_mean
    >>> from optldp.mechanisms import PersonalisedMechanism, duchi, make_exact
    >>> made = PersonalisedMechanism([make_exact(duchi([0.0, 1.0], e)).mechanism for e in (1.0, 2.0)])
    >>> sent = made.sample(np.full(20_000, 0.25), np.arange(20_000) % 2, np.random.default_rng(1))
    >>> found = personalised_mean(PersonalisedCounts.from_reports(made, sent))
    >>> round(found.value, 3), round(found.std_error, 3)
    (0.242, 0.005)
    """
    check_target(target)
    counts.require_reports()
    mechanism, tables = counts.mechanism, tables_of(counts.mechanism)
    if target == "users" and mechanism.level_epsilon is not None:
        raise InputError("target users is for levels in the clear, got protected ones: leave it out")
    if counts.n_users < 2:
        raise InputError(f"there must be at least 2 reports for a standard error, got {counts.n_users}")
    clear = mechanism.level_epsilon is None
    decoders = [plain_decoder(table) for table in tables] if clear else _common_decoder(tables)
    if decoders is None:
        return personalised_distribution(counts).mean()
    variances = _variances(tables, decoders, mechanism.level_response)
    samples, rates, ends, noises = [], [], [], []
    for i in range(mechanism.level_report.n_reports):
        own = i if clear else 0  # all decode alike where levels are protected
        table, values, mine = tables[own], decoders[own], counts.levels == i
        n = int(counts.counts[mine].sum())
        if n:
            seen, many = values[counts.reports[mine, own]], counts.counts[mine]
            # One report, which anybody may claim to be of this level, shows no scatter: the largest there can be.
            alone = Sample(1, float(seen[0]), float(np.ptp(values)) ** 2 / 4, float(np.ptp(values)))
            samples.append(alone if n == 1 else Sample.of(seen, many, float(np.ptp(values))))
            rates.append(n / variances[i])
            if target == "users":
                least, of_output = MechanismNoise(table).of_values(values)
                noises.append((float(many @ of_output[counts.reports[mine, own]]) / n, least))
            ends.append((rates[-1] / n, float(values[table.possible].min()), float(values[table.possible].max())))
    weights = np.array(rates) / sum(rates)
    mean = float(weights @ [sample.mean for sample in samples])
    std_error = math.sqrt(float(weights**2 @ [sample.variance / sample.n for sample in samples]))
    if target == "users":
        total, everyone = [sample.variance for sample in samples], max(counts.n_users, drawn_from or 0)
        noise, least = np.array(noises).T
        std_error = math.sqrt(fixed_users_variance(std_error**2, weights, total, noise, least, everyone))
    one_report = _one_report(mean, sum(rates), ends)
    return MeanEstimate(mean, std_error, counts.n_users, "population", target, one_report=one_report)


def _common_decoder(tables: Sequence[TabulatedMechanism]) -> list[np.ndarray] | None:
    """Return the first table's decoder for each of them, if it decodes the same reports of all without bias."""
    first = tables[0]
    if not all(
        np.array_equal(getattr(first, name), getattr(table, name))
        for table in tables
        for name in ("knots", "low", "high", "possible")
    ):
        return None
    values, (low, high) = plain_decoder(first), first.domain
    bias = max(float(np.abs(table.probabilities @ values - table.knots).max()) for table in tables)
    return [values] * len(tables) if bias <= UNBIASED_TOLERANCE * (high - low) else None


def _variances(
    tables: Sequence[TabulatedMechanism], decoders: Sequence[np.ndarray], response: np.ndarray
) -> np.ndarray:
    """Return the variance (m,) of a decoded report by report of the level, mean over the knots and over even levels."""
    own = [
        decoded_variances(table, values, InputGrid.knots(table.knots)).mean()
        for table, values in zip(tables, decoders, strict=True)
    ]
    return own @ response / response.sum(axis=0)


def _one_report(mean: float, total: float, ends: list[tuple[float, float, float]]) -> float:
    """The most that replacing one user's level and report moves sum a d / sum a, a being 1 / v of the user's level.

    Taking out (a, d) and putting in (b, e) moves it by (b (e - mean) - a (d - mean)) / (total + b - a).
    """
    moves = [0.0]
    for a, *taken in ends:
        for b, *put in ends:
            if total + b - a > 0:
                moves += [abs(b * (e - mean) - a * (d - mean)) / (total + b - a) for d in taken for e in put]
    return max(moves)
