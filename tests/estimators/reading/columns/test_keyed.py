"""Reports beside their users' keys."""

from pathlib import Path

import duckdb
import numpy as np
import pytest
from optldp.estimators.reading.columns.keyed import write_keyed_reports
from optldp.mechanisms import InputError

TEXT = "id,x\nann,1\nbo,\ncy,3\ndi,NA\neve,5\n"


@pytest.fixture
def people(tmp_path) -> Path:
    """Five users, of whom two have no value."""
    path = tmp_path / "people.csv"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_report_stands_beside_the_key_of_its_own_row(people, suffix):
    """Rows without a value are left out and do not shift the others."""
    out = people.with_name(f"out.{suffix}")
    write_keyed_reports(out, {"report": [10.0, 30.0, 50.0]}, data=people, columns=["x"], key="id")
    with duckdb.connect() as connection:
        found = connection.sql(f"SELECT * FROM '{out}'").fetchall()
    assert found == [("ann", 10.0), ("cy", 30.0), ("eve", 50.0)]


@pytest.mark.slow
def test_a_parquet_key_keeps_its_type_and_many_rows_their_order(tmp_path):
    """More rows than duckdb handles in one piece come out in the file's order."""
    n = 300_000
    keys, values = np.random.default_rng(1).permutation(n), np.arange(n, dtype=float)
    source, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    with duckdb.connect() as connection:
        connection.register("source", {"id": keys, "x": values})
        connection.view("source").write_parquet(str(source))
    write_keyed_reports(out, {"report": 2 * values}, data=source, columns=["x"], key="id")
    with duckdb.connect() as connection:
        found = connection.sql(f"SELECT id, report FROM '{out}'").fetchnumpy()
    assert np.issubdtype(found["id"].dtype, np.integer)
    assert np.array_equal(found["id"], keys)
    assert np.array_equal(found["report"], 2 * values)


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        (TEXT, {"key": "x"}, "the key must be another column than the values and 'report', got 'x' for both"),
        (TEXT, {"key": "name"}, "column 'name' of"),
        ("id,x\n,1\nbo,2\n,3\n", {"key": "id"}, "must name every user, got 2 missing, the first in row 1"),
        ("id,x\nann,1\n", {"key": "id"}, "there must be one report for each of 1 values, got 3"),
    ],
    ids=["same-column", "no-column", "missing-key", "other-length"],
)
def test_bad_input_is_refused_in_one_line_and_nothing_is_written(people, text, options, says):
    """The destination does not appear."""
    people.write_text(text)
    out = people.with_name("out.csv")
    with pytest.raises(InputError) as refused:
        write_keyed_reports(out, {"report": [1.0, 2.0, 3.0]}, data=people, columns=["x"], **options)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not out.exists()
