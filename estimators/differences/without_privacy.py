"""How much longer an interval is than the one that the values themselves would give: what privacy costs."""

from __future__ import annotations

import math

import numpy as np

from ...mechanisms.errors import InputError
from ..counting.counts import ReportCounts
from ..estimate import Estimate
from ..frequencies.consistency import norm_sub
from ..intervals import CONFIDENCE, normal_quantile
from .value_scatter import value_variance

NEXT_TO_NOTHING = 1e-6
"""Share of the variance with privacy below which that without is rounding."""

RATIO = "ratio_to_no_privacy"
"""What the ratio is called wherever an estimate tells it."""


def ratio_to_no_privacy(
    estimate: Estimate,
    counts: ReportCounts | None = None,
    *,
    variance: float | None = None,
    confidence: float = CONFIDENCE,
) -> float | None:
    """Return the ratio of the interval's length to that from equally many values themselves, drawn from the population.

    For a mean the values would give the normal interval of their variance over n; see `value_variance`.  For
    frequencies it covers all categories together: the root of the sum of their squared standard errors over that of f
    (1 - f) / n.

    Parameters
    ----------
    estimate : Estimate
        It is defined for the population only, else None.
    counts : ReportCounts, optional
        That a mean was estimated from.
    variance : float, optional
        Of the values, instead of counts.
    confidence : float
        Confidence of a mean's interval, in which bias counts for more or less.

    Returns
    -------
    ratio : float or None
        None where it is undefined: for a method without a standard error, tables without common knots, values that are
        all the same, or the very users, whose values would have no error.

    Raises
    ------
    InputError
        A mean without counts, a confidence outside (0, 1).

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import count, estimate_mean
    >>> from optldp.estimators.differences import ratio_to_no_privacy
    >>> from optldp.mechanisms.families.grr import grr
    >>> counts = count(grr([0.0, 1.0], 1.0), np.repeat([0.0, 1.0], 500))
    >>> round(ratio_to_no_privacy(estimate_mean(counts), counts), 1)  # (e + 1)/(e - 1)
    2.2
    """
    if estimate.target == "users":
        return None
    if np.ndim(estimate.value):
        place = norm_sub(estimate.value)
        std_error = float(np.sqrt(np.sum(np.square(estimate.std_error))))
        return ratio_to(std_error, math.sqrt(max(float(place @ (1.0 - place)), 0.0) / estimate.n))
    if variance is None:
        if not isinstance(counts, ReportCounts):
            raise InputError(f"the ratio of a mean needs the counts of its reports, got {type(counts).__name__}")
        if (variance := value_variance(counts)) is None:
            return None
    ends = estimate.interval(confidence)
    reach = 0.5 * (ends.high - ends.low) / normal_quantile(confidence)
    return ratio_to(reach, math.sqrt(max(variance, 0.0) / estimate.n))


def ratio_to(std_error: float, without: float) -> float | None:
    """Return the ratio of two standard errors; None where the second is unknown, or as good as zero.

    Example
    -------
    >>> round(ratio_to(0.3, 0.1), 6), ratio_to(0.3, 0.0)
    (3.0, None)
    """
    if not (math.isfinite(std_error) and math.isfinite(without)) or without**2 <= NEXT_TO_NOTHING * std_error**2:
        return None
    return std_error / without
