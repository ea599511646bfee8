"""A mixture some of whose components were merged, each group into one, or pruned."""

import numpy as np

from ...solvers.likelihood.mixture import MixtureLikelihood

PRUNED = -1
"""The group of components that were pruned: none."""


class MergedLikelihood(MixtureLikelihood):
    """The likelihood when components are merged: each group is one component, with the average of its rows.

    Equivalently every weight of the merged mixture is spread evenly over its group's components, and those that were
    pruned have none.

    Parameters
    ----------
    likelihood : MixtureLikelihood
        K components.
    member : (K,) ndarray of int
        The group 0..G-1 of each component, or -1 where it was pruned; no group is empty.
    """

    def __init__(self, likelihood: MixtureLikelihood, member: np.ndarray) -> None:
        kept = member != PRUNED
        sizes = np.bincount(member[kept])
        super().__init__(likelihood.counts, sizes.size)
        self._likelihood, self._member = likelihood, np.where(kept, member, 0)
        self._share = np.where(kept, 1.0 / sizes[self._member], 0.0)
        self._averaged = likelihood.averaged(self._member, self._share) if sizes.size < member.size else None

    def group(self, weights: np.ndarray) -> np.ndarray:
        """Return the weight (G,) of each group, those of the pruned left out."""
        return np.bincount(self._member, np.where(self._share > 0, weights, 0.0), self.n_components)

    def spread(self, weights: np.ndarray) -> np.ndarray:
        """Return the weights (K,) of the components when each group's is spread evenly."""
        return weights[self._member] * self._share

    def spread_covariance(self, covariance: np.ndarray) -> np.ndarray:
        """Return the covariance (K, K) of the components' weights from that of the groups'."""
        return covariance[np.ix_(self._member, self._member)] * self._share[:, None] * self._share

    def mix(self, weights: np.ndarray) -> np.ndarray:
        if self._averaged is not None:
            return self._averaged.mix(weights)
        return self._likelihood.mix(self.spread(weights))

    def gather(self, values: np.ndarray) -> np.ndarray:
        if self._averaged is not None:
            return self._averaged.gather(values)
        return np.bincount(self._member, self._likelihood.gather(values) * self._share)

    def curvature(self, values: np.ndarray) -> np.ndarray:
        if self._averaged is not None:
            return self._averaged.curvature(values)
        full = self._likelihood.curvature(values) * self._share[:, None] * self._share
        half = np.zeros((self.n_components, full.shape[1]))
        np.add.at(half, self._member, full)
        merged = np.zeros((self.n_components, self.n_components))
        np.add.at(merged, self._member, half.T)
        return merged
