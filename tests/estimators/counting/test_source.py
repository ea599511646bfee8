"""Sources of reports: every kind of file and table is read alike, and what is none is refused."""

from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from optldp.estimators import ReportCounts, Service
from optldp.estimators.counting.collect import collect
from optldp.estimators.counting.source import report_sources
from optldp.mechanisms import InputError, grr, piecewise, square_wave

KNOTS = [0.0, 1.0, 2.0, 4.0]
TABLES = {"points": grr(KNOTS, 1.0), "cells": square_wave(KNOTS, 0.5), "mixed": piecewise(KNOTS, 2.0)}
NAMES = tuple(TABLES)


@pytest.fixture(scope="module")
def matrix() -> np.ndarray:
    return outputs_matrix(np.random.default_rng(6), 2000)


def outputs_matrix(rng: np.random.Generator, n_users: int) -> np.ndarray:
    """Outputs of many users, each of whom skips each service with probability a third, but not all."""
    sizes = [table.low.size for table in TABLES.values()]
    matrix = np.column_stack([rng.integers(0, size, n_users) for size in sizes])
    matrix[rng.random(matrix.shape) < 1 / 3] = -1
    return matrix[(matrix >= 0).any(axis=1)]


def counts_of(matrix: np.ndarray) -> ReportCounts:
    return ReportCounts.from_outputs([Service(name, TABLES[name]) for name in NAMES], matrix)


def frames(matrix: np.ndarray, rng: np.random.Generator) -> list[pd.DataFrame]:
    """A data frame of user and report for each service, rows shuffled."""
    made = []
    for name, column in zip(NAMES, matrix.T, strict=True):
        users = rng.permutation(np.flatnonzero(column >= 0))
        table = TABLES[name]
        made.append(pd.DataFrame({"user": users, "report": ((table.low + table.high) / 2)[column[users]]}))
    return made


def stored(frame: pd.DataFrame, path: Path) -> Path:
    options = "" if path.suffix == ".parquet" else " (HEADER)"
    with duckdb.connect() as connection:
        connection.register("frame", frame)
        connection.execute(f"COPY (SELECT * FROM frame) TO '{path}'{options}")
    return path


def as_dict(counts: ReportCounts) -> dict:
    return {
        (group.services, tuple(row)): number
        for group in counts.groups
        for row, number in zip(group.outputs.tolist(), group.counts.tolist(), strict=True)
    }


def as_rows(counts: ReportCounts) -> list:
    """Everything that is counted, in order."""
    return [(group.services, group.outputs.tolist(), group.counts.tolist()) for group in counts.groups]


