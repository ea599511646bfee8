"""Estimates of a target from the means of its features: value, interval, and how many open records that is worth."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError, wired
from ...mechanisms.features import Features, Sides, Signs
from ..count_reports import count
from ..counting.counts import ReportCounts
from ..intervals import CONFIDENCE, check_confidence, normal_interval
from ..means.mean import estimate_mean
from .fieller import fieller
from .groups import group_means, totals_of_sides, totals_of_signs
from .moments import correlation_gradient, covariance_gradient
from .slopes import moment_pairs, slopes_of

LEAST_REPORTS = 2
"""Of each feature: one report says nothing of how reports vary."""


@dataclass(frozen=True, eq=False)
class FeaturesEstimate:
    """Numbers of a target with their errors, in the units of the columns.

    Attributes
    ----------
    names : tuple of str
    value, std_error, low, high : (k,) ndarray of float
        `std_error` of the noise and the sampling; low and high hold the bias by clipping, too.
    method : str
        "influence" or "moments", with "winsorised" before it if features are clipped; intervals of moments are
        Fieller's.
    n : int
    worth_open_records : (k,) ndarray of int
        Number of open records that would give the same precision.
    bias_low, bias_high : (k,) ndarray of float
        Least and largest bias by clipping, from the pilot.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.features import estimate_features
    >>> from optldp.mechanisms import duchi, make_exact
    >>> from optldp.mechanisms.features import Feature, Features, Quadratic
    >>> product = Quadratic([0, 0], [1, 1], 0.0, [0, 0], [[0, 0.5], [0.5, 0]])
    >>> one = Feature("psi", product, make_exact(duchi([-1, 1], 1.0)).mechanism)
    >>> told = {"way": "influence", "reference": 0.0, "scale": 1.0, "bias_low": 0, "bias_high": 0, "open_variance": 1}
    >>> made = Features({"x": (-1, 1), "y": (-1, 1)}, [one], 1.0, "correlation", told)
    >>> x = np.tile([1.0, -1.0], 5000)
    >>> found = estimate_features(made, made.sample({"x": x, "y": x}, np.random.default_rng(1)))
    >>> found.value.round(2), found.method
    (array([1.]), 'influence')
    """

    names: tuple[str, ...]
    value: np.ndarray
    std_error: np.ndarray
    low: np.ndarray
    high: np.ndarray
    method: str
    n: int
    worth_open_records: np.ndarray
    bias_low: np.ndarray
    bias_high: np.ndarray


@dataclass(frozen=True, eq=False)
class FeatureMeans:
    """Means (F,) of the features of a mechanism, and their variances (F,), from the counts of their reports.

    Attributes
    ----------
    mechanism : Features
    counts : tuple of ReportCounts
        Of each feature.
    """

    mechanism: Features
    counts: tuple[ReportCounts, ...]

    @property
    def n(self) -> int:
        """All reports."""
        return sum(each.n_users for each in self.counts)

    @cached_property
    def _found(self) -> tuple[np.ndarray, np.ndarray]:
        found = [estimate_mean(each) for each in self.counts]
        return np.array([float(each.value) for each in found]), np.array([float(each.std_error) ** 2 for each in found])

    @property
    def value(self) -> np.ndarray:
        """(F,) of the means, each by its table."""
        return self._found[0]

    @property
    def variance(self) -> np.ndarray:
        """(F,) of their squared standard errors."""
        return self._found[1]


def feature_means(mechanism: Features, reports: ArrayLike) -> FeatureMeans:
    """Return what the reports tell of each feature; InputError where a feature has fewer than two reports."""
    checked = mechanism.checked_reports(reports)
    counts = []
    for place, each in enumerate(mechanism.features):
        mine = checked[checked[:, 0] == place, 1]
        if mine.size < LEAST_REPORTS:
            raise InputError(
                f"each feature must have at least {LEAST_REPORTS} reports, got {mine.size} of {each.name!r}: collect "
                "more"
            )
        counts.append(count(each.mechanism, mine))
    return FeatureMeans(mechanism, tuple(counts))


def estimate_features(mechanism: Features, reports: ArrayLike, *, confidence: float = CONFIDENCE) -> FeaturesEstimate:
    """Estimate the target of features from their reports.

    Parameters
    ----------
    mechanism : Features
    reports : (N, 2) array_like
        The number of each user's feature, and its report.
    confidence : float

    Returns
    -------
    found : FeaturesEstimate

    Raises
    ------
    InputError
        Reports of another mechanism, too few of a feature, or too much noise to distinguish a variance from zero.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.features import estimate_features
    >>> from optldp.mechanisms import duchi, make_exact
    >>> from optldp.mechanisms.features import Feature, Features, Quadratic
    >>> product = Quadratic([0, 0], [1, 1], 0.0, [0, 0], [[0, 0.5], [0.5, 0]])
    >>> one = Feature("psi", product, make_exact(duchi([-1, 1], 1.0)).mechanism)
    >>> told = {"way": "influence", "reference": 0.0, "scale": 1.0, "bias_low": 0, "bias_high": 0, "open_variance": 1}
    >>> made = Features({"x": (-1, 1), "y": (-1, 1)}, [one], 1.0, "covariance", told)
    >>> found = estimate_features(made, made.sample(np.tile([1.0, -1.0], (5000, 1)), np.random.default_rng(1)))
    >>> bool(found.low[0] < -1 < found.high[0])
    True
    """
    check_confidence(confidence)
    means = feature_means(mechanism, reports)
    of_target = wired("target", ESTIMATES, mechanism.target)
    return of_target(mechanism.told, means, confidence)


def _regression(told: Mapping[str, Any], means: FeatureMeans, confidence: float) -> FeaturesEstimate:
    """The pilot's slopes and one step of Newton from them, by the means of their scores.

    The step is by the pilot's matrix, whose own error multiplies the step: (A0 S - I)(b - b0), of relative size
    2 / sqrt(records) a coefficient, or as the first of two rounds tells. It is added to the noise.
    """
    if told.get("way") == "moments":
        return _slopes_by_moments(told, means, confidence)
    step, start = (np.array(told[name], dtype=float) for name in ("step", "slopes"))
    moved = step @ means.value
    if told.get("way") == "rounds":
        second = np.sqrt(np.square(told["pilot_error"]) @ moved**2)
    else:
        second = np.abs(step) @ np.abs(means.value) * 2 / math.sqrt(told["pilot_records"])
    error = np.sqrt(step**2 @ means.variance + second**2)
    off_low, off_high = (np.array(told[name]) for name in ("bias_low", "bias_high"))
    plain = normal_interval(start + moved, error, confidence, -math.inf, math.inf)
    worth = np.floor(np.array(told["open_variance"]) / error**2).astype(int)
    return FeaturesEstimate(
        tuple(told["names"]), start + moved, error, plain.low - off_high, plain.high - off_low,
        "winsorised score, two rounds" if told.get("way") == "rounds" else "winsorised score", means.n, worth, off_low,
        off_high,
    )  # fmt: skip


def _slopes_by_moments(told: Mapping[str, Any], means: FeatureMeans, confidence: float) -> FeaturesEstimate:
    """The slopes of estimated moments: Fieller's interval of one, of several with what products of errors add."""
    names, units = tuple(told["names"]), np.array(told["units"], dtype=float)
    d = len(names)
    found = slopes_of(means.value, d)
    # How wide the covariates are where they are narrowest, and the error of that.
    (narrow, *_), (along, *_) = (each.T for each in np.linalg.eigh(found.square))
    by_moment = [
        -2 * float(along @ means.value[:d]) * along[pair[0]] if len(pair) == 1
        else (1 + (pair[0] != pair[1])) * along[pair[0]] * along[pair[1]]
        for pair in moment_pairs(d) if d not in pair
    ]  # fmt: skip
    told_apart = [d not in pair for pair in moment_pairs(d)]
    off = math.sqrt(float(np.square(by_moment) @ means.variance[told_apart]))
    if narrow <= (0.0 if d == 1 else 2 * off):
        raise InputError(
            f"the variance of {', '.join(names)} must be told from zero, got {narrow:.2g} with standard error "
            f"{off:.2g} where it is least, by {means.n:,} reports: collect more, or design with a survey"
        )
    inverse = np.linalg.inv(found.square)
    first = found.gradient**2 @ means.variance
    score = float(normal_interval(0.0, 1.0, confidence, -math.inf, math.inf).high)
    if d == 1:

        def spread(t: float) -> float:
            return float(slopes_of(means.value, 1, np.array([t])).gradient[0] ** 2 @ means.variance)

        error = np.sqrt(first)
        ends = np.array([[end] for end in fieller(float(found.value[0]), spread, score)])
    else:
        # The error of b is S^-1 times that of c - S b, and S has an error of its own.
        error = np.sqrt(first + (inverse**2).sum(axis=1) * off**2 * first.sum())
        ends = np.array([found.value - score * error, found.value + score * error])
    worth = np.floor(found.open_variance / error**2).astype(int)
    none = np.zeros(d)
    method = "moments, fieller" if d == 1 else "moments"
    return FeaturesEstimate(
        names, found.value * units, error * units, ends[0] * units, ends[1] * units, method, means.n, worth, none, none
    )


