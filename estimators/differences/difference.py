r"""The difference of two groups or periods, with an interval that counts the users who are in both.

Both estimates are averages of unbiased numbers, a_i of the n_A users of the first and b_i of the n_B of the second, so

    Var(a - b) = Var(a) + Var(b) - 2 / (n_A n_B)  sum over users in both of (a_i - a)(b_i - b).

The noise of two reports is independent, so the products have the mean of the products of the values: what users who
hardly change have in common is taken out, noise is not.  If the same noise was used twice, as for a report that is kept
and sent again, the products see that too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...mechanisms.errors import InputError
from ..estimate import Estimate
from ..intervals import CONFIDENCE, Interval, each_of, normal_interval
from ..methods import Target
from .matched import MatchedTallies
from .report_numbers import report_numbers
from .weighted import WeightedFrequencies, WeightedMean, estimate_weighted
from .without_privacy import RATIO, ratio_to


@dataclass(frozen=True, eq=False, repr=False)
class Difference(Estimate):
    """How much a mean, or each of K frequencies, of the first group or period is above that of the second.

    Attributes
    ----------
    first, second : WeightedMean or WeightedFrequencies
        The estimate for each.
    value, std_error : float or (K,) ndarray of float
    without : float or (K,) ndarray of float
        Standard error that the values themselves would give; 0 if users are the same and their values have not changed,
        and for these very users.
    n : int
        Users of both together, each counted once.
    matched : int or None
        Users who are in both; None where the two were taken as independent.
    simultaneous : bool
        Whether intervals of frequencies hold for all categories at once, by `each_of`, or each by itself.
    method : str
    target : {"population", "users"}

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.differences import estimate_difference
    >>> from optldp.estimators.differences.matched import match_users
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> made = categorical_grr("ab", 3.0)
    >>> before, after = (
    ...     {"user": range(first, first + 500), "report": made.to_text(np.repeat([0, 1], [many, 500 - many]))}
    ...     for first, many in ((0, 300), (500, 250))
    ... )
    >>> estimate_difference(match_users((made, before), (made, after), key="user")).value.round(3)
    array([ 0.11, -0.11])
    """

    first: WeightedMean | WeightedFrequencies
    second: WeightedMean | WeightedFrequencies
    value: Any
    std_error: Any
    without: Any
    n: int
    matched: int | None
    simultaneous: bool
    method: str
    target: Target = "population"

    @property
    def labels(self) -> Mapping[str, Sequence[Any]]:
        """The categories, of frequencies."""
        return self.first.labels

    @property
    def ratio(self) -> float | None:
        """How many times as long the intervals are as without privacy; of frequencies all together."""
        total, without = (float(np.sqrt(np.sum(np.square(each)))) for each in (self.std_error, self.without))
        return ratio_to(total, without)

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return normal intervals, of frequencies within [-1, 1]; InputError for a confidence outside (0, 1)."""
        each = each_of(confidence, np.size(self.value)) if self.simultaneous else confidence
        most = 1.0 if isinstance(self.first, WeightedFrequencies) else math.inf
        found = normal_interval(self.value, self.std_error, each, -most, most)
        return Interval(found.low, found.high, confidence)

    def to_dict(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """Return what every estimate has, `first` and `second` as values, `matched` and `ratio_to_no_privacy`."""
        ends = {"first": np.asarray(self.first.value).tolist(), "second": np.asarray(self.second.value).tolist()}
        return super().to_dict(confidence) | ends | {"matched": self.matched, RATIO: self.ratio}


def estimate_difference(
    tallies: MatchedTallies, *, simultaneous: bool = False, target: Target = "population"
) -> Difference:
    """Estimate by how much the first exceeds the second in the population or populations from which users are drawn.

    The users are a random sample: of one population in two periods, or of two groups.  With the target "users", these
    very ones, the interval covers the noise of both alone, taken as independent. It is longer than necessary if people
    send the same report again. The population's interval is longer than necessary if values have changed.

    Parameters
    ----------
    tallies : MatchedTallies
        Tallies of two mechanisms of the same kind: tables of numbers in the same units, or mechanisms for the same
        categories. They come from `match_users`, or have no users in common.
    simultaneous : bool
        For frequencies: make intervals that hold for all categories at once.
    target : {"population", "users"}

    Returns
    -------
    found : Difference
        The first less the second, with both separate estimates.

    Raises
    ------
    InputError
        Mechanisms of different kinds, units or categories, fewer than two users in one of them, or a mechanism whose
        reports have no unbiased numbers.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.differences import estimate_difference
    >>> from optldp.estimators.differences.matched import match_users
    >>> from optldp.mechanisms.families.grr import grr
    >>> table, rng = grr([0.0, 1.0], 3.0), np.random.default_rng(1)
    >>> values, user = rng.integers(0, 2, 4000).astype(float), np.arange(4000)
    >>> days = [(table, {"user": user, "report": table.sample(values, rng)}) for _ in range(2)]
    >>> found = estimate_difference(match_users(*days, key="user"))
    >>> found.matched, round(found.value, 4), round(found.std_error, 4)
    (4000, 0.0008, 0.0053)
    >>> round(float(np.hypot(found.first.std_error, found.second.std_error)), 4)  # as if they were others
    0.0124
    """
    if few := [tally.n_users for tally in (tallies.first, tallies.second) if tally.n_users < 2]:
        raise InputError(f"a difference needs at least 2 reports on each side, got {few[0]}")
    numbers = [report_numbers(tally.mechanism) for tally in (tallies.first, tallies.second)]
    numbers[0].require_comparable(numbers[1])
    pairs = zip((tallies.first, tallies.second), numbers, strict=True)
    first, second = (estimate_weighted(tally, numbers=of, target=target) for tally, of in pairs)
    variances = [np.square(np.atleast_1d(one.std_error)) for one in (first, second)]
    values = [np.square(np.atleast_1d(one.without)) for one in (first, second)]
    covariance = np.zeros_like(variances[0])
    if target == "population" and tallies.both is not None and (m := tallies.both[0].n_users):
        shares = tallies.both[0].users / m
        a, b = (of.average(tally, shares) for of, tally in zip(numbers, tallies.both, strict=True))
        mean_a, mean_b = np.atleast_1d(first.value), np.atleast_1d(second.value)
        products = numbers[0].products(tallies.both[0], numbers[1], tallies.both[1], shares)
        products += mean_a * mean_b - a * mean_b - b * mean_a
        if isinstance(first, WeightedMean):  # as the variances are, those of samples
            products *= math.sqrt(first.n / (first.n - 1) * second.n / (second.n - 1))
        covariance = m / (first.n * second.n) * products
        most = m / math.sqrt(first.n * second.n) * np.sqrt(variances[0] * variances[1])
        covariance = np.clip(covariance, -most, most)  # a correlation is none beyond one
    std_error = np.sqrt(np.maximum(sum(variances) - 2 * covariance, 0.0))
    without = np.sqrt(np.maximum(sum(values) - 2 * covariance, 0.0))
    many = isinstance(first, WeightedFrequencies)
    return Difference(
        first,
        second,
        np.asarray(first.value) - np.asarray(second.value) if many else first.value - second.value,
        std_error if many else float(std_error[0]),
        without if many else float(without[0]),
        first.n + second.n - (tallies.matched or 0),
        tallies.matched,
        simultaneous,
        first.method,
        target,
    )
