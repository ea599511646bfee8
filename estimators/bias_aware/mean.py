"""The mean of the values with the least error for these users, bias allowed where a trusted prior makes it pay."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ...solvers.biased.least_error import DEFAULT_TRUST
from ..affine_pairs.intervals import AffinePairs
from ..affine_pairs.outcomes import Outcomes
from ..assumption_free.linear_numbers import Question
from ..assumptions.base import Assumed
from ..counting.counts import ReportCounts
from ..estimate import check_target
from ..intervals import CONFIDENCE, Sample, bias_aware_reach, normal_quantile, pooled
from ..means.mean import MeanEstimate
from ..methods import Target
from ..plots.counted_reports import counted_as
from .decoders import Decoded, assumed_within, decode, trusted_prior
from .designed import least_error, told_by

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEWEST_IN_GROUP = 2
"""Users that each group needs for a sample variance of its own."""


@dataclass(frozen=True, eq=False)
class CountedAs:
    """What the reports to one service count as, for users who report to the same services.

    Parameters
    ----------
    service : str
        Its name, with those of the user's other services if there are any.
    low, high : (m,) ndarray of float
        Ends of the outputs, in the units of the reports.
    before : (m,) ndarray of float
        What they count as in a plain average: unbiased where that can be, else the report itself.
    values : (m,) ndarray of float
        In the units of the values.  Those of a user's reports are added up.
    """

    service: str
    low: np.ndarray
    high: np.ndarray
    before: np.ndarray
    values: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class BiasAwareMean(MeanEstimate):
    """A mean of least error, for which each report counts as a chosen number, and its errors, in the units of the
    values.

    Its promises hold if the values are drawn from a prior whose weight at each knot is within the factor `trust` of the
    given prior's. `bias_low` and `bias_high` are then the least and the largest bias.

    Parameters
    ----------
    trust : float
    rmse : float
        Largest root mean squared error against these users' own mean, rounding between knots included.
    rmse_before : float
        The same for a plain average: of unbiased numbers where they exist, else of the reports as they are.
    lower_bound : float or None
        No numbers for these reports have a smaller error, for values at knots; None where groups of users may differ.
    relative_gap : float
        The most that other numbers could still gain, for values at knots.
    rmse_designed : float or None
        Error of a table designed for as many users, where this one was designed for far more or fewer; else None.
    knots, means : (n,) ndarray of float
        Number that a value at each knot counts as on average.
    parts : tuple of CountedAs
        Number that each report counts as.
    seen : tuple of Outcomes and Assumed, optional
        Reports and the set of priors, for the shortest length and the test of the trust; None where groups of users may
        differ, and for the mean of these very users.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import bias_aware_mean
    >>> from optldp.estimators import count
    >>> from optldp.mechanisms import grr
    >>> counts = count(grr([0.0, 1.0, 2.0], 3.0), np.repeat([0.0, 1.0, 2.0], [500, 300, 200]))
    >>> found = bias_aware_mean(counts, [0.5, 0.3, 0.2], trust=2.0)
    >>> round(found.value, 3), found.rmse < found.rmse_before
    (0.653, True)
    """

    trust: float = math.nan
    rmse: float = math.nan
    rmse_before: float = math.nan
    lower_bound: float | None = None
    relative_gap: float = math.nan
    rmse_designed: float | None = None
    knots: np.ndarray = None  # pyright: ignore[reportAssignmentType] -- there are always some
    means: np.ndarray = None  # pyright: ignore[reportAssignmentType]
    parts: tuple[CountedAs, ...] = ()
    seen: tuple[Outcomes, Assumed] | None = None

    @cached_property
    def _mean_of_all(self) -> Question | None:
        """What is asked of all priors within the trust; the interval is shorter than that by pairs of estimates."""
        if self.seen is None:
            return None
        explained = AffinePairs.fitted(*self.seen)
        return Question(explained, "ends", (explained.points, explained.points))

    @property
    def shortest_possible(self) -> float | None:
        """What no interval that holds within the trust is shorter than, on average at the prior that the reports are
        nearest to; None if unknown."""
        asked = self._mean_of_all
        return None if asked is None else asked.facts(CONFIDENCE)["shortest_possible"]

    def reaches(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """Return how far the interval reaches to a side, for noise alone and for what the prior may be off on top."""
        noise = normal_quantile(confidence) * self.std_error
        return noise, bias_aware_reach(self.std_error, self.bias_high, confidence) - noise

    def to_dict(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """Return what a mean has, trust, errors, both parts of the interval, and the range of what values count as."""
        noise, trust = self.reaches(confidence)
        beside: dict[str, Any] = {"shortest_possible": None, "assumed": f"trust={self.trust:g}"}
        beside |= {"assumption_p_value": None} if self._mean_of_all is None else self._mean_of_all.facts(confidence)
        return (
            super().to_dict(confidence)
            | beside
            | {
                "interval": "bias-aware",
                "trust": self.trust,
                "rmse": self.rmse,
                "rmse_before": self.rmse_before,
                "lower_bound": self.lower_bound,
                "relative_gap": self.relative_gap,
                "rmse_designed": self.rmse_designed,
                "reach_of_noise": noise,
                "reach_of_trust": trust,
                "counted_from": float(self.means.min()),
                "counted_to": float(self.means.max()),
            }
        )

    def plot(self, ax: Axes | None = None, *, units: str = "") -> Axes:  # pyright: ignore[reportIncompatibleMethodOverride] -- reports, not the interval
        """Draw what each report counts as against what it counted as before: `optldp.designer.plots.counted_as`."""
        return counted_as(self, ax, units=units)


def bias_aware_mean(
    counts: ReportCounts,
    prior: ArrayLike | None = None,
    *,
    trust: float | None = None,
    target: Target = "population",
    alike: bool = False,
) -> BiasAwareMean:
    r"""Estimate the mean of the values with the least error that these reports allow for their number of users.

    What each report counts as is chosen before any is looked at, from the tables, the prior, the trust and the number
    of users N alone: with b and v the bias and the mean squared error of a user's number at each knot, such that

        R^2 = max_q q.v / N + (max_q \|q.b\|)^2

    is least, where the maxima are over all priors q with prior / trust <= q <= trust prior (`solvers.biased.decoder`).
    On skewed columns this error is far less than that of unbiased numbers, because values in a thin tail count as less
    than they are.  Of several services a user's numbers are added up.

    The interval is value +- c s, where s is the standard error and c the quantile of \|N(B / s, 1)\| for the bias bound
    B = max \|q.b\|. It has its coverage whenever the values are drawn from such a q.

    Parameters
    ----------
    counts : ReportCounts
        Of one table or several, at least two users.
    prior : (n,) array_like of float, optional
        Weights of the finest table's n knots, such as last year's. ``Prior.from_data(values,
        knots=table.knots).weights``. Default: the prior that a table carries. One part in a thousand is spread evenly,
        as in designs.
    trust : float, optional
        The factor by which each weight may be off, at least 1. Default: the trust of the first table's design, else 3.
    target : {"users", "population"}
        Whose mean it is. For `population` the standard error is the scatter of the numbers; for `users` it is the
        largest noise under any prior within the trust.
    alike : bool
        Whether users of different services have values of one distribution, as when chance decides who reports where.
        Biases of groups may then cancel. Otherwise each group may have a prior of its own, and the groups' bias bounds
        add up, weighted by their shares.

    Returns
    -------
    estimate : BiasAwareMean

    Raises
    ------
    InputError
        No prior, invalid weights, a trust below 1, fewer than two users, a service without reports, or tables whose
        knots disagree.

    Source: the program is derived in `solvers.biased`; Armstrong and Kolesar (2018) for the interval.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import bias_aware_mean
    >>> from optldp.estimators import count
    >>> from optldp.mechanisms import piecewise
    >>> table, rng = piecewise(np.linspace(0, 100, 21), 1.0), np.random.default_rng(7)
    >>> last_year = np.exp(-table.knots / 5)
    >>> values = rng.exponential(6.0, 5000).clip(0, 100)
    >>> estimate = bias_aware_mean(count(table, table.sample(values, rng)), last_year, trust=2.0)
    >>> round(estimate.value, 1), round(estimate.low, 1), round(estimate.high, 1)  # the truth is 6
    (5.2, 4.3, 6.2)
    >>> round(estimate.rmse, 2), round(estimate.rmse_before, 2)
    (0.48, 1.57)
    """
    check_target(target)
    if not isinstance(counts, ReportCounts):
        raise InputError(
            f"a bias-aware mean needs counts of numbers, count(table, reports), got {type(counts).__name__}"
        )
    if counts.n_users < 2:
        raise InputError(f"users must be at least 2 for a standard error, got {counts.n_users}")
    counts.require_reports()
    counts.require_one_time("a bias-aware mean")
    said = told_by(counts.mechanisms[0])
    factor = trust if trust is not None else (said and said.trust) or DEFAULT_TRUST
    priors = trusted_prior(counts, prior, factor)
    alike = alike or len(counts.groups) == 1
    made = decode(counts, priors, alike=alike)
    samples = _samples(counts, made.values, together=not alike)
    value, error = pooled(samples)
    designed = None
    if said is not None and len(counts.services) == 1 and said.far_from(counts.n_users):
        designed = least_error(counts.mechanisms[0], priors, counts.n_users)
    seen = None
    if alike and target == "population":
        seen = Outcomes.of(counts, at_knots=True), assumed_within(priors, factor)
    return BiasAwareMean(
        value,
        error if target == "population" else made.error.noise,
        counts.n_users,
        "bias-aware",
        target,
        one_report=_width(counts, made.values) / counts.n_users,
        bias_low=-made.error.bias_bound,
        bias_high=made.error.bias_bound,
        trust=factor,
        rmse=made.error.rmse,
        rmse_before=made.error_before.rmse,
        lower_bound=made.lower_bound,
        relative_gap=made.relative_gap,
        rmse_designed=designed,
        knots=made.knots,
        means=made.means,
        parts=_parts(counts, made),
        seen=seen if seen is not None and seen[0].points.size == made.knots.size else None,
    )


def _samples(counts: ReportCounts, values: Sequence[Sequence[np.ndarray]], *, together: bool) -> list[Sample]:
    """The users' numbers, apart for each group unless their shares are a part of what is estimated."""
    numbers = [
        np.sum([d[column] for d, column in zip(mine, group.outputs.T, strict=True)], axis=0)
        for group, mine in zip(counts.groups, values, strict=True)
    ]
    if together or min(group.n_users for group in counts.groups) < FEWEST_IN_GROUP:
        return [Sample.of(np.concatenate(numbers), np.concatenate([g.counts for g in counts.groups]), 0.0)]
    return [Sample.of(mine, group.counts, 0.0) for mine, group in zip(numbers, counts.groups, strict=True)]


def _width(counts: ReportCounts, values: Sequence[Sequence[np.ndarray]]) -> float:
    """Return the largest number of a user less the smallest, whichever reports and services are claimed."""
    lows, highs = [], []
    for group, mine in zip(counts.groups, values, strict=True):
        made = [d[counts.mechanisms[j].possible] for j, d in zip(group.services, mine, strict=True)]
        lows.append(sum(d.min() for d in made))
        highs.append(sum(d.max() for d in made))
    return float(max(highs) - min(lows))


def _parts(counts: ReportCounts, made: Decoded) -> tuple[CountedAs, ...]:
    parts = []
    for group, values, before in zip(counts.groups, made.values, made.before, strict=True):
        names = [counts.services[j].name for j in group.services]
        for j, name, mine, plain in zip(group.services, names, values, before, strict=True):
            others = ", ".join(other for other in names if other != name)
            table = counts.mechanisms[j]
            parts.append(CountedAs(f"{name} beside {others}" if others else name, table.low, table.high, plain, mine))
    return tuple(parts)
