"""What first pages of several kinds of mechanisms say alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....mechanisms.documents.bundle import Bundle
from ....mechanisms.printable import shortened
from ....mechanisms.promise import Metric, Promise
from ..number_format import SAME, listed, percent
from .front import people

MOST_NAMED = 8
"""Categories, keys or attributes that are named, and levels that have a row; of more the first and how many."""

PROVED = "Its promise is proved by whole numbers, from the probabilities that clients draw by: it may be handed out."
SPENDING = "The budget is that of all that a person sends, whatever they hold."


def widest(promise: Promise, values: np.ndarray) -> float:
    """How far two values are apart at most, by the distance that the promise is of."""
    if not isinstance(promise, Metric):
        return float(values[-1] - values[0])
    limits = promise.limits(values)
    return float(limits[np.isfinite(limits)].max()) / promise.epsilon


def priced(which: str, name: str, ratio: float, what: str, n: int) -> str:
    """Say what it costs to choose another mechanism at the same budget, or what it gains."""
    if abs(ratio - 1) < SAME:
        return f"To choose otherwise: {name}, {which}, takes as many people for the same error {what}."
    if ratio > 1:
        return (
            f"To choose otherwise costs people: {name}, {which}, takes {percent(ratio - 1, 1)} more for the same error "
            f"{what}, {people(n * ratio)} instead of {n:,}."
        )
    return (
        f"Better at the same budget: {name} takes {percent(1 - ratio, 1)} fewer people for the same error {what}, "
        f"{people(n * ratio)} instead of {n:,}."
    )


def proof(made: Bundle) -> tuple[str, ...]:
    broken = made.failures()
    return (PROVED,) if not broken else (f"Do not use it: {broken[0]}.",)


def named(labels: Sequence[object]) -> str:
    """Name a few of them, each short enough, and say how many more there are."""
    shown = [shortened(str(label), 32) for label in labels[:MOST_NAMED]]
    rest = len(labels) - len(shown)
    return listed([*shown, f"{rest:,} more"] if rest else shown)
