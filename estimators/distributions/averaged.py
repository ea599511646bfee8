"""The average of distributions fitted to different reports of the same users: of rounds of different tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...solvers.likelihood.fit import MixtureFit
from ..assumption_free.bounds import Bounds
from .distribution import DistributionEstimate


@dataclass(frozen=True, eq=False)
class AveragedBounds(Bounds):
    r"""What several sets of reports say of the average of their distributions, p = sum_g s_g p_g.

    The largest that a linear functional of p can be is the average of the largest that it can be of each p_g. An
    interval of p_g reaches z standard errors of its own, so that the average's reaches z sum_g s_g sigma_g, which is no
    less than z standard errors of an average of numbers that depend on each other in whatever way: those of the same
    users do.

    Parameters
    ----------
    parts : tuple of Bounds
        At the same points.
    weights : tuple of float
        s, summing to one.

    Example
    -------
    >>> from ..affine_pairs.intervals import AffinePairs
    >>> from ..affine_pairs.outcomes import Outcomes
    >>> from ..assumptions.base import Assumed
    >>> at, even = np.array([0.0, 1.0]), np.array([0.5, 0.5])
    >>> coins = [Outcomes(at, np.eye(2), np.array(seen), False) for seen in ([400, 600], [600, 400])]
    >>> each = [AffinePairs(coin, Assumed.of([], at), even) for coin in coins]
    >>> bool(each[0].ends(at, at, 0.95)[1] > averaged_bounds(each, [0.5, 0.5]).ends(at, at, 0.95)[1] > 0.5)
    True
    """

    parts: tuple[Bounds, ...]
    weights: tuple[float, ...]

    @property
    def points(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride] -- read alone
        """Those of all parts."""
        return self.parts[0].points

    @property
    def between(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride] -- read alone
        """Whether values may lie between knots."""
        return self.parts[0].between

    @property
    def method(self) -> str:
        return self.parts[0].method

    def seen_at(self, places: np.ndarray) -> AveragedBounds:
        return averaged_bounds([part.seen_at(places) for part in self.parts], self.weights)

    def largest(self, functionals: np.ndarray, confidence: float) -> np.ndarray:
        return self._averaged([part.largest(functionals, confidence) for part in self.parts])

    def _averaged(self, each: Sequence[np.ndarray]) -> np.ndarray:
        return np.sum([share * one for share, one in zip(self.weights, each, strict=True)], axis=0)


def averaged_bounds(parts: Sequence[Bounds], shares: Sequence[float]) -> AveragedBounds:
    """Return what is said of the average of distributions by what is said of each, at all the points that one has.

    Example
    -------
    >>> from ..affine_pairs.intervals import AffinePairs
    >>> from ..affine_pairs.outcomes import Outcomes
    >>> from ..assumptions.base import Assumed
    >>> coin = Outcomes(np.array([0.0, 1.0]), np.eye(2), np.array([40, 60]), True)
    >>> one = AffinePairs(coin, Assumed.of([], coin.points), np.array([0.5, 0.5]))
    >>> averaged_bounds([one, one.seen_at(np.array([0.5]))], [0.5, 0.5]).points
    array([0. , 0.5, 1. ])
    """
    points = np.unique(np.concatenate([part.points for part in parts]))
    return AveragedBounds(tuple(part.seen_at(points) for part in parts), tuple(shares))


def averaged(parts: Sequence[DistributionEstimate], shares: np.ndarray) -> DistributionEstimate:
    r"""Return the average of estimates on one grid, each with its share.

    Its covariance is sum_g s_g C_g, which is no less than that of the average however the estimates depend on each
    other; what tells how well it is solved is the worst of the parts', and their sum where it adds up.

    Example
    -------
    >>> from optldp.estimators import ReportCounts, estimate_distribution
    >>> from optldp.mechanisms.families.grr import grr
    >>> reports = np.repeat([0.0, 1.0], [500, 300])
    >>> counts = [ReportCounts.from_reports(grr([0.0, 1.0], epsilon), reports) for epsilon in (1.0, 2.0)]
    >>> each = [estimate_distribution(one, method="em") for one in counts]
    >>> [one.value.round(3) for one in (*each, averaged(each, np.array([0.5, 0.5])))]
    [array([0.77, 0.23]), array([0.664, 0.336]), array([0.717, 0.283])]
    """
    first, fits = parts[0], [part.fit for part in parts]
    explained = [part.explained for part in parts if part.explained is not None]
    value = np.einsum("g,gk->k", shares, [part.value for part in parts])
    fit = MixtureFit(
        value,
        sum(fit.loglik for fit in fits),
        max(fit.certificate for fit in fits),
        sum(fit.gap_bound for fit in fits),
        sum(fit.iterations for fit in fits),
        fits[0].method,
        max((fit.stop for fit in fits), key=list(type(fits[0].stop)).index),
    )
    return replace(
        next((part for part in parts if part.instead_of), first),
        value=value,
        covariance=np.einsum("g,gkl->kl", shares, [part.covariance for part in parts]),
        fit=fit,
        components=max(part.components for part in parts),
        smooth=None,
        explained=averaged_bounds(explained, shares.tolist()) if explained else None,
    )
