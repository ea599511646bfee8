"""The distribution of the inputs, estimated from counted reports, with bands and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.display.summary import Profile, Told
from ...mechanisms.errors import InputError
from ...solvers.likelihood.fit import MixtureFit
from ..assumption_free.bounds import Bounds
from ..assumption_free.linear_numbers import BoundedMean, BoundedNumber, Question
from ..estimate import Estimate, NumberEstimate
from ..input_grid import InputGrid
from ..intervals import CONFIDENCE, Interval, check_confidence, each_of, normal_interval, normal_quantile
from ..means.mean import MeanEstimate
from ..methods import Target
from ..plots.density import distribution
from .atoms import deposits
from .scatter import BIASED, ScatterEstimate, no_interval
from .smooth import SmoothFit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STANDS_OUT = 2.0
"""How many times its neighbours' weight a point must have for a mass to stand there: next to an end, where there is one
neighbour, a density that falls straight to nothing has no more."""

QUARTILES = (0.25, 0.5, 0.75)

TOLD, MOST_RANGES = 1.0, 64
"""Length of ranges' intervals, relative to an even share, up to which reports tell them apart; and the most ranges."""


class Ranges(NamedTuple):
    """Shares of equal ranges of the domain.

    Parameters
    ----------
    edges : (R + 1,) ndarray of float
    shares, std_errors : (R,) ndarray of float
        Estimated; the scatter of these estimates alone, of which intervals are not made.
    interval : Interval
        Of each share.
    """

    edges: np.ndarray
    shares: np.ndarray
    std_errors: np.ndarray
    interval: Interval


class CircularMean(NamedTuple):
    """The mean of values on a circle.

    Parameters
    ----------
    value : float
        From 0 to the period, in units of the values.
    length : float
        Resultant length, from 0 to 1: 1 if all values are the same, near 0 if no direction is the mean one.
    """

    value: float
    length: float


