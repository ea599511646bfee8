"""Cells of a table of two columns: categories whose labels say the value of each column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import parse_qsl, urlencode

import numpy as np

from ..errors import InputError
from .categories import Categories


@dataclass(frozen=True)
class Cells:
    """All pairs of the values of two columns, the first column's value changing last.

    As a category a cell is a text such as "sex=F&job=cook", so that every mechanism for categories reports cells.

    Parameters
    ----------
    columns : mapping of str to sequence of str
        The values of each column, by its name.

    Raises
    ------
    InputError
        Other than two columns, or values that are no categories.

    Example
    -------
    >>> cells = Cells({"sex": ["F", "M"], "job": ["cook", "smith"]})
    >>> cells.categories.labels[:2], cells.shape
    (('sex=F&job=cook', 'sex=F&job=smith'), (2, 2))
    >>> Cells.of(cells.categories) == cells, Cells.of(Categories(["F", "M"]))
    (True, None)
    """

    columns: tuple[tuple[str, Categories], ...]

    def __init__(self, columns: Mapping[str, Sequence[object] | Categories]) -> None:
        if len(columns) != 2:
            raise InputError(f"a table is of two columns, got {len(columns)}: name two, as --column sex --column job")
        object.__setattr__(self, "columns", tuple((name, Categories.of(held)) for name, held in columns.items()))

    @classmethod
    def of(cls, categories: Categories) -> Cells | None:
        """Return the cells that categories are, in the order of a table; None for others."""
        pairs = [parse_qsl(label, keep_blank_values=True) for label in categories.labels]
        names = [name for name, _ in pairs[0]]
        if len(set(names)) != 2 or any([name for name, _ in pair] != names for pair in pairs):
            return None
        values = [list(dict.fromkeys(pair[place][1] for pair in pairs)) for place in (0, 1)]
        if any(len(each) < 2 or "" in each for each in values):
            return None
        made = cls(dict(zip(names, values, strict=True)))
        return made if made.categories == categories else None

    @property
    def names(self) -> tuple[str, ...]:
        """Of both columns."""
        return tuple(name for name, _ in self.columns)

    @property
    def shape(self) -> tuple[int, int]:
        """How many values each column has."""
        (_, first), (_, second) = self.columns
        return len(first), len(second)

    @cached_property
    def categories(self) -> Categories:
        """The cells, row by row."""
        (first, rows), (second, others) = self.columns
        return Categories([urlencode([(first, a), (second, b)]) for a in rows.labels for b in others.labels])

    def labels_of(self, values: Sequence[np.ndarray]) -> np.ndarray:
        """Return the label (N,) of each user's cell, of both columns (N,); InputError for values that none has.

        Example
        -------
        >>> import numpy as np
        >>> cells = Cells({"sex": ["F", "M"], "job": ["cook", "smith"]})
        >>> cells.labels_of([np.array(["M"]), np.array(["cook"])]).tolist()
        ['sex=M&job=cook']
        """
        codes = []
        for (name, known), held in zip(self.columns, values, strict=True):
            try:
                codes.append(known.codes(held))
            except InputError as error:
                raise InputError(f"column {name!r}: {error}") from None
        return np.array(self.categories.labels, dtype=object)[np.ravel_multi_index(codes, self.shape)]
