"""Slopes in two rounds: moments from the first users, from whose estimates the others report score features."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from ...estimators.features import estimate_features
from ...estimators.features.estimate import feature_means
from ...estimators.features.slopes import moment_pairs, slopes_of
from ...mechanisms.errors import InputError
from ...mechanisms.features import Features
from .association import CLIP
from .design import Box, FeaturesDesign
from .pilot import Pilot
from .regression import design_regression
from .slopes_by_moments import LAWS, law_of_moments, moment_tables

FIRST = 0.3
"""Share of the users who are asked in the first round."""

POINTS = 1024
"""Of the normal law that stands for the people whose moments the first round estimated."""


@dataclass(frozen=True, eq=False)
class TwoRounds:
    """Errors of slopes in one round of moments, and in two.

    Attributes
    ----------
    one, two : (d,) ndarray of float
        n times the variance of each slope, n being the users of both rounds together.
    second : (d,) ndarray of float
        n^2 times the variance that the first round's own errors add, by multiplying the step from its slopes.

    Example
    -------
    >>> from optldp.designer.features import two_rounds
    >>> found = two_rounds("y", {"x": (0, 20), "y": (0, 80)}, 4.0)
    >>> found.pay(20_000), found.pay(100)
    (True, False)
    """

    one: np.ndarray
    two: np.ndarray
    second: np.ndarray

    def std_errors(self, people: int) -> np.ndarray:
        """Return the standard error (d,) of each slope after two rounds of so many people together."""
        return np.sqrt(self.two / people + self.second / people**2)

    def people(self, error: float) -> int:
        """Return how many people of both rounds together a standard error takes, of the slope that takes most."""
        half = self.two / (2 * error**2)
        return math.ceil(float((half + np.sqrt(half**2 + self.second / error**2)).max()) * (1 - 1e-12))

    def pay(self, people: int) -> bool:
        """Return whether two rounds of so many people together err less than one of them all."""
        return bool((self.std_errors(people) ** 2).sum() < (self.one / people).sum())


def two_rounds(response: str, box: Box, epsilon: float, *, clip: float = CLIP) -> TwoRounds:
    """Return the errors of slopes without a survey in one round and in two, before anybody is asked.

    Both are averages over the laws for which the shares of moments are best.

    Parameters
    ----------
    response : str
    box : mapping of str to (low, high)
    epsilon : float
        Of each user, who is asked in one round.
    clip : float
        Standard deviations of a score feature that are kept.

    Returns
    -------
    found : TwoRounds

    Raises
    ------
    InputError
        As `design_regression` of the same columns.

    Example
    -------
    >>> from optldp.designer.features import two_rounds
    >>> found = two_rounds("y", {"x": (0, 20), "y": (0, 80)}, 4.0)
    >>> (found.one / found.two).round(1)
    array([50.5])
    """
    made = design_regression(response, box, epsilon, clip=clip)
    first = cast("Features", made.mechanism)
    ordered, d = first.columns, len(made.names)
    low, high = np.array(list(ordered.values())).T
    unit = (high - low) / 2
    units = unit[-1] / unit[:-1]
    noise = np.array([variance for _, variance in moment_tables(d, epsilon)]) / first.shares
    two, second = [], []
    for mean, rho in LAWS:
        moments = law_of_moments(d, mean, rho)
        pilot = _normal(tuple(ordered), moments, ordered)
        later = design_regression(response, ordered, epsilon, pilot, clip=clip)
        two.append(later.variances / (1 - FIRST))
        off = _pilot_error(moments, noise, d) * units[:, None] / units
        second.append(off**2 @ made.variances / FIRST**2)
    return TwoRounds(made.variances, np.mean(two, axis=0), np.mean(second, axis=0))


def design_after(first: Features, reports: ArrayLike, epsilon: float, *, clip: float = CLIP) -> FeaturesDesign:
    """Return the mechanism of the second round of a regression, for other users than those of the first.

    The law of the columns is assumed normal, with the moments that the first round estimated; the variance around the
    fit is at least its own standard error. Estimates of the second round start at the slopes of the first, and their
    intervals have the second-order term (A0 S - I)(b - b0) by the standard errors of the first round's moments.

    Parameters
    ----------
    first : Features
        Of a regression without a survey.
    reports : (N, 2) array_like
        Of the first round.
    epsilon : float
        Of each user of the second.
    clip : float
        Standard deviations of a score feature that are kept.

    Returns
    -------
    made : FeaturesDesign

    Raises
    ------
    InputError
        A first round of anything but moments for a regression, or one whose reports estimate covariates or slopes too
        badly.

    Source: one-step estimates from a first sample (Hajek, 1970), under local privacy.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.designer.features import design_after, design_regression
    >>> first = design_regression("y", {"x": (-3, 3), "y": (-4, 4)}, 4.0).mechanism
    >>> rng = np.random.default_rng(1)
    >>> x, e = rng.normal(size=(2, 20_000)).clip(-2.6, 2.6)
    >>> reports = first.sample({"x": x, "y": x / 2 + e}, rng)
    >>> made = design_after(first, reports, 4.0)
    >>> [each.name for each in made.mechanism.features], made.variances.round(0) < 30
    (['x'], array([ True]))
    """
    if first.target != "regression" or first.told.get("way") != "moments":
        raise InputError(
            f"the first round must be of moments for a regression, got {first.target}: design it without a survey"
        )
    estimate_features(first, reports)  # raises where covariates are not told apart
    means, d = feature_means(first, reports), len(first.columns) - 1
    names, box = tuple(first.columns), first.columns
    pilot = _normal(names, means.value, box, math.sqrt(float(means.variance[-1])))
    made = design_regression(names[-1], box, epsilon, pilot, clip=clip, source="private-report")
    later = cast("Features", made.mechanism)
    units = np.array(first.told["units"], dtype=float)
    off = _pilot_error(means.value, means.variance, d) * units[:, None] / units
    told = {name: held for name, held in later.told.items() if name != "pilot_records"}
    told |= {"way": "rounds", "first_reports": means.n, "pilot_error": off.tolist()}
    return FeaturesDesign(
        Features(box, later.features, epsilon, "regression", told), made.names, made.variances,
        made.open_variances, made.bias_low, made.bias_high, made.target, made.hopeless,
    )  # fmt: skip


def _pilot_error(moments: np.ndarray, variances: np.ndarray, d: int) -> np.ndarray:
    """Standard errors (d, d) of A0 S, whose A0 is the inverse of the covariates' estimated covariances."""
    square = slopes_of(moments, d).square
    pairs = moment_pairs(d)
    alone, means = variances[:d], moments[:d]
    of_square = np.square(means) * alone[:, None] + np.square(means)[:, None] * alone
    for pair, variance in zip(pairs[d + 1 :], variances[d + 1 :], strict=True):
        if d not in pair:
            of_square[pair] += variance
            of_square[pair[::-1]] += variance if pair[0] != pair[1] else 0.0
    return np.sqrt(np.linalg.inv(square) ** 2 @ of_square)


def _normal(names: tuple[str, ...], moments: np.ndarray, box: Box, least: float = 0.0) -> Pilot:
    """Records of a normal law of these moments of columns scaled to [-1, 1], moved into the box."""
    from scipy.stats import norm, qmc

    d = len(names) - 1
    found = slopes_of(moments, d)
    widths, axes = np.linalg.eigh(found.square)
    root = axes * np.sqrt(widths)
    square = moments[-1] - moments[d] ** 2
    left = math.sqrt(max(float(square - found.value @ found.square @ found.value), least))
    drawn = norm.ppf(qmc.Sobol(d + 1, scramble=False).random(2 * POINTS)[1:])
    x = drawn[:, :-1] @ root.T
    y = x @ found.value + left * drawn[:, -1]
    z = np.clip(np.column_stack([x, y]) + moments[: d + 1], -1, 1)
    low, high = np.array(list(box.values())).T
    return Pilot(names, np.clip((low + high) / 2 + z * (high - low) / 2, low, high))
