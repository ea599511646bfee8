"""Places for the outputs of a table that came as probabilities alone."""

from __future__ import annotations

import numpy as np

LEAST_DISTANCE = 1e-6
"""Between two outputs, as a share of the domain: reports stay apart as text, and moving them apart shows nowhere."""


SHAPE_DIGITS = 6
"""Decimals to which two columns must agree to be one; patterns differ by whole numbers."""


def placed_outputs(knots: np.ndarray, weights: np.ndarray, probabilities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return places (m,), increasing, and the columns (n, m) in their order: the mean of the value given the report.

    Among all numbers that could stand for a report the posterior mean is nearest to the value, in expected square.  It
    is no unbiased estimate: reports are drawn towards the prior's mean.  Ties are ordered by the columns' own centres,
    and then moved apart by `LEAST_DISTANCE`.  Equal columns become one: apart they would tell nothing more.

    Parameters
    ----------
    knots, weights : (n,) ndarray
        Weights positive somewhere in each column.
    probabilities : (n, m) ndarray
        Columns of positive numbers.

    Example
    -------
    >>> placed_outputs(np.array([0.0, 1.0]), np.array([0.5, 0.5]), np.array([[0.25, 0.75], [0.75, 0.25]]))
    (array([0.25, 0.75]), array([[0.75, 0.25],
           [0.25, 0.75]]))
    """
    columns = _merged(probabilities)
    low, width = knots[0], knots[-1] - knots[0]
    position = (knots - low) / width
    mean = (weights * position) @ columns / (weights @ columns)
    centre = position @ columns / columns.sum(0)
    order = np.lexsort([columns[0], centre, np.round(mean / LEAST_DISTANCE)])
    steps = LEAST_DISTANCE * np.arange(order.size)
    places = np.maximum.accumulate(mean[order] - steps) + steps  # each at least a step above the one before
    return low + width * places, columns[:, order]


def _merged(probabilities: np.ndarray) -> np.ndarray:
    """Return the columns with those of equal shape added up: of the same heights between the same ratio."""
    least, spread = probabilities.min(0), np.ptp(probabilities, axis=0)
    heights = np.divide(probabilities - least, spread, out=np.zeros_like(probabilities), where=spread > 0)
    shapes = np.round(np.vstack([heights, spread / least]), SHAPE_DIGITS)
    _, first, which = np.unique(shapes, axis=1, return_index=True, return_inverse=True)
    merged = np.zeros((len(probabilities), first.size))
    np.add.at(merged.T, which.ravel(), probabilities.T)
    return merged
