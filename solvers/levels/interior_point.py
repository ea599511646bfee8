"""Mehrotra's predictor and corrector for the levels program, from a start that meets no equation yet.

Slacks are unknowns of their own, moved by what the floors and tables move: computed anew as differences of nearly equal
numbers they would lose the digits on which the last steps rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from .blocks import Blocks, Equations, Unknowns
from .levels_program import LevelsProgram

TO_BOUNDARY = 0.99
"""Share of the way to the nearest bound that a step may go."""

STARTING_PRODUCTS = 10.0
"""Products of slacks and multipliers at the start, times the cost per product: well inside."""


@dataclass(frozen=True, eq=False)
class LevelsIterate:
    """Tables, floors, multipliers: P (t, n, m), a (t, m), u (n, m); lambda and nu (2, t, n); s and z (4, t, n, m)."""

    unknowns: Unknowns
    prices: Array
    slacks: Array
    multipliers: Array

    @property
    def tables(self) -> Array:
        """P, (t, n, m)."""
        return self.unknowns.tables

    @property
    def complementarity(self) -> float:
        """Mean product of slacks and multipliers."""
        return self.mean_of(self.slacks * self.multipliers)

    def mean_of(self, products: Array) -> float:
        """Return the mean over the inequalities that there are: slacks of zero are those of none."""
        return float(products.sum()) / np.count_nonzero(self.slacks)


def start(program: LevelsProgram) -> LevelsIterate:
    """Return even tables, floors in the middle of what they may be, and products that are all alike."""
    t, n, m = program.costs.shape
    F = program.between if program.bounded else 1.0
    tables = np.full((t, n, m), 1 / m)
    floors = np.broadcast_to(2 / (m * (1 + program.ratios[:, None])), (t, m))
    unknowns = Unknowns(tables, floors, np.full((n, m), 2 / (m * (1 + F))))
    slacks = slacks_of(program, unknowns)
    each = STARTING_PRODUCTS * float((program.costs * tables).sum()) / slacks.size
    with np.errstate(divide="ignore"):
        multipliers = np.where(slacks > 0, each / slacks, 0.0)
    return LevelsIterate(unknowns, np.zeros((2, t, n)), slacks, multipliers)


def slacks_of(program: LevelsProgram, unknowns: Unknowns) -> Array:
    """Return P - a, E a - P, P - u and F u - P, (4, t, n, m); the last two are zero where levels are not tied."""
    P, a, u = unknowns.tables, unknowns.by_level[:, None], unknowns.by_knot
    others = (P - u, program.between * u - P) if program.bounded else np.zeros((2, *P.shape))
    return np.stack([P - a, program.ratios[:, None, None] * a - P, *others])


def residual(program: LevelsProgram, tables: Array) -> Array:
    """Return what normalisation and unbiasedness lack, (2, t, n)."""
    return np.stack([1 - tables.sum(2), -(program.offsets * tables).sum(2)])


def newton_step(program: LevelsProgram, it: LevelsIterate) -> tuple[LevelsIterate, float]:
    """Return the next iterate and the shorter of the two lengths; LinAlgError where rounding stops the method."""
    move = _directions(program, it)
    zero = np.zeros_like(it.slacks)
    _, _, ds, dz = move(zero)
    along = (it.slacks + _reach(it.slacks, ds) * ds) * (it.multipliers + _reach(it.multipliers, dz) * dz)
    now = it.complementarity
    target = now * (it.mean_of(along) / now) ** 3  # Mehrotra's rule: barely aimed at where the prediction went far
    products = np.where(it.slacks > 0, target, 0.0) - ds * dz
    du, dy, ds, dz = move(products)
    there = min(1.0, TO_BOUNDARY * _reach(it.slacks, ds)), min(1.0, TO_BOUNDARY * _reach(it.multipliers, dz))
    unknowns = Unknowns(*(part + there[0] * change for part, change in zip(it.unknowns, du, strict=True)))
    after = LevelsIterate(
        unknowns, it.prices + there[1] * dy, it.slacks + there[0] * ds, it.multipliers + there[1] * dz
    )
    return after, min(there)


def restored(program: LevelsProgram, it: LevelsIterate) -> Array:
    """Return tables that meet the equations to rounding, between the floors of the iterate."""
    blocks = Blocks(program, _weights(it))
    prices = blocks.equations().solve(residual(program, it.tables))
    moved = blocks.solve(prices[0][:, :, None] + prices[1][:, :, None] * program.offsets)
    P, a, u = (part + change for part, change in zip(it.unknowns, moved, strict=True))
    low, high = a[:, None], program.ratios[:, None, None] * a[:, None]
    if program.bounded:
        low, high = np.maximum(low, u), np.minimum(high, program.between * u)
    return np.clip(P, low, np.maximum(low, high))


Move = Callable[[Array], tuple[Unknowns, Array, Array, Array]]


def _directions(program: LevelsProgram, it: LevelsIterate) -> Move:
    """Return the function from products of slacks and multipliers aimed at to changes of unknowns, prices, s and z."""
    weights = _weights(it)
    blocks = Blocks(program, weights)
    equations: Equations = blocks.equations()
    E, F = program.ratios[:, None, None], program.between if program.bounded else 1.0
    lam, nu = it.prices[:, :, :, None]
    reduced = program.costs - lam - nu * program.offsets
    lacking = residual(program, it.tables)

    def move(products: Array) -> tuple[Unknowns, Array, Array, Array]:
        q1, q2, q3, q4 = aim = np.divide(products, it.slacks, out=np.zeros_like(products), where=it.slacks > 0)
        first = blocks.solve(q1 - q2 + q3 - q4 - reduced, (E * q2 - q1).sum(1), (F * q4 - q3).sum(0))
        met = np.stack([first.tables.sum(2), (program.offsets * first.tables).sum(2)])
        dy = equations.solve(lacking - met)
        second = blocks.solve(dy[0][:, :, None] + dy[1][:, :, None] * program.offsets)
        change = Unknowns(*(one + two for one, two in zip(first, second, strict=True)))
        ds = slacks_of(program, change)
        return change, dy, ds, aim - it.multipliers - weights * ds

    return move


def _weights(it: LevelsIterate) -> Array:
    return np.divide(it.multipliers, it.slacks, out=np.zeros_like(it.slacks), where=it.slacks > 0)


def _reach(place: Array, move: Array) -> float:
    """Largest share of the move, at most 1, that keeps a non-negative place non-negative."""
    down = move < 0
    return min(1.0, float((place[down] / -move[down]).min())) if down.any() else 1.0
