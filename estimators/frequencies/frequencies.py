"""The frequencies of categories, estimated from counted reports, with intervals and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from ...mechanisms.categorical.categories import Categories
from ...mechanisms.errors import InputError
from ...solvers.likelihood.fit import MixtureFit
from ..distributions.distribution import Estimated

FrequencyMethod = Literal["unbiased", "norm-sub", "base-cut", "iiw", "em", "mle", "mr"]

Target = Literal["users", "population"]
"""Whose frequencies: the shares among the users who reported, or those of a population that they are drawn from."""


@dataclass(frozen=True, eq=False)
class FrequencyEstimate:
    """Estimated frequencies of K categories, and how far to trust them.

    Intervals are normal ones, cut to [0, 1].  They measure scatter, not bias: what a method does to unbiased estimates
    to make them probabilities is not in them.

    Parameters
    ----------
    categories : Categories
        K of them.
    frequencies : (K,) ndarray of float
    std_errors : (K,) ndarray of float
        For "norm-sub", "base-cut" and "iiw", and for fits of more than 4096 categories, those of the unbiased estimate.
    covariance : (K, K) ndarray of float, or None
        The squares of `std_errors` are its diagonal; None for more than 4096 categories.
    target : {"users", "population"}
        Whose frequencies the standard errors are about; those for a population are larger, by the users' own scatter.
    level : float
        Nominal coverage of the intervals, of each category by itself.
    method : {"unbiased", "norm-sub", "base-cut", "iiw", "em", "mle", "mr"}
    n_users : int
    fit : MixtureFit, optional
        Iterations, log-likelihood and certificate, for "em", "mle" and "mr".
    components : int
        Groups of categories left after reduction, for "mr"; else K.
    prior : (K,) array_like, optional
        That the decoder of "unbiased" was made for, if one was given.

    Example
    -------
    >>> from optldp.estimators.frequencies.category_counts import CategoryCounts
    >>> from optldp.estimators.frequencies.estimation import estimate_frequencies
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> grr = categorical_grr(["red", "green", "blue"], 3.0)
    >>> found = estimate_frequencies(CategoryCounts.from_reports(grr, np.repeat([0, 1, 2], [500, 300, 200])))
    >>> found.frequencies.round(3), found.low.round(3), found.high.round(3)
    (array([0.526, 0.295, 0.179]), array([0.508, 0.278, 0.163]), array([0.544, 0.312, 0.195]))
    >>> found["green"].value.__round__(3), found.share(["red", "green"]).value.__round__(3)
    (0.295, 0.821)
    """

    categories: Categories
    frequencies: np.ndarray
    std_errors: np.ndarray
    covariance: np.ndarray | None
    target: Target
    level: float
    method: FrequencyMethod
    n_users: int
    fit: MixtureFit | None
    components: int
    prior: ArrayLike | None = None

    @property
    def low(self) -> np.ndarray:
        """(K,) lower ends of the intervals."""
        return np.clip(self.frequencies - self._reach * self.std_errors, 0.0, 1.0)

    @property
    def high(self) -> np.ndarray:
        """(K,) upper ends of the intervals."""
        return np.clip(self.frequencies + self._reach * self.std_errors, 0.0, 1.0)

    @property
    def _reach(self) -> float:
        return float(ndtri((1.0 + self.level) / 2.0))

    def __getitem__(self, label: object) -> Estimated:
        """Return the frequency of one category; InputError for an unknown label."""
        k = int(self.categories.codes([str(label)])[0])
        return self._estimated(float(self.frequencies[k]), float(self.std_errors[k]))

    def share(self, labels: Sequence[object]) -> Estimated:
        """Return the frequency of any of these categories.

        Raises InputError for unknown labels, ones that come twice, or where there is no covariance.
        """
        codes = self.categories.codes(list(map(str, labels)))
        if np.unique(codes).size < codes.size:
            raise InputError(f"labels must differ, got {list(labels)!r}")
        if self.covariance is None:
            raise InputError(f"a share needs a covariance, got {len(self.categories)} categories: use at most 4096")
        variance = float(self.covariance[np.ix_(codes, codes)].sum())
        return self._estimated(float(self.frequencies[codes].sum()), float(np.sqrt(max(variance, 0.0))))

    def _estimated(self, value: float, std_error: float) -> Estimated:
        low, high = np.clip([value - self._reach * std_error, value + self._reach * std_error], 0.0, 1.0)
        return Estimated(value, std_error, float(low), float(high))
