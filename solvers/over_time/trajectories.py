"""Histories in [-1, 1] that change at most k times, and how large a linear row of one can be."""

from __future__ import annotations

import numpy as np

SIGNS = np.array([-1.0, 1.0])


def reach(rows: np.ndarray, changes: int) -> np.ndarray:
    """Return the largest value (Q,) of each row a of <a, x>, over histories x in [-1, 1] with at most k changes.

    Linear between two changes, so that histories of signs attain it; these are tried by dynamic programming, in time
    Q T k.

    Parameters
    ----------
    rows : (Q, T) ndarray of float
    changes : int
        k, from 0.

    Example
    -------
    >>> rows = np.array([[1.0, 1.0, 1.0], [1.0, -2.0, 1.0]])
    >>> reach(rows, 1).tolist(), reach(rows, 2).tolist()
    ([3.0, 2.0], [3.0, 4.0])
    """
    if changes >= rows.shape[1] - 1:
        return np.abs(rows).sum(axis=1)
    return _tables(rows, changes)[0].max(axis=(1, 2))


def furthest(rows: np.ndarray, changes: int) -> np.ndarray:
    """Return the histories (Q, T) of signs that attain `reach`.

    Example
    -------
    >>> furthest(np.array([[1.0, -2.0, 1.0]]), 2).tolist()
    [[1.0, -1.0, 1.0]]
    """
    best, switched = _tables(rows, changes)
    many, periods = rows.shape
    place = best.reshape(many, -1).argmax(axis=1)
    used, sign = np.divmod(place, 2)
    each, found = np.arange(many), np.empty(rows.shape)
    for period in range(periods - 1, -1, -1):
        found[:, period] = SIGNS[sign]
        turned = switched[period][each, used, sign]
        used, sign = used - turned, np.where(turned, 1 - sign, sign)
    return found


def _tables(rows: np.ndarray, changes: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """The largest sums (Q, k + 1, 2) by changes made and last sign, and whether each sum changed sign in a period."""
    many, periods = rows.shape
    most = min(changes, periods - 1)
    best = np.full((many, most + 1, 2), -np.inf)
    best[:, 0] = rows[:, :1] * SIGNS
    switched = [np.zeros(best.shape, dtype=bool)]
    for period in range(1, periods):
        turned = np.full(best.shape, -np.inf)
        turned[:, 1:] = best[:, :-1, ::-1]
        switched.append(turned > best)
        best = np.maximum(best, turned) + rows[:, period, None, None] * SIGNS
    return best, switched
