"""The frequencies of categories, estimated from counted reports, with intervals and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ...mechanisms.spaces.categories import Categories
from ...solvers.likelihood.fit import MixtureFit
from ..estimate import Estimate, NumberEstimate
from ..intervals import CONFIDENCE, Interval, normal_interval
from ..methods import Target
from ..plots.frequency_bars import frequencies
from .score import Score, ScoredNumber

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class FrequencyEstimate(Estimate):
    """Estimated frequencies of K categories, with their standard errors and intervals.

    Intervals are each category's own.  Those of the unbiased estimate are normal ones, cut to [0, 1].  Every other
    method is biased where frequencies are small. Its intervals are therefore those of a `Score`, an unbiased number
    from the same reports, lengthened to hold the value.

    Parameters
    ----------
    categories : Categories
        K of them.
    value : (K,) ndarray of float
        Their frequencies; unbiased ones may be negative.
    std_error : (K,) ndarray of float
        For other methods than "unbiased" those of the unbiased numbers that intervals are made of; NaN if there are
        none.
    covariance : (K, K) ndarray of float, or None
        The squares of `std_error` are its diagonal; None for more than 4096 categories, and where it would take long.
    target : {"users", "population"}
        Whose frequencies the standard errors refer to; for a population they include the users' own scatter.
    method : {"unbiased", "norm-sub", "base-cut", "iiw", "shrunk", "em", "mle", "mr"}
    n : int
        Number of users.
    fit : MixtureFit, optional
        Iterations, log-likelihood and certificate, for "em", "mle" and "mr".
    components : int
        Groups of categories left after reduction, for "mr"; else K.
    prior : (K,) array_like, optional
        Prior of the decoder of "unbiased", if one was given.
    score : Score, optional
        Source of the intervals, for all methods but "unbiased".

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.frequencies.category_counts import CategoryCounts
    >>> from optldp.estimators.frequencies.estimation import estimate_frequencies
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> grr = categorical_grr(["red", "green", "blue"], 3.0)
    >>> found = estimate_frequencies(CategoryCounts.from_reports(grr, np.repeat([0, 1, 2], [500, 300, 200])))
    >>> print(found)
    unbiased estimate of 1,000 users, 95% intervals, about the population
      red: 0.526198 +- 0.018 [0.490337, 0.562059]
      green: 0.29476 +- 0.017 [0.261893, 0.327628]
      blue: 0.179042 +- 0.015 [0.150353, 0.20773]
    >>> found["green"].value.__round__(3), found.share(["red", "green"]).value.__round__(3)
    (0.295, 0.821)
    """

    categories: Categories
    value: np.ndarray
    std_error: np.ndarray
    covariance: np.ndarray | None
    target: Target
    method: str
    n: int
    fit: MixtureFit | None
    components: int
    prior: ArrayLike | None = None
    score: Score | None = None

    @property
    def labels(self) -> Mapping[str, Sequence[Any]]:
        """The categories."""
        return {"category": self.categories.labels}

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return intervals within [0, 1]; InputError for a confidence outside (0, 1)."""
        if self.score is not None:
            return self.score.holding(self.value, confidence)
        return normal_interval(self.value, self.std_error, confidence, 0.0, 1.0)

    def plot(self, ax: Axes | None = None, *, title: str = "", confidence: float = CONFIDENCE) -> Axes:
        """Draw the largest as bars with their intervals, as `plots.frequencies` does."""
        return frequencies(self, ax, title=title, confidence=confidence)

    def __getitem__(self, label: object) -> NumberEstimate:
        """Return the frequency of one category; InputError for an unknown label."""
        k = int(self.categories.codes([str(label)])[0])
        return self._estimated(float(self.value[k]), float(self.std_error[k]), self.score and self.score.of(k))

    def share(self, labels: Sequence[object]) -> NumberEstimate:
        """Return the frequency of any of these categories.

        Raises InputError for unknown labels, ones that come twice, or where there is no covariance.
        """
        codes = self.categories.codes(list(map(str, labels)))
        if np.unique(codes).size < codes.size:
            raise InputError(f"labels must differ, got {list(labels)!r}")
        if self.covariance is None:
            raise InputError(f"a share needs a covariance, got {len(self.categories)} categories: use at most 4096")
        variance = max(float(self.covariance[np.ix_(codes, codes)].sum()), 0.0)
        score = self.score and self.score.sum(codes, variance)
        return self._estimated(float(self.value[codes].sum()), float(np.sqrt(variance)), score)

    def _estimated(self, value: float, std_error: float, score: Score | None) -> NumberEstimate:
        facts = value, std_error, self.n, self.method, self.target, 0.0, 1.0
        return NumberEstimate(*facts) if score is None else ScoredNumber(*facts, score)
