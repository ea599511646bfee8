"""Whether reports to several services are what one value of each user would give: asked before they are joined."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from ...mechanisms.errors import InputError
from ...mechanisms.table.table import TabulatedMechanism
from ...solvers.likelihood.dense import DenseLikelihood
from ...solvers.likelihood.fit import fit_mixture
from ..counting.counts import ReportCounts, ReportGroup, same_table
from ..input_grid import InputGrid

LEVEL = 1e-4
"""Chance at most with which services that measured one value are refused."""

MOST_PAIRS = 6
"""Pairs of services that are looked at, those with most users in common."""

MOST_USERS = 2**14
"""Users of a pair that are looked at, drawn at random: those who are left out cost power, and never validity."""

FINEST, STEP = 128, 1 / 64
"""Steps of the domain that values are placed on at most, and the least that steps are made as small as: what a value
between two places is off by falls with the square of it."""

CERTIFICATE = 1e-6
"""Log-likelihood per user that the best distribution may miss, which is given to it."""

SEED = 0
"""The same reports give the same answer. Any number would do."""


def require_one_value(counts: ReportCounts) -> None:
    """Raise InputError, which names rounds, where `not_one_value` finds that services measured different ones.

    Example
    -------
    >>> from optldp.mechanisms import grr
    >>> from ..counting.counts import Service
    >>> services = [Service(name, grr([0.0, 1.0], 1.0)) for name in ("web", "app")]
    >>> independent = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], 100, axis=0)
    >>> require_one_value(ReportCounts.from_outputs(services, independent))
    """
    if (fault := not_one_value(counts)) is not None:
        raise InputError(
            f"services that are joined must have measured one value of each user, got {fault}: read each with its "
            "own table, and files of different times by rounds=True (--rounds)"
        )


def not_one_value(counts: ReportCounts) -> str | None:
    r"""Return which reports of the same users to two services one value of each does not explain; None for none.

    One value: a user's reports to the services a and b have the probability sum_k p_k P_a(y | k) P_b(y' | k). Files of
    different times do not: values have changed, so that reports depend less on each other than that, or a remembered
    report was sent again, so that they are the same more often than chance has it. The alternative adds both to it,

        sum_k p_k P_a(y | k) P_b(y' | k) + v q_a(y) q_b(y') + w q_a(y) [y = y'],

    the last for equal tables; p, v, w and the frequencies q are fitted to one half of the users. On the other half the
    ratio of its likelihood to the largest that one value has is, if one value is the truth, of expectation 1 at most,
    whatever the number of users and however few there are of each pair of reports. So is the average over both halves,
    and over pairs of services, and it exceeds 1 / level with a chance of at most the level (Markov).

    Parameters
    ----------
    counts : ReportCounts

    Returns
    -------
    fault : str or None
        Of an average above 1 / `LEVEL`: the services whose ratio is the largest, in words.

    Source: Wasserman, Ramdas and Balakrishnan (2020), "Universal inference", theorems 3 and 4.

    Example
    -------
    >>> from optldp.mechanisms import grr
    >>> from ..counting.counts import Service
    >>> weeks = [Service(name, grr([0.0, 1.0, 2.0], 1.0)) for name in ("may", "june")]
    >>> remembered = np.repeat([[0, 0], [1, 1], [2, 2]], 100, axis=0)
    >>> not_one_value(ReportCounts.from_outputs(weeks, remembered))
    "reports to 'may' and 'june' that one value does not explain (p below 0.0001)"
    """
    pairs = _pairs(counts)
    if not pairs:
        return None
    evidence = [_log_ratio(pair) for pair in pairs]
    if np.logaddexp.reduce(evidence) - math.log(len(evidence)) < -math.log(LEVEL):
        return None
    one, other = (service.name for service in pairs[int(np.argmax(evidence))].services)
    return f"reports to {one!r} and {other!r} that one value does not explain (p below {LEVEL:g})"


def _pairs(counts: ReportCounts) -> list[ReportCounts]:
    """The users of both services of each pair, of the pairs with most of them."""
    both = {
        pair: sum(group.n_users for group in counts.groups if set(pair) <= set(group.services))
        for pair in combinations(range(len(counts.services)), 2)
    }
    chosen = sorted((pair for pair in both if both[pair] > 1), key=lambda pair: -both[pair])[:MOST_PAIRS]
    found = []
    for pair in chosen:
        apart = counts.only(pair)
        (group,) = (group for group in apart.groups if len(group.services) == 2)
        found.append(ReportCounts(apart.services, (group,)))
    return found


def _log_ratio(pair: ReportCounts) -> float:
    """The logarithm of the average, over both halves of the users, of the ratio of likelihoods."""
    rng = np.random.default_rng(SEED)
    share = min(1.0, MOST_USERS / pair.n_users) / 2
    halves = [half.groups for half in pair.split([share, share, max(0.0, 1 - 2 * share)], rng)[:2]]
    if not all(halves):
        return 0.0
    (one,), (other,) = halves
    rows = _rows(*pair.mechanisms)
    first, second = (_log_ratio_of(pair, rows, fitted, asked) for fitted, asked in ((one, other), (other, one)))
    return float(np.logaddexp(first, second) - math.log(2))


def _log_ratio_of(pair: ReportCounts, rows: list[np.ndarray], fitted: ReportGroup, asked: ReportGroup) -> float:
    """The logarithm of the likelihood of one half by what was fitted to the other, over the largest by one value."""
    one_value = _products(rows, asked)
    if not one_value.any(axis=0).all():
        return math.inf  # a pair of reports that no value gives
    found = fit_mixture(DenseLikelihood([one_value], asked.counts), certificate=CERTIFICATE)
    often = [
        _frequencies(table, column, fitted) for table, column in zip(pair.mechanisms, fitted.outputs.T, strict=True)
    ]
    same = same_table(*pair.mechanisms)
    held, told = (_alternative(rows, often, group, same=same) for group in (fitted, asked))
    weights = fit_mixture(DenseLikelihood([held], fitted.counts), certificate=CERTIFICATE).weights
    with np.errstate(divide="ignore"):
        return float(asked.counts @ np.log(weights @ told)) - found.loglik - found.gap_bound


def _rows(one: TabulatedMechanism, other: TabulatedMechanism) -> list[np.ndarray]:
    """The probability (K, m) of each output of both tables at places that a value may be at."""
    low, high = one.domain
    places = np.union1d(one.knots, other.knots)
    if all(table.promise.holds_between_knots for table in (one, other)):
        if places.size > FINEST + 1:
            places = np.linspace(low, high, FINEST + 1)
        elif places.size <= 1 / STEP:
            places = np.union1d(places, np.linspace(low, high, round(1 / STEP) + 1))
    grid = InputGrid.knots(places)
    return [grid.rows(table) for table in (one, other)]


def _products(rows: list[np.ndarray], group: ReportGroup) -> np.ndarray:
    """The probability (K, R) of each pair of outputs of one value."""
    return rows[0][:, group.outputs[:, 0]] * rows[1][:, group.outputs[:, 1]]


def _frequencies(table: TabulatedMechanism, column: np.ndarray, group: ReportGroup) -> np.ndarray:
    """How often (m,) each output was reported, none of those that can be never."""
    often = 0.5 * table.possible
    np.add.at(often, column, group.counts)
    return often / often.sum()


def _alternative(rows: list[np.ndarray], often: list[np.ndarray], group: ReportGroup, *, same: bool) -> np.ndarray:
    """The components (K + 2, R) of the alternative at each pair of outputs; without the last where tables differ."""
    first, second = group.outputs.T
    more = [often[0][first] * often[1][second]]
    if same:
        more.append(np.where(first == second, often[0][first], 0.0))
    return np.vstack([_products(rows, group), *more])
