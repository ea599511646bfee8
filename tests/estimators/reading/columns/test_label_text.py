"""Columns of few numbers are written as duckdb writes them, byte by byte."""

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from optldp.estimators.reading.columns import label_text, number_cells, read_column
from optldp.estimators.reading.columns.label_text import ROWS_AT_ONCE
from optldp.estimators.reading.columns.number_cells import write_columns
from optldp.mechanisms import grr

N = ROWS_AT_ONCE + 1000
RNG = np.random.default_rng(2)
ODD = np.array([0.1 + 0.2, -1e-5, 1e16, 123456789.0, 1e300, -5e-324, np.inf, -np.inf, 1 / 3, 7.0])


def late(value: float) -> np.ndarray:
    """Zeros and ones, but for one number in the last rows."""
    column = RNG.integers(0, 2, N).astype(float)
    column[-7] = value
    return column


COLUMNS = {
    "reports": grr(np.linspace(0, 1, 11), 1.0).sample(RNG.random(N), RNG),
    "odd numbers": RNG.choice(ODD, N),
    "a number that comes late": late(0.25),
    "two zeros": late(-0.0),
    "missing": late(np.nan),
    "many numbers": RNG.random(N),
    "more and more": np.sort(RNG.integers(0, 2 * label_text.MOST_LABELS, N)).astype(float),
    "one number": np.full(N, -2.5),
    "backwards": RNG.integers(0, 9, 2 * N).astype(float)[::-2],
}


def bytes_of(path: Path, columns: dict[str, np.ndarray], *, few: bool = True) -> bytes:
    """What is written, with labels or without."""
    with patch.object(number_cells, "may_be_labels", label_text.may_be_labels if few else lambda arrays: False):
        write_columns(path, columns)
    return path.read_bytes()


@pytest.mark.parametrize("name", COLUMNS)
def test_bytes_are_duckdbs(tmp_path, name):
    """Alone, under a name that needs quotes, and between others."""
    path, column = tmp_path / "a.csv", COLUMNS[name]
    for columns in ({'say "x", y': column}, {"a": COLUMNS["reports"], "b": column, "c": COLUMNS["odd numbers"]}):
        assert bytes_of(path, columns) == bytes_of(path, columns, few=False)


def test_text_beside_numbers_is_left_to_duckdb(tmp_path):
    """Which knows when to quote it."""
    columns = {"a": COLUMNS["reports"], "b": np.tile(["x", "y,z"], N // 2)}
    assert bytes_of(tmp_path / "a.csv", columns) == bytes_of(tmp_path / "a.csv", columns, few=False)


def test_reports_are_written_by_their_labels(tmp_path):
    """Eleven texts are made and not as many as there are rows; the same doubles come back."""
    path, made = tmp_path / "a.csv", []
    original = label_text._Labels._texts

    def texts(labels: label_text._Labels) -> np.ndarray:
        made.append(labels.numbers.size)
        return original(labels)

    with patch.object(label_text._Labels, "_texts", texts):
        write_columns(path, {"report": COLUMNS["reports"]})
    assert made == [1, 11]
    assert np.array_equal(read_column(path, "report"), COLUMNS["reports"])
