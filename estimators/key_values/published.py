"""How many users hold a key and the mean of its values, by solving for them: PCKV's estimators and their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import NamedTuple

import numpy as np

from ...mechanisms.errors import InputError
from ...mechanisms.key_value.mechanism import KeyValueMechanism
from ...mechanisms.table.unit_interval import UnitInterval
from ..estimate import check_target
from ..intervals import CONFIDENCE, Interval, normal_quantile
from ..means.decoding import plain_decoder
from ..methods import Target
from .counts import KeyCounts, KeyValueCounts, ShownCounts
from .shares import KeyFrequencies, KeyMeans


@dataclass(frozen=True, eq=False, repr=False)
class KeyValueEstimate(KeyMeans):
    """Means of the values of K keys with Fieller's intervals, and the keys' frequencies.

    Parameters
    ----------
    keys : tuple of str
    value : (K,) ndarray of float
        Mean value of the users that hold the key; input units.
    std_error : (K,) ndarray of float
        By the delta method, for keys that are not nearly as rare as noise.
    frequencies : KeyFrequencies
        Share of users that hold the key.
    domain : (float, float)
        Of the values.
    totals : (2, K) ndarray of float
        Users who sampled each key, and the sum of their values on [-1, 1].
    covariance : (3, K) ndarray of float
        Variance of the first, their covariance, and variance of the second.
    n : int
        Number of users.
    method : {"unbiased"}
    target : {"population", "users"}

    Example
    -------
    >>> from optldp.estimators import count, estimate_key_means
    >>> from optldp.mechanisms import duchi, make_exact
    >>> from optldp.mechanisms.key_value.unary import key_value_unary
    >>> made = key_value_unary(["a", "b"], make_exact(duchi([0.0, 1.0], 2.0)).mechanism, 2.0)
    >>> sent = made.sample(["a", "b"] * 500, [0.25, 0.75] * 500, np.random.default_rng(1))
    >>> estimate_key_means(count(made, sent))
    KeyValueEstimate(numbers=2, largest='b: 0.675098', n=1000, method='unbiased')
    """

    keys: tuple[str, ...]
    value: np.ndarray
    std_error: np.ndarray
    frequencies: KeyFrequencies
    domain: tuple[float, float]
    totals: np.ndarray
    covariance: np.ndarray
    n: int
    method: str = "unbiased"
    target: Target = "population"

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return Fieller's intervals of the means, within the domain; InputError for a confidence outside (0, 1)."""
        users, sums = self.totals
        low, high = _fieller(users, sums, normal_quantile(confidence) ** 2 * self.covariance)
        unit = UnitInterval.of(self.domain)
        return Interval(unit.values(low), unit.values(high), confidence)


def estimate_key_means(counts: KeyCounts, *, target: Target = "population") -> KeyValueEstimate:
    r"""Estimate frequencies and conditional means; the only bias comes from the ratio and the clipping.

    With P reports of n that show the key, Q the sum of the decoded outputs d that they show, a and b the probabilities
    of showing the own and another place and d_D the mean of d under the fake law, N users sampled the key and their
    values sum to S where

        P = a N + b (n - N),    Q = a S + b (n - N) d_D.

    The frequency is max(padding, 1) N / n and the mean S / N. The published clipping sets the numbers of users at the
    upper and the lower end, (N +- S') / 2 with S' the sum on [-1, 1], to at least 0 and at most N, and N to at least 1.

    Both are sums over users, so their covariance is a sample covariance and includes the users' sampling. The mean's
    interval is Fieller's: all m that S - m N does not contradict. It keeps its coverage where N is hardly more than its
    own error, and is the whole domain where N may be zero.

    For these very users the part of their sampling that reports identify is taken out: n pi^2 f (1 - f) [1, m, m^2] of
    the covariance, with pi = 1 / max(padding, 1), f the share of holders and m their mean. The scatter of holders'
    values stays in, so intervals of means are longer than necessary.

    Parameters
    ----------
    counts : KeyValueCounts, ShownCounts or PersonalisedPairCounts
        Of at least two users. `personalised.pair_totals` describes how levels are weighted.
    target : {"population", "users"}
        Whose numbers are estimated; "users", these very ones, is not available for levels.

    Returns
    -------
    estimate : KeyValueEstimate
        For each of K keys, the mean of its holders' values; `frequencies` has the share of users who hold it.

    Raises
    ------
    InputError
        Fewer than two users, an unknown target, the target "users" with levels, or a value table that allows no
        unbiased mean.

    Source: Gu et al. (2020), aggregation with clipping; Fieller (1954), "Some problems in interval estimation".

    Example
    -------
    >>> import numpy as np
    >>> from optldp import estimate_key_means
    >>> from optldp.estimators import KeyValueCounts
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> from optldp.mechanisms.key_value.unary import key_value_unary
    >>> made = key_value_unary(["a", "b"], duchi([0.0, 10.0], 2.0), 2.0)
    >>> rng = np.random.default_rng(1)
    >>> reports = made.sample(np.repeat(["a", "b"], [15_000, 5_000]), np.repeat([2.0, 7.0], [15_000, 5_000]), rng)
    >>> found = estimate_key_means(KeyValueCounts.from_reports(made, reports))
    >>> found.frequencies.value.round(2), found.value.round(1)
    (array([0.74, 0.26]), array([2. , 6.9]))
    """
    check_target(target)
    if target == "users" and not isinstance(counts, KeyValueCounts | ShownCounts):
        raise InputError("target users is for pairs without levels, got levels of pairs: leave it out")
    if counts.n_users < 2:
        raise InputError(f"users must be at least 2 for a standard error, got {counts.n_users}")
    found, n, domain = key_totals(counts), counts.n_users, counts.tables[0].domain
    unit, (users, sums), covariance = UnitInterval.of(domain), found.totals, found.covariance
    scale = counts.share_scale / n
    held = np.clip(users, 1.0, n)
    means = (np.clip((users + sums) / 2, 0.0, held) - np.clip((users - sums) / 2, 0.0, held)) / held
    holders_variance = found.holders_variance
    if target == "users":
        share = np.clip(scale * found.holders, 0.0, 1.0)
        who = n * share * (1 - share) / counts.share_scale**2
        left = covariance - who * np.stack([np.ones_like(means), means, means**2])
        own, sum_own = np.maximum(left[0], 0.0), np.maximum(left[2], 0.0)
        most = np.sqrt(own * sum_own)
        covariance = np.stack([own, np.clip(left[1], -most, most), sum_own])
        holders_variance = np.maximum(holders_variance - who, 0.0)
    spread = covariance[2] - 2 * means * covariance[1] + means**2 * covariance[0]
    return KeyValueEstimate(
        counts.keys,
        unit.values(means),
        unit.half * np.sqrt(np.maximum(spread, 0.0)) / held,
        KeyFrequencies(counts.keys, scale * found.holders, scale * np.sqrt(holders_variance), n, "unbiased", target),
        domain,
        found.totals,
        covariance,
        n,
        target=target,
    )


