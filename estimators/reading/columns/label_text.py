"""Columns of few different numbers as text: each number is turned into text once, and rows are put together of these.

Reports of a table of points are such columns, where turning ten million numbers into text takes most of the time.
"""

from collections.abc import Mapping, Sequence
from typing import BinaryIO

import duckdb
import numpy as np

from ....mechanisms.sampling.guide import places_among

ROWS_AT_ONCE = 2**16
"""Rows put together at a time; shorter columns are not worth it."""

MOST_LABELS = 2**12
"""Different numbers of a column; more of them are no outputs of a table but measurements."""


def may_be_labels(columns: Mapping[str, np.ndarray]) -> bool:
    """Whether columns are numbers and long enough for it to be worth a try.

    Example
    -------
    >>> may_be_labels({"a": np.zeros(10)}), may_be_labels({"a": np.zeros(10**5)})
    (False, True)
    """
    return all(array.size >= ROWS_AT_ONCE and array.dtype == np.float64 for array in columns.values())


def write_labels(
    connection: duckdb.DuckDBPyConnection,
    stream: BinaryIO,
    columns: Mapping[str, np.ndarray],
    constants: Sequence[str] = (),
) -> bool:
    """Write columns (N,) of doubles, and constants after them, as lines of CSV, as duckdb would; False if they are no
    few numbers, or NaN.

    What has been written until then is to be thrown away.

    Example
    -------
    >>> import io
    >>> with duckdb.connect() as connection:
    ...     stream = io.BytesIO()
    ...     write_labels(connection, stream, {"a": np.tile([0.5, -2.0], 2**15), "b": np.zeros(2**16)})
    ...     stream.getvalue()[:17]
    True
    b'0.5,0.0\\n-2.0,0.0\\n'
    """
    ends = [","] * (len(columns) - 1) + ["".join(f",{text}" for text in constants) + "\n"]
    labels = [_Labels(connection, end) for end in ends]
    for start in range(0, min(array.size for array in columns.values()), ROWS_AT_ONCE):
        cells = []
        for label, array in zip(labels, columns.values(), strict=True):
            if (texts := label.of(array[start : start + ROWS_AT_ONCE])) is None:
                return False
            cells.append(texts)
        line = np.concatenate(cells, axis=1)
        stream.write(line[line != 0].tobytes())
    return True


class _Labels:
    """The numbers seen so far, each with its text and what comes after it."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, end: str) -> None:
        self.connection, self.end = connection, end
        self.numbers = np.zeros(1)
        self.texts = self._texts()

    def of(self, values: np.ndarray) -> np.ndarray | None:
        """Return the texts (n, width) of values as bytes, zeros after each; None if there are too many, or NaN."""
        places = self._places(values)
        if (unseen := self._differ(values, places)).any():
            self.numbers = np.unique(np.concatenate([self.numbers, values[unseen]]))
            if self.numbers.size > MOST_LABELS or np.isnan(self.numbers[-1]):  # NaN comes last
                return None
            self.texts, places = self._texts(), self._places(values)
            if self._differ(values, places).any():
                return None
        return self.texts[places]

    def _places(self, values: np.ndarray) -> np.ndarray:
        return np.maximum(places_among(self.numbers, values) - 1, 0)

    def _differ(self, values: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Which numbers are not the very doubles at these places: minus zero is not zero."""
        return self.numbers[places].view(np.int64) != np.ascontiguousarray(values).view(np.int64)

    def _texts(self) -> np.ndarray:
        self.connection.register("labels", {"number": self.numbers})
        found = self.connection.sql("SELECT CAST(number AS VARCHAR) AS text FROM labels").fetchnumpy()["text"]
        self.connection.unregister("labels")
        padded = np.array([f"{text}{self.end}".encode() for text in found.tolist()])
        return padded.view(np.uint8).reshape(padded.size, -1)
