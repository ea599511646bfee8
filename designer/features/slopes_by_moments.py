"""Slopes without a survey: a list of moments of the columns, with the shares of an optimal design."""

from __future__ import annotations

import numpy as np

from ...estimators.features.slopes import moment_pairs, slopes_of
from ...mechanisms.features import Feature, Features, Quadratic
from ...mechanisms.table.table import TabulatedMechanism
from ...solvers.over_time import best_rows
from .association import LAW_SPREAD
from .design import Box, FeaturesDesign, designed_table, feature_prior, whole_shares

GRID = 17
"""Values of a column for the prior of a moment."""

LAWS = ((0.0, 0.0), (0.0, 0.3), (0.25, 0.0), (0.25, 0.3))
"""Means of the columns scaled to [-1, 1], one up and the next down, and the correlation of two covariates, of the laws
that shares are best for; the covariates explain half of the response."""

OF_RESPONSE = 0.05
"""Share of the users who report the square of the response."""

HOPELESS = 0.5
"""Standard error of a slope, of columns scaled to a variance of one or, without a survey, to [-1, 1], beyond which
reports say nothing."""


def slopes_by_moments(names: tuple[str, ...], box: Box, epsilon: float) -> FeaturesDesign:
    """Return the mechanism for slopes of the last column on the others, without a pilot.

    A user reports one of the moments z_i, z_i z_j of the columns scaled to [-1, 1]. One in twenty reports the square
    of the response, which no slope takes: without it nobody could say how many open records the reports are worth.

    Parameters
    ----------
    names : tuple of str
        Of the covariates.
    box : mapping of str to (low, high)
        Of the covariates, and of the response, the last.
    epsilon : float

    Example
    -------
    >>> from optldp.designer.features.slopes_by_moments import slopes_by_moments
    >>> made = slopes_by_moments(("x",), {"x": (0, 20), "y": (0, 80)}, 4.0)
    >>> [each.name for each in made.mechanism.features]
    ['x', 'y', 'x x', 'x y', 'y y']
    """
    d, columns = len(names), tuple(box)
    low, high = np.array(list(box.values())).T
    centres, scales = (low + high) / 2, (high - low) / 2
    features, noise = [], []
    for pair, (table, variance) in zip(moment_pairs(d), moment_tables(d, epsilon), strict=True):
        features.append((" ".join(columns[place] for place in pair), _moment(pair, centres, scales), table))
        noise.append(variance)
    slopes = [law_of_moments(d, mean, rho) for mean, rho in LAWS]
    gradients = np.vstack([slopes_of(each, d).gradient for each in slopes]) / np.sqrt(len(LAWS))
    size, taken = len(features) - 1, gradients[:, :-1]
    best = best_rows(np.eye(size), np.array(noise[:-1]), np.zeros((size, size)), taken.T @ taken, 1).shares
    shares = np.append((1 - OF_RESPONSE) * best, OF_RESPONSE)
    units = scales[-1] / scales[:-1]
    told = {"way": "moments", "names": list(names), "units": units.tolist()}
    made = Features(
        box,
        [
            Feature(name, formula, table, share)
            for (name, formula, table), share in zip(features, whole_shares(shares), strict=True)
        ],
        epsilon,
        "regression",
        told,
    )
    by_law = np.array([slopes_of(each, d).gradient ** 2 @ (np.array(noise) / shares) for each in slopes])
    opened = np.array([slopes_of(each, d).open_variance for each in slopes]).mean(axis=0)
    none = np.zeros(d)
    return FeaturesDesign(
        made, names, by_law.mean(axis=0) * units**2, opened * units**2, none, none, "regression",
        HOPELESS * units,
    )  # fmt: skip


def moment_tables(d: int, epsilon: float) -> list[tuple[TabulatedMechanism, float]]:
    """Return the table of each of the moments of d covariates and a response, and the variance of one report.

    Example
    -------
    >>> [round(variance, 1) for _, variance in moment_tables(1, 4.0)]
    [1.1, 1.1, 0.7, 1.1, 0.7]
    """
    made = {alike: _even_table(alike, epsilon) for alike in ("column", "square", "product")}
    alike = [
        ("column" if len(pair) == 1 else "product" if len(set(pair)) == 2 else "square") for pair in moment_pairs(d)
    ]
    return [made[each] for each in alike]


def _even_table(alike: str, epsilon: float) -> tuple[TabulatedMechanism, float]:
    """The table of a column, a square or a product of two, for even ones."""
    even = np.linspace(-1, 1, GRID)
    values = {"column": even, "square": even**2, "product": np.outer(even, even).ravel()}[alike]
    return designed_table(feature_prior(values, np.ones(values.size), (float(values.min()), 1.0)), epsilon, 0.0)


def _moment(pair: tuple[int, ...], centres: np.ndarray, scales: np.ndarray) -> Quadratic:
    """The formula of z_i, or of z_i z_j."""
    linear, square = np.zeros(centres.size), np.zeros((centres.size,) * 2)
    if len(pair) == 1:
        linear[pair[0]] = 1.0
    else:
        square[pair] += 0.5
        square[pair[::-1]] += 0.5
    return Quadratic(centres, scales, 0.0, linear, square)


def law_of_moments(d: int, mean: float, rho: float) -> np.ndarray:
    """Return the moments of a law of columns scaled to [-1, 1], in the order of `moment_pairs`.

    Example
    -------
    >>> law_of_moments(1, 0.0, 0.0).round(3)
    array([0.   , 0.   , 0.16 , 0.113, 0.16 ])
    """
    covariance = LAW_SPREAD**2 * ((1 - rho) * np.eye(d + 1) + rho)
    slopes = np.full(d, np.sqrt(0.5 / (d * (1 + (d - 1) * rho))))
    covariance[-1, :-1] = covariance[:-1, -1] = covariance[:-1, :-1] @ slopes
    covariance[-1, -1] = LAW_SPREAD**2
    means = mean * (-1.0) ** np.arange(d + 1)
    second = covariance + np.outer(means, means)
    return np.array([means[pair[0]] if len(pair) == 1 else second[pair] for pair in moment_pairs(d)])
