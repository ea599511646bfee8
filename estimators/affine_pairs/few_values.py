"""Fits of few reports that most users have one of few values: what they cannot say of each knot they can of these."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .outcomes import Outcomes

MOST = 4
"""Values of their own: more of them are a distribution that other fits find."""

FIRST = 0.3
"""Share that a value begins with."""

STEPS = 60
"""Of expectation maximisation in the few shares, which are then known to a tenth of what reports leave open."""

LEAST = 1e-9
"""Share that nothing falls below, so that no outcome becomes impossible."""


def few_values(seen: Outcomes, start: np.ndarray) -> Iterator[np.ndarray]:
    """Yield weights (K,) that are a share of the start and a mass at one knot, then at one more, up to `MOST`.

    Each new knot is the one that the reports ask most for, by the gradient of their likelihood.

    Parameters
    ----------
    seen : Outcomes
    start : (K,) ndarray of float
        Positive, of sum one.

    Source: Lindsay (1983), "The geometry of mixture likelihoods", for where a mixture wants its next value.

    Example
    -------
    >>> law = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    >>> seen = Outcomes(np.arange(3.0), law, np.array([800, 100, 100]), False)
    >>> next(few_values(seen, np.full(3, 1 / 3))).round(1).tolist()
    [1.0, 0.0, 0.0]
    """
    shares, parts, weights = seen.shares, start[None], np.ones(1)
    laws = parts @ seen.law
    for _ in range(MOST):
        knot = int(np.argmax(seen.law @ (shares / (weights @ laws))))
        parts = np.vstack([parts, np.arange(start.size) == knot])
        laws = np.vstack([laws, seen.law[knot]])
        weights = np.append((1.0 - FIRST) * weights, FIRST)
        for _ in range(STEPS):
            weights = weights * (laws @ (shares / (weights @ laws)))
            weights = np.maximum(weights / weights.sum(), LEAST)
        yield weights @ parts / weights.sum()
