"""Who reports values and who signs of changes over blocks: shares, and what they tell when each period ends, or all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .rows import improved_shares

STEPS = 20
"""Of the search for shares; it converges within one percent in ten."""

PROBE = 1e-4
"""How much shares are raised, relatively, to see what they gain: of a double's digits half are left."""

MORE = 1e-9
"""Least share, so that none divides by zero."""

LEVEL = 1e-6
"""A share of every mean in what is asked, so that changes do not leave the level unknown."""

FIRST = 1e-3
"""Share of users who report values where changes alone are asked, so that a series has a level."""


@dataclass(frozen=True, eq=False)
class TreeShares:
    """Shares of users, and what they cost.

    Attributes
    ----------
    levels : (T,) ndarray of float
        Of users who report their value of a period.
    branches : (B,) ndarray of float
        Of those who report signs, by the steps of their blocks.
    costs : (each, average, change)
        Variances times n about a population's means; the average when the last period ends.

    Example
    -------
    >>> made = best_tree(12, [1, 2, 4, 8], [20.0] * 4, 4.3, "each", at_end=False)
    >>> round(float(made.levels.sum() + made.branches.sum()), 6), made.costs[0] < 12 * 4.3
    (1.0, True)
    """

    levels: np.ndarray
    branches: np.ndarray
    costs: tuple[float, float, float]


def blocks(periods: int, step: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the periods, from 0 on, that blocks begin after and end with.

    Example
    -------
    >>> [one.tolist() for one in blocks(6, 1)], [one.tolist() for one in blocks(6, 2)]
    ([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]], [[0, 1, 3], [1, 3, 5]])
    """
    ends = np.array([end - 1 for end in range(step, periods + 1, step) if end > 1])
    return np.r_[0, ends[:-1]], ends


def best_tree(
    periods: int, steps: list[int], variances: list[float], level: float, of: str, *, at_end: bool
) -> TreeShares:
    """Return the shares that tell each period's mean, or its change, best: when it ends, or when all have.

    Values of a period have one share within each doubling of time, or at the end one for all: the first periods have
    nothing before them. Reports of one user are taken to be apart; that changes come and go makes them a little better.

    Parameters
    ----------
    periods : int
        T, from 2.
    steps : list of int
        Of blocks, the first 1.
    variances : list of float
        Of the difference that a sign tells, for each step.
    level : float
        Variance of a report of a value.
    of : {"each", "change"}
    at_end : bool

    Source: least squares; multiplicative steps (Silvey, Titterington and Torsney, 1978).

    Example
    -------
    >>> made = best_tree(12, [1, 2, 4, 8], [20.0] * 4, 4.3, "each", at_end=True)
    >>> made.levels.round(3).min() == made.levels.round(3).max()
    np.True_
    """
    edges = [0, periods] if at_end else _doubling(periods)
    widths = np.diff(edges)
    many, at = len(widths), np.repeat(np.arange(len(widths)), widths)
    known = np.array([*(1 / (level * widths)), *(1 / variance for variance in variances)])
    weights = np.array([1.0, 0.0, 0.0] if of == "each" else [LEVEL, 0.0, 1.0])

    def gains(kept: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, float]:
        whole = np.full(known.size, MORE)
        whole[kept] = np.maximum(shares, MORE)
        if at_end:
            costs, slopes = _at_end(periods, steps, whole * known)
            return (weights @ slopes)[kept] * known[kept], float(weights @ costs)
        raised = PROBE * np.r_[np.zeros((1, known.size)), np.eye(known.size)[kept]]
        tried = _on_time(periods, steps, at, whole * (1 + raised) * known) @ weights
        return np.maximum(tried[0] - tried[1:], 0.0) / (PROBE * whole[kept]), float(tried[0])

    shares = improved_shares(gains, known.size, STEPS)
    if shares[:many].sum() < FIRST:
        shares *= 1 - FIRST
        shares[0] += FIRST
    told = np.maximum(shares, MORE) * known
    costs = _on_time(periods, steps, at, told[None])[0] if not at_end else _at_end(periods, steps, told)[0]
    costs[1] = np.linalg.inv(_information(periods, steps, at, told)).mean()
    each, average, change = costs.tolist()
    return TreeShares((shares[:many] / widths)[at], shares[many:], (each, average, change))


def _doubling(periods: int) -> list[int]:
    edges = [0, 1]
    while edges[-1] < periods:
        edges.append(min(periods, 2 * edges[-1]))
    return edges


def _on_time(periods: int, steps: list[int], at: np.ndarray, informations: np.ndarray) -> np.ndarray:
    """Costs (N, 3) of informations (N, levels and steps), without averages: a filter that keeps open blocks alone."""
    begun = [dict(zip(*(one.tolist() for one in blocks(periods, step)[::-1]), strict=True)) for step in steps]
    many, found = int(at.max()) + 1, np.zeros((len(informations), 3))
    points, joint = [0], 1 / informations[:, at[0], None, None]
    found[:, 0] = joint[:, 0, 0]
    for end in range(1, periods):
        # The first branch tells a new period from the one before; whatever else ends in it is added.
        before = points.index(end - 1)
        column = joint[:, :, before, None]
        corner = joint[:, before, before] + 1 / informations[:, many]
        joint = np.block([[joint, column], [column.transpose(0, 2, 1), corner[:, None, None]]])
        points.append(end)
        told: list[tuple[int | None, np.ndarray]] = [(None, informations[:, at[end]])]
        for branch, mine in enumerate(begun):
            if branch and end in mine:
                told.append((points.index(mine[end]), informations[:, many + branch]))
        for start, known in told:
            u = joint[:, :, -1] - (0 if start is None else joint[:, :, start])
            reach = u[:, -1] - (0 if start is None else u[:, start])
            joint = joint - u[:, :, None] * (u * (known / (1 + known * reach))[:, None])[:, None, :]
        here, place = joint[:, -1, -1], points.index(end - 1)
        found[:, 0] += here
        found[:, 2] += here + joint[:, place, place] - 2 * joint[:, place, -1]
        open_ = sorted({end, *(max((end + 1) // step * step - 1, 0) for step in steps)})
        left = [points.index(point) for point in open_]
        points, joint = open_, joint[:, left][:, :, left]
    return found / np.array([periods, 1, periods - 1])


def _at_end(periods: int, steps: list[int], informations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Costs (3,) of informations (steps and one), without the average, and how fast each falls (3, steps and one)."""
    joint = np.linalg.inv(_information(periods, steps, np.zeros(periods, dtype=int), informations))
    near = np.diff(joint, axis=1)
    costs = np.array([np.trace(joint) / periods, 0.0, np.trace(np.diff(near, axis=0)) / (periods - 1)])
    slopes = np.zeros((3, len(informations)))
    for place, squared in ((0, joint @ joint / periods), (2, near @ near.T / (periods - 1))):
        slopes[place, 0] = np.trace(squared)
        for branch, step in enumerate(steps, 1):
            start, end = blocks(periods, step)
            slopes[place, branch] = (squared[end, end] + squared[start, start] - 2 * squared[start, end]).sum()
    return costs, slopes


def _information(periods: int, steps: list[int], at: np.ndarray, known: np.ndarray) -> np.ndarray:
    many = int(at.max()) + 1
    found = np.diag(known[:many][at])
    for step, each in zip(steps, known[many:].tolist(), strict=True):
        start, end = blocks(periods, step)
        found[end, end] += each
        np.add.at(found, (start, start), each)
        found[start, end] -= each
        found[end, start] -= each
    return found
