"""The distribution of the inputs, estimated from counted reports, with bands and what follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from ...mechanisms.errors import InputError
from ...solvers.likelihood.fit import MixtureFit
from ..input_grid import InputGrid
from ..means.mean import MeanEstimate

FittedBy = Literal["em", "ems", "mr", "penalised"]


@dataclass(frozen=True)
class Estimated:
    """A number estimated from a distribution, with its standard error and interval."""

    value: float
    std_error: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class DistributionEstimate:
    """Weights of a grid's components, their scatter, and how converged they are.

    All intervals are normal ones by the delta method at the fit.  They measure scatter, not bias: what smoothing or
    merging has moved, or an exact maximum has overfitted, is not in them.

    Parameters
    ----------
    grid : InputGrid
        K components; a distribution function rises evenly within their cells.
    weights : (K,) ndarray of float
        On the simplex.
    covariance : (K, K) ndarray of float
        Estimated covariance of the weights.
    level : float
        Nominal coverage of the bands and intervals.
    n : int
        Number of users.
    method : {"em", "ems", "mr", "penalised"}
        How it was estimated.
    fit : MixtureFit
        Iterations, log-likelihood and certificate.
    smoothness : float, optional
        Multiplier of the roughness, for "penalised".
    components : int
        Components left after reduction, for "mr"; else K.

    Example
    -------
    >>> from optldp.estimators import ReportCounts, estimate_distribution
    >>> from optldp.mechanisms.families.grr import grr
    >>> counts = ReportCounts.from_reports(grr([0.0, 1.0, 2.0], 3.0), np.repeat([0.0, 1.0, 2.0], [500, 300, 200]))
    >>> found = estimate_distribution(counts, method="em")
    >>> found.weights.round(3), found.low.round(3), found.high.round(3)
    (array([0.526, 0.295, 0.179]), array([0.49 , 0.262, 0.15 ]), array([0.562, 0.328, 0.208]))
    >>> round(found.mean().mean, 3), round(found.probability(0.5, 2.0).value, 3), round(found.quantile(0.5).value, 3)
    (0.653, 0.474, 0.475)
    """

    grid: InputGrid
    weights: np.ndarray
    covariance: np.ndarray
    level: float
    n: int
    method: FittedBy
    fit: MixtureFit
    smoothness: float | None
    components: int

    @property
    def low(self) -> np.ndarray:
        """(K,) lower ends of the weights' pointwise bands."""
        return np.clip(self.weights - self._reach * self._std_errors, 0.0, 1.0)

    @property
    def high(self) -> np.ndarray:
        """(K,) upper ends of the weights' pointwise bands."""
        return np.clip(self.weights + self._reach * self._std_errors, 0.0, 1.0)

    @property
    def _std_errors(self) -> np.ndarray:
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def _reach(self) -> float:
        return float(ndtri((1.0 + self.level) / 2.0))

    def functional(self, coefficients: ArrayLike) -> Estimated:
        """Return the estimate of sum_k a_k w_k for the (K,) coefficients a."""
        a = np.asarray(coefficients, dtype=np.float64)
        value = float(a @ self.weights)
        # The weights sum to one: centring takes nothing away and keeps digits.
        centred = a - value
        std_error = float(np.sqrt(max(0.0, centred @ self.covariance @ centred)))
        return Estimated(value, std_error, value - self._reach * std_error, value + self._reach * std_error)

    def mean(self) -> MeanEstimate:
        """Return the mean of the distribution, in the units of the inputs."""
        found = self.functional(self.grid.points)
        return MeanEstimate(found.value, found.std_error, found.low, found.high, self.level, self.n, self.method)

    def variance(self) -> Estimated:
        """Return the variance of the distribution of the components' points, squared units."""
        centre = float(self.grid.points @ self.weights)
        # The derivative of the variance in w_k is (x_k - mean)^2 up to a constant.
        return self.functional((self.grid.points - centre) ** 2)

    def probability(self, low: float, high: float) -> Estimated:
        """Return the probability of a range of inputs, clipped to [0, 1].

        Raises InputError for a range whose ends are not numbers in order.
        """
        if not low <= high:
            raise InputError(f"a range must have its ends in order, got [{low!r}, {high!r}]")
        found = self.functional(self._share_below(high) - self._share_below(low))
        return Estimated(found.value, found.std_error, max(0.0, found.low), min(1.0, found.high))

    def quantile(self, level: float) -> Estimated:
        """Return a quantile, in the units of the inputs.

        Its interval holds the values at which the distribution function's own interval holds the level; the
        standard error is that interval's length as if it were normal.

        Raises InputError for a level outside (0, 1).
        """
        if not 0.0 < level < 1.0:
            raise InputError(f"a quantile's level must lie strictly between 0 and 1, got {level!r}")
        edges = self.grid.edges
        below = np.tri(edges.size, self.grid.size, -1)
        rising = below @ self.weights
        spread = below - rising[:, None]
        error = self._reach * np.sqrt(np.maximum(np.einsum("ek,kl,el->e", spread, self.covariance, spread), 0.0))
        value, low = _first_reaching(edges, rising, level), _first_reaching(edges, rising + error, level)
        high = _last_below(edges, rising - error, level)
        return Estimated(value, (high - low) / (2.0 * self._reach), low, high)

    def _share_below(self, x: float) -> np.ndarray:
        """(K,) share of each component's cell that lies below x."""
        low, high = self.grid.edges[:-1], self.grid.edges[1:]
        width = high - low
        return np.where(width > 0, np.clip((x - low) / np.where(width > 0, width, 1.0), 0.0, 1.0), x >= low)


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
