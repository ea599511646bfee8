"""How short honest intervals can be, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .output import number


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
