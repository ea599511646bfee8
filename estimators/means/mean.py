"""The mean of the inputs, unbiased, with its standard error and a confidence interval."""

import math
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ...mechanisms.laws.domain import numbers
from ...mechanisms.table.table import TabulatedMechanism
from ..estimate import NumberEstimate
from ..intervals import CONFIDENCE, Interval, Sample, bernstein_reach, normal_interval
from .decoder import mean_decoder
from .winsorised import winsorised


@dataclass(frozen=True)
class MeanEstimate(NumberEstimate):
    """An estimated mean and how far to trust it, in the units of the inputs.

    Parameters
    ----------
    value : float
        Average of the decoded reports.
    std_error : float
        Estimated standard deviation of `value` over the mechanism's randomness and, for a population, the sampling of
        the inputs.
    n : int
        Number of reports, or of users where several services are combined.
    method : {"average", "affine", "decoder", "ua", "uwa", "population", "em", "ems", "mr", "penalised"}
        How reports were decoded: taken as they are, by one scale and shift, or by one value per output; how the
        reports of one user were combined, see `estimate_combined_mean`; or how the distribution that this is the mean
        of was estimated, see `estimate_distribution`.
    target : {"users", "population"}
    least, most : float
        Unbounded: the interval may leave the domain.
    one_report : float, optional
        The most that `value` moves when one user's report is replaced by any that the mechanism admits (all of that
        user's reports, where there are several); see `influence`. None for the mean of an estimated distribution,
        which `fitted_influence` has it for.
    bias_low, bias_high : float
        Least and largest bias of winsorising, whatever the inputs are; within the interval. 0 without it.
    samples : tuple of Sample
        Where the interval is to hold for any number of users: what the empirical Bernstein bound needs.
    """

    one_report: float | None = None
    bias_low: float = 0.0
    bias_high: float = 0.0
    samples: tuple[Sample, ...] = ()

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return [value - reach - bias_high, value + reach - bias_low]; InputError for a confidence outside (0, 1)."""
        if self.samples:
            reach = bernstein_reach(self.samples, confidence)
            return Interval(self.value - reach, self.value + reach, confidence)
        found = normal_interval(self.value, self.std_error, confidence, self.least, self.most)
        return Interval(found.low - self.bias_high, found.high - self.bias_low, confidence)

    def to_dict(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """Return what every estimate has, and `one_report`, `bias_low` and `bias_high`."""
        more = {"one_report": self.one_report, "bias_low": self.bias_low, "bias_high": self.bias_high}
        return super().to_dict(confidence) | more


def estimate_mean(
    mechanism: TabulatedMechanism,
    reports: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    winsorise: float | None = None,
) -> MeanEstimate:
    """Estimate the mean of the inputs from reports of one table.

    The estimate is the average of decoded reports d(y) with E[d(y) | x] = x for every input x of the
    domain: the reports themselves where the table is unbiased, (y - c)/s where its mean is s x + c,
    otherwise one value per output (`optimal_decoder`). Its standard error is the sample standard
    deviation of d(y) over sqrt(n), which needs to know neither prior nor variance.

    Parameters
    ----------
    mechanism : TabulatedMechanism
        The table that made the reports.
    reports : (n,) array_like of float
        At least two, all of them reports that the table can make.
    weights : (k,) array_like of float, optional
        Weights of the table's k knots that the decoder minimises its variance under; only used where a
        decoder is needed. Default: the table's prior, or equal weights.
    winsorise : float, optional
        Move decoded reports to limits that at most this share of honest reports lies beyond, on each side and at any
        input; see `winsorised`. One report then moves the mean less, and the mean is biased by at most `bias_low` to
        `bias_high`, which the interval is widened by.

    Returns
    -------
    estimate : MeanEstimate

    Raises
    ------
    InputError
        Fewer than two reports, a report that the table cannot make, a share to winsorise outside (0, 1/2), or a table
        from which no unbiased mean can be had.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> table = duchi([-1.0, 1.0], 1.0)
    >>> reports = table.sample(np.full(10_000, 0.25), np.random.default_rng(7))
    >>> estimate = estimate_mean(table, reports)
    >>> estimate.method, bool(estimate.interval().low < 0.25 < estimate.interval().high)
    ('average', True)
    """
    observed = numbers("reports", reports)
    if observed.size < 2:
        raise InputError(f"reports must be at least 2 for a standard error, got {observed.size}")
    decoder = mean_decoder(mechanism, weights)
    decoded = decoder.decode(observed)
    limits = None if winsorise is None else winsorised(mechanism, winsorise, weights)
    least, most = (extreme.value for extreme in decoder.extremes)
    bias_low = bias_high = 0.0
    if limits is not None:
        decoded, bias_low, bias_high = limits.clip(decoded), limits.bias_low, limits.bias_high
        least, most = max(least, limits.low), min(most, limits.high)
    n = decoded.size
    return MeanEstimate(
        float(decoded.mean()),
        float(decoded.std(ddof=1)) / math.sqrt(n),
        n,
        decoder.method,
        one_report=(most - least) / n,
        bias_low=bias_low,
        bias_high=bias_high,
    )
