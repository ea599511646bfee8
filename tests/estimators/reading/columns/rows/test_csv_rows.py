"""The reader that goes on: whatever a row holds, the others stay, with their numbers."""

import csv
import io
import tracemalloc
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.estimators.reading.columns.rows.csv_rows import LONGEST_RECORD, csv_rows, first_fault, load_rows

CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\0"), max_size=8)


def rows_of(folder: Path, content: bytes, n_columns: int = 2) -> list[tuple[list[str], str | None]]:
    path = folder / "rows.csv"
    path.write_bytes(content)
    return list(csv_rows(path, n_columns))


@pytest.mark.slow
@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), max_size=20), st.sampled_from(["\n", "\r\n"]))
def test_what_a_csv_writer_writes_is_read(tmp_path_factory, rows, ending):
    """Commas, quotes and spaces included."""
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator=ending).writerows([["a", "b"], *rows])
    found = rows_of(tmp_path_factory.mktemp("rows"), stream.getvalue().encode())
    assert found == [(row, None) for row in rows]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"1", "has 1 cell and not 2"),
        (b"1,2,3", "has 3 cells and not 2"),
        (b'1,"2', "has a quote in a wrong place or not closed"),
        (b'1,"2"3', "has a quote in a wrong place or not closed"),
        (b"\xff\xfe,1", "is not UTF-8"),
        (b'"\xff",1', "is not UTF-8"),
        (b"x" * 10**6 + b",1", f"has more than {LONGEST_RECORD} characters"),
        (b'"' + b"x" * 10**6 + b'",1', f"has more than {LONGEST_RECORD} characters"),
    ],
    ids=["few", "many", "open", "odd", "bytes", "quoted-bytes", "long", "long-quoted"],
)
@pytest.mark.parametrize("place", [0, 1, 3])
def test_a_row_that_is_none_costs_itself_only(tmp_path, line, says, place):
    """Wherever it is, the last line included; the message names its number."""
    lines = [b"1,2", b'"a, ""b""",c', b"5,6"]
    lines.insert(place, line)
    found = rows_of(tmp_path, b"\n".join([b"a,b", *lines]))
    assert [fault for _, fault in found] == [says if i == place else None for i in range(4)]
    assert [cells for cells, fault in found if fault is None] == [["1", "2"], ['a, "b"', "c"], ["5", "6"]]
    assert first_fault(tmp_path / "rows.csv", 2) == f"row {place + 1} {says}"


def test_many_open_quotes_cost_themselves_only(tmp_path):
    lines = [b'1,"2' if i % 3 == 0 else b"3,4" for i in range(3000)]
    found = rows_of(tmp_path, b"\n".join([b"a,b", *lines]))
    assert [cells for cells, fault in found if fault is None] == [["3", "4"]] * 2000
    assert len(found) == 3000


@pytest.mark.parametrize("ends", [b"\n", b"\r\n", b"\r"])
def test_every_kind_of_line_end_is_one_and_they_may_be_mixed(tmp_path, ends):
    assert rows_of(tmp_path, b"\xef\xbb\xbfa,b\n1,2\r\n3,4\r5,6" + ends) == [
        (list("12"), None),
        (list("34"), None),
        (list("56"), None),
    ]


def test_a_quoted_cell_may_hold_lines(tmp_path):
    found = rows_of(tmp_path, b'a,b\n"x\n\ny",1\n5" pipe,2\n3,4\n')
    assert found == [(["x\n\ny", "1"], None), (['5" pipe', "2"], None), (["3", "4"], None)]


def test_empty_lines_are_cells_of_one_column_and_else_no_rows(tmp_path):
    """As duckdb has it, so that both count rows alike."""
    assert rows_of(tmp_path, b"a\n1\n\n2\n", 1) == [(["1"], None), ([""], None), (["2"], None)]
    assert rows_of(tmp_path, b"a,b\n1,2\n\n3,4\n") == [(["1", "2"], None), (["3", "4"], None)]


@pytest.mark.slow
def test_a_huge_cell_takes_no_memory(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,b\n" + b"x" * 50_000_000 + b",1\n2,3\n")
    tracemalloc.start()
    found = list(csv_rows(path, 2))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [cells for cells, _ in found] == [[], ["2", "3"]]
    assert peak < 3_000_000


@pytest.mark.slow
def test_rows_become_a_table_in_their_order(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,b\n" + b"".join(b"%d,x\n" % i if i % 7 else b"bad\n" for i in range(40_000)))
    with duckdb.connect() as connection:
        load_rows(connection, path, 2, "t")
        rows = connection.sql("SELECT * FROM t").fetchall()
    expected = [(str(i), "x", None) if i % 7 else (None, None, "has 1 cell and not 2") for i in range(40_000)]
    assert rows == expected
