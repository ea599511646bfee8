"""Intervals for means of few users: Student's quantiles, since the scatter of few is known only roughly."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import stdtrit

from ..intervals import Interval, check_confidence


def student_interval(value: Any, std_error: Any, users: Any, confidence: float, each: float | None = None) -> Interval:
    """Return the value plus and minus Student's quantile, of one degree of freedom less than users, times its error.

    Where many intervals are to hold at once each has a confidence so near to one that it matters for hundreds of users.

    Parameters
    ----------
    value, std_error, users : float or (K,) ndarray
        Users, an effective number where they have weights; NaN ends for a single one.
    confidence : float
        Strictly between 0 and 1.
    each : float, optional
        That of each interval, if it is another one.

    Raises
    ------
    InputError
        A confidence outside (0, 1).

    Source: Student (1908), "The probable error of a mean".

    Example
    -------
    >>> found = student_interval(0.0, 1.0, 10, 0.95)
    >>> round(found.low, 4), round(found.high, 4)
    (-2.2622, 2.2622)
    """
    check_confidence(confidence)
    freedom = np.where(np.asarray(users) > 1.0, np.asarray(users) - 1.0, np.nan)
    reach = stdtrit(freedom, 0.5 + 0.5 * (confidence if each is None else each)) * std_error
    low, high = value - reach, value + reach
    return Interval(low, high, confidence) if np.ndim(value) else Interval(float(low), float(high), confidence)
