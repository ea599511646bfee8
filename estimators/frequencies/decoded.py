"""Ways to frequencies from decoded reports: their average, and what makes it consistent or smooth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...solvers import Progress
from ...solvers.likelihood.fit import MOST_COMPONENTS
from ..methods import Target
from .category_counts import CategoryCounts
from .consistency import base_cut, iiw, norm_sub
from .decoder import frequency_decoder
from .locally_best import plain_scores
from .support_counts import SupportCounts
from .way import Found

Counts = CategoryCounts | SupportCounts
Settings = Mapping[str, Any]


def unbiased(counts: Counts, target: Target, settings: Settings, progress: Callable[[Progress], None] | None) -> Found:
    """Return the average of decoded reports."""
    _, plain, place, noise = _average(counts, settings)
    return _of_target(counts, target, place, Found(plain, *noise, place.size))


def nearest(counts: Counts, target: Target, settings: Settings, progress: Callable[[Progress], None] | None) -> Found:
    """Return the frequencies nearest to that average: norm-sub."""
    return _made_of_it(counts, target, settings, lambda plain, place, noise: place)


def cut(counts: Counts, target: Target, settings: Settings, progress: Callable[[Progress], None] | None) -> Found:
    """Return the average with what is below the threshold cut: base-cut."""
    threshold = settings.get("threshold")
    return _made_of_it(counts, target, settings, lambda plain, place, noise: base_cut(plain, threshold=threshold))


def smoothed(counts: Counts, target: Target, settings: Settings, progress: Callable[[Progress], None] | None) -> Found:
    """Return the average as improved iterative Wiener filtering has it: iiw."""
    return _made_of_it(counts, target, settings, lambda plain, place, noise: iiw(plain, float(noise.sum())))


Noise = tuple[np.ndarray, np.ndarray | None]
"""Variances (K,) and covariance (K, K) of the average, of the mechanism alone."""


def _average(counts: Counts, settings: Settings) -> tuple[Any, np.ndarray, np.ndarray, Noise]:
    """The decoder, the average, the nearest frequencies, and the noise there."""
    decoder = frequency_decoder(counts.mechanism, settings.get("prior"))
    plain = decoder.frequencies(counts)
    # At the distribution nearest to the estimate: variances are linear in the frequencies, and negative at some.
    place, n = norm_sub(plain), counts.n_users
    covariance = decoder.covariance(place) / n if place.size <= MOST_COMPONENTS else None
    return decoder, plain, place, (decoder.variances(place) / n, covariance)


def _made_of_it(
    counts: Counts,
    target: Target,
    settings: Settings,
    make: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
) -> Found:
    """What is made of the average, the nearest frequencies and the variances; intervals are the average's."""
    decoder, plain, place, noise = _average(counts, settings)
    score = plain_scores(decoder, counts, place, target).score
    return _of_target(counts, target, place, Found(make(plain, place, noise[0]), *noise, place.size, score=score))


def _of_target(counts: Counts, target: Target, place: np.ndarray, found: Found) -> Found:
    """The same with the variance of who the users are, where it is about a population."""
    if target != "population":
        return found
    n, covariance = counts.n_users, found.covariance
    return found._replace(
        variances=found.variances + place * (1.0 - place) / n,
        covariance=None if covariance is None else covariance + (np.diag(place) - np.outer(place, place)) / n,
    )