def _association(correlation: bool) -> Callable[[Mapping[str, Any], FeatureMeans, float], FeaturesEstimate]:
    def estimate(told: Mapping[str, Any], means: FeatureMeans, confidence: float) -> FeaturesEstimate:
        if told["way"] == "influence":
            return _by_influence(told, means, confidence, correlation)
        return (_correlation_by_moments if correlation else _covariance_by_moments)(told, means, confidence)

    return estimate


def _by_influence(
    told: Mapping[str, Any], means: FeatureMeans, confidence: float, correlation: bool
) -> FeaturesEstimate:
    """The pilot's number and the mean of its influence function, one step from it.

    Clipping moves the mean of psi down by what lies above and up by what lies below, which the pilot bounds; the
    interval is that of the noise, moved by both.
    """
    scale = told["scale"]
    value = told["reference"] + scale * means.value
    error = scale * np.sqrt(means.variance)
    off_low, off_high = (np.array([told[name]]) for name in ("bias_low", "bias_high"))
    end = 1.0 if correlation else math.inf
    plain = normal_interval(value, error, confidence, -math.inf, math.inf)
    low, high = np.clip(plain.low - off_high, -end, end), np.clip(plain.high - off_low, -end, end)
    clipped = bool(off_high[0] or off_low[0])
    worth = np.floor(told["open_variance"] / error**2).astype(int)
    name = "correlation" if correlation else "covariance"
    method = "winsorised influence" if clipped else "influence"
    return FeaturesEstimate(
        (name,), np.clip(value, -end, end), error, low, high, method, means.n, worth, off_low, off_high
    )


