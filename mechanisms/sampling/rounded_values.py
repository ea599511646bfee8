r"""Values that are rounded to knots, by `perturb --rounding nearest`, and what promises of pairs then are of them.

A table that promises a log-ratio D of each pair of knots takes no values between: rounded at random, a value would have
a mixture of two rows, of which D promises nothing. A value v can be moved to a knot r(v) that depends on v alone. Its
law is then the row of that knot, so that for any two values

    P(y | v) = P(y | r(v)) <= e^D(r(v), r(v')) P(y | r(v')) = e^D(r(v), r(v')) P(y | v').

What that says of the values themselves depends on the kind:

- By distance, on a line or round a circle, r(v) is the nearest knot, at most half the largest spacing s away. By the
  triangle inequality d(r(v), r(v')) <= d(r(v), v) + d(v, v') + d(v', r(v')) <= d(v, v') + s, so that what is promised
  is epsilon (d(v, v') + s). Round a circle no way is longer than on the line.
- One-sided: a value between a sensitive knot and one that is not is moved to the sensitive one, whichever is nearer,
  and counts as sensitive: its law is the row of a sensitive knot, whose reports come of every other row almost as
  often, so that it can be denied.
- By value and by blocks a value has the budget, or is in the block, of its nearest knot.
- A matrix, of log-ratios or of distances, says nothing of values between its own: nothing is promised.

All laws are rows of knots, so the largest log-ratio of two knots, which a ledger books, bounds that of any two values.
"""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from ..errors import InputError
from ..promise import Blocks, ByValue, Metric, OfPairs, Promise, Sensitive
from .domain import nearest_knots

SPACING = 2.0**-40
"""Share of the spacing that doubles may lose when the nearer of two knots is found."""


def spacing(knots: np.ndarray) -> float:
    """Return the largest distance of neighbouring knots, and what doubles may lose.

    Example
    -------
    >>> round(spacing(np.array([0.0, 2.0, 6.0])), 6)
    4.0
    """
    return float(np.diff(knots).max()) * (1 + SPACING)


def rounded_values(promise: Promise, values: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """Return values (N,) of the range of the knots, each moved to the knot whose row is its law.

    Raises
    ------
    InputError
        Nothing can be promised of values between knots, or pure privacy is promised of all of them anyway.

    Example
    -------
    >>> promise = Sensitive(1.0, [True, False, False])
    >>> rounded_values(promise, np.array([0.9, 1.0, 1.9]), np.arange(3.0))
    array([0., 1., 2.])
    """
    said_of_rounded(promise, knots)
    near = nearest_knots(values, knots)
    if not isinstance(promise, Sensitive):
        return near
    right = np.clip(np.searchsorted(knots, values), 1, knots.size - 1)
    left, hidden = right - 1, np.array(promise.sensitive)
    between = (values > knots[left]) & (values < knots[right])
    near = np.where(between & hidden[left] & ~hidden[right], knots[left], near)
    return np.where(between & hidden[right] & ~hidden[left], knots[right], near)


@singledispatch
def said_of_rounded(promise: Promise, knots: np.ndarray) -> str:
    """Return in words what is promised of values that are rounded to knots; InputError where nothing can be.

    Example
    -------
    >>> said_of_rounded(Metric(0.5), np.array([0.0, 2.0, 6.0]))
    'epsilon 0.5 per unit, of the distance of two values and 4 more'
    """
    if isinstance(promise, OfPairs):
        raise InputError(f"no value can be rounded to a knot where these alone are promised of, got {promise}")
    raise InputError(
        f"values are rounded for promises of pairs of knots, got {promise}, which holds for all values: leave it out"
    )


@said_of_rounded.register
def _(promise: Metric, knots: np.ndarray) -> str:
    if promise.distance is not None:
        raise InputError("no value can be rounded to a knot by distances of a matrix, which are of knots alone")
    return f"{promise}, of the distance of two values and {spacing(knots):g} more"


@said_of_rounded.register
def _(promise: Sensitive, knots: np.ndarray) -> str:
    return f"{promise}; a value beside a sensitive one is rounded to it, and counts as sensitive"


@said_of_rounded.register
def _(promise: ByValue, knots: np.ndarray) -> str:
    return f"{promise}; a value has the budget of its nearest knot"


@said_of_rounded.register
def _(promise: Blocks, knots: np.ndarray) -> str:
    return f"{promise}; a value is in the block of its nearest knot"


def limits_of_rounded(promise: OfPairs, values: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """Return what is promised of every two of N values that are rounded to knots: (N, N) log-ratios at most.

    Example
    -------
    >>> limits_of_rounded(Metric(0.5), np.array([0.0, 0.5, 2.0]), np.array([0.0, 1.0, 2.0])).round(3)[0].tolist()
    [0.0, 0.75, 1.5]
    """
    places = np.searchsorted(knots, rounded_values(promise, values, knots))
    if not isinstance(promise, Metric):
        return promise.limits(knots)[np.ix_(places, places)]
    return promise.said(values) + promise.epsilon * spacing(knots) * (values[:, None] != values)
