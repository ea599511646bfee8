"""The distribution of the inputs, estimated from counted reports, with bands and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ...mechanisms.shown.told import Profile, Told
from ...solvers.likelihood.fit import MixtureFit
from ..estimate import Estimate, NumberEstimate, Target
from ..input_grid import InputGrid
from ..intervals import CONFIDENCE, Interval, normal_interval, normal_quantile
from ..means.mean import MeanEstimate
from ..plots.density import distribution
from .drawn import BIASED, DrawnEstimate, ScatterEstimate, middle_of, no_interval
from .smooth import SmoothFit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True, eq=False, repr=False)
class DistributionEstimate(Estimate):
    """Weights of a grid's components, their scatter, and how converged they are.

    Intervals of the weights are pointwise bands.  Of "smooth" they hold the middle of draws from the posterior, which
    doubts smoothness and masses as well; what is smoother than the reports can tell, such as spikes narrower than they
    resolve, is not in the bands of single cells.  Of the others they are normal ones by the delta method at the fit,
    which measure scatter, not bias; of "ems", whose smoothing moves the distribution by more than it scatters, there
    are none: their ends are NaN.

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
        For "smooth": the fits that it averages, and draws from what they leave open.

    Example
    -------
    >>> from optldp.estimators import ReportCounts, estimate_distribution
    >>> from optldp.mechanisms.families.grr import grr
    >>> counts = ReportCounts.from_reports(grr([0.0, 1.0, 2.0], 3.0), np.repeat([0.0, 1.0, 2.0], [500, 300, 200]))
    >>> found = estimate_distribution(counts, method="em")
    >>> found.value.round(3), found.interval().low.round(3), found.interval().high.round(3)
    (array([0.526, 0.295, 0.179]), array([0.49 , 0.262, 0.15 ]), array([0.562, 0.328, 0.208]))
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
        """Return the weights' pointwise bands, within [0, 1]; InputError for a confidence outside (0, 1)."""
        if self.smooth is not None:
            return middle_of(self.smooth.draws, self.value, confidence)
        if self.method == BIASED:
            return no_interval(self.value, confidence)
        return normal_interval(self.value, self.std_error, confidence, 0.0, 1.0)

    def summary(self, confidence: float = CONFIDENCE) -> str:
        """Return mean and quartiles for people to read; InputError for a confidence outside (0, 1)."""
        lines = [f"mean {self.mean().summary(confidence)}"]
        for share in QUARTILES:
            found = self.quantile(share)
            low, high = found.interval(confidence).low, found.interval(confidence).high
            lines.append(f"  {100 * share:g}% of values lie below {found.value:.6g} [{low:.6g}, {high:.6g}]")
        return "\n".join(lines)

    def _line(self) -> dict[str, Any]:
        mean = self.mean()
        found = {"mean": mean.value, "std_error": mean.std_error}
        return {"numbers": self.grid.size} | found | {"n": self.n, "method": self.method}

    def _told(self) -> Told:
        columns = {name: fact for name, fact in self.to_dict().items() if isinstance(fact, list)}
        return Told(self._line(), columns, Profile(self.grid.points, self.value, "value", "share"))

    def plot(self, ax: Axes | None = None, *, units: str = "", confidence: float = CONFIDENCE) -> Axes:
        """Draw density, bands and mean, as `plots.distribution` does."""
        return distribution(self, ax, units=units, confidence=confidence)

    def functional(self, coefficients: ArrayLike) -> NumberEstimate:
        """Return the estimate of sum_k a_k w_k for the (K,) coefficients a."""
        a = np.asarray(coefficients, dtype=np.float64)
        value = float(a @ self.value)
        if self.smooth is not None:
            return self._drawn(value, self.smooth.draws @ a)
        # The weights sum to one: centring takes nothing away and keeps digits.
        centred = a - value
        std_error = float(np.sqrt(max(0.0, centred @ self.covariance @ centred)))
        kind = ScatterEstimate if self.method == BIASED else NumberEstimate
        return kind(value, std_error, self.n, self.method, self.target)

    def _drawn(self, value: float, draws: np.ndarray) -> DrawnEstimate:
        return DrawnEstimate(value, float(draws.std()), self.n, self.method, self.target, draws=draws)

    def mean(self) -> MeanEstimate:
        """Return the mean of the distribution, in the units of the inputs; of "ems" its bias is NaN: not known."""
        found = self.functional(self.grid.points)
        if self.smooth is not None:
            drawn = self.smooth.means
            return MeanEstimate(float(drawn.mean()), float(drawn.std()), self.n, self.method, self.target)
        bias = np.nan if self.method == BIASED else 0.0
        return MeanEstimate(
            found.value, found.std_error, self.n, self.method, self.target, bias_low=bias, bias_high=bias
        )

    def variance(self) -> NumberEstimate:
        """Return the variance of the distribution of the components' points, squared units."""
        if self.smooth is not None:
            scale = self.grid.points - float(self.grid.points @ self.value)
            draws = self.smooth.draws @ scale**2 - (self.smooth.draws @ scale) ** 2
            return self._drawn(float(scale**2 @ self.value), draws)
        centre = float(self.grid.points @ self.value)
        # The derivative of the variance in w_k is (x_k - mean)^2 up to a constant.
        return self.functional((self.grid.points - centre) ** 2)

    def probability(self, low: float, high: float) -> NumberEstimate:
        """Return the probability of a range of inputs, its interval within [0, 1].

        Raises InputError for a range whose ends are not numbers in order.
        """
        if not low <= high:
            raise InputError(f"a range must have its ends in order, got [{low!r}, {high!r}]")
        found = self.functional(self._share_below(high) - self._share_below(low))
        return replace(found, least=0.0, most=1.0)

    def quantile(self, share: float) -> QuantileEstimate | DrawnEstimate:
        """Return the value that this share of the distribution lies below, in the units of the inputs.

        Raises InputError for a share outside (0, 1).
        """
        if not 0.0 < share < 1.0:
            raise InputError(f"a quantile's share must lie strictly between 0 and 1, got {share!r}")
        edges = self.grid.edges
        below = np.tri(edges.size, self.grid.size, -1)
        rising = below @ self.value
        if self.smooth is not None:
            found = [_first_reaching(edges, drawn, share) for drawn in self.smooth.draws @ below.T]
            return self._drawn(_first_reaching(edges, rising, share), np.array(found))
        spread = below - rising[:, None]
        errors = np.sqrt(np.maximum(np.einsum("ek,kl,el->e", spread, self.covariance, spread), 0.0))
        return QuantileEstimate(edges, rising, errors, share, self.n, self.method, self.target)

    def _share_below(self, x: float) -> np.ndarray:
        """(K,) share of each component's cell that lies below x."""
        low, high = self.grid.edges[:-1], self.grid.edges[1:]
        width = high - low
        return np.where(width > 0, np.clip((x - low) / np.where(width > 0, width, 1.0), 0.0, 1.0), x >= low)


@dataclass(frozen=True, eq=False, repr=False)
class QuantileEstimate(Estimate):
    """A quantile of an estimated distribution, in the units of the inputs.

    Its interval holds the values at which the distribution function's own interval holds the share.

    Parameters
    ----------
    edges, below, errors : (K + 1,) ndarray of float
        The distribution function at the cells' edges, and its standard errors there.
    share : float
        Of the distribution that lies below the quantile.
    n : int
    method : str
    target : {"population"}

    Example
    -------
    >>> from optldp.estimators import count, estimate_distribution
    >>> from optldp.mechanisms import grr
    >>> counts = count(grr([0.0, 1.0, 2.0], 3.0), np.repeat([0.0, 1.0, 2.0], [500, 300, 200]))
    >>> median = estimate_distribution(counts, method="em").quantile(0.5)
    >>> round(median.value, 3), round(median.low, 3), round(median.high, 3)
    (0.475, 0.445, 0.532)
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
