"""Columns of text of a CSV or Parquet file: categories, keys, reports that are no numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....mechanisms.errors import InputError
from ..formats.overrides import missing_marks
from .cells import missing_message, quoted, text_fault
from .files import UNREADABLE_FILE, FilePath, column_position, connected, open_file, unreadable


def read_texts(path: FilePath, columns: Sequence[str]) -> list[np.ndarray]:
    """Read columns as text, row by row; numbers are taken by the text they print as.

    Parameters
    ----------
    path : str or path-like
        As `read_column` takes them.
    columns : sequence of str

    Returns
    -------
    list of (N,) ndarray of object
        One for each column: text, or None where the value is missing.

    Raises
    ------
    InputError
        One line each: no such file, unreadable, unsupported extension, no such column, no rows.

    Example
    -------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("name,job\\nAnn,cook\\nBo,\\n")
    >>> read_texts(path, ["job"])
    [array(['cook', None], dtype=object)]
    """
    try:
        with connected() as connection:
            relation, names = open_file(connection, path)
            cells = []
            for i, column in enumerate(columns):
                where = f"column {column!r} of {str(path)!r}"
                cell = quoted(relation.columns[column_position(names, column, where)])
                cells += [f"CAST({cell} AS VARCHAR) AS t{i}", f"{text_fault(f'CAST({cell} AS VARCHAR)')} AS f{i}"]
            fetched = relation.project(", ".join(cells)).fetchnumpy()
    except UNREADABLE_FILE as error:
        raise unreadable(path, error) from None
    for i, column in enumerate(columns):
        _require_short(fetched[f"f{i}"], f"column {column!r} of {str(path)!r}")
    texts = [_with_none(fetched[f"t{i}"]) for i in range(len(columns))]
    if not texts[0].size:
        raise InputError(f"{str(path)!r} must hold at least one row, but it is empty")
    return texts


def read_labels(path: FilePath, column: str, *, drop_missing: bool = False) -> np.ndarray:
    """Read one column of categories, all of them there.

    Parameters
    ----------
    path : str or path-like
    column : str
    drop_missing : bool
        Leave out rows whose value is missing (an empty CSV cell, NA, a Parquet null) instead of refusing.

    Returns
    -------
    (n,) ndarray of str
        n >= 1.

    Raises
    ------
    InputError
        As `read_texts`, and missing values: how many, and the first row.

    Example
    -------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("name,job\\nAnn,cook\\nBo,smith\\n")
    >>> read_labels(path, "job").tolist()
    ['cook', 'smith']
    """
    (texts,) = read_texts(path, [column])
    where = f"column {column!r} of {str(path)!r}"
    missing = missing_texts(texts)
    if missing.any() and not drop_missing:
        raise InputError(missing_message(where, int(missing.sum()), int(np.argmax(missing)) + 1))
    if missing.all():
        raise InputError(f"{where} must hold at least one value, but it is empty")
    return texts[~missing].astype(np.str_)


def missing_texts(texts: np.ndarray) -> np.ndarray:
    """Return which texts (N,) of `read_texts` are missing.

    Example
    -------
    >>> missing_texts(np.array(["a", None], dtype=object))
    array([False,  True])
    """
    return np.asarray(texts == None)  # noqa: E711 -- elementwise


def _require_short(faults: np.ndarray, where: str) -> None:
    if (faulty := np.flatnonzero(~np.ma.getmaskarray(faults))).size:
        row = int(faulty[0])
        raise InputError(f"{where} must hold short texts, got {faults[row]} in row {row + 1}: correct it")


def _with_none(fetched: np.ndarray) -> np.ndarray:
    """Text as it came, None where duckdb masks or where a mark says that there is no value."""
    texts = np.array(np.ma.getdata(fetched), dtype=object)
    texts[np.ma.getmaskarray(fetched)] = None
    for mark in missing_marks():
        texts[texts == mark] = None
    return texts