@dataclass(frozen=True, eq=False, repr=False)
class DistributionEstimate(Estimate):
    """Weights of a grid's components, with their scatter and convergence.

    Intervals are pairs of linear estimates that hold for every distribution (`AffinePairs`), whatever the method. No
    interval assumes a smooth distribution. Intervals of single cells are long, and mostly begin at zero, where cells
    are too narrow for reports to distinguish, since mass may lie in the next cell. `ranges` has wider ranges that
    reports do distinguish. "ems" has none (their ends are NaN), since its smoothing moves the distribution by more than
    it scatters. Without `explained` they are normal ones by the delta method at the fit, which measure scatter, not
    bias.

    Parameters
    ----------
    grid : InputGrid
        K components; a distribution function rises evenly within their cells.
    value : (K,) ndarray of float
        Weights of the components, on the simplex.
    covariance : (K, K) ndarray of float
        Estimated covariance of the weights.
    n : int
        Number of users.
    method : {"smooth", "em", "ems", "mr"}
        How it was estimated.
    fit : MixtureFit
        Iterations, log-likelihood and certificate.
    components : int
        Components left after reduction, for "mr"; else K.
    target : {"population"}
    smooth : SmoothFit, optional
        For "smooth": the fits that it averages, and posterior draws for a distribution of that smoothness.
    explained : Bounds, optional
        Source of the intervals: the distributions, of all or of a declared class, that explain the reports.
    rounds : mapping of str to DistributionEstimate
        For rounds, the same from each round's own reports, by name.
    instead_of : str
        The requested method, if it found nothing and `method` took its place; else empty.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import ReportCounts, estimate_distribution
    >>> from optldp.mechanisms.families.grr import grr
    >>> counts = ReportCounts.from_reports(grr([0.0, 1.0, 2.0], 3.0), np.repeat([0.0, 1.0, 2.0], [500, 300, 200]))
    >>> found = estimate_distribution(counts, method="em")
    >>> found.value.round(3), found.interval().low.round(3), found.interval().high.round(3)
    (array([0.526, 0.295, 0.179]), array([0.485, 0.258, 0.155]), array([0.56 , 0.328, 0.218]))
    >>> round(found.mean().value, 3), round(found.probability(0.5, 2.0).value, 3), round(found.quantile(0.5).value, 3)
    (0.653, 0.474, 0.475)
    """

    grid: InputGrid
    value: np.ndarray
    covariance: np.ndarray
    n: int
    method: str
    fit: MixtureFit
    components: int
    target: Target = "population"
    smooth: SmoothFit | None = None
    explained: Bounds | None = None
    rounds: Mapping[str, DistributionEstimate] = field(default_factory=dict)
    instead_of: str = ""

    @property
    def std_error(self) -> np.ndarray:
        """(K,) standard errors of the weights: for "ems" of their scatter alone."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def labels(self) -> Mapping[str, Sequence[Any]]:
        """Each component's point, and the ends of its cell."""
        low, high = self.grid.edges[:-1], self.grid.edges[1:]
        return {"knot": self.grid.points.tolist(), "cell_low": low.tolist(), "cell_high": high.tolist()}

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return the interval of each weight by itself, within [0, 1]; InputError for a confidence outside (0, 1).

        For all of them at once ask for the confidence `each_of(confidence, K)` of `estimators.intervals`.
        """
        if self.method == BIASED:
            return no_interval(self.value, confidence)
        if self.explained is None:
            return normal_interval(self.value, self.std_error, confidence, 0.0, 1.0)
        check_confidence(confidence)
        if self.grid.flat:
            low, high = self.explained.shares(self.grid.edges[:-1], self.grid.edges[1:], confidence)
        else:
            each = np.stack([self._at_points(one)[0] for one in np.eye(self.grid.size)])
            low, high = -self.explained.largest(-each, confidence), self.explained.largest(each, confidence)
        return Interval(np.clip(low, 0.0, self.value), np.clip(high, self.value, 1.0), confidence)

    def ranges(self, confidence: float = CONFIDENCE, *, simultaneous: bool = False) -> Ranges:
        """Return the shares of equal ranges of the domain, as many as the reports can tell apart.

        Of 1, 2, 4, ... ranges the most whose intervals are on average no longer than `TOLD` of an even share.

        Parameters
        ----------
        confidence : float
        simultaneous : bool
            Intervals that hold for all ranges at once with this confidence, rather than each by itself.

        Raises
        ------
        InputError
            A confidence outside (0, 1), or an estimate without such intervals.
        """
        if self.explained is None or self.method == BIASED:
            raise InputError(f"ranges need intervals that assume nothing, got method {self.method}: use smooth")
        check_confidence(confidence)
        found, many = None, 1
        while many <= MOST_RANGES:
            edges = np.linspace(self.grid.edges[0], self.grid.edges[-1], many + 1)
            each = each_of(confidence, many) if simultaneous else confidence
            low, high = self.explained.shares(edges[:-1], edges[1:], each)
            if found is not None and (high - low).mean() * many > TOLD:
                break
            below = np.stack([self._share_below(float(edge)) for edge in edges])
            below[0], below[-1] = 0.0, 1.0
            within = np.diff(below, axis=0)
            share = within @ self.value
            errors = np.sqrt(np.maximum(np.einsum("rk,kl,rl->r", within, self.covariance, within), 0.0))
            ends = Interval(np.minimum(low, share), np.maximum(high, share), confidence)
            found = Ranges(edges, share, errors, ends)
            many *= 2
        assert found is not None
        return found

    def summary(self, confidence: float = CONFIDENCE) -> str:
        """Return mean and quartiles for people to read; InputError for a confidence outside (0, 1)."""
        lines = [f"mean {self.mean().summary(confidence)}"]
        if self.instead_of:
            lines.append(f"by {self.method}: {self.instead_of} found no fit")
        for share in QUARTILES:
            found = self.quantile(share)
            ends = found.interval(confidence)
            lines.append(f"  {100 * share:g}% of values lie below {found.value:.6g} [{ends.low:.6g}, {ends.high:.6g}]")
        return "\n".join(lines)

    def _line(self) -> dict[str, Any]:
        mean = self.mean()
        found = {"mean": mean.value, "std_error": mean.std_error}
        return {"numbers": self.grid.size} | found | {"n": self.n, "method": self.method}

    def _told(self) -> Told:
        columns = {name: fact for name, fact in self.to_dict().items() if isinstance(fact, list)}
        return Told(self._line(), columns, Profile(self.grid.points, self.value, "value", "share"))

    def plot(
        self,
        ax: Axes | None = None,
        *,
        units: str = "",
        confidence: float = CONFIDENCE,
        simultaneous: bool = False,
    ) -> Axes:
        """Draw density, a band of its average over ranges, and the mean, as `plots.distribution` does."""
        return distribution(self, ax, units=units, confidence=confidence, simultaneous=simultaneous)

    def functional(self, coefficients: ArrayLike) -> NumberEstimate:
        """Return the estimate of sum_k a_k w_k for the (K,) coefficients a."""
        a = np.asarray(coefficients, dtype=np.float64)
        value = float(a @ self.value)
        # The weights sum to one: centring takes nothing away and keeps digits.
        centred = a - value
        std_error = float(np.sqrt(max(0.0, centred @ self.covariance @ centred)))
        if self.method == BIASED:
            return ScatterEstimate(value, std_error, self.n, self.method, self.target)
        if self.explained is None:
            return NumberEstimate(value, std_error, self.n, self.method, self.target)
        most, least = self._at_points(a)
        return self._bounded(value, std_error, most, least)

    def _bounded(self, value: float, std_error: float, most: np.ndarray, least: np.ndarray) -> BoundedNumber:
        """A number that mass at each of the points adds so much to at most, and at least."""
        explained = self.explained
        assert explained is not None
        about = (value, std_error, self.n, self.method, self.target)
        return BoundedNumber(*about, ends=Question(explained, "ends", (most, least)))

    def _at_points(self, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The most and the least that mass at a point adds to a functional of weights: a point may be of two cells, and
        one between two components is rounded to either of them."""
        assert self.explained is not None
        points, edges = self.explained.points, self.grid.edges
        if not self.grid.flat:
            rounded = np.interp(points, self.grid.points, a)
            return rounded, rounded
        left = np.clip(np.searchsorted(edges, points, side="left") - 1, 0, a.size - 1)
        right = np.clip(np.searchsorted(edges, points, side="right") - 1, 0, a.size - 1)
        return np.maximum(a[left], a[right]), np.minimum(a[left], a[right])

    def mean(self) -> MeanEstimate:
        """Return the mean of the distribution, in the units of the inputs; of "ems" its bias is NaN: not known."""
        found = self.functional(self.grid.points)
        value, std_error, explained = found.value, found.std_error, self.explained
        if self.smooth is not None:
            value, std_error = float(self.smooth.means.mean()), float(self.smooth.means.std())
        about = (value, std_error, self.n, self.method, self.target)
        if self.method == BIASED:
            return MeanEstimate(*about, bias_low=np.nan, bias_high=np.nan)
        if explained is None:
            return MeanEstimate(*about)
        points = explained.points
        return BoundedMean(*about, ends=Question(explained, "ends", (points, points)))

    def circular_mean(self, period: float) -> CircularMean:
        """Return the mean direction of values on a circle of this period; InputError unless it is positive.

        Source: Mardia and Jupp (2000), "Directional Statistics", section 2.2.

        Example
        -------
        >>> import numpy as np
        >>> from optldp.estimators import count, estimate_distribution
        >>> from optldp.mechanisms import grr
        >>> table = grr([0.0, 6.0, 12.0, 18.0], 5.0)
        >>> reports = table.sample(np.repeat([0.0, 6.0, 12.0, 18.0], [500, 200, 0, 200]), np.random.default_rng(3))
        >>> mean = estimate_distribution(count(table, reports), method="em").circular_mean(24.0)
        >>> round(mean.value % 24) % 24, round(mean.length, 2)
        (0, 0.56)
        """
        if not 0 < period < np.inf:
            raise InputError(f"period must be a positive number, got {period!r}")
        pull = complex(self.value @ np.exp(2j * np.pi / period * self.grid.points))
        return CircularMean(float(np.angle(pull) * period / (2 * np.pi) % period), abs(pull))

    def variance(self) -> NumberEstimate:
        """Return the variance of the components' points, squared units.

        Its interval is of the values' own variance, wherever in their cells they lie.
        """
        centre = float(self.grid.points @ self.value)
        # The derivative of the variance in w_k is (x_k - mean)^2 up to a constant.
        found = self.functional((self.grid.points - centre) ** 2)
        if self.explained is None or self.method == BIASED:
            return found
        about = (found.value, found.std_error, self.n, self.method, self.target)
        return BoundedNumber(*about, ends=Question(self.explained, "variance"))

    def probability(self, low: float, high: float) -> NumberEstimate:
        """Return the probability of a range of inputs, both ends in it, its interval within [0, 1].

        A mass that stands at an end is in the range; beside the range it is not. The interval allows for what no
        report tells, that it may stand there, and is then long: `probability_above` is for what is above a mass.

        Raises InputError for a range whose ends are not numbers in order.
        """
        if not low <= high:
            raise InputError(f"a range must have its ends in order, got [{low!r}, {high!r}]")
        found = self.functional(self._share_below(high) - self._share_below(low, strictly=True))
        if (explained := self.explained) is None or self.method == BIASED:
            return replace(found, least=0.0, most=1.0)
        about = (found.value, found.std_error, self.n, self.method, self.target)
        return BoundedNumber(*about, ends=Question(explained, "share", (low, high)))

    def probability_above(self, value: float) -> NumberEstimate:
        """Return the probability of inputs strictly above a value: how many have any at all, above zero.

        A value between two knots is reported as if it were the one or the other, by chance, so that no report tells
        what is right above a knot from what stands at it. Inputs between `value` and the next knot above it count in
        proportion: half-way they count half. So the interval's low end bounds the probability above `value`, its high
        end that from the next knot on, wherever in between inputs lie; how many lie there cannot be told.

        Raises InputError for a value that is not a number.

        Example
        -------
        >>> import numpy as np
        >>> from optldp.estimators import count, estimate_distribution
        >>> from optldp.mechanisms import grr
        >>> tips = grr([0.0, 10.0, 20.0], 4.0)
        >>> found = estimate_distribution(count(tips, np.repeat([0.0, 10.0, 20.0], [950, 30, 20])), method="em")
        >>> round(found.probability_above(0.0).value, 3), round(found.probability_above(0.0).high, 3)
        (0.015, 0.031)
        """
        if np.isnan(value):
            raise InputError(f"a value to be above of must be a number, got {value!r}")
        grid = self.grid
        found = self.functional(1.0 - self._share_below(value) if grid.flat else (grid.points > value).astype(float))
        if (explained := self.explained) is None or self.method == BIASED:
            return replace(found, least=0.0, most=1.0)
        about = (found.value, found.std_error, self.n, self.method, self.target)
        return BoundedNumber(*about, ends=Question(explained, "share_above", (value,)))

    def quantile(self, share: float) -> QuantileEstimate | BoundedNumber:
        """Return the value that this share of the distribution lies below, in the units of the inputs.

        Raises InputError for a share outside (0, 1).
        """
        if not 0.0 < share < 1.0:
            raise InputError(f"a quantile's share must lie strictly between 0 and 1, got {share!r}")
        places, standing = self._masses
        edges = np.sort(np.concatenate([self.grid.edges, *2 * [places[standing > 0]]]))
        before = np.append(edges[1:] == edges[:-1], False)  # at a mass the function jumps
        ends = zip(edges.tolist(), before.tolist(), strict=True)
        below = np.stack([self._share_below(edge, strictly=jumps) for edge, jumps in ends])
        below[0], below[-1] = 0.0, 1.0
        rising = below @ self.value
        spread = below - rising[:, None]
        errors = np.sqrt(np.maximum(((spread @ self.covariance) * spread).sum(axis=1), 0.0))
        found = QuantileEstimate(edges, rising, errors, share, self.n, self.method, self.target)
        if (explained := self.explained) is None or self.method == BIASED:
            return found
        about = (found.value, found.std_error, self.n, self.method, self.target)
        return BoundedNumber(*about, ends=Question(explained, "quantile", (share,)))

    @property
    def _masses(self) -> tuple[np.ndarray, np.ndarray]:
        """Where each component's weight stands as a mass, and which share (K,) of it does; the rest is spread evenly.

        Of a grid of points those with more than `STANDS_OUT` times what both neighbours have are masses: spread evenly
        beside a point, values would be rounded to the neighbours as often as to itself. Half of what these have stays
        spread. Of cells there are the masses of a smooth fit.
        """
        weights, grid = self.value, self.grid
        if not grid.flat:
            beside = np.append(weights[1:], 0.0) + np.append(0.0, weights[:-1])
            stands = weights > STANDS_OUT * beside
            return grid.points, np.where(stands, 1.0 - beside / 2.0 / np.where(stands, weights, 1.0), 0.0)
        places, shares = grid.points.copy(), np.zeros(grid.size)
        if self.smooth is not None and self.smooth.masses.size:
            held = deposits(grid, self.smooth.components.places) * self.smooth.masses[:, None]
            places[held.any(axis=0)] = self.smooth.components.places[held.argmax(axis=0)][held.any(axis=0)]
            shares = np.minimum(1.0, held.sum(axis=0) / np.where(weights > 0, weights, 1.0))
        return places, shares

    def _share_below(self, x: float, *, strictly: bool = False) -> np.ndarray:
        """(K,) share of each component that lies below x, or at it."""
        low, high = self.grid.edges[:-1], self.grid.edges[1:]
        width = high - low
        even = np.clip((x - low) / np.where(width > 0, width, 1.0), 0.0, 1.0)
        places, standing = self._masses
        return (1.0 - standing) * even + standing * (x > places if strictly else x >= places)


