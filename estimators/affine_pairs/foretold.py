"""The fit of few reports that others of them foretell best: smooth where values are spread, a few values where they are
not, the start where nothing better is told."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

import numpy as np

from .few_values import few_values
from .outcomes import Outcomes
from .split import halves

STEPS = (10, 20, 40, 80, 160, 320, 640)
"""Of expectation maximisation, of which one is chosen: of 20, 80 and 320 the first is best of salaries, the last of
those that have a few values."""


def foretold(seen: Outcomes, start: np.ndarray, mixed: float) -> np.ndarray:
    """Return weights (K,) that explain some reports, with a share of the start in them.

    Each half of the reports says which way of fitting the other half predicts it best: none, so many steps of
    expectation maximisation, more as long as they help, or masses at so many knots. Without the first, columns that are
    as the start says have longer intervals, without the last those of whom 99% have one value, up to twice as long.

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
    >>> foretold(coin, np.array([0.5, 0.5]), 0.02).round(2)
    array([0.7, 0.3])
    """
    parts = halves(seen)
    best, chosen = _foreseen((start, start), parts, start, mixed), (_steps, 0)
    for way in (_steps, few_values):
        before = -np.inf
        for at, fits in enumerate(zip(*(way(part, start) for part in parts), strict=True)):
            told = _foreseen(fits, parts, start, mixed)
            if told > best:
                best, chosen = told, (way, at + 1)
            if told <= before:
                break
            before = told
    way, many = chosen
    return with_start(next(islice(chain([start], way(seen, start)), many, None)), start, mixed)


def _foreseen(fits: tuple[np.ndarray, ...], parts: tuple[Outcomes, Outcomes], start: np.ndarray, mixed: float) -> float:
    """Log-likelihood of each part at the fit to the other."""
    return sum(
        float(part.counts @ np.log(with_start(fit, start, mixed) @ part.law))
        for fit, part in zip(fits, parts[::-1], strict=True)
    )


def _steps(seen: Outcomes, start: np.ndarray) -> Iterator[np.ndarray]:
    fit, done = start, 0
    for steps in STEPS:
        fit, done = improved(fit, seen, steps - done), steps
        yield fit


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
