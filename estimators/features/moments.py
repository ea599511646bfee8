"""Correlation and covariance as functions of the moments x, y, x^2, y^2, xy, and their gradients."""

from __future__ import annotations

import numpy as np


def correlation_gradient(moments: np.ndarray, rho: float | None = None) -> np.ndarray:
    """Return the derivative (5,) of a correlation by the moments; as if it were `rho`, if that is given.

    Example
    -------
    >>> correlation_gradient(np.array([0.0, 0.0, 1.0, 1.0, 0.5])).tolist()
    [0.0, 0.0, -0.25, -0.25, 1.0]
    """
    x, y, xx, yy, xy = moments
    of_x, of_y = xx - x * x, yy - y * y
    both = np.sqrt(of_x * of_y)
    r = (xy - x * y) / both if rho is None else rho
    return np.array([-y / both + r * x / of_x, -x / both + r * y / of_y, -r / (2 * of_x), -r / (2 * of_y), 1 / both])


def covariance_gradient(moments: np.ndarray) -> np.ndarray:
    """Return the derivative (3,) of a covariance by the moments x, y and xy, of which the last is the last.

    Example
    -------
    >>> covariance_gradient(np.array([0.5, 2.0, 1.0])).tolist()
    [-2.0, -0.5, 1.0]
    """
    return np.array([-moments[1], -moments[0], 1.0])
