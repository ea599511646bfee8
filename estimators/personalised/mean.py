"""The mean of numbers whose users chose their budgets."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtri

from ...mechanisms.errors import InputError
from ..input_grid import InputGrid
from ..intervals import Sample, check_level
from ..means.decoding import decoded_variances, plain_decoder
from ..means.mean import MeanEstimate
from .counts import PersonalisedCounts
from .numbers import personalised_distribution


def personalised_mean(counts: PersonalisedCounts, *, level: float = 0.95) -> MeanEstimate:
    r"""Estimate the mean of the inputs from reports at different budgets.

    Levels in the clear: the unbiased means of the levels, weighted by n_i / v_i, with v_i the variance of a decoded
    report averaged over the table's knots.  The weights depend on no report, so the mean is unbiased if levels do
    not depend on values.  Levels protected: no report can be decoded without its level, and the mean is that of
    `personalised_distribution`.

    Parameters
    ----------
    counts : PersonalisedCounts
        Of numbers.  `one_report` of the estimate allows a user to claim any level that somebody reported.
    level : float
        Coverage of the interval, in (0, 1).

    Raises
    ------
    InputError
        Reports of categories, a level in the clear with a single report, tables from which no unbiased mean can be had,
        and where levels are protected what `personalised_distribution` raises.

    Example
    -------
    >>> from optldp.mechanisms import PersonalisedMechanism, duchi, make_exact
    >>> made = PersonalisedMechanism([make_exact(duchi([0.0, 1.0], e)).mechanism for e in (1.0, 2.0)])
    >>> sent = made.sample(np.full(20_000, 0.25), np.arange(20_000) % 2, np.random.default_rng(1))
    >>> found = personalised_mean(PersonalisedCounts.from_reports(made, sent))
    >>> found.method, bool(found.ci_low < 0.25 < found.ci_high)
    ('population', True)
    """
    check_level(level)
    counts.require_reports()
    if counts.mechanism.level_epsilon is not None:
        return personalised_distribution(counts, level=level).distribution.mean()
    if not counts.mechanism.tables:
        raise InputError("values must be numbers, got categories: use personalised_mle")
    if counts.n_users < 2:
        raise InputError(f"there must be at least 2 reports for a standard error, got {counts.n_users}")
    samples, rates, ends = [], [], []
    for i, table in enumerate(counts.mechanism.tables):
        mine = counts.levels == i
        n = int(counts.counts[mine].sum())
        if n:
            values = plain_decoder(table)
            seen, many = values[counts.reports[mine, i]], counts.counts[mine]
            # One report, which anybody may claim to be of this level, shows no scatter: the largest there can be.
            alone = Sample(1, float(seen[0]), float(np.ptp(values)) ** 2 / 4, float(np.ptp(values)))
            samples.append(alone if n == 1 else Sample.of(seen, many, float(np.ptp(values))))
            rates.append(n / decoded_variances(table, values, InputGrid.knots(table.knots)).mean())
            ends.append((rates[-1] / n, float(values[table.possible].min()), float(values[table.possible].max())))
    weights = np.array(rates) / sum(rates)
    mean = float(weights @ [sample.mean for sample in samples])
    std_error = math.sqrt(float(weights**2 @ [sample.variance / sample.n for sample in samples]))
    reach = float(ndtri((1.0 + level) / 2.0)) * std_error
    one_report = _one_report(mean, sum(rates), ends)
    return MeanEstimate(mean, std_error, mean - reach, mean + reach, level, counts.n_users, "population", one_report)


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
