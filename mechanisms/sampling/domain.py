"""Values against the domain: what may be reported on, and how a value is rounded to a knot."""

import warnings

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError


class ClippingWarning(UserWarning):
    """Some values were outside the domain and were moved to its nearer end."""


def numbers(name: str, values: ArrayLike) -> np.ndarray:
    """Return values as a one-dimensional float array without NaN; a single number becomes a list of one.

    Raises
    ------
    InputError
        Not numbers, more than one dimension, or NaN (the message says in which row, counted from 1).

    Example
    -------
    >>> numbers("values", 3)
    array([3.])
    """
    try:
        array = np.atleast_1d(np.asarray(values, dtype=float))
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers, got {type(values).__name__} with something else in it") from None
    if array.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, got shape {array.shape}")
    missing = np.flatnonzero(np.isnan(array))
    if missing.size:
        raise InputError(
            f"{name} must not be missing, got {missing.size} NaN, the first in row {missing[0] + 1}: drop them"
        )
    return array


def values_inside(values: ArrayLike, low: float, high: float) -> np.ndarray:
    """Return the values as floats, or raise InputError with the count and the extremes of those outside.

    Example
    -------
    >>> values_inside([0.5, 1], 0.0, 1.0)
    array([0.5, 1. ])
    """
    array = numbers("values", values)
    outside = np.count_nonzero((array < low) | (array > high))
    if outside:
        raise InputError(
            f"values must lie in [{low:g}, {high:g}], got {outside} of {array.size} outside, "
            f"from {array.min()} to {array.max()}: clip them or widen the domain"
        )
    return array


def clip_values(values: ArrayLike, low: float, high: float) -> tuple[np.ndarray, int]:
    """Return the values moved into the domain, and how many had to move.

    Example
    -------
    >>> clip_values([0.5, 7], 0.0, 1.0)
    (array([0.5, 1. ]), 1)
    """
    array = numbers("values", values)
    clipped = np.clip(array, low, high)
    return clipped, int(np.count_nonzero(clipped != array))


def admitted_values(values: ArrayLike, low: float, high: float, *, clip: bool) -> np.ndarray:
    """Return the values inside; those outside are refused with InputError, or clipped with a ClippingWarning.

    Example
    -------
    >>> admitted_values([0.5, 1], 0.0, 1.0, clip=True)
    array([0.5, 1. ])
    """
    if not clip:
        return values_inside(values, low, high)
    inside, clipped = clip_values(values, low, high)
    if clipped:
        note = f"{clipped} of {inside.size} values were outside the domain and clipped"
        warnings.warn(note, ClippingWarning, stacklevel=3)  # where `sample` was called
    return inside


def require_knots(values: np.ndarray, knots: np.ndarray) -> None:
    """Raise InputError unless every value, known to lie in the domain, is a knot; no value is named.

    Example
    -------
    >>> require_knots(np.array([2.0]), np.array([0.0, 1.0, 2.0]))
    """
    between = np.count_nonzero(nearest_knots(values, knots) != values)
    if between:
        raise InputError(
            f"values must be knots where privacy is promised of these alone, got {between} of {values.size} between "
            "two: round them first, such as to whole numbers"
        )


def nearest_knots(values: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """Return the knot nearest to each value, the lower of two.

    Example
    -------
    >>> nearest_knots(np.array([-3.0, 0.5, 1.6]), np.array([0.0, 1.0, 2.0]))
    array([0., 0., 2.])
    """
    right = np.clip(np.searchsorted(knots, values), 1, knots.size - 1)
    return np.where(values - knots[right - 1] <= knots[right] - values, knots[right - 1], knots[right])


def rounding_weights(knots: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each value's interval and the weight of its right knot, linear in the value.

    Source: Wei et al. (2024), equation (6).

    Example
    -------
    >>> rounding_weights(np.array([0.0, 2.0, 4.0]), np.array([0.0, 2.5, 4.0]))
    (array([0, 1, 1]), array([0.  , 0.25, 1.  ]))
    """
    index = np.clip(np.searchsorted(knots, values, side="right") - 1, 0, knots.size - 2)
    left = knots[index]
    return index, (values - left) / (knots[index + 1] - left)
