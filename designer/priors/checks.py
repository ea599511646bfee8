"""The numbers a prior is made from, checked once: knots and domain, values, weights."""

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError

LARGEST = 1e100
"""Largest absolute knot: its square, a variance, must stay far from overflow."""

NARROWEST = 1e-100
"""Smallest width of a domain: its square must stay far from underflow."""

SUBSET_TOLERANCE = 1e-9
"""How near, as a share of the width, a coarse knot must lie to a fine one: the rounding of linspace."""


MOST_OWN_KNOTS = 401
"""As many distinct values at most are knots themselves where nobody names other knots."""


def as_numbers(values: ArrayLike, what: str) -> np.ndarray:
    """A one-dimensional array of doubles (a copy), or an error that names the first offender."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be numbers: {error}") from None
    if array.ndim != 1 or array.size == 0:
        raise InputError(f"{what} must be a non-empty one-dimensional array, got shape {array.shape}")
    if not (finite := np.isfinite(array)).all():
        row = int(np.argmin(finite))
        raise InputError(f"{what} must be finite, got {array[row]} in row {row + 1}: remove or replace it")
    return array


def as_increasing(values: ArrayLike, what: str) -> np.ndarray:
    """At least two finite, strictly increasing numbers of a width and size that can be squared."""
    array = as_numbers(values, what)
    if array.size < 2:
        raise InputError(f"{what} must be at least 2, got {array.size}")
    if (np.diff(array) <= 0).any():
        row = int(np.argmax(np.diff(array) <= 0))
        raise InputError(f"{what} must be strictly increasing, got {array[row]!r} before {array[row + 1]!r}")
    if array[-1] - array[0] < NARROWEST or np.abs(array).max() > LARGEST:
        raise InputError(
            f"{what} must lie within +-{LARGEST:g} and span at least {NARROWEST:g}, "
            f"got [{array[0]:g}, {array[-1]:g}]: use another unit"
        )
    return array


def as_weights(values: ArrayLike, size: int, requirement: str) -> np.ndarray:
    """Finite, non-negative weights of the given number, with a positive sum."""
    array = as_numbers(values, "weights")
    if array.size != size:
        raise InputError(f"{requirement}, got {array.size} for {size}")
    if (array < 0).any():
        row = int(np.argmax(array < 0))
        raise InputError(f"weights must not be negative, got {array[row]:g} in row {row + 1}")
    with np.errstate(over="ignore"):
        total = array.sum()
    if not 0 < total < np.inf:
        raise InputError(f"weights must have a positive finite sum, got {total:g}")
    return array


def as_knots(
    knots: int | ArrayLike,
    domain: tuple[float, float] | None,
    extremes: tuple[float, float] | None = None,
) -> np.ndarray:
    """The knots themselves, or that many equally spaced over the domain (else over the extremes)."""
    if domain is not None:
        try:
            low, high = (float(end) for end in domain)
        except (TypeError, ValueError):
            raise InputError(f"a range must be two numbers, got {domain!r}") from None
        if not (np.isfinite([low, high]).all() and low < high):
            raise InputError(f"a range must be finite and have low < high, got [{low:g}, {high:g}]")
        domain = low, high
    if np.ndim(knots) != 0:
        grid = as_increasing(knots, "knots")
        if domain is not None and (grid[0], grid[-1]) != domain:
            raise InputError(
                f"knots must begin and end with the range [{domain[0]:g}, {domain[1]:g}], "
                f"got [{grid[0]:g}, {grid[-1]:g}]: leave out one of the two"
            )
        return grid
    if isinstance(knots, bool) or not isinstance(knots, int | np.integer):
        raise InputError(f"knots must be a whole number or an array, got {knots!r}")
    if knots < 2:
        raise InputError(f"knots must be at least 2, got {knots}")
    ends = domain if domain is not None else extremes
    if ends is None:
        raise InputError("a number of knots needs a range: pass domain=(low, high)")
    if ends[0] == ends[1]:
        raise InputError(
            f"values must not all be equal to {ends[0]:g} unless a range is given: pass domain=(low, high)"
        )
    return as_increasing(np.linspace(ends[0], ends[1], int(knots)), "knots")


def own_knots(values: np.ndarray, domain: tuple[float, float] | None) -> np.ndarray | None:
    """Return the distinct values, with the ends of the domain, as knots; None where they are none, or too many.

    Example
    -------
    >>> own_knots(np.array([3.0, 1.0, 3.0]), (0, 4))
    array([0., 1., 3., 4.])
    """
    if domain is not None:
        values = np.append(values[(values >= domain[0]) & (values <= domain[1])], domain)
    own = np.unique(values)
    return own if 2 <= own.size <= MOST_OWN_KNOTS else None


def check_within(values: np.ndarray, knots: np.ndarray) -> None:
    """Refuse values beyond the knots, saying how many and how far."""
    low, high = knots[0], knots[-1]
    outside = int(np.count_nonzero((values < low) | (values > high)))
    if outside:
        raise InputError(
            f"values must lie in the range [{low:.9g}, {high:.9g}], got {outside} outside it "
            f"(smallest {values.min():.9g}, largest {values.max():.9g}): widen the range or clip the data"
        )


def subset_index(coarse: np.ndarray, fine: np.ndarray) -> np.ndarray:
    """Where the coarse knots stand among the fine ones; they must be some of them, both ends included."""
    after = np.clip(np.searchsorted(fine, coarse), 1, fine.size - 1)
    index = after - (coarse - fine[after - 1] < fine[after] - coarse)
    far = np.abs(coarse - fine[index]) > SUBSET_TOLERANCE * (fine[-1] - fine[0])
    if far.any() or index[0] != 0 or index[-1] != fine.size - 1 or (np.diff(index) == 0).any():
        strange = coarse[far][0] if far.any() else coarse[0 if index[0] else -1]
        raise InputError(
            f"coarse knots must be some of the prior's {fine.size} knots, both ends included, "
            f"got {strange:g} among {coarse.size} from {coarse[0]:g} to {coarse[-1]:g}"
        )
    return index
