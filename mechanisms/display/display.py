"""What every answer can do: say one line, stand in a notebook, become a data frame, be drawn, compared and pickled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..printable import shortened
from .axes import draw
from .equality import alike, hash_of
from .frames import frame_of
from .summary import Told, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .frames import Backend

LONGEST_TEXT = 60
"""Characters of one text in a line."""


class Shown:
    """The base of what users are handed: a frozen dataclass that leaves ``__repr__`` and ``__eq__`` to this class.

    A class overrides `_line` if other facts matter than its fields that are numbers and texts, `_told` if there is
    more to see in a notebook, and `_columns` if a data frame has more than that.
    """

    def _line(self) -> dict[str, Any]:
        """Return what one line says, cheaply: numbers and texts by their names, of arrays their shapes."""
        facts = {each.name: getattr(self, each.name) for each in fields(self) if each.repr}  # pyright: ignore[reportArgumentType] -- answers are dataclasses
        shown = {name: _fact(value) for name, value in facts.items()}
        return {name: value for name, value in shown.items() if value is not NotImplemented}

    def _told(self) -> Told:
        """Return what a notebook shows; as it stands the line alone."""
        return Told(self._line())

    def _columns(self) -> Mapping[str, Any]:
        """Return what a data frame holds: of what is told the table, or the facts as its one row."""
        told = self._told()
        return told.columns or told.facts

    def __repr__(self) -> str:
        facts = ", ".join(f"{name}={short(value)}" for name, value in self._line().items() if value is not None)
        return f"{type(self).__name__}({facts})"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: a picture, in the colour of the text around it, and the numbers."""
        from .html import html_of

        return html_of(type(self).__name__, self._told())

    def to_frame(self, *, backend: Backend | None = None) -> Any:
        """Return the numbers as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Whose frame it is. Default: of the first of them that is installed.

        Raises
        ------
        InputError
            Another library, or one that is not installed.
        """
        return frame_of(self._columns(), backend)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw it, on axes of the user's own or on those of a new figure, and return the axes.

        Raises
        ------
        InputError
            matplotlib is not installed, or there is nothing to draw.
        """
        picture = self._told().picture
        if picture is None:
            raise InputError(f"{self!r:.200} has nothing to draw: to_frame has its numbers")
        return draw(picture, ax)

    def __eq__(self, other: object) -> bool:
        return alike(self, other) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash_of(self)


def short(value: Any) -> str:
    """Return a fact as it stands in a line: six digits of a number, a text in quotes.

    Example
    -------
    >>> short(2 / 3), short(20000), short("red\\x1b[2J"), short(None)
    ('0.666667', '20000', "'red\\\\x1b[2J'", 'None')
    """
    value = plain(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    return repr(str(value)) if len(str(value)) <= LONGEST_TEXT and isinstance(value, str) else _cut(value)


def _cut(value: Any) -> str:
    text = shortened(str(value), LONGEST_TEXT)
    return f"'{text}'" if isinstance(value, str) else text


def _fact(value: Any) -> Any:
    if value is None or isinstance(value, str | Real):
        return value
    if isinstance(value, np.ndarray):
        return plain(value) if value.ndim == 0 else f"{' x '.join(map(str, value.shape))} numbers"
    return NotImplemented
