"""How short honest intervals can be, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from .output import at_least, number, print_rows

if TYPE_CHECKING:
    from ...comparison.row import Row
    from ...objectives.base import Objective


def none_below(told: Mapping[str, Any], units: str) -> str:
    """Return how short an honest interval can be, in words, and the interval without an assumption that is refuted.

    Parameters
    ----------
    told : mapping
        The facts of an interval.
    units : str
        Of what it is on; empty for shares.

    Example
    -------
    >>> none_below({"shortest_possible": 2.2, "without_assumption": [12.0, 15.5]}, "EUR")
    'no honest interval below 2.2 long; [12, 15.5] without what is assumed'
    >>> none_below({"shortest_possible": None}, "EUR")
    ''
    """
    from ....estimators.reading.formats.axis import length_on, said_on

    if told.get("shortest_possible") is None:
        return ""
    shortest = length_on(told["shortest_possible"], units) or number(told["shortest_possible"])
    words = f"no honest interval below {shortest} long"
    if (ends := told.get("without_assumption")) is not None:
        low, high = (said_on(end, units) or number(end) for end in ends)
        words += f"; [{low}, {high}] without what is assumed"
    return words


def print_lengths(objective: Objective, rows: Sequence[Row], people: int | None, units: str) -> None:
    """Print how long the interval of an answer is by each row of a comparison, and what no mechanism is below."""
    from ...planning.questions import lengths_of, lengths_said

    cells = []
    for row in rows:
        length, least = lengths_of(row, objective).values()
        ratio = "none"
        if row.value is not None and row.ratio_to_optimal is not None:
            ratio = f"{length / objective.interval_length(row.value / row.ratio_to_optimal):.4f}"
        cells.append([row.method, f"{row.epsilon:g}", number(length), at_least(least), ratio])
    title = f"Length of the 95% interval of {objective.asks}, {people:,} people, and its ratio to the best"
    print_rows(title, ["method", "epsilon", "length", "at least", "ratio"], cells)
    for line in lengths_said(rows, objective, units):
        typer.echo(line)
