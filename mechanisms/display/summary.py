"""What an answer says of itself: facts, a table, and a picture that is numbers until somebody draws it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class HeatMap:
    """Cells that are the darker, the larger their number.

    Parameters
    ----------
    values : (n, m) ndarray of float
        Non-negative: n places across, m upwards.
    across, up : str
        What the axes are of.
    across_ends, up_ends : pair of str
        What stands at their ends.
    what : str
        What the numbers are.
    """

    values: np.ndarray
    across: str
    up: str
    across_ends: tuple[str, str]
    up_ends: tuple[str, str]
    what: str = "probability"


@dataclass(frozen=True, eq=False)
class Profile:
    """Heights over places on a line.

    Parameters
    ----------
    places, heights : (n,) ndarray of float
    across, up : str
        What they are.
    """

    places: np.ndarray
    heights: np.ndarray
    across: str
    up: str


@dataclass(frozen=True, eq=False)
class Dots:
    """A number for each label, with the interval that it lies in if there is one.

    Parameters
    ----------
    labels : sequence of str
        K of them.
    values : (K,) ndarray of float
        What is not finite is left out.
    what : str
        What the numbers are.
    low, high : (K,) ndarray of float, optional
        Ends of the intervals; infinite ones go on.
    """

    labels: Sequence[str]
    values: np.ndarray
    what: str
    low: np.ndarray | None = None
    high: np.ndarray | None = None

    def left_out(self, shown: int) -> str:
        """Return what the picture says of the labels that it has no dot for; nothing if it has so many as there are.

        Example
        -------
        >>> Dots(["a", "b", "c"], np.array([0.5, np.nan, 0.5]), "share").left_out(1)
        ' (1 of 3 drawn; 1 has no number)'
        """
        many = len(self.labels)
        if shown == many:
            return ""
        unknown = many - int(np.isfinite(np.asarray(self.values, dtype=float)).sum())
        why = f"; {unknown} {'has' if unknown == 1 else 'have'} no number" if unknown else ""
        return f" ({shown} of {many} drawn{why})"


Picture = HeatMap | Profile | Dots


@dataclass(frozen=True, eq=False)
class Told:
    """What matters of an answer.

    Parameters
    ----------
    facts : dict of str to number, text, bool or None
        What the one line says, in this order; by the names that the answer has for them.
    columns : mapping of str to sequence
        The table, of columns of one length; empty where the facts are all: these are its one row then.
    picture : Picture, optional
    """

    facts: dict[str, Any]
    columns: Mapping[str, Any] = field(default_factory=dict)
    picture: Picture | None = None


def plain(value: Any) -> Any:
    """Return numpy's numbers and arrays as Python's own numbers and lists, tuples as lists.

    Example
    -------
    >>> plain(np.float64(0.5)), plain(np.arange(2)), plain("text")
    (0.5, [0, 1], 'text')
    """
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value
