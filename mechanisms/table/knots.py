"""The input knots: the values that have a row of their own in a table."""

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError

NARROWEST_DOMAIN, WIDEST_DOMAIN = 1e-100, 1e100
"""Variances are squares of widths times up to 1e13 (at the smallest epsilon): no under- or overflow."""


def check_knots(knots: ArrayLike) -> np.ndarray:
    """Return the knots as a fresh float array, or raise.

    Parameters
    ----------
    knots : (n,) array_like
        Input values, at least two, finite and strictly increasing; the user's own units.

    Raises
    ------
    InputError
        Not one-dimensional, fewer than two, not finite, not increasing, or too far apart for a double.

    Example
    -------
    >>> check_knots([0, 1])
    array([0., 1.])
    """
    try:
        array = np.array(knots, dtype=float)
    except (TypeError, ValueError):
        raise InputError("knots must be numbers, one for each row of the table") from None
    if array.ndim != 1 or array.size < 2:
        raise InputError(f"knots must be a list of at least 2 values, got shape {array.shape}")
    wrong = np.flatnonzero(~np.isfinite(array))
    if wrong.size:
        raise InputError(f"knots must be finite, got {array[wrong[0]]} in row {wrong[0] + 1}")
    wrong = np.flatnonzero(~(array[1:] > array[:-1]))
    if wrong.size:
        k = wrong[0]
        raise InputError(f"knots must be strictly increasing, got {array[k]} then {array[k + 1]} in row {k + 2}")
    with np.errstate(over="ignore"):
        width = array[-1] - array[0]
    if not NARROWEST_DOMAIN < width < WIDEST_DOMAIN:
        raise InputError(
            f"knots must span between {NARROWEST_DOMAIN:g} and {WIDEST_DOMAIN:g}, got {width}: change units"
        )
    return array
