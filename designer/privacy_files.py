"""What files say of the values of a prior, for kinds of privacy: something of each, some of them, a matrix."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import singledispatch
from pathlib import Path

import numpy as np

from ..estimators.reading.columns.number_cells import read_column, read_matrix
from ..estimators.reading.columns.texts import read_labels
from ..mechanisms.errors import InputError, unwired
from ..mechanisms.sampling.domain import nearest_knots
from ..mechanisms.spaces.categories import Categories
from ..mechanisms.spaces.places import COLUMNS, Places

Values = np.ndarray | Categories
"""Those of a prior, in its order: increasing numbers, labels, or places."""

SAME_VALUE = 1e-9
"""Distance of a value in a file from the prior's, as a share of their range: what decimal digits lose."""


@singledispatch
def _read(values: Values, path: Path) -> tuple[np.ndarray, list[str]]:
    """Where in the prior a file's values are (r,), -1 for none of them, and what each is called."""
    raise unwired("values", values)


@_read.register
def _(values: np.ndarray, path: Path) -> tuple[np.ndarray, list[str]]:
    said = read_column(path, "value")
    nearest = nearest_knots(said, values)
    far = np.abs(nearest - said) > SAME_VALUE * (values[-1] - values[0])
    return np.where(far, -1, np.searchsorted(values, nearest)), [f"{each:g}" for each in said.tolist()]


@_read.register
def _(values: Categories, path: Path) -> tuple[np.ndarray, list[str]]:
    said = read_labels(path, "value")
    return values.locate(said), said.tolist()


@_read.register
def _(values: Places, path: Path) -> tuple[np.ndarray, list[str]]:
    said = np.column_stack([read_column(path, name) for name in COLUMNS])
    return values.locate(said), [f"{x:g},{y:g}" for x, y in said.tolist()]


def _places(path: Path, values: Values) -> np.ndarray:
    """The places (r,) in the prior of a file's values; InputError for others, and for one that stands twice."""
    places, names = _read(values, path)
    if (places < 0).any():
        strange = names[int(np.argmax(places < 0))]
        raise InputError(f"{path} must have values of the prior alone, got {strange}: leave it out")
    many = np.bincount(places, minlength=len(values))
    if many.max() > 1:
        twice = names[int(np.argmax(places == many.argmax()))]
        raise InputError(f"{path} must have each value once, got {twice} {many.max()} times")
    return places


def _of_each(path: Path, values: Values, said: np.ndarray) -> np.ndarray:
    """What is said in the rows of a file, in the order of the prior's values; InputError unless it is said of each."""
    places = _places(path, values)
    lacking = np.setdiff1d(np.arange(len(values)), places)
    if lacking.size:
        none = values.labels[lacking[0]] if isinstance(values, Categories) else f"{values[lacking[0]]:g}"
        raise InputError(f"{path} must have a row for each value of the prior, got none for {none}")
    return said[np.argsort(places)]


def numbers_of(path: Path, values: Values, column: str) -> np.ndarray:
    """Return the number (n,) that a file's column has for each value."""
    return _of_each(path, values, read_column(path, column))


def labels_of(path: Path, values: Values, column: str) -> list[str]:
    """Return the name (n,) that a file's column has for each value."""
    return _of_each(path, values, read_labels(path, column)).tolist()


def values_of(path: Path, values: Values, column: str) -> np.ndarray:
    """Return which values (n,) bool a file's column value has."""
    return np.isin(np.arange(len(values)), _places(path, values))


def matrix_of(path: Path, values: Values, column: str) -> np.ndarray:
    """Return the numbers (n, n) of a file without a header, rows and columns in the order of the values."""
    matrix = read_matrix(path)
    if matrix.shape != (len(values), len(values)):
        n, (rows, columns) = len(values), matrix.shape
        raise InputError(f"{path} must be {n} x {n}, as the prior has {n} values, got {rows} x {columns}")
    return matrix


FORMS: Mapping[str, Callable[[Path, Values, str], np.ndarray | list[str]]] = {
    "numbers": numbers_of,
    "labels": labels_of,
    "values": values_of,
    "matrix": matrix_of,
}
"""What a file may hold, by name; each is read from its path, for these values, and the column that it is in."""
