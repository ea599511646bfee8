"""What `collect` refuses: each in one line that says what must be so, what is, and what to do."""

import os

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.typing import ArrayLike
from optldp.estimators.counting import staged as staged_reports
from optldp.estimators.counting.collect import collect
from optldp.mechanisms import InputError, grr, piecewise, square_wave

TABLE = grr([0.0, 1.0, 2.0], 1.0)
USERS = np.array([1, 2, 3])
REPORTS = np.array([0.0, 1.0, 2.0])


def columns(users: ArrayLike = USERS, reports: ArrayLike = REPORTS) -> dict:
    return {"user": np.asarray(users), "report": np.asarray(reports)}


def refusal(sources, **options) -> str:
    """The message, after checking that it is one line."""
    with pytest.raises(InputError) as caught:
        collect(sources, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


def two(first, second, **options) -> str:
    """The message for two services that share a table, matched by user."""
    return refusal([("a", TABLE, first), ("b", TABLE, second)], key="user", **options)


class TestReports:
    @pytest.mark.parametrize("block", [2, 2**20])
    def test_foreign_reports_are_counted_with_the_first_row(self, monkeypatch, block):
        """In all blocks, not only the first one with a fault."""
        monkeypatch.setattr(staged_reports, "BLOCK", block)
        message = two(columns(), columns([4, 1, 2, 3, 5, 6], [0, 7.5, 1, np.inf, 2, -1]))
        assert "reports of service 'b' must be outputs of its table, got 3 of 6 that cannot be" in message
        assert "the first 7.5 in row 2: they come from another table" in message

    def test_foreign_reports_in_arrays_and_files_are_named_too(self, tmp_path):
        """With the path of the file, or the position of the array."""
        path = tmp_path / "web.csv"
        path.write_text("user,report\n1,0\n2,0.25\n")
        message = refusal([("web", TABLE, path)])
        assert f"reports of service 'web' ({str(path)!r})" in message
        assert "got 1 of 2 that cannot be, the first 0.25 in row 2" in message
        message = refusal([(TABLE, REPORTS), (TABLE, REPORTS + 0.5)])
        assert "reports of service 2 must be outputs of its table, got 3 of 3" in message

    def test_text_is_named_with_its_row(self, tmp_path):
        """Also where missing reports are dropped, and in a stream that can be read only once."""
        path = tmp_path / "web.csv"
        path.write_text("user,report\n1,\n2,1 EUR\n3,two\n")
        expected = "must be numbers, got 2 rows that hold none, the first in row 2: '1 EUR' is no number: correct them"
        assert expected in refusal([("web", TABLE, path)], drop_missing=True)
        stream = pa.table({"report": [None, "1 EUR", "two"]}).to_reader()
        assert expected in refusal([(TABLE, stream)], drop_missing=True)

    @pytest.mark.parametrize(
        "source",
        [
            np.array([0.0, np.nan, np.nan]),
            {"report": np.array([0.0, np.nan, np.nan])},
            {"report": np.ma.masked_array([0, 1, 2], [False, True, True])},
            pd.DataFrame({"report": pd.array([0, None, None], dtype="Int64")}),
            pa.table({"report": ["0", None, " "]}),
        ],
        ids=["array", "numpy", "masked", "pandas", "arrow-text"],
    )
    def test_missing_reports_are_counted_with_the_first_row(self, source):
        """However a kind of table says that there is none."""
        message = refusal([(TABLE, source)])
        assert "reports of service 1 must not miss values, got 2 missing, the first in row 2" in message
        assert "--drop-missing (drop_missing=True in Python)" in message

    @pytest.mark.parametrize(
        "empty",
        [columns([], np.array([])), columns([1, 2], [np.nan, np.nan]), pd.DataFrame({"user": [], "report": []})],
        ids=["no-rows", "all-missing", "frame"],
    )
    def test_a_service_without_reports_is_named(self, empty):
        """No rows, or none left."""
        empty = {"user": np.asarray(empty["user"]).astype(int), "report": empty["report"]}
        message = two(columns(), empty, drop_missing=True)
        assert message == "every service must have reports, got none for service 'b': leave it out"

    def test_an_empty_file_and_an_empty_array_are_named(self, tmp_path):
        """A header is no report."""
        path = tmp_path / "web.csv"
        path.write_text("user,report\n")
        assert f"got none for service 1 ({str(path)!r})" in refusal([(TABLE, path)])
        assert "got none for service 1" in refusal([(TABLE, np.array([]))])
        assert "got none for service 2" in refusal([(TABLE, REPORTS), (TABLE, np.full(3, np.nan))])

    def test_arrays_of_different_length_are_no_users(self):
        """Without a key nothing else says who is who."""
        message = refusal([(TABLE, REPORTS), (TABLE, REPORTS[:2])])
        assert message == "arrays of reports must have a row for each user, got lengths 3 and 2: give a key"


class TestColumns:
    def test_a_missing_key_column_lists_the_columns(self, tmp_path):
        """Of the source that lacks it."""
        path = tmp_path / "web.csv"
        path.write_text("person,report\n1,0\n")
        message = two(columns(), path)
        assert f"key column 'user' of service 'b' ({str(path)!r}) must exist: the file has" in message
        assert "'person', 'report'" in message

    def test_a_missing_report_column_lists_the_columns(self):
        """As for any other file."""
        message = refusal([("a", TABLE, columns())], column="answer")
        assert "column 'answer' of service 'a' must exist" in message
        assert "'user', 'report'" in message

    def test_several_tables_need_a_key(self):
        """So does one among arrays."""
        message = refusal([("a", TABLE, columns()), ("b", TABLE, columns())])
        expected = "key (--key) must name the column of users when services are matched, got none for service 'a'"
        assert message == expected
        assert "got none for service 2" in refusal([(TABLE, REPORTS), (TABLE, columns())])

    def test_an_array_has_no_key_column(self):
        """The cure shows how to give it one."""
        message = refusal([(TABLE, REPORTS)], key="user")
        assert "must have a column 'user' to match users by, got one array" in message
        assert "{'user': array, 'report': array}" in message

    def test_the_key_is_not_the_report(self):
        """It would match users who answered alike."""
        assert "key and column must differ, got 'report'" in refusal([(TABLE, columns())], key="report")


class TestKeys:
    @pytest.mark.parametrize("kind", ["csv", "arrow"])
    def test_missing_keys_are_counted_with_the_first_row(self, tmp_path, kind):
        """A report of nobody is nobody's, even where missing reports are dropped."""
        if kind == "csv":
            source = tmp_path / "web.csv"
            source.write_text("user,report\n1,0\n,1\nNA,\n4,2\n")
        else:
            source = pa.table({"user": [1, None, None, 4], "report": [0.0, 1.0, None, 2.0]})
        message = two(columns(), source, drop_missing=True)
        assert "must not miss values, got 2 missing, the first in row 2: leave those rows out" in message
        assert "key column 'user' of service 'b'" in message

    @pytest.mark.parametrize(
        ("first", "second", "kinds"),
        [
            (USERS, USERS.astype(str), ("BIGINT", "VARCHAR")),
            (USERS.astype(str), USERS, ("VARCHAR", "BIGINT")),
            (USERS, np.array(["2020-01-01"] * 3, dtype="datetime64[us]"), ("BIGINT", "TIMESTAMP")),
        ],
        ids=["text-second", "text-first", "dates"],
    )
    def test_keys_of_different_types_are_named_with_both(self, first, second, kinds):
        """They could never be equal, or by accident only."""
        message = two(columns(first), columns(second))
        assert f"got {kinds[0]} in key column 'user' of service 'a' but {kinds[1]} in" in message

    def test_a_csv_key_cannot_be_matched_with_dates(self, tmp_path):
        """Text is compared with text, or with integers if it is one."""
        path = tmp_path / "web.csv"
        path.write_text("user,report\n2020-01-01,0\n")
        dates = np.array(["2020-01-01"] * 3, dtype="datetime64[us]")
        assert "got text of a CSV in key column 'user' of service 'b'" in two(columns(dates), path)

    @pytest.mark.parametrize("text", ["ann", "2.5", "1e3", "99999999999999999999"])
    def test_a_csv_key_among_integers_must_be_one(self, tmp_path, text):
        """It is not rounded."""
        path = tmp_path / "web.csv"
        path.write_text(f"user,report\n1,0\n{text},1\n")
        message = two(columns(), path)
        assert "must hold integers (BIGINT) as the other sources do, got 1 that are none, the first in row 2" in message

    def test_fractional_keys_are_refused(self):
        """Data frames make them of integers with gaps."""
        assert "must hold text or integers, got type DOUBLE: convert it" in two(columns(USERS + 0.0), columns())

    def test_repeated_users_are_counted(self):
        """Users, not rows; the service that has them is named."""
        repeated = columns([1, 2, 1, 1, 3, 3], [0, 0, 1, 2, 1, 1])
        message = two(columns(), repeated)
        assert "a user must report to a service once, got 2 users with several reports to service 'b'" in message
        assert "keep_first (--keep-first)" in message
        assert "to service 'a'" in two(repeated, columns())

    def test_equal_repeated_reports_of_one_service_are_repeats_too(self):
        """One service alone, the same report twice."""
        assert "got 1 users" in refusal([(TABLE, columns([1, 1], [0, 0]))], key="user")

    def test_no_common_users_are_refused_with_the_two_services(self):
        """Most likely the key is another number."""
        message = two(columns(), columns(USERS + 10))
        assert "users in common, got none between service 'a' and service 'b'" in message
        assert "key column" in message
        assert "allow_disjoint (--allow-disjoint)" in message

    def test_two_pairs_without_a_link_are_refused(self):
        """Common users within each pair do not link the pairs."""
        made = [(n, TABLE, columns(USERS + shift)) for n, shift in zip("abcd", (0, 0, 10, 10), strict=True)]
        assert "got none between service 'a' and service 'c'" in refusal(made, key="user")


class TestTables:
    def test_tables_of_different_domains_or_names_are_refused_before_reading(self):
        """The files are not even looked for."""
        other = grr([0.0, 1.0, 3.0], 1.0)
        assert "measure the same thing" in refusal([(TABLE, "none.csv"), (other, "none.csv")], key="user")
        message = refusal([("a", TABLE, "none.csv"), ("a", TABLE, "none.csv")], key="user")
        assert "different names" in message

    def test_there_are_at_most_62_services(self):
        """Sets of services are the bits of one integer."""
        message = refusal([(TABLE, REPORTS)] * 63)
        assert message == "services must be at most 62, got 63: count them in parts"
        assert collect([(TABLE, REPORTS)] * 62).n_users == 3


class TestFilesAndWorkspace:
    def test_unreadable_files_are_named(self, tmp_path):
        """Missing, of another kind, cut short."""
        assert "must exist" in refusal([(TABLE, tmp_path / "none.parquet")])
        (tmp_path / "a.xls").write_text("")
        assert ".csv or .parquet" in refusal([(TABLE, str(tmp_path / "a.xls"))])
        path = tmp_path / "cut.parquet"
        duckdb.execute(f"COPY (SELECT 0.0 AS report FROM range(1000)) TO '{path}'")
        path.write_bytes(path.read_bytes()[:-50])
        assert "readable .parquet" in refusal([(TABLE, path)])
        path = tmp_path / "ragged.csv"
        path.write_text("user,report\n1,0\n2\n")
        assert "must be a readable .csv file: row 2 has 1 cell and not 2" in refusal([(TABLE, path)])

    def test_memory_and_folder_must_be_usable(self, tmp_path):
        """An amount, enough of it, and a place to write."""
        source = [(TABLE, columns())]
        assert "memory_limit must be an amount such as '4GB', got 'much'" in refusal(source, memory_limit="much")
        assert "fit into memory_limit, got '1KB'" in refusal(source, memory_limit="1KB")
        assert "temp_directory must be a folder" in refusal(source, temp_directory=tmp_path / "none")

    @pytest.mark.parametrize("kind", [RuntimeError, duckdb.InterruptException])
    @pytest.mark.parametrize(("query", "table"), [("fetchnumpy", TABLE), ("create", square_wave([0.0, 1.0, 2.0], 1.0))])
    def test_ctrl_c_in_a_query_stays_ctrl_c_and_leaves_nothing(self, tmp_path, monkeypatch, query, table, kind):
        """Whatever duckdb makes of it."""

        def interrupted(*_: object, **__: object) -> None:
            raise kind("Query interrupted")

        monkeypatch.setattr(duckdb.DuckDBPyRelation, query, interrupted)
        with pytest.raises(KeyboardInterrupt):
            collect([(table, columns())], temp_directory=tmp_path)
        assert os.listdir(tmp_path) == []

    def test_a_failure_leaves_nothing_either(self, tmp_path):
        """Refused reports are gone from the disk."""
        refusal([(TABLE, columns(USERS, REPORTS + 0.5))], temp_directory=tmp_path)
        assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("make", [piecewise, square_wave])
def test_every_report_that_a_table_draws_is_counted(make):
    """None is refused, at the ends of the range neither."""
    table = make(np.linspace(0, 1, 11), 1.0)
    reports = table.sample(np.repeat([0.0, 0.3, 1.0], 2000), np.random.default_rng(1))
    reports[:2] = table.low[0], table.high[-1]
    assert collect([(table, reports)]).n_users == 6000
