"""Group terms that a relaxed table violates: how many of a group are marked must look like a whole number.

For a group T and a level d every pattern has (k - d)(k - d - 1) >= 0, where k counts the marked of T.  The relaxed
moments of marks, mean m and second moment U, violate it where 1_T^T U 1_T - (2 d + 1) 1_T^T m + d (d + 1) < 0.  Pairs
at level 0 say that no two categories are marked together less often than never.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array

TRIES = 100
"""Ascents for each level, from random groups."""

HIGHEST_LEVEL = 8
"""With more marked of a group, whole numbers are dense enough."""

VISIBLE = 1e-6
"""Violations below it are left alone: the programme's own tolerance."""


def violated_terms(mean: Array, second: Array, wanted: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the groups (C, K) and levels (C,) of at most `wanted` terms, most violated for their size first.

    Parameters
    ----------
    mean, second : (K,), (K, K) ndarray
        Relaxed moments of the marks.
    wanted : int
    rng : numpy.random.Generator

    Example
    -------
    >>> mean, second = np.full(2, 0.4), np.array([[0.4, -0.1], [-0.1, 0.4]])   # together less than never
    >>> violated_terms(mean, second, 1, np.random.default_rng(1))
    (array([[1., 1.]]), array([0.]))
    """
    size = mean.size
    rows, columns = np.triu_indices(size, 1)
    worst = np.argsort(second[rows, columns], kind="stable")[:wanted]
    rows, columns = rows[worst], columns[worst]
    pairs = np.zeros((rows.size, size))
    pairs[np.arange(rows.size), rows] = pairs[np.arange(rows.size), columns] = 1
    groups, levels, values = [pairs], [np.zeros(rows.size)], [2 * second[rows, columns]]
    for level in range(min(HIGHEST_LEVEL, int(mean.sum()) + 1) + 1):
        found, value = _search(mean, second, level, rng)
        groups.append(found)
        levels.append(np.full(len(found), float(level)))
        values.append(value)
    every, level, value = np.vstack(groups), np.concatenate(levels), np.concatenate(values)
    _, first = np.unique(np.column_stack([every, level]), axis=0, return_index=True)
    first = first[value[first] < -VISIBLE]
    best = first[np.argsort(value[first] / every[first].sum(1), kind="stable")[:wanted]]
    return every[best], level[best]


def _search(mean: Array, second: Array, level: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Descend to groups (TRIES, K) of small value, one category in or out at a time."""
    size, index = mean.size, np.arange(TRIES)
    share = (2 * level + 1) / max(float(mean.sum()), level + 1.0) * rng.random(TRIES)
    groups = (rng.random((size, TRIES)) < np.clip(share, 2 / size, 1)).astype(np.float64)
    product = second @ groups
    for _ in range(3 * size):
        change = 1 - 2 * groups
        gain = 2 * change * product + np.diag(second)[:, None] - (2 * level + 1) * change * mean[:, None]
        which = gain.argmin(0)
        moving = index[gain[which, index] < -VISIBLE]
        if not moving.size:
            break
        row = which[moving]
        product[:, moving] += second[:, row] * change[row, moving]
        groups[row, moving] = 1 - groups[row, moving]
    value = np.einsum("xt,xt->t", groups, product) - (2 * level + 1) * (mean @ groups) + level * (level + 1)
    return groups.T, np.where(groups.any(0), value, 0.0)
