"""What a way to frequencies is: a function of counts and settings, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...solvers import Progress
from ...solvers.likelihood.fit import MixtureFit
from ..methods import Target
from .score import Score

Way = Callable[[Any, Target, Mapping[str, Any], Callable[[Progress], None] | None], "Found"]
"""Takes counts, what the estimate is about, the settings that were given, all of which it knows, and what is to be
called with its progress. One that needs whole reports is given `CategoryCounts` and the population alone."""


class Found(NamedTuple):
    """Frequencies of K categories, with what is known of their errors.

    Attributes
    ----------
    frequencies, variances : (K,) ndarray of float
    covariance : (K, K) ndarray of float, optional
        None where K is large.
    components : int
        Groups of categories that have frequencies of their own.
    fit : MixtureFit, optional
    score : Score, optional
        That intervals are made of; None for the normal law around the estimate.
    """

    frequencies: np.ndarray
    variances: np.ndarray
    covariance: np.ndarray | None
    components: int
    fit: MixtureFit | None = None
    score: Score | None = None


def scatter(score: Score, covariance: np.ndarray | None, place: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Return variances and covariance of a score's values at frequencies (K,)."""
    if covariance is None:
        return score.variances(place) / score.n, None
    return np.maximum(np.diag(covariance), 0.0), covariance
