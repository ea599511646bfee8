"""Floors to start from: those of one piece fewer or more, and an optimal floor gathered into a few pieces."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from ..arrays import Array
from .floor import PieceFloor

CENTRE_SHARE = 0.3
"""Of the gap in the middle that a new centre piece fills; the descent decides."""

CENTRE_WINDOWS = 0.05
"""Mass of a new centre piece in windows: little, so that the floor is almost the one it came from."""


LEAST_LEFT = 1.02
"""Windows that the pieces left must hold: rows need one, and a start some room."""


def grown(floor: PieceFloor, symmetric: bool, ratio: float) -> list[PieceFloor]:
    """Return floors with one or, where symmetry asks for it, two more pieces and the same law, or nearly.

    Example
    -------
    >>> [more.low.tolist() for more in grown(PieceFloor([-4.0], [4.0], [0.5]), False, 3.0)]
    [[-4.0, 0.0]]
    """
    m = floor.low.size
    if not symmetric:
        return [_cut(floor, {j}, 2) for j in range(m)]
    cuts = [_cut(floor, {j, m - 1 - j}, 2) for j in range(m // 2)]
    if m % 2:
        return [*cuts, _cut(floor, {m // 2}, 2), _cut(floor, {m // 2}, 3)]
    return [*cuts, _with_centre(floor, ratio)] if floor.low[m // 2] > 0 else cuts


def _cut(floor: PieceFloor, pieces: set[int], parts: int) -> PieceFloor:
    low, high, mass = [], [], []
    for j, (a, b, t) in enumerate(zip(floor.low, floor.high, floor.mass, strict=True)):
        n = parts if j in pieces else 1
        ends = np.linspace(a, b, n + 1)
        low += ends[:-1].tolist()
        high += ends[1:].tolist()
        mass += [t / n] * n
    return PieceFloor(np.array(low), np.array(high), np.array(mass))


def _with_centre(floor: PieceFloor, ratio: float) -> PieceFloor:
    middle = floor.low.size // 2
    side = CENTRE_SHARE * floor.low[middle]
    windows = np.insert(floor.in_windows(ratio), middle, CENTRE_WINDOWS)
    return PieceFloor.of_windows(
        np.insert(floor.low, middle, -side), np.insert(floor.high, middle, side), windows, ratio
    )


def shrunk(floor: PieceFloor, symmetric: bool, ratio: float) -> list[PieceFloor]:
    """Return floors with one or, where symmetry asks for it, two pieces fewer: neighbours joined, or a piece left out.

    Example
    -------
    >>> less = shrunk(PieceFloor([-4.0, 2.0], [-2.0, 4.0], [0.25, 0.25]), True, 3.0)
    >>> [(floor.low.tolist(), floor.high.tolist()) for floor in less]
    [([-4.0], [4.0])]
    """
    m = floor.low.size
    joined = {frozenset({j, m - 2 - j} if symmetric else {j}) for j in range(m - 1)}
    left_out = {frozenset({j, m - 1 - j} if symmetric else {j}) for j in range(m)}
    return [
        *(_joined(floor, borders) for borders in sorted(joined, key=sorted)),
        *(_without(floor, pieces, ratio) for pieces in sorted(left_out, key=sorted) if len(pieces) < m),
    ]


def _joined(floor: PieceFloor, borders: frozenset[int]) -> PieceFloor:
    """The floor with each piece of these numbers and its upper neighbour in one."""
    groups = np.split(np.arange(floor.low.size), [j + 1 for j in range(floor.low.size - 1) if j not in borders])
    low, high = (np.array([ends[g[at]] for g in groups]) for ends, at in ((floor.low, 0), (floor.high, -1)))
    return PieceFloor(low, high, np.array([floor.mass[g].sum() for g in groups]))


def _without(floor: PieceFloor, pieces: frozenset[int], ratio: float) -> PieceFloor:
    keep = [j for j in range(floor.low.size) if j not in pieces]
    windows = floor.in_windows(ratio)[keep]
    windows *= max(1.0, LEAST_LEFT / windows.sum())
    return PieceFloor.of_windows(floor.low[keep], floor.high[keep], windows, ratio)


def gathered(outputs: Array, floor: Array, pieces: int) -> list[PieceFloor]:
    """Return floors of 1 to `pieces` pieces that resemble a floor of points: a piece for each group of neighbours.

    The groups are those nearest to even pieces (exact, by dynamic programming); a piece has its group's mass, mean
    and variance, cut half-way to the next group.

    Parameters
    ----------
    outputs, floor : (m,) ndarray
        Increasing points, and the positive mass of each.

    Example
    -------
    >>> found = gathered(np.array([-2.0, -1.0, 1.0, 2.0]), np.full(4, 0.1), 2)[1]
    >>> found.low.round(3).tolist(), found.mass.tolist()
    ([-2.366, 0.634], [0.2, 0.2])
    """
    spread = _spreads(outputs, floor)
    count = outputs.size
    best, choices, made = spread[0], [], []  # best[j]: least spread of the points before j
    for m in range(1, min(pieces, count) + 1):
        if m > 1:
            total = best[:, None] + spread
            choices.append(np.argmin(total, axis=0))
            best = total.min(axis=0)
        ends, j = [count], count
        for choice in reversed(choices):
            j = int(choice[j])
            ends.append(j)
        borders = [0, *reversed(ends)]
        if len(set(borders)) == m + 1:
            made.append(_pieces(outputs, floor, borders))
    return made


def _spreads(outputs: Array, floor: Array) -> Array:
    """[i, j]: least sum of t (y - line)^2 over points i to j - 1, lines in the cumulative mass u; infinite for none.

    Over an even piece y is a line in u, so this is how far the points are from one.
    """
    u = np.cumsum(floor) - floor / 2
    mass, y, yy, v, vv, vy = (
        sums[None, :] - sums[:, None]
        for power in (outputs**0, outputs, outputs**2, u, u**2, u * outputs)
        for sums in [np.concatenate([[0.0], np.cumsum(floor * power)])]
    )
    some = np.triu(np.ones_like(mass, dtype=bool), 1)
    mass = np.where(some, mass, 1.0)
    across, along = vy - v * y / mass, vv - v**2 / mass
    several = np.triu(some, 2)
    explained = np.divide(across**2, along, out=np.zeros_like(along), where=several & (along > 0))
    return np.where(some, yy - y**2 / mass - explained, np.inf)


def _pieces(outputs: Array, floor: Array, borders: list[int]) -> PieceFloor:
    mass, centre, side = [], [], []
    for i, j in pairwise(borders):
        y, t = outputs[i:j], floor[i:j]
        mass.append(float(t.sum()))
        centre.append(float(t @ y) / mass[-1])
        side.append(math.sqrt(3 * float(t @ (y - centre[-1]) ** 2) / mass[-1]))
    between = [(outputs[j - 1] + outputs[j]) / 2 for j in borders[1:-1]]
    low = np.maximum(np.array(centre) - side, [-np.inf, *between])
    high = np.minimum(np.array(centre) + side, [*between, np.inf])
    return PieceFloor(low, high, np.array(mass))