@dataclass(frozen=True, eq=False, repr=False)
class QuantileEstimate(Estimate):
    """A quantile of an estimated distribution, in the units of the inputs.

    Its interval holds the values at which the distribution function's own interval holds the share.

    Parameters
    ----------
    edges, below, errors : (E,) ndarray of float
        The distribution function at the cells' edges, and its standard errors there; twice where it jumps.
    share : float
        Of the distribution that lies below the quantile.
    n : int
    method : str
    target : {"population"}

    Example
    -------
    >>> edges, below = np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.6, 1.0])
    >>> median = QuantileEstimate(edges, below, np.array([0.0, 0.02, 0.0]), 0.5, 600, "em", "population")
    >>> round(median.value, 3), round(median.low, 3), round(median.high, 3)
    (0.833, 0.782, 0.892)
    """

    edges: np.ndarray
    below: np.ndarray
    errors: np.ndarray
    share: float
    n: int
    method: str
    target: Target

    @property
    def value(self) -> float:
        """The quantile."""
        return _first_reaching(self.edges, self.below, self.share)

    @property
    def std_error(self) -> float:
        """The length of its 95% interval as if that were normal; NaN where it has none."""
        found = self.interval()
        return (found.high - found.low) / (2.0 * normal_quantile(CONFIDENCE))

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return where the function's band meets the share; InputError for a confidence outside (0, 1)."""
        if self.method == BIASED:
            return no_interval(self.value, confidence)
        reach = normal_quantile(confidence) * self.errors
        low = _first_reaching(self.edges, self.below + reach, self.share)
        return Interval(low, _last_below(self.edges, self.below - reach, self.share), confidence)


def _first_reaching(edges: np.ndarray, curve: np.ndarray, level: float) -> float:
    """Where a curve, straight between the edges, first reaches a level; the last edge if it does not."""
    reached = np.flatnonzero(curve >= level)
    if not reached.size:
        return float(edges[-1])
    return _between(edges, curve, level, int(reached[0]) - 1)


def _last_below(edges: np.ndarray, curve: np.ndarray, level: float) -> float:
    """Up to where a curve, straight between the edges, is below a level; the first edge if it is nowhere."""
    below = np.flatnonzero(curve < level)
    return _between(edges, curve, level, int(below[-1]) if below.size else -1)


def _between(edges: np.ndarray, curve: np.ndarray, level: float, before: int) -> float:
    """Where the curve meets the level after this edge, which is the end if it is -1 or the last."""
    if before < 0 or before == edges.size - 1:
        return float(edges[max(before, 0)])
    share = (level - curve[before]) / (curve[before + 1] - curve[before])
    return float(edges[before] + share * (edges[before + 1] - edges[before]))
