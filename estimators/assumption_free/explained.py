"""All distributions that explain the reports, and how large and small what they say can be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...solvers.functional_bounds.bounds import Ball
from ...solvers.likelihood.mixture import MixtureLikelihood, SumLikelihood
from ...solvers.one_thread import one_thread
from ..intervals import normal_quantile
from .bounds import Bounds

FAINT = 1e-4
"""Standard errors by which a direction of the weights may move the reports of any two distributions and still be left
out, as one of which the reports say nothing. All others count: what is left out for time makes intervals longer, and
some of them false, since what the others leave unexplained seems less than it is."""


@dataclass(frozen=True, eq=False)
class Explained(Bounds):
    r"""What counted reports say of masses at points, to second order.

    A distribution explains the reports where its misfit, twice the log-likelihood that it is short of the largest to
    second order, is at most z^2, z being the normal quantile: were weights free this would be the normal interval of
    each linear number, and that weights are no less than zero makes intervals shorter. **Where most weights are zero
    z^2 is too little**: of shares beside a value that nearly everybody has, intervals hold the truth less often than
    they say (docs/accuracy/boundary.md). Nothing else is assumed of the distribution: it may be smooth, or have all its
    mass at a few values that the reports cannot tell apart. Numbers that reports tell, such as the mean, have bounds by
    linear estimates that the information alone chooses (`most`), which hold as well where the number is as small or
    large as it can be.

    Parameters
    ----------
    points : (P,) ndarray of float
        Increasing; a value between two of them is seen as they are, mixed (`laws.domain.rounding_weights`).
    matrix, centre : (r, P), (r,) ndarray of float
        B and c of the misfit \|B w - c\|^2.
    between : bool
        Whether values may lie between the points.

    Source: Stanley, Patil and Kuusela (2022), "Uncertainty quantification for wide-bin unfolding". That z^2 is enough
    under constraints was conjectured (Burrus 1965) and is false: Batlle, Patil, Stanley, Owhadi and Kuusela (2023),
    "Optimization-based frequentist confidence intervals for functionals in constrained inverse problems".

    Example
    -------
    >>> from optldp.solvers.likelihood.dense import DenseLikelihood
    >>> coin = DenseLikelihood([np.eye(2)], [300, 700])
    >>> found = Explained.of(coin, np.array([0.0, 1.0]), np.array([0.3, 0.7]), between=False)
    >>> [round(end, 3) for end in found.ends(np.array([0.0, 1.0]), np.array([0.0, 1.0]), 0.95)]
    [0.672, 0.728]
    """

    points: np.ndarray
    matrix: np.ndarray
    centre: np.ndarray
    between: bool

    @property
    def method(self) -> str:
        return "strict-bounds"

    @classmethod
    @one_thread()
    def of(cls, likelihood: MixtureLikelihood, points: np.ndarray, weights: np.ndarray, *, between: bool) -> Explained:
        """Return what a likelihood of weights at the points says near these weights.

        Of one service the information is the expected one, which knows of outputs that nobody sent; of several the
        observed one.
        """
        mixed = likelihood.mix(weights)
        score = likelihood.total * likelihood.gradient(mixed)
        # The probabilities of one service's outputs sum to 1; those of several services' do not.
        if isinstance(likelihood, SumLikelihood) or abs(float(mixed.sum()) - 1.0) > 1e-6:
            information = likelihood.information(mixed)
        else:
            sent = mixed > 0
            information = likelihood.curvature(np.divide(likelihood.total, mixed, out=np.zeros_like(mixed), where=sent))
        return cls.near(points, weights, score, information, between=between)

    @classmethod
    @one_thread()
    def near(
        cls, points: np.ndarray, weights: np.ndarray, score: np.ndarray, information: np.ndarray, *, between: bool
    ) -> Explained:
        """Return what a log-likelihood of this gradient (P,) and information (P, P) at weights says near them."""
        # Weights sum to one: what is the same for all of them says nothing.
        information = information - information.mean(axis=0)
        information = information - information.mean(axis=1)[:, None]
        score = score - score.mean()
        values, vectors = np.linalg.eigh((information + information.T) / 2)
        roots = np.sqrt(np.maximum(values, 0.0))
        apart = roots * np.ptp(vectors, axis=0)
        told = apart > FAINT
        matrix = roots[told, None] * vectors[:, told].T
        centre = matrix @ weights + (vectors[:, told].T @ score) / roots[told]
        return cls(points, matrix, centre, between)

    def seen_at(self, places: np.ndarray) -> Explained:
        places = np.setdiff1d(np.clip(places, self.points[0], self.points[-1]), self.points)
        if not (self.between and places.size):
            return self
        right = np.searchsorted(self.points, places)
        share = (places - self.points[right - 1]) / (self.points[right] - self.points[right - 1])
        more = (1.0 - share) * self.matrix[:, right - 1] + share * self.matrix[:, right]
        every = np.concatenate([self.points, places])
        order = np.argsort(every, kind="stable")
        return Explained(every[order], np.hstack([self.matrix, more])[:, order], self.centre, self.between)

    @cached_property
    def _ball(self) -> Ball:
        return Ball(self.matrix, self.centre)

    @one_thread()
    def largest(self, functionals: np.ndarray, confidence: float) -> np.ndarray:
        return self._ball.largest(functionals, normal_quantile(confidence))

    @one_thread()
    def most(self, functionals: np.ndarray, confidence: float) -> np.ndarray:
        """Return the same, (F,), by estimates that the information alone chooses where reports tell the numbers."""
        foreseen, told = self._ball.foreseen(functionals, normal_quantile(confidence))
        if not told.all():
            foreseen[~told] = self.largest(functionals[~told], confidence)
        return foreseen