def _correlation_by_moments(told: Mapping[str, Any], means: FeatureMeans, confidence: float) -> FeaturesEstimate:
    """The correlation of estimated moments; all t whose covariance - t sd sd is near zero for its error: Fieller's."""
    x, y, xx, yy, xy = means.value
    of_x, of_y = xx - x * x, yy - y * y
    for name, of in (("first", of_x), ("second", of_y)):
        if of <= 0:
            raise InputError(
                f"the variance of the {name} column must be told from zero, got {of:.3g} by {means.n:,} reports: "
                "collect more, or design with a survey"
            )
    rho = (xy - x * y) / math.sqrt(of_x * of_y)

    def spread(t: float) -> float:
        return float(correlation_gradient(means.value, t) ** 2 @ means.variance)

    low, high = fieller(rho, spread, normal_interval(0.0, 1.0, confidence, -math.inf, math.inf).high)
    error = np.array([math.sqrt(spread(rho))])
    value = np.clip(np.array([rho]), -1, 1)
    worth = np.floor((1 - value**2) ** 2 / error**2).astype(int)
    ends = np.clip([low, high], -1, 1)
    none = np.zeros(1)
    return FeaturesEstimate(
        ("correlation",), value, error, ends[:1], ends[1:], "moments, fieller", means.n, worth, none, none
    )


def _covariance_by_moments(told: Mapping[str, Any], means: FeatureMeans, confidence: float) -> FeaturesEstimate:
    """The covariance of estimated moments x, y and xy, of columns scaled to [-1, 1]."""
    x, y, xy = means.value
    scale = told["scale"]
    # The product of two means varies by the product of their variances beside the first order.
    varied = covariance_gradient(means.value) ** 2 @ means.variance + means.variance[0] * means.variance[1]
    value, error = np.array([scale * (xy - x * y)]), np.array([scale * math.sqrt(varied)])
    ends = normal_interval(value, error, confidence, -math.inf, math.inf)
    none = np.zeros(1)
    # Columns in [-1, 1] have products whose variance is at most 1.
    worth = np.floor(scale**2 / error**2).astype(int)
    return FeaturesEstimate(("covariance",), value, error, ends.low, ends.high, "moments", means.n, worth, none, none)


def _group_means(told: Mapping[str, Any], means: FeatureMeans, confidence: float) -> FeaturesEstimate:
    """The means of groups by sums and sizes; the interval is Fieller's, moved by what clipping takes off and adds.

    A mean is one of values within the box, so that no end lies beyond it, whatever Fieller's are.
    """
    first, within = means.mechanism.features[0], list(means.mechanism.columns.values())[1]
    if isinstance(first.formula, Sides):
        way, totals = (
            "signed sets",
            totals_of_sides(first.mechanism, first.formula.reach, means.counts[0].reports_of(0)),
        )
    else:
        formulas = [each.formula for each in means.mechanism.features]
        signs = np.array([formula.signs for formula in formulas if isinstance(formula, Signs) and formula.reach])
        way, totals = "signs", totals_of_signs(signs, means.value, means.variance)
    mean, error, low, high = group_means(told, totals, confidence)
    off_low, off_high = (np.array(told[name]) for name in ("bias_low", "bias_high"))
    clipped = bool(off_low.any() or off_high.any())
    worth = np.floor(np.array(told["open_variance"]) / error**2).astype(int)
    return FeaturesEstimate(
        tuple(told["names"]), np.clip(mean, *within), error, np.clip(low - off_high, *within),
        np.clip(high - off_low, *within),
        f"{'winsorised ' if clipped else ''}{way}, fieller", means.n, worth, off_low, off_high,
    )  # fmt: skip


ESTIMATES: Mapping[str, Callable[[Mapping[str, Any], FeatureMeans, float], FeaturesEstimate]] = {
    "correlation": _association(True),
    "covariance": _association(False),
    "group-means": _group_means,
    "regression": _regression,
}
"""By target."""