class TestKindsOfSources:
    @pytest.mark.parametrize(
        "form",
        [
            lambda frame, path: stored(frame, path.with_suffix(".parquet")),
            lambda frame, path: str(stored(frame, path.with_suffix(".csv"))),
            lambda frame, path: pa.Table.from_pandas(frame),
            lambda frame, path: frame,
            lambda frame, path: pl.DataFrame({name: frame[name].to_numpy() for name in frame}),
            lambda frame, path: {name: frame[name].to_numpy() for name in frame},
            lambda frame, path: frame.to_records(index=False),
            lambda frame, path: frame.astype({"user": str}),
            lambda frame, path: frame.astype({"user": "category"}).astype({"user": str}).astype({"user": "category"}),
            lambda frame, path: pa.Table.from_pandas(frame.astype({"report": str})),
        ],
        ids=[
            "parquet",
            "csv",
            "arrow",
            "pandas",
            "polars",
            "numpy",
            "records",
            "text-keys",
            "category-keys",
            "text-reports",
        ],
    )
    def test_all_kinds_agree(self, tmp_path, matrix, form):
        """Files and tables of the same rows have the same counts."""
        made = [
            (name, TABLES[name], form(frame, tmp_path / name))
            for name, frame in zip(NAMES, frames(matrix, np.random.default_rng(7)), strict=True)
        ]
        assert as_rows(collect(made, key="user")) == as_rows(counts_of(matrix))

    @pytest.mark.slow
    def test_kinds_can_be_mixed_and_csv_keys_follow_the_others(self, tmp_path, matrix):
        """Integers in a data frame, in a Parquet file of another width, and as text in a CSV."""
        first, second, third = frames(matrix, np.random.default_rng(8))
        csv = stored(first, tmp_path / "a.csv")
        parquet = stored(second.astype({"user": np.int16}), tmp_path / "b.parquet")
        made = [(n, TABLES[n], s) for n, s in zip(NAMES, (csv, parquet, third.astype({"user": "uint64"})), strict=True)]
        assert as_rows(collect(made, key="user")) == as_rows(counts_of(matrix))

    def test_csv_keys_are_text_among_themselves(self, tmp_path):
        """7 and 07 are two users, as in any comparison of text."""
        for name, text in (("a", "user,report\n7,0\n07,1\n"), ("b", "user,report\n7,1\n")):
            (tmp_path / f"{name}.csv").write_text(text)
        table = TABLES["points"]
        counts = collect([(n, table, tmp_path / f"{n}.csv") for n in "ab"], key="user")
        assert as_dict(counts) == {((0,), (1,)): 1, ((0, 1), (0, 1)): 1}

    @pytest.mark.parametrize(
        "users",
        [
            np.array([b"ann", b"bo", b"cy"]),
            np.array(["ann", "bo", "cy"], dtype=object),
            np.arange(3, dtype=">i4"),
            np.arange(6)[::-2],
            np.array(["2020-01-01", "2020-01-02", "2020-01-03"], dtype="datetime64[us]"),
        ],
        ids=["bytes", "objects", "big-endian", "strided", "dates"],
    )
    def test_numpy_keys_of_any_layout_are_read(self, users):
        """The first two users report to both services."""
        table = TABLES["points"]
        made = [
            ("a", table, {"user": users, "report": np.array([0, 1, 2], dtype=np.int8)}),
            ("b", table, {"user": users[:2], "report": np.array([4.0, 2.0], dtype=">f4")}),
        ]
        assert as_dict(collect(made, key="user")) == {((0, 1), (0, 3)): 1, ((0, 1), (1, 2)): 1, ((0,), (2,)): 1}

    def test_bytes_are_text(self):
        """Numpy reads text files as bytes; the same users elsewhere are text."""
        table, names = TABLES["points"], np.array(["ann", "bo"])
        made = [(table, {"user": users, "report": np.zeros(2)}) for users in (names, names.astype("S"))]
        assert as_dict(collect(made, key="user")) == {((0, 1), (0, 0)): 2}

    def test_a_series_is_an_array(self):
        """One column of a data frame, without the frame."""
        reports = [0.0, 2.0, 2.0]
        expected = {((0,), (0,)): 1, ((0,), (2,)): 2}
        for series in (pd.Series(reports), pl.Series(reports), np.array(reports, dtype=np.float32)):
            assert as_dict(collect([(TABLES["points"], series)])) == expected

    def test_other_columns_and_other_names_are_allowed(self, tmp_path):
        """The columns are found by name."""
        path = tmp_path / "a.csv"
        path.write_text("note,Antwort,wer\nx,0,1\ny,4,2\n")
        counts = collect([(TABLES["points"], path)], key="wer", column="Antwort")
        assert as_dict(counts) == {((0,), (0,)): 1, ((0,), (3,)): 1}


class TestRefusals:
    @pytest.mark.parametrize(
        ("sources", "says"),
        [
            ([], "sources must be a list of (mechanism, reports), at least one, got list"),
            ("a.csv", "got str"),
            ([TABLES["points"]], "source 1 must be (mechanism, reports) or (name, mechanism, reports), got Tabulated"),
            ([(TABLES["points"], "a.csv"), (3, TABLES["points"], "b.csv")], "source 2 must be"),
            ([(TABLES["points"],)], "got tuple of (TabulatedMechanism)"),
            ([("a", "b.json", "c.csv")], "got tuple of (str, str, str)"),
            ([("a", TABLES["points"], "c.csv", 1)], "source 1 must be"),
        ],
    )
    def test_what_is_no_source_is_named_by_its_place(self, sources, says):
        """Counted from 1."""
        with pytest.raises(InputError) as caught:
            report_sources(sources)
        assert says in str(caught.value)

    @pytest.mark.parametrize(
        ("reports", "says"),
        [
            (None, "got NoneType"),
            ([1.0, 2.0], "got list"),
            ({"report": np.zeros(2, dtype=complex)}, "got dict"),
            ({"report": np.zeros(2), "user": np.zeros(3)}, "equal length, got 'report' of shape (2,), 'user' of shape"),
            ({"report": np.zeros((2, 2))}, "equal length"),
            ({}, "got dict"),
            (np.array(["a", "b"]), "must be numbers, got an array of <U1"),
            (np.zeros((2, 2)), "column 'report' of service 1 must exist"),
            (pd.DataFrame({"report": [pd.Timedelta(1)]}), "must hold numbers, got type INTERVAL"),
        ],
        ids=["none", "list", "complex", "lengths", "matrix-column", "empty", "text", "matrix", "durations"],
    )
    def test_what_holds_no_reports_is_one_line(self, reports, says):
        """The kind that it is, and the kinds that it may be."""
        with pytest.raises(InputError) as caught:
            collect([(TABLES["points"], reports)])
        assert says in str(caught.value)
        assert "\n" not in str(caught.value)
