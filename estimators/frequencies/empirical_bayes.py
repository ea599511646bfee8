"""The way to frequencies that draws them to zero or to each other: empirical Bayes on the locally best scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...solvers import Progress
from ..methods import Target
from .category_counts import CategoryCounts
from .consistency import norm_sub
from .locally_best import locally_best_scores
from .score import LEAST_VARIANCE
from .shrinkage import shrunk
from .support_counts import SupportCounts
from .way import Found, scatter


def drawn_together(
    counts: CategoryCounts | SupportCounts,
    target: Target,
    settings: Mapping[str, Any],
    progress: Callable[[Progress], None] | None,
) -> Found:
    """Return the posterior means of the frequencies, see `shrinkage`; intervals are those of the scores."""
    score, covariance = locally_best_scores(counts)
    errors = np.sqrt(np.maximum(score.variances(norm_sub(score.value)), LEAST_VARIANCE) / counts.n_users)
    frequencies = shrunk(score.value, errors)
    if target == "users":
        score, covariance = locally_best_scores(counts, target=target)
    return Found(frequencies, *scatter(score, covariance, frequencies), frequencies.size, None, score)
