"""A predictor, a corrector and centrality correctors, for any system whose products of values and slacks shall vanish.

`interior_point` does the same with the four products of the unbiased program written out, as its smallest designs ask.

Source: Mehrotra (1992), Gondzio (1996), Colombo and Gondzio (2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol, Self, TypeVar, cast

import numpy as np

from ..arrays import Array
from .interior_point import CORRECTORS, LONGER, NEARLY_FREE, WON, Interior, pulled_back


class Summed:
    """A dataclass of numbers, arrays, and tuples, lists and such dataclasses of these, added part by part."""

    def plus(self, share: float, other: Self) -> Self:
        """Return this and so large a share of the other."""
        return type(self)(*(_plus(one, share, two) for one, two in zip(_parts(self), _parts(other), strict=True)))


@dataclass(frozen=True, eq=False)
class Direction(Summed):
    """Where to move: changes of values and slacks in the order of `pairs`, and whatever else moves."""

    values: list[Array]
    slacks: list[Array]


def _parts(move: Summed) -> list[Any]:
    return [getattr(move, field.name) for field in fields(cast(Any, move))]


def _plus(one: Any, share: float, two: Any) -> Any:
    if isinstance(one, Summed):
        return one.plus(share, two)
    if isinstance(one, list | tuple):
        return type(one)(_plus(each, share, other) for each, other in zip(one, two, strict=True))
    return one + share * two


Move = TypeVar("Move", bound=Direction)
MoveOut = TypeVar("MoveOut", bound=Direction, covariant=True)


class System(Protocol[MoveOut]):
    """Newton equations at a point."""

    def direction(self, targets: list[Array], *, newton: bool) -> MoveOut:
        """Return the move whose products change by the targets; `newton` removes the residuals, too."""
        ...


def step_lengths(it: Interior, move: Direction) -> tuple[float, float]:
    """Return the largest primal and dual steps in [0, 1] that keep everything non-negative."""
    falls = [(-dv / v, -dz / z) for (v, z), dv, dz in zip(it.pairs, move.values, move.slacks, strict=True)]
    primal, dual = (max(1.0, *(float(fall[side].max()) for fall in falls)) for side in (0, 1))
    return 1 / primal, 1 / dual


def predictor_corrector(it: Interior, system: System[Move], weights: Sequence[Array | float], total: float) -> Move:
    """Return the move that makes all products smaller while keeping them in the proportion of their weights.

    Parameters
    ----------
    weights : sequence
        Of each pair's products.
    total : float
        Of all weights.
    """
    mu = it.complementarity / total
    move = system.direction([-value * slack for value, slack in it.pairs], newton=True)
    primal, dual = step_lengths(it, move)
    after = sum(
        float(np.vdot(value + primal * dv, slack + dual * dz))
        for (value, slack), dv, dz in zip(it.pairs, move.values, move.slacks, strict=True)
    )
    # As in `interior_point`: Mehrotra's cube, kept away from 0, which jams, and from 1, which stands still.
    sigma = float(np.clip((after / it.complementarity) ** 3, 1e-6, 0.9))
    targets = [sigma * mu * weight for weight in weights]
    second = [target - dv * dz for target, dv, dz in zip(targets, move.values, move.slacks, strict=True)]
    move = _best_blend(it, move, system.direction(second, newton=False), (1.0, max(primal * dual, 0.1)))
    primal, dual = step_lengths(it, move)
    for _ in range(CORRECTORS):
        if min(primal, dual) > NEARLY_FREE:
            break
        pulled = _centrality(it, move, min(1.0, primal + LONGER), min(1.0, dual + LONGER), targets)
        better = _best_blend(it, move, system.direction(pulled, newton=False), (1.0, 0.4))
        lengths = step_lengths(it, better)
        if sum(lengths) <= primal + dual + WON:
            break
        (primal, dual), move = lengths, better
    return move


def _best_blend(it: Interior, base: Move, extra: Move, shares: tuple[float, ...]) -> Move:
    """Return the base with the share of the extra whose two step lengths add up to most."""
    return max((base.plus(share, extra) for share in shares), key=lambda move: sum(step_lengths(it, move)))


def _centrality(
    it: Interior, move: Direction, primal: float, dual: float, targets: Sequence[Array | float]
) -> list[Array]:
    """Return Gondzio's targets: products that would leave [0.1, 10] times the target, pulled back."""
    out = []
    for (value, slack), dv, dz, target in zip(it.pairs, move.values, move.slacks, targets, strict=True):
        product = (value + primal * dv) * (slack + dual * dz)
        out.append(pulled_back(product, target))
    return out
