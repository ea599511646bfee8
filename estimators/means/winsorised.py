"""Winsorising: far reports are moved to limits that the table alone fixes; what that costs is read off the table."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ...mechanisms.table.moments import largest_variance, prior_variance
from ...mechanisms.table.table import TabulatedMechanism
from .decoder import MeanDecoder, mean_decoder


@dataclass(frozen=True, eq=False)
class Winsorised:
    """Limits that decoded reports are moved to, and what is lost and won; in the units of the inputs.

    Parameters
    ----------
    share : float
        The share q that was asked for.
    low, high : float
        Limits of decoded reports.
    bias_low, bias_high : float
        Least and largest bias of a winsorised report over all inputs: E[clip(d(Y)) | x] - x.  It is straight between
        knots, so both are attained at knots.
    worst_case_variance : float
        Largest variance of a winsorised report over all inputs, squared units.
    expected_variance : float or None
        Its mean over the table's prior; None for a table without one.
    """

    share: float
    low: float
    high: float
    bias_low: float
    bias_high: float
    worst_case_variance: float
    expected_variance: float | None

    @property
    def largest_bias(self) -> float:
        """The most that the mean of any inputs can be off for it."""
        return max(abs(self.bias_low), abs(self.bias_high))

    def clip(self, decoded: np.ndarray) -> np.ndarray:
        """Return the decoded reports (N,) with those beyond the limits moved there."""
        return np.clip(decoded, self.low, self.high)


def winsorised(
    mechanism: TabulatedMechanism, share: float, weights: ArrayLike | None = None, *, raw: bool = False
) -> Winsorised:
    r"""Return the tightest limits with at most a share q of honest reports above, and at most q below, at any input.

    Limits are ends of outputs or lie inside a tail, so that no cell is cut.  With d(Y) the decoded report,

        H = min { h : P(d(Y) > h | x) <= q for all x },    L = max { l : P(d(Y) < l | x) <= q for all x }.

    They depend on the table alone, never on reports, so winsorised reports are those of a fixed, slightly biased
    mechanism. The bias of their average lies within [`bias_low`, `bias_high`].

    Parameters
    ----------
    mechanism : TabulatedMechanism
    share : float
        q, strictly between 0 and 1/2.
    weights : (n,) array_like of float, optional
    raw : bool
        As in `estimate_mean`.

    Returns
    -------
    limits : Winsorised
        `low` and `high` of the decoded reports, and the bounds of the bias that they cause.

    Raises
    ------
    InputError
        A share outside (0, 1/2), or a table that allows no unbiased mean.

    Source: Tukey (1962), "The future of data analysis", section 14, for limits from the data; here from the law.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import TabulatedMechanism
    >>> from optldp.estimators import winsorised
    >>> from optldp.mechanisms.sampling.within_cell import GeometricTails
    >>> ends, rows = [-2.0, 2.0], [[0.75, 0.25], [0.25, 0.75]]
    >>> law = GeometricTails(1.0, 0.5)
    >>> table = TabulatedMechanism([-1.5, 1.5], [-np.inf, 2.0], [-2.0, np.inf], rows, 1.1, law)
    >>> found = winsorised(table, 0.01, raw=True)
    >>> found.low, found.high, round(found.largest_bias, 4)
    (-8.0, 8.0, 0.0078)
    """
    if not 0.0 < share < 0.5:
        raise InputError(f"winsorise must be a share of reports strictly between 0 and 0.5, got {share!r}")
    middle = float(np.mean(mechanism.domain))  # so that a domain far from zero costs no digits
    outputs = _Outputs.of(mean_decoder(mechanism, weights, raw=raw), middle)
    least, most = -outputs.mirrored().limit(share), outputs.limit(share)
    means, variances = outputs.moments_within(least, most)
    bias = means - (mechanism.knots - middle)
    return Winsorised(
        share,
        least + middle,
        most + middle,
        float(bias.min()),
        float(bias.max()),
        largest_variance(mechanism.knots, means, variances)[0],
        None if mechanism.prior is None else prior_variance(mechanism.knots, means, variances, mechanism.prior),
    )


@dataclass(frozen=True, eq=False)
class _Outputs:
    """Decoded outputs: ends (m,), probabilities (n, m), moments inside (n, m), and the tails' mean, square and rate.

    All places are relative to the domain's middle.
    """

    low: np.ndarray
    high: np.ndarray
    probabilities: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    tail_mean: np.ndarray
    tail_second: np.ndarray
    tail_rate: np.ndarray
    step: float

    @classmethod
    def of(cls, decoder: MeanDecoder, middle: float) -> _Outputs:
        table = decoder.mechanism
        none = np.zeros((table.knots.size, table.low.size))
        if decoder.values is not None:
            points = decoder.values - middle
            return cls(points, points, table.probabilities, none + points, none, none, none, none + 1.0, 0.0)
        origin = decoder.shift + decoder.scale * middle
        ends = (table.low - origin) / decoder.scale, (table.high - origin) / decoder.scale
        inside, spread = table.within.moments(table.low, table.high, table.knots.size)
        tail, step, scale = (none, none, none + 1.0), 0.0, abs(decoder.scale)
        if not np.isfinite(ends).all():
            law = table.within.tails(table.low, table.high)
            tail = none + law.mean / scale, none + law.second / scale**2, none + law.rate * scale
            step = law.step / scale
        moments = (inside - origin) / decoder.scale, spread / scale**2
        return cls(np.minimum(*ends), np.maximum(*ends), table.probabilities, *moments, *tail, step)

    def mirrored(self) -> _Outputs:
        """The same with all reports multiplied by -1."""
        rest = self.variance, self.tail_mean, self.tail_second, self.tail_rate, self.step
        return _Outputs(-self.high, -self.low, self.probabilities, -self.mean, *rest)

    def limit(self, share: float) -> float:
        """Return the least limit, cutting no cell, that is exceeded with at most this probability at every knot."""
        order = np.argsort(self.high, kind="stable")
        high = self.high[order]
        beyond = np.cumsum(self.probabilities[:, order[::-1]], axis=1)[:, ::-1].max(axis=0)  # from each output upwards
        exceeded = np.append(beyond, 0.0)[np.searchsorted(high, high, side="right")]
        starts, ends = np.sort(self.low[self.low < self.high]), np.sort(self.high[self.low < self.high])
        # Cells do not overlap, so more starts below than ends at or below means inside one.
        cut = np.searchsorted(starts, high, side="left") > np.searchsorted(ends, high, side="right")
        fit = np.flatnonzero(np.isfinite(high) & ~cut & (exceeded <= share))
        return float(high[fit[0]]) if fit.size else self._limit_in_tail(share)

    def _limit_in_tail(self, share: float) -> float:
        """Every finite end is exceeded too often, the last one by the upper tail alone."""
        j = int(np.argmax(self.high))
        distance = float(np.max(np.log(np.maximum(self.probabilities[:, j], share) / share) / self.tail_rate[:, j]))
        if self.step:  # the k-th point is exceeded with probability exp(-rate step (k + 1))
            distance = max(0.0, math.ceil(distance / self.step) - 1.0) * self.step
        return float(self.low[j]) + distance

    def moments_within(self, least: float, most: float) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance (n,) of a report that is moved into the limits.

        A tail T is memoryless: with c the distance to the limit and s = P(T >= c), T = min(T, c) + [T >= c] T', so that
        E min(T, c) = (1 - s) E T  and  E min(T, c)^2 = (1 - s) E T^2 - 2 c s E T.
        """
        beyond = (self.high <= least) | (self.low >= most)
        mean = np.where(beyond, np.clip(self.mean, least, most), self.mean)
        square = np.where(beyond, 0.0, self.variance) + mean**2
        for side, infinite, end, limit in ((1, np.isposinf(self.high), self.low, most),
                                           (-1, np.isneginf(self.low), self.high, least)):  # fmt: skip
            for j in np.flatnonzero(infinite & ~beyond):
                c = side * (limit - end[j])
                s = np.exp(-self.tail_rate[:, j] * c)
                first, second = self.tail_mean[:, j] * (1 - s), self.tail_second[:, j] * (1 - s)
                second = second - 2 * c * s * self.tail_mean[:, j]
                mean[:, j] = end[j] + side * first
                square[:, j] = end[j] ** 2 + 2 * side * end[j] * first + second
        means = np.sum(self.probabilities * mean, axis=1)
        centre = means[:, None]
        spread = square - 2 * centre * mean + centre**2
        return means, np.sum(self.probabilities * spread, axis=1)
