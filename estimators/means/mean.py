"""The mean of the inputs, unbiased, with its standard error and a confidence interval."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.compact_tables.floor_and_windows import FloorForm
from ...mechanisms.errors import InputError
from ..counting.counts import ReportCounts
from ..estimate import NumberEstimate, check_target
from ..intervals import CONFIDENCE, Interval, Sample, bernstein_reach, bias_aware_reach, normal_interval
from ..methods import Target
from ..plots.mean_interval import mean as interval_of_a_mean
from .between_users import Participation
from .decoder import MeanDecoder, mean_decoder
from .decoding import plain_decoder
from .noise import MechanismNoise
from .raw_reports import raw_sample
from .winsorised import winsorised

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class MeanEstimate(NumberEstimate):
    """An estimated mean with its standard error and interval, in the units of the inputs.

    Parameters
    ----------
    value : float
        Average of the decoded reports.
    std_error : float
        Estimated standard deviation of `value` over the mechanism's randomness and, for a population, the sampling of
        the inputs.
    n : int
        Number of reports, or of users where several services are combined.
    method : str
        "average", "affine", "decoder", "ua", "uwa", "population", "bias-aware", "smooth", "em", "ems", "mr" or
        "penalised": how reports were decoded: taken as they are, by one scale and shift, or by one value per output;
        how the reports of one user were combined, see `estimate_combined_mean`; or how its distribution was estimated,
        see `estimate_distribution`.
    target : {"users", "population"}
    least, most : float
        Unbounded: the interval may leave the domain.
    one_report : float, optional
        The most that `value` moves when one user's report is replaced by any that the mechanism admits (all of that
        user's reports, where there are several); see `influence`. None for the mean of an estimated distribution,
        for which see `fitted_influence`.
    bias_low, bias_high : float
        Least and largest bias: of winsorising for all inputs; of a bias-aware mean for all priors within the trust. The
        interval includes it. It is 0 without bias, and NaN for "ems", whose bias is unknown and which has no interval.
    samples : tuple of Sample
        Data of the empirical Bernstein bound, if the interval holds for any number of users.
    participation : Participation, optional
        For "population" and "decoder" with different services: a comparison of the means of each set of services.
    rounds : mapping of str to MeanEstimate
        For rounds, the same from each round's own reports, by name.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import estimate_mean
    >>> from optldp.estimators import count
    >>> from optldp.mechanisms import duchi
    >>> table = duchi([-3.0, 3.0], 1.0)
    >>> found = estimate_mean(count(table, np.repeat(table.low, [400, 600])))
    >>> round(found.value, 3), round(found.std_error, 3), round(found.low, 2), round(found.high, 2)
    (1.298, 0.201, 0.9, 1.69)
    """

    one_report: float | None = None
    bias_low: float = 0.0
    bias_high: float = 0.0
    samples: tuple[Sample, ...] = ()
    participation: Participation | None = None
    rounds: Mapping[str, MeanEstimate] = field(default_factory=dict)

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return where the truth lies, whatever the bias within its bounds; InputError for a confidence outside (0, 1).

        The value less the middle of the bounds, plus and minus `bias_aware_reach` of the half between them.
        """
        if self.samples:
            reach = bernstein_reach(self.samples, confidence)
            return Interval(self.value - reach, self.value + reach, confidence)
        if self.bias_low == self.bias_high == 0.0:
            return normal_interval(self.value, self.std_error, confidence, self.least, self.most)
        middle = self.value - 0.5 * (self.bias_low + self.bias_high)
        reach = bias_aware_reach(self.std_error, 0.5 * (self.bias_high - self.bias_low), confidence)
        return Interval(middle - reach, middle + reach, confidence)

    def to_dict(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """Return what every estimate has, and `one_report`, `bias_low` and `bias_high`."""
        more = {"one_report": self.one_report, "bias_low": self.bias_low, "bias_high": self.bias_high}
        return super().to_dict(confidence) | more

    def plot(
        self,
        ax: Axes | None = None,
        *,
        truth: float | None = None,
        ratio_to_no_privacy: float | None = None,
        units: str = "",
    ) -> Axes:
        """Draw the interval, the truth and the interval without privacy as `optldp.designer.plots.mean` does."""
        return interval_of_a_mean(self, ax, truth=truth, ratio_to_no_privacy=ratio_to_no_privacy, units=units)


def estimate_mean(
    counts: ReportCounts,
    *,
    weights: ArrayLike | None = None,
    winsorise: float | None = None,
    raw: bool = False,
    target: Target = "population",
) -> MeanEstimate:
    """Estimate the mean of the inputs from counted reports of one table.

    The estimate is the average of decoded reports d(y) with E[d(y) | x] = x for every input x of the
    domain. d is one value per output if that never has a larger variance, and on average a smaller one
    (`dominating_decoder`). Otherwise it is the report itself for an unbiased table, (y - c)/s for a table with mean s x
    + c, and else again one value per output (`optimal_decoder`). Its standard error is the sample standard deviation of
    d(y) over sqrt(n), which needs neither prior nor variance.

    Averaging reports that are not points, and winsorising within tails, need each report's place in its output. `count`
    of an array keeps it (`ReportCounts.numbers`), so nothing is lost. Counts of files and data frames, and saved ones,
    hold outputs alone: each output then becomes one value (`plain_decoder`). That is unbiased too, and loses nothing
    where the place within an output is independent of the input. Sums of reports, which ``count(..., raw=True)`` keeps,
    still allow raw averages.

    Parameters
    ----------
    counts : ReportCounts
        Of one table, at least two reports: ``count(table, reports)``.
    weights : (k,) array_like of float, optional
        Weights of the table's k knots, under which one value per output gets a small variance. Default: the table's
        prior, or equal weights.
    winsorise : float, optional
        Move decoded reports to limits that at most this share of honest reports lies beyond, on each side and at any
        input; see `winsorised`. One report then moves the mean less; its bias lies from `bias_low` to `bias_high`, and
        the interval is widened by it.
    raw : bool
        Average the reports themselves, scaled and shifted where needed, as papers do; this is never better.
    target : {"population", "users"}
        Whose mean it is. For "users", these very ones, the error is the mechanism's noise alone, which `MechanismNoise`
        estimates from reports of tables with more than three outputs.

    Returns
    -------
    estimate : MeanEstimate

    Raises
    ------
    InputError
        No counts of one table, fewer than two reports, another target, a share to winsorise outside (0, 1/2) or with
        counts that lack the numbers for it, or a table whose (raw) reports allow no unbiased mean.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import estimate_mean
    >>> from optldp.estimators import count
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> table = duchi([-1.0, 1.0], 1.0)
    >>> reports = table.sample(np.full(10_000, 0.25), np.random.default_rng(7))
    >>> estimate = estimate_mean(count(table, reports))
    >>> round(estimate.value, 3), round(estimate.std_error, 3)
    (0.244, 0.022)
    >>> interval = estimate.interval(0.95)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.202, 0.286)
    """
    check_target(target)
    if not isinstance(counts, ReportCounts) or len(counts.services) > 1:
        raise InputError(
            f"a mean needs the counts of one table's reports, count(table, reports), got {_told(counts)}: "
            "several services have estimate_combined_mean"
        )
    if counts.n_users < 2:
        raise InputError(f"reports must be at least 2 for a standard error, got {counts.n_users}")
    mechanism = counts.mechanisms[0]
    chosen = mean_decoder(mechanism, weights, raw=raw)
    if raw and winsorise is None and counts.numbers is None and counts.groups[0].sums is not None:
        found = raw_sample(counts, [chosen], [np.ones((len(counts.groups[0].counts), 1))])
        error = _error(found, counts, chosen, target)
        return MeanEstimate(found.mean, error, found.n, chosen.method, target, one_report=found.width / found.n)
    unplaced = chosen.values is None and counts.numbers is None and (mechanism.low < mechanism.high).any()
    for asked, what in ((winsorise is not None, "winsorising needs"), (raw, "raw reports need")):
        if asked and unplaced:
            raise InputError(f"{what} where in its interval a report lies, got counts of outputs: count an array")
    decoder, decoded, often = _decoded(counts, chosen)
    limits = None if winsorise is None else winsorised(mechanism, winsorise, weights, raw=raw)
    least, most = (extreme.value for extreme in decoder.extremes)
    bias_low = bias_high = 0.0
    if limits is not None:
        decoded, bias_low, bias_high = limits.clip(decoded), limits.bias_low, limits.bias_high
        least, most = max(least, limits.low), min(most, limits.high)
    found = Sample.of(decoded, often, most - least)
    return MeanEstimate(
        found.mean,
        _error(found, counts, decoder, target),
        found.n,
        decoder.method,
        target,
        one_report=found.width / found.n,
        bias_low=bias_low,
        bias_high=bias_high,
    )


def average_of(form: FloorForm, reports: ArrayLike) -> MeanEstimate:
    """Estimate the mean of the inputs by the average of the reports: no likelihood is asked for, so no table is made.

    What `estimate_mean` does with counts of the table that the form expands to, where that is not too large: outputs of
    an optimum are values that no others dominate.

    Parameters
    ----------
    form : FloorForm
        Unbiased.
    reports : (N,) array_like
        Its outputs, at least two.

    Raises
    ------
    InputError
        A form that does not say that it is unbiased, reports that are none of its outputs, fewer than two.

    Example
    -------
    >>> from ...mechanisms.families.duchi import duchi
    >>> from ...mechanisms.compact_tables import floor_form
    >>> form = floor_form(duchi([0.0, 5.0, 10.0], 1.0))
    >>> found = average_of(form, form.sample(np.full(10_000, 2.5), np.random.default_rng(7)))
    >>> bool(found.interval().low < 2.5 < found.interval().high)
    True
    """
    if not form.provenance.claims_unbiased:
        raise InputError(
            "an average of reports is no mean of values unless they are unbiased: got a floor form that does not say so"
        )
    often = np.bincount(form.output_index(reports), minlength=form.places.size)
    if often.sum() < 2:
        raise InputError(f"reports must be at least 2 for a standard error, got {often.sum()}")
    seen = np.flatnonzero(often)
    found = Sample.of(form.outputs[seen], often[seen], float(np.ptp(form.outputs)))
    error = math.sqrt(found.variance / found.n)
    return MeanEstimate(found.mean, error, found.n, "average", one_report=found.width / found.n)


def _error(found: Sample, counts: ReportCounts, decoder: MeanDecoder, target: Target) -> float:
    """Return the standard error: of fixed users by the noise alone, at most what the numbers scatter in all."""
    variance = found.variance
    if target == "users":
        least, of_output = MechanismNoise(decoder.mechanism).of_decoder(decoder)
        variance = float(np.clip(counts.reports_of(0) @ of_output / found.n, min(least, variance), variance))
    return math.sqrt(variance / found.n)


def _decoded(counts: ReportCounts, decoder: MeanDecoder) -> tuple[MeanDecoder, np.ndarray, np.ndarray]:
    """Return the decoder that serves these counts, the numbers that it makes of reports, and how often it made each."""
    mechanism, often = decoder.mechanism, counts.reports_of(0)
    if counts.numbers is not None and decoder.values is None:
        return decoder, decoder.decode(counts.numbers.values), counts.numbers.counts
    points = mechanism.low == mechanism.high
    if decoder.values is None and not points.all():
        decoder = MeanDecoder(mechanism, "decoder", values=plain_decoder(mechanism))
    seen = np.flatnonzero(often)
    return decoder, decoder.decode(mechanism.low[seen]) if decoder.values is None else decoder.values[seen], often[seen]


def _told(counts: object) -> str:
    return f"those of {len(counts.services)} services" if isinstance(counts, ReportCounts) else type(counts).__name__