def frequency_contributions(mechanism: KeyValueMechanism) -> tuple[float, float]:
    """Return what a report adds to the frequency of a key that it does not show, and of one that it shows, times n.

    Example
    -------
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> from optldp.mechanisms.key_value.unary import key_value_unary
    >>> hidden, shown = frequency_contributions(key_value_unary(["a", "b"], duchi([0.0, 10.0], 2.0), 2.0))
    >>> round(hidden, 3), round(shown, 3)
    (-0.626, 2.626)
    """
    own, other, scale = mechanism.own_shown, mechanism.other_shown, mechanism.share_scale
    return -scale * other / (own - other), scale * (1 - other) / (own - other)


def mean_contributions(mechanism: KeyValueMechanism, estimate: KeyValueEstimate) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the largest that a report adds to the mean (K,) of each key's values, times n.

    To first order, and before the clipping: a mean S / N moves by (s - m h) / N for a report that adds s and h.
    """
    unit = UnitInterval.of(mechanism.value.domain)
    shown, hidden, holds = contributions(mechanism, unit.places(plain_decoder(mechanism.value)))
    users = np.maximum(estimate.frequencies.value * estimate.n / mechanism.share_scale, 1.0)
    sums = np.append(shown[mechanism.possible], hidden)
    numbers = np.append(np.full(sums.size - 1, holds[0]), holds[1])
    moves = (sums - unit.places(estimate.value[:, None]) * numbers) * unit.half * estimate.n / users[:, None]
    return moves.min(axis=1), moves.max(axis=1)


def contributions(mechanism: KeyValueMechanism, decoded: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
    """What a report that shows each output (m,), or none, adds to S, and what the two (2,) add to N."""
    own, other = mechanism.own_shown, mechanism.other_shown
    offset = other * float(mechanism.fake_law @ decoded)
    holds = np.array([1 - other, -other]) / (own - other)
    return (decoded - (1 - holds[0]) * offset) / own, float(-(1 - holds[1]) * offset / own), holds


class KeyTotals(NamedTuple):
    """What was found of the K keys of n users before anything is divided or clipped.

    Attributes
    ----------
    holders : (K,) ndarray
        Users who sampled each key, as its frequency takes it.
    holders_variance : (K,) ndarray
    totals : (2, K) ndarray
        The same as the mean takes it, and the sum of their values on [-1, 1].
    covariance : (3, K) ndarray
        Variance of the first, their covariance, and variance of the second.
    """

    holders: np.ndarray
    holders_variance: np.ndarray
    totals: np.ndarray
    covariance: np.ndarray


@singledispatch
def key_totals(counts: KeyValueCounts | ShownCounts) -> KeyTotals:
    """Return the totals of at least two users; InputError for a value table without an unbiased mean."""
    n, table = counts.n_users, counts.mechanism.value
    decoded = UnitInterval.of(table.domain).places(plain_decoder(table))
    shown, hidden, holds = contributions(counts.mechanism, decoded)
    outputs, times = counts.shown, counts.hidden
    seen = outputs.sum(axis=1)
    users, sums = seen * holds[0] + times * holds[1], outputs @ shown + times * hidden
    squares = np.stack(
        [
            seen * holds[0] ** 2 + times * holds[1] ** 2,
            holds[0] * (outputs @ shown) + times * holds[1] * hidden,
            outputs @ shown**2 + times * hidden**2,
        ]
    )
    covariance = (squares - np.stack([users**2, users * sums, sums**2]) / n) * n / (n - 1)
    return KeyTotals(users, covariance[0], np.stack([users, sums]), covariance)


def _fieller(users: np.ndarray, sums: np.ndarray, squared: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends (K,), within [-1, 1], of all m with (S - m N)^2 <= z^2 Var(S - m N); `squared` is z^2 times."""
    top = users**2 - squared[0]
    cross = users * sums - squared[1]
    root = np.sqrt(np.maximum(cross**2 - top * (sums**2 - squared[2]), 0.0))
    known = (top > 0) & (users > 0)
    safe = np.where(known, top, 1.0)
    return (
        np.where(known, np.clip((cross - root) / safe, -1.0, 1.0), -1.0),
        np.where(known, np.clip((cross + root) / safe, -1.0, 1.0), 1.0),
    )
