"""Columns of text: aligned rows, missing values, numbers as text."""

# Tests know which kind of mechanism or result they made; the types say only that it may be one of several.
# pyright: reportOptionalMemberAccess=false

from pathlib import Path

import duckdb
import numpy as np
import pytest
from optldp.estimators.reading.columns.number_cells import write_columns
from optldp.estimators.reading.columns.texts import read_labels, read_texts
from optldp.mechanisms import InputError


@pytest.fixture
def people(tmp_path) -> Path:
    """Three rows with a missing job and an age that is NA."""
    path = tmp_path / "people.csv"
    path.write_text('name,job,age\nAnn,"cook, chief",31\nBo,,NA\nCy,smith,40\n')
    return path


def test_rows_stay_together_and_missing_values_are_none(people):
    """An empty cell and NA are missing; a comma inside quotes is text."""
    jobs, ages = read_texts(people, ["job", "age"])
    assert jobs.tolist() == ["cook, chief", None, "smith"]
    assert ages.tolist() == ["31", None, "40"]


def test_numbers_of_parquet_are_the_text_they_print_as(tmp_path):
    """Integer categories need no conversion by the user; nulls are missing."""
    path = tmp_path / "codes.parquet"
    duckdb.sql("SELECT * FROM (VALUES (3), (NULL), (12)) AS t(code)").write_parquet(str(path))
    assert read_texts(path, ["code"])[0].tolist() == ["3", None, "12"]
    assert read_labels(path, "code", drop_missing=True).tolist() == ["3", "12"]


def test_missing_labels_are_counted_with_the_first_row(people):
    """One line says how many and where, and what to do."""
    with pytest.raises(InputError, match="1 missing, the first in row 2: fill them in"):
        read_labels(people, "job")
    assert read_labels(people, "job", drop_missing=True).tolist() == ["cook, chief", "smith"]


@pytest.mark.parametrize(
    ("text", "says"),
    [("job\n", "at least one row"), ("other\nx\n", "must exist"), ("job\nNA\n", "at least one value")],
    ids=["no-rows", "no-column", "all-missing"],
)
def test_bad_files_are_refused_in_one_line(tmp_path, text, says):
    """Empty files, other columns and columns of nothing."""
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=says) as refused:
        read_labels(path, "job", drop_missing=True)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_text_that_was_written_is_read_back(tmp_path, suffix):
    """Quotes, commas and leading zeros survive; numbers beside them stay numbers."""
    path, texts = tmp_path / f"x.{suffix}", ['a"b', "c,d", "007"]
    write_columns(path, {"report": np.array(texts), "n": [1.5, 2, 3]})
    assert read_texts(path, ["report"])[0].tolist() == texts
    assert read_texts(path, ["n"])[0].tolist() == ["1.5", "2.0", "3.0"]
