"""What is said of tables that were designed with values counted as the ends of their range: the same in every command.

`design --clip` writes it into the table, and `estimate`, whose answer people forward, reads it there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .....estimators.reading.formats.axis import said_on
from .....mechanisms.spaces.interval import Interval
from .....mechanisms.table.table import TabulatedMechanism
from .....mechanisms.third_party.mark import origin_of

if TYPE_CHECKING:
    from .....mechanisms.compact_tables import FloorForm
    from ...options.designs.design import DesignOptions
    from ..kind import Kind

CLIPPED, OUTSIDE = "clipped", "share_outside"
"""Parameters of a table's provenance: that values were clipped in its design, and what share of public ones was."""


Table = TypeVar("Table", "TabulatedMechanism", "FloorForm", "TabulatedMechanism | FloorForm")


def marked(table: Table, asked: DesignOptions, column: str | None = None) -> Table:
    """Return a table that says whether it was designed with --clip; with the share outside where the prior may be told.

    Parameters
    ----------
    table : TabulatedMechanism or FloorForm
    asked : DesignOptions
    column : str, optional
        Of DATA, in place of the one that was asked for.
    """
    if not asked.clip:
        return table
    share = _share_outside(asked, column, table) if asked.public and not asked.omit_prior else None
    told = {CLIPPED: True} | ({} if share is None else {OUTSIDE: share})
    origin = replace(table.provenance, parameters={**table.provenance.parameters, **told})
    return table.with_provenance(origin)


def _share_outside(asked: DesignOptions, column: str | None, table: TabulatedMechanism | FloorForm) -> float | None:
    """The share of the values that the prior was made of, by their weights; None where it was made of none."""
    from .....estimators.reading.columns.number_cells import column_units, read_column, read_pairs

    low, high = float(table.knots[0]), float(table.knots[-1])
    if asked.prior_file is not None:
        values, weights = read_pairs(asked.prior_file, units=asked.units or None)
        return float(weights @ ((values < low) | (values > high)) / weights.sum())
    if asked.data is None:
        return None
    name = column or asked.column
    assert name is not None  # a prior of DATA has a column
    found = column_units(asked.data, name)
    values = read_column(asked.data, name, drop_missing=asked.leaves_out, units=found or None)
    return float(np.mean((values < low) | (values > high)))


def counted_into(kinds: Sequence[Kind]) -> list[dict[str, Any]]:
    """Return, for each table that was designed with --clip, its name, its range and the share outside, None unknown."""
    found = []
    for kind in kinds:
        for part in kind.parts():
            origin, values = origin_of(part.mechanism), part.mechanism.inputs
            if origin is None or origin.parameters.get(CLIPPED) is not True or not isinstance(values, Interval):
                continue
            share = origin.parameters.get(OUTSIDE)  # a file may say anything
            known = isinstance(share, float) and 0.0 <= share <= 1.0
            one = {"table": part.name, "low": values.low, "high": values.high, "units": values.units}
            one[OUTSIDE] = share if known else None
            if one not in found:
                found.append(one)
    return found


def clipped_words(one: dict[str, Any]) -> str:
    """Return in words that values are counted into a range.

    Example
    -------
    >>> clipped_words({"table": "", "low": 0.0, "high": 80.0, "units": "h", "share_outside": 0.01})
    'counted into 0 to 80 h'
    """
    low, high = (said_on(one[end], one["units"]) or f"{one[end]:g}" for end in ("low", "high"))
    units = f" {one['units']}" if one["units"] and not said_on(one["low"], one["units"]) else ""
    return f"counted into {low} to {high}{units}"


def clipped_line(one: dict[str, Any]) -> str:
    """Return a line on what that does to an estimate.

    Example
    -------
    >>> print(clipped_line({"table": "", "low": 0.0, "high": 80.0, "units": "", "share_outside": 0.01275}))
    values are counted into 0 to 80: 1.3% of those that the table was designed from lie outside and count as its ends
    """
    of = f"{one['table']}: " if one["table"] else ""
    share = "those" if one[OUTSIDE] is None else f"{100 * one[OUTSIDE]:.2g}% of those"
    from_what = "that lie outside" if one[OUTSIDE] is None else "that the table was designed from lie outside and"
    return f"{of}values are {clipped_words(one)}: {share} {from_what} count as its ends"
