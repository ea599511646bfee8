"""What files say of the values of a prior, for kinds of privacy: something of each, some of them, a matrix."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from ..estimators.reading.columns.number_cells import read_column, read_matrix
from ..estimators.reading.columns.texts import read_labels
from ..mechanisms.errors import InputError
from ..mechanisms.sampling.domain import nearest_knots

SAME_VALUE = 1e-9
"""Distance of a value in a file from the prior's, as a share of their range: what decimal digits lose."""


def _places(path: Path, values: np.ndarray) -> np.ndarray:
    """The places (r,) in the prior of a file's values; InputError for others, and for one that stands twice."""
    said = read_column(path, "value")
    nearest = nearest_knots(said, values)
    strange = said[np.abs(nearest - said) > SAME_VALUE * (values[-1] - values[0])]
    if strange.size:
        raise InputError(f"{path} must have values of the prior alone, got {strange[0]:g}: leave it out")
    places = np.searchsorted(values, nearest)
    many = np.bincount(places, minlength=values.size)
    if many.max() > 1:
        raise InputError(f"{path} must have each value once, got {values[int(many.argmax())]:g} {many.max()} times")
    return places


def _of_each(path: Path, values: np.ndarray, said: np.ndarray) -> np.ndarray:
    """What is said in the rows of a file, in the order of the prior's values; InputError unless it is said of each."""
    places = _places(path, values)
    lacking = np.setdiff1d(np.arange(values.size), places)
    if lacking.size:
        raise InputError(f"{path} must have a row for each value of the prior, got none for {values[lacking[0]]:g}")
    return said[np.argsort(places)]


def numbers_of(path: Path, values: np.ndarray, column: str) -> np.ndarray:
    """Return the number (n,) that a file's column has for each value."""
    return _of_each(path, values, read_column(path, column))


def labels_of(path: Path, values: np.ndarray, column: str) -> list[str]:
    """Return the name (n,) that a file's column has for each value."""
    return _of_each(path, values, read_labels(path, column)).tolist()


def values_of(path: Path, values: np.ndarray, column: str) -> np.ndarray:
    """Return which values (n,) bool a file's column value has."""
    return np.isin(np.arange(values.size), _places(path, values))


def matrix_of(path: Path, values: np.ndarray, column: str) -> np.ndarray:
    """Return the numbers (n, n) of a file without a header, rows and columns in the order of the values."""
    matrix = read_matrix(path)
    if matrix.shape != (values.size, values.size):
        n, (rows, columns) = values.size, matrix.shape
        raise InputError(f"{path} must be {n} x {n}, as the prior has {n} values, got {rows} x {columns}")
    return matrix


FORMS: Mapping[str, Callable[[Path, np.ndarray, str], np.ndarray | list[str]]] = {
    "numbers": numbers_of,
    "labels": labels_of,
    "values": values_of,
    "matrix": matrix_of,
}
"""What a file may hold, by name; each is read from its path, for these values, and the column that it is in."""
