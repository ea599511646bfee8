r"""Estimates from one tally: means and frequencies of users with weights, of which equal ones are a special case.

Each report has unbiased numbers d, so with W = sum w and m = sum w d / W, a ratio of two sums over users drawn from the
population, the variance is to first order that of sum w (d - m) / W:

    mean        n / (n - 1)  sum w^2 (d - m)^2 / W^2
    frequency   sum w^2 / W^2  (V_k(g) + g_k (1 - f_k)^2 + (1 - g_k) f_k^2)

f the frequencies by weight, g those by squared weight and V_k(g) the noise of the mechanism at them, so that a
category nobody reported has its noise too.  Both are those of `estimate_mean` and `estimate_frequencies` where weights
are equal.  About the very users who reported the values are fixed and noise alone is left: sum w^2 V / W^2, V by
`MechanismNoise`, and V_k(g) without the rest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...mechanisms.spaces.categories import Categories
from ...mechanisms.statistics import as_supports
from ..estimate import Estimate, NumberEstimate, check_target
from ..frequencies.consistency import norm_sub
from ..intervals import CONFIDENCE, Interval, normal_interval
from ..methods import Target
from .report_numbers import CategoryNumbers, MeanNumbers, report_numbers
from .small_samples import student_interval
from .tally import Tally
from .value_scatter import ValueScatter
from .without_privacy import RATIO, ratio_to

FEW_USERS = 30.0
"""Effective number of users below which a normal interval of a mean is not to be relied on, as textbooks have it."""

FEW_SUPPORTS = 10.0
"""Reports that support a category by noise alone below which their number is too skewed for a normal interval."""


@dataclass(frozen=True, eq=False, repr=False)
class WeightedMean(NumberEstimate):
    """A mean of users with weights, and its precision without privacy.

    Parameters
    ----------
    effective_n : float
        Number of users of equal weights that would give the same precision, (sum w)^2 / sum w^2.
    without : float
        Standard error that the values themselves would give; see `ValueScatter`. It is 0 for these very users.
    few : bool
        Whether there are too few users for a reliable interval.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.differences import estimate_weighted
    >>> from optldp.estimators.differences.tally import tally_groups
    >>> from optldp.mechanisms.families.grr import grr
    >>> rows = {"report": np.repeat([0.0, 1.0], [300, 200]), "weight": np.repeat([1.0, 2.0], 250)}
    >>> tally = tally_groups(grr([0.0, 1.0], 3.0), rows, weights="weight").tallies[0]
    >>> found = estimate_weighted(tally)
    >>> round(found.value, 3), round(found.effective_n)
    (0.537, 450)
    """

    effective_n: float = math.nan
    without: float = math.nan
    few: bool = False

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return Student's interval for the effective number of users; InputError for a confidence outside (0, 1)."""
        return student_interval(self.value, self.std_error, self.effective_n, confidence)

    def to_dict(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """Return what every estimate has, `effective_n` and `ratio_to_no_privacy`."""
        return super().to_dict(confidence) | {
            "effective_n": self.effective_n,
            RATIO: ratio_to(self.std_error, self.without),
        }


@dataclass(frozen=True, eq=False, repr=False)
class WeightedFrequencies(Estimate):
    """Unbiased frequencies of K categories among users with weights; intervals are each category's own.

    Attributes
    ----------
    categories : Categories
    value, std_error : (K,) ndarray of float
    n : int
    effective_n : float
        Number of users of equal weights that would give the same precision.
    without : (K,) ndarray of float
        Standard errors that the values themselves would give; 0 for these very users.
    few : bool
        Whether there are too few reports for reliable intervals.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.differences import estimate_weighted
    >>> from optldp.estimators.differences.tally import tally_groups
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> made = categorical_grr("ab", 3.0)
    >>> rows = {"report": made.to_text(np.repeat([0, 1], [300, 200])), "weight": [1.0] * 500}
    >>> found = estimate_weighted(tally_groups(made, rows, weights="weight").tallies[0])
    >>> found.value.round(3), found.effective_n
    (array([0.61, 0.39]), 500.0)
    """

    categories: Categories
    value: np.ndarray
    std_error: np.ndarray
    n: int
    effective_n: float
    without: np.ndarray
    few: bool
    method: str = "unbiased"
    target: Target = "population"

    @property
    def labels(self) -> Mapping[str, Sequence[Any]]:
        """The categories."""
        return {"category": self.categories.labels}

    @property
    def ratio(self) -> float | None:
        """How many times as long the intervals are as without privacy, of all categories together."""
        total, without = (float(np.sqrt(np.sum(np.square(errors)))) for errors in (self.std_error, self.without))
        return ratio_to(total, without)

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return normal intervals within [0, 1]; InputError for a confidence outside (0, 1)."""
        return normal_interval(self.value, self.std_error, confidence, 0.0, 1.0)

    def to_dict(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """Return what every estimate has, `effective_n` and `ratio_to_no_privacy`."""
        return super().to_dict(confidence) | {"effective_n": self.effective_n, RATIO: self.ratio}


def estimate_weighted(
    tally: Tally,
    *,
    numbers: MeanNumbers | CategoryNumbers | None = None,
    scatter: ValueScatter | None = None,
    target: Target = "population",
) -> WeightedMean | WeightedFrequencies:
    """Estimate the mean, or the frequencies, of the values of users with weights.

    Weights are public and belong to the users, who are independent draws from the population. A weighted average
    estimates the same average over the population.  The standard errors are those of linearised ratios (see the top of
    the module), without correction for a finite population.

    Parameters
    ----------
    tally : Tally
    numbers, scatter : optional
        Scatter of all users, for the same mechanism. Make it once for many parts of these users.
    target : {"population", "users"}
        Whose numbers they are; "users" are these very ones, whose values are fixed.

    Returns
    -------
    estimate : WeightedMean or WeightedFrequencies
        Of a single user a mean without a standard error.

    Raises
    ------
    InputError
        A mechanism whose reports have no unbiased numbers, another target.

    Source: Sarndal, Swensson and Wretman (1992), "Model assisted survey sampling", section 5.7, with replacement.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.differences import Tally, estimate_weighted
    >>> from optldp.mechanisms.families.grr import grr
    >>> users = np.array([600, 400])
    >>> tally = Tally(grr([0.0, 1.0], 3.0), np.array([0, 1]), users, 2.0 * users, 4.0 * users)
    >>> found = estimate_weighted(tally)
    >>> round(found.value, 4), round(found.std_error, 4), found.effective_n
    (0.3895, 0.0171, 1000.0)
    """
    check_target(target)
    numbers = report_numbers(tally.mechanism) if numbers is None else numbers
    if isinstance(numbers, MeanNumbers):
        return _mean(tally, numbers, scatter, target)
    return _frequencies(tally, numbers, target)


def _mean(tally: Tally, numbers: MeanNumbers, scatter: ValueScatter | None, target: Target) -> WeightedMean:
    made, n, effective = numbers.of(tally), tally.n_users, tally.effective_n
    total = tally.weights.sum()
    value = float(tally.weights @ made / total)
    std_error = math.nan
    if n > 1:
        std_error = math.sqrt(n / (n - 1) * float((tally.squares / total**2) @ (made - value) ** 2))
        if target == "users":
            least, of_output = numbers.noise
            noise = float(tally.squares @ of_output[tally.reports]) / total**2
            least *= float(tally.squares.sum()) / total**2
            std_error = min(math.sqrt(max(noise, least)), std_error)
    scatter = numbers.scatter([tally]) if scatter is None else scatter
    without = math.sqrt(scatter.variance(numbers.outputs(tally)) / effective)
    without = without if target == "population" else 0.0
    method = numbers.decoder.method
    few = effective < FEW_USERS
    return WeightedMean(value, std_error, n, method, target, effective_n=effective, without=without, few=few)


def _frequencies(tally: Tally, numbers: CategoryNumbers, target: Target) -> WeightedFrequencies:
    mechanism, decoder = numbers.mechanism, numbers.decoder
    value = numbers.average(tally, tally.weights / tally.weights.sum())
    squared = norm_sub(numbers.average(tally, tally.squares / tally.squares.sum()))
    place = norm_sub(value)
    own = squared * (1.0 - place) ** 2 + (1.0 - squared) * place**2
    effective = tally.effective_n
    few = effective < FEW_USERS
    if (supports := as_supports(mechanism.statistic)) is not None:
        few = few or effective * supports.other_support < FEW_SUPPORTS
    noise = np.maximum(decoder.variances(squared), 0.0)
    return WeightedFrequencies(
        mechanism.categories,
        value,
        np.sqrt((noise + own if target == "population" else noise) / effective),
        tally.n_users,
        effective,
        np.sqrt(own / effective) if target == "population" else np.zeros_like(own),
        few,
        target=target,
    )
