"""Making tables of several levels exact together: what a report tells of the level is bounded in whole numbers too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np

from ..errors import InputError, TableError
from ..integers.exponential import exponential_below
from ..integers.level_boxes import level_boxes
from ..integers.numerators import DENOMINATOR
from ..integers.rounding import SHAVED, round_within
from ..table.exact_rounding import ABSOLUTE_ROOM, RELATIVE_ROOM
from ..table.table import TabulatedMechanism
from .make_exact import make_exact, stretched, stretches
from .proof import prove
from .verification import require_private


def make_levels_exact(tables: Sequence[TabulatedMechanism], leakage: float) -> tuple[TabulatedMechanism, ...]:
    """Return tables in whole numbers over 2^53, no two of which differ by a factor above e^leakage at any value and
    output.

    Outputs too rare to keep all ratios in whole numbers are dropped from all tables.

    Parameters
    ----------
    tables : sequence of TabulatedMechanism
        Unbiased tables that `verify` passes, on the same knots and points, of increasing epsilon.
    leakage : float
        Non-negative. Zero: all get the probabilities of the first; infinite: each is rounded by itself.

    Returns
    -------
    tables : tuple of TabulatedMechanism
        Exact and proved, one for each that was given, in their order and on common outputs.

    Raises
    ------
    InputError
        Tables on other knots or outputs than the first, or with outputs that are not points.
    TableError
        A table that is not private, two that differ by more than e^leakage, or means that cannot be kept.

    Example
    -------
    >>> from optldp import TabulatedMechanism
    >>> from optldp.mechanisms import Provenance
    >>> from optldp.mechanisms.exactness import make_levels_exact
    >>> ends, unbiased = [-4.0, 0.0, 4.0], Provenance(parameters={"unbiased": True})
    >>> rows = [[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]], [[0.375, 0.5, 0.125], [0.125, 0.5, 0.375]]
    >>> tables = [
    ...     TabulatedMechanism.from_points([-1.0, 1.0], ends, p, e, provenance=unbiased)
    ...     for p, e in zip(rows, (1.0, 2.0), strict=True)
    ... ]
    >>> made = make_levels_exact(tables, 0.8)
    >>> [table.exact for table in made], float((made[0].numerators / made[1].numerators).max())
    ([True, True], 2.0)
    """
    _require_alike(tables)
    for table in tables:
        require_private(table)
    _require_bounded(tables, leakage)
    if leakage == 0:
        first = make_exact(tables[0]).mechanism
        return tuple(replace(first, epsilon=table.epsilon, provenance=table.provenance) for table in tables)
    for share in (0.0, *stretches(min(leakage, tables[0].epsilon), tables[0].low.size)):
        with suppress(TableError):
            return _in_whole_numbers(_stretched(tables, share) if share else tables, leakage)
    return _in_whole_numbers(tables, leakage)  # raises what is wrong


def _stretched(tables: Sequence[TabulatedMechanism], share: float) -> list[TabulatedMechanism]:
    """All tables mixed with one law, so that what bounds one against the others stays as it is."""
    common = (tables[0].probabilities[0] + tables[0].probabilities[-1]) / 2
    return [stretched(table, share, common) for table in tables]


def _in_whole_numbers(tables: Sequence[TabulatedMechanism], leakage: float) -> tuple[TabulatedMechanism, ...]:
    first = tables[0]
    rows = np.stack([table.probabilities for table in tables])
    between = None if math.isinf(leakage) else _limit(leakage)
    least, most = level_boxes(rows * float(DENOMINATOR), [_limit(table.epsilon) for table in tables], between)
    kept = most.max(axis=(0, 1)) > 0
    means, knots = ([Fraction(x) for x in each.tolist()] for each in (first.low[kept], first.knots))
    many = len(tables) * len(knots)
    flat, low, high = (each[:, :, kept].reshape(many, -1) for each in (rows, least, most))
    rounded = round_within(flat, low, high, means, knots * len(tables)) / DENOMINATOR
    made = tuple(
        replace(table, low=table.low[kept], high=table.high[kept], probabilities=part, exact=True)
        for table, part in zip(tables, np.split(rounded, len(tables)), strict=True)
    )
    if failures := [failure for table in made for failure in prove(table).failures]:
        raise TableError(f"levels must be provable in whole numbers, got: {failures[0]}")
    return made


def _limit(exponent: float) -> Fraction:
    """A ratio a hair below e^exponent, so that its logarithm in doubles is below the exponent too."""
    return exponential_below(Fraction(exponent) * (1 - RELATIVE_ROOM) - ABSOLUTE_ROOM)


def _require_alike(tables: Sequence[TabulatedMechanism]) -> None:
    first = tables[0]
    for table in tables:
        if not table.is_discrete or not (np.diff(table.low) > 0).all():
            raise InputError("levels must have increasing points as outputs to be made exact together, got others")
        if not (np.array_equal(table.knots, first.knots) and np.array_equal(table.low, first.low)):
            raise InputError(f"levels must have the same knots and outputs, got others at epsilon {table.epsilon:g}")
        if not table.provenance.claims_unbiased:
            raise InputError(f"levels must be unbiased, got a table that is not at epsilon {table.epsilon:g}")


def _require_bounded(tables: Sequence[TabulatedMechanism], leakage: float) -> None:
    if not leakage >= 0:
        raise InputError(f"leakage must be non-negative, got {leakage!r}")
    rows = np.stack([table.probabilities for table in tables])
    if not (rows.max(axis=0) * (1 - SHAVED) <= np.exp(leakage) * rows.min(axis=0)).all():
        raise TableError(f"levels must differ by at most e^{leakage:g} at every knot and output, got more")
