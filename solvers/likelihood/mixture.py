"""The likelihood of a mixture with known components: how observations and weights meet.

Observation o, seen c_o times, has probability L[o, k] under component k, so weights w on the simplex have

    log-likelihood(w) = sum_o c_o log (L w)_o,

a concave function.  Everything that maximises it needs three products with L and never L itself, so that L may
be stored in the way that suits it: `DenseLikelihood`, `TupleLikelihood`, `RunLikelihood`, or a `SumLikelihood` of
several.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError, SolverError

LEAST_PROBABILITY = 1e-150
"""Smallest probability of an observation whose square is a normal number."""


class MixtureLikelihood(ABC):
    """Counts of R observations and their probabilities under K components.

    Parameters
    ----------
    counts : (R,) array_like of float
        How often each observation was seen; non-negative with a positive sum.
    n_components : int
        K.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.likelihood.dense import DenseLikelihood
    >>> likelihood = DenseLikelihood([[[0.75, 0.25], [0.25, 0.75]]], [60, 40])
    >>> mixed = likelihood.mix(np.array([0.5, 0.5]))
    >>> mixed, round(likelihood.loglik(mixed), 2)
    (array([0.5, 0.5]), -69.31)
    """

    def __init__(self, counts: ArrayLike, n_components: int) -> None:
        self.n_components = n_components
        self._count(counts)

    def _count(self, counts: ArrayLike) -> None:
        self.counts = np.array(counts, dtype=np.float64).reshape(-1)
        self.total = float(self.counts.sum())
        if not ((self.counts >= 0).all() and 0 < self.total < np.inf):
            raise InputError(
                f"counts must be non-negative and finite with a positive sum, got a sum of {self.total:g}: "
                "there is nothing to fit"
            )
        self.counts.setflags(write=False)
        self._seen = self.counts > 0
        self._all_seen = bool(self._seen.all())

    def scaled(self, factor: float) -> Self:
        """Return the likelihood of the same observations, each of which counts for so many of these, above 0."""
        other = copy.copy(self)
        other._count(factor * self.counts)
        return other

    @abstractmethod
    def mix(self, weights: np.ndarray) -> np.ndarray:
        """Return L w (R,), the probability of each observation."""

    @abstractmethod
    def gather(self, values: np.ndarray) -> np.ndarray:
        """Return the transpose of L times v (K,)."""

    @abstractmethod
    def curvature(self, values: np.ndarray) -> np.ndarray:
        """Return the transpose of L times diag(v) L (K, K), for v >= 0."""

    def averaged(self, member: np.ndarray, share: np.ndarray) -> MixtureLikelihood | None:
        """Return the likelihood whose component g is sum_k share_k L[o, k] over member_k = g, if L is at hand.

        None where it is not, or where the sum is no smaller in its form.
        """
        return None

    def loglik(self, mixed: np.ndarray) -> float:
        """Return the log-likelihood of the weights whose `mix` this is, in nats."""
        with np.errstate(divide="ignore"):
            logs = np.log(mixed) if self._all_seen else np.log(mixed, out=np.zeros_like(mixed), where=self._seen)
        return float(np.sum(self.counts * logs))  # a BLAS product of vectors starts threads for nothing

    def gradient(self, mixed: np.ndarray) -> np.ndarray:
        """Return g_k = (1/n) sum_o c_o L[o, k] / (L w)_o (K,), whose mean under w is one."""
        return self.gather(self.ratio(mixed)) / self.total

    def ratio(self, mixed: np.ndarray) -> np.ndarray:
        """Return c_o / (L w)_o (R,), zero for what was not seen."""
        return np.divide(self.counts, mixed, out=np.zeros_like(mixed), where=self._seen)

    def information(self, mixed: np.ndarray) -> np.ndarray:
        """Return the observed information of the weights (K, K), minus the log-likelihood's second derivative."""
        seen = self.counts > 0
        if (least := float(mixed[seen].min())) < LEAST_PROBABILITY:
            raise SolverError(
                f"observations must have a probability of {LEAST_PROBABILITY:g} or more, got {least:g}: "
                "use method em, or fewer services"
            )
        return self.curvature(np.divide(self.counts, mixed**2, out=np.zeros_like(mixed), where=seen))


class SumLikelihood(MixtureLikelihood):
    """Observations of several kinds, such as users of different sets of services, under the same components."""

    def __init__(self, parts: Sequence[MixtureLikelihood]) -> None:
        if len({part.n_components for part in parts}) != 1:
            raise InputError(f"parts must have the same components, got {[part.n_components for part in parts]}")
        super().__init__(np.concatenate([part.counts for part in parts]), parts[0].n_components)
        self.parts = tuple(parts)
        self._ends = np.cumsum([part.counts.size for part in parts])[:-1]

    def mix(self, weights: np.ndarray) -> np.ndarray:
        return np.concatenate([part.mix(weights) for part in self.parts])

    def gather(self, values: np.ndarray) -> np.ndarray:
        pieces = np.split(values, self._ends)
        return np.sum([part.gather(piece) for part, piece in zip(self.parts, pieces, strict=True)], axis=0)

    def curvature(self, values: np.ndarray) -> np.ndarray:
        pieces = np.split(values, self._ends)
        return np.sum([part.curvature(piece) for part, piece in zip(self.parts, pieces, strict=True)], axis=0)


def checked_views(views: Sequence[ArrayLike]) -> list[np.ndarray]:
    """Return the views as (K, m_j) float arrays; InputError for none, or for other shapes or negative numbers."""
    tables = [np.asarray(view, dtype=np.float64) for view in views]
    shapes = [table.shape for table in tables]
    if not tables or any(len(shape) != 2 or shape[0] != shapes[0][0] for shape in shapes):
        raise InputError(f"views must be tables with one row for each of the same components, got shapes {shapes}")
    if not all((table >= 0).all() and np.isfinite(table).all() for table in tables):
        raise InputError("views must hold finite non-negative probabilities")
    return tables
