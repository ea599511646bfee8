"""A fit of few reports that is stopped where others of them say: smooth where values are spread, sharp where they are
not."""

from __future__ import annotations

import numpy as np

from .outcomes import Outcomes
from .split import halves

STEPS = (10, 20, 40, 80, 160, 320, 640)
"""Of expectation maximisation, of which one is chosen: of 20, 80 and 320 the first is best of salaries, the last where
half have either end."""


def early_stopped(seen: Outcomes, start: np.ndarray, mixed: float) -> np.ndarray:
    """Return weights (K,) that explain some reports, with a share of the start in them.

    Each half of the reports says after how many steps the fit to the other half predicts it best; more steps are tried
    as long as they help.

    Parameters
    ----------
    seen : Outcomes
    start : (K,) ndarray of float
        Positive, of sum one.
    mixed : float
        Share of the start.

    Example
    -------
    >>> coin = Outcomes(np.array([0.0, 1.0]), np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([600, 400]), False)
    >>> early_stopped(coin, np.array([0.5, 0.5]), 0.02).round(2)
    array([0.7, 0.3])
    """
    parts, fits, best, chosen, done = halves(seen), [start, start], -np.inf, 0, 0
    for steps in STEPS:
        fits = [improved(fit, part, steps - done) for fit, part in zip(fits, parts, strict=True)]
        foreseen = sum(
            float(part.counts @ np.log(with_start(fit, start, mixed) @ part.law))
            for fit, part in zip(fits, parts[::-1], strict=True)
        )
        if foreseen <= best:
            break
        best, chosen, done = foreseen, steps, steps
    return with_start(improved(start, seen, chosen), start, mixed)


def improved(weights: np.ndarray, seen: Outcomes, steps: int) -> np.ndarray:
    """Return weights (K,) after steps of expectation maximisation from some that are positive.

    Example
    -------
    >>> coin = Outcomes(np.array([0.0, 1.0]), np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([600, 400]), False)
    >>> improved(np.array([0.5, 0.5]), coin, 1)
    array([0.55, 0.45])
    """
    law, shares = seen.law, seen.shares
    for _ in range(steps):
        weights = weights * (law @ (shares / (weights @ law)))
        weights = weights / weights.sum()
    return weights


def with_start(weights: np.ndarray, start: np.ndarray, mixed: float) -> np.ndarray:
    """Return weights (K,) with a share of the start in them.

    Example
    -------
    >>> with_start(np.array([1.0, 0.0]), np.array([0.5, 0.5]), 0.02)
    array([0.99, 0.01])
    """
    return (1.0 - mixed) * weights + mixed * start
