"""Slopes as functions of the moments of columns, with their gradient and interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class MomentSlopes:
    """Slopes of a response, the last column, on d others, from moments of all.

    Attributes
    ----------
    value : (d,) ndarray of float
    gradient : (d, M) ndarray of float
        By each moment.
    square : (d, d) ndarray of float
        Covariance of the covariates.
    open_variance : (d,) ndarray of float
        n times the variance with open records.
    """

    value: np.ndarray
    gradient: np.ndarray
    square: np.ndarray
    open_variance: np.ndarray


def moment_pairs(d: int) -> list[tuple[int, ...]]:
    """Return which moments slopes on d columns take: each column, products of covariates, those with the response.

    The last is the response's square, which no slope takes, but what open records would be worth.

    Example
    -------
    >>> moment_pairs(1)
    [(0,), (1,), (0, 0), (0, 1), (1, 1)]
    """
    return [(i,) for i in range(d + 1)] + [(i, j) for i in range(d + 1) for j in range(i, d + 1)]


def slopes_of(moments: np.ndarray, d: int, at: np.ndarray | None = None) -> MomentSlopes:
    """Return the slopes S^-1 c, of covariances S of the covariates and c with the response, and their gradient.

    The gradient is that at the slopes `at`, if these are given.

    Example
    -------
    >>> found = slopes_of(np.array([0.0, 0.0, 0.5, 0.25, 0.5]), 1)
    >>> found.value, found.gradient[0, 2:]
    (array([0.5]), array([-1.,  2.,  0.]))
    """
    pairs = moment_pairs(d)
    means, second = moments[: d + 1], np.zeros((d + 1, d + 1))
    for pair, moment in zip(pairs[d + 1 :], moments[d + 1 :], strict=True):
        second[pair] = second[pair[::-1]] = moment
    covariance = second - np.outer(means, means)
    square, inverse = covariance[:-1, :-1], np.linalg.inv(covariance[:-1, :-1])
    value = inverse @ covariance[:-1, -1]
    # b moves by S^-1 of (a change of c less that of S times b): of the moments of z_i (y - z'b), centred.
    away = np.append(-(value if at is None else at), 1.0)
    left = float(means @ away)
    moved = np.zeros((d, len(pairs)))
    for place, pair in enumerate(pairs):
        if len(pair) == 1:
            moved[:, place] -= means[:-1] * away[pair[0]]
            if pair[0] < d:
                moved[pair[0], place] -= left
        elif pair != (d, d):
            i, j = pair
            moved[i, place] += away[j]
            if i != j and j < d:
                moved[j, place] += away[i]
    residual = max(float(covariance[-1, -1] - value @ square @ value), 0.0)
    return MomentSlopes(value, inverse @ moved, square, residual * np.diag(inverse))
