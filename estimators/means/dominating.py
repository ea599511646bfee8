"""A decoder that errs no more than the reports themselves at any input; where there is one, it takes their place."""

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.table.table import TabulatedMechanism
from .decoding import plain_decoder
from .unbiasing import affine_unbiasing, knot_importance, optimal_decoder

MOST_ENTRIES = 2**18
"""Probabilities in a table up to which its optimal decoder, at n^2 m operations, takes some tenths of a second."""

LEAST_GAIN = 0.01
"""Share of the variance that must be won: below it reports are averaged as they are, which anybody can do."""

ROUNDING = 1e-9
"""Variances that differ by less than this share are the same: they are sums of squares of up to 1e5 terms."""


def dominating_decoder(mechanism: TabulatedMechanism, weights: ArrayLike | None = None) -> np.ndarray | None:
    r"""Return a value for each output, unbiased, of no larger variance than the reports' at any input.

    Between the `plain_decoder` d0, which forgets where in its output a report lies, and the `optimal_decoder` d1 under
    the weights, the variance at knot i is a parabola in t,

        v_i(t) = sum_j P_ij (d0_j + t (d1_j - d0_j))^2 - x_i^2,

    and its mean under the weights falls until t = 1.  So the largest t at which no v_i exceeds the variance of the
    report itself, scaled and shifted to be unbiased, is the best.  Between two knots both are unbiased, so what
    holds at them holds for all inputs; whatever these are distributed like, the average of decoded reports has no
    larger variance.

    Parameters
    ----------
    mechanism : TabulatedMechanism
        n knots, m outputs.
    weights : (n,) array_like of float, optional
        As in `optimal_decoder`.

    Returns
    -------
    values : (m,) ndarray of float, or None
        In the units of the knots.  None where no t is allowed or less than a hundredth of the variance is won, where
        the mean is not affine in the input, and for tables of more than 2^18 probabilities.

    Example
    -------
    >>> from optldp.mechanisms import duchi, laplace
    >>> table = laplace([-1.0, 0.0, 1.0], 1.0)
    >>> values = dominating_decoder(table)
    >>> values.round(3), (table.probabilities @ values**2 - table.knots**2).round(3), table.knot_variances.round(3)
    (array([-2.836, -1.337,  1.337,  2.836]), array([5.068, 5.583, 5.068]), array([8., 8., 8.]))
    >>> dominating_decoder(duchi([-1.0, 1.0], 1.0)) is None  # its two outputs can mean nothing else
    True
    """
    affine = affine_unbiasing(mechanism)
    table = mechanism.probabilities
    if affine is None or table.size > MOST_ENTRIES:
        return None
    half = (mechanism.knots[-1] - mechanism.knots[0]) / 2  # the scale, whose square's square must be a number
    with np.errstate(
        over="ignore", divide="ignore", invalid="ignore"
    ):  # reports that are so much wider than the domain have no variance in its units
        reported = mechanism.knot_variances / (half * affine[0]) ** 2
    if not np.isfinite(reported).all():
        return None
    importance = knot_importance(mechanism, weights)
    plain = plain_decoder(mechanism)
    near, step = plain / half, (optimal_decoder(mechanism, weights) - plain) / half
    centred = near - mechanism.knots[:, None] / half
    excess = np.sum(table * centred**2, axis=1) - reported
    reach = _farthest(table @ step**2, np.sum(table * centred * step, axis=1), excess, ROUNDING * reported)
    if reach is None:
        return None
    values = near + reach * step
    variances = np.sum(table * (values - mechanism.knots[:, None] / half) ** 2, axis=1)
    certain = bool((variances <= (1 + 2 * ROUNDING) * reported).all())  # at the limit itself but for the last digits
    return values * half if certain and importance @ variances <= (1 - LEAST_GAIN) * (importance @ reported) else None


def _farthest(bend: np.ndarray, slope: np.ndarray, excess: np.ndarray, rounding: np.ndarray) -> float | None:
    """Return the largest t of [0, 1] with bend t^2 + 2 slope t + excess <= rounding in every row; None for none."""
    room = slope**2 - bend * (excess - rounding)
    if (room < 0).any() or (excess > rounding)[bend == 0].any():
        return None
    root, curved = np.sqrt(room), bend > 0
    low = float(np.max((-slope - root)[curved] / bend[curved], initial=0.0))
    high = float(np.min((-slope + root)[curved] / bend[curved], initial=1.0))
    return high if low <= high else None
