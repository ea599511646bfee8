"""Sources counted by the engine: the same counts, and the same words, as where every row is looked at."""

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from optldp.estimators.counting import sound, users
from optldp.estimators.counting.collect import collect
from optldp.estimators.reading.columns import SkippedRows
from optldp.mechanisms import InputError, grr, piecewise, square_wave

TABLE = grr([0.0, 1.0, 2.0], 1.0)
CELLS = square_wave([0.0, 1.0, 2.0], 1.0)
MIXED = piecewise([0.0, 1.0, 2.0], 1.0)


def facts(sources, **options):
    """All that a collection tells: the counts, the sums, what was skipped, or the error."""
    account = SkippedRows()
    if options.get("skip_invalid"):
        options["skip_invalid"] = account
    try:
        counts = collect(sources, allow_disjoint=True, **options)
    except InputError as error:
        return str(error)
    groups = [
        (g.services, g.outputs.tolist(), g.counts.tolist(), None if g.sums is None else g.sums.first.round(9).tolist())
        for g in counts.groups
    ]
    return groups, account.count, account.first


def the_long_way(sources, **options):
    """The same where every row is looked at."""
    with (
        patch.object(users, "distinct_reports", lambda *_, **__: None),
        patch.object(users, "keyed_codes", lambda *_, **__: None),
        patch.object(users, "users_joined", lambda *_, **__: None),
    ):
        return facts(sources, **options)


def require_same(sources, **options):
    """What was found, after a comparison with the long way."""
    found = facts(sources, **options)
    assert found == the_long_way(sources, **options)
    return found


OPTIONS = [{}, {"drop_missing": True}, {"skip_invalid": True}, {"drop_missing": True, "skip_invalid": True}]

CSVS = {
    "sound": "report\n0\n1\n1.0\n 2 \n2e0\n-0\n",
    "missing": "report,x\n0,1\n,1\nNA,1\n2,1\n",
    "text": "report\n0\nbanana\n1_0\n",
    "foreign": "report\n0\n0.5\n7\n",
    "infinite": "report\n0\ninf\n1e999\nnan\n",
    "quoted": 'report,x\n"1",1\n2,"a""b"\n',
    "long": "report\n0\n" + "1" * 5000 + "\n",
    "ragged": "report,x\n1,1\n2\n",
    "open quote": 'report,x\n1,1\n"2,1\n0,1\n',
    "empty": "report\n",
    "all missing": "report,x\n,1\nNA,2\n",
    "other column": "x\n1\n",
    "both": "report,simulated_report\n1,1\n",
    "simulated": "simulated_report\n1\n2\n",
}


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", CSVS)
def test_a_csv_gives_the_same_counts_or_words(tmp_path, name, options):
    """Whatever is in it, whatever may be left out."""
    path = tmp_path / "a.csv"
    path.write_text(CSVS[name])
    require_same([(TABLE, path)], **options)


COLUMNS = {
    "doubles": pa.array([0.0, -0.0, 1.0, 2.0, 2.0]),
    "nulls": pa.array([0.0, None, 1.0]),
    "nans": pa.array([0.0, float("nan"), 1.0]),
    "infinite": pa.array([0.0, float("inf")]),
    "floats": pa.array([0.0, 1.0], type=pa.float32()),
    "integers": pa.array([0, 1, 1], type=pa.int8()),
    "large": pa.array([0, 2**60]),
    "booleans": pa.array([True, False, None]),
    "decimals": pa.array([0, 1], type=pa.decimal128(9, 2)),
    "text": pa.array(["0", "1", " 2", "x", None]),
    "sound text": pa.array(["0", "1", "01.0"]),
    "dictionary": pa.array(["0", "1"]).dictionary_encode(),
    "dates": pa.array([0, 1], type=pa.date32()),
    "none": pa.array([], type=pa.float64()),
    "all null": pa.array([None, None], type=pa.float64()),
}


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", COLUMNS)
def test_a_parquet_file_and_a_table_give_the_same_counts_or_words(tmp_path, name, options):
    """Every type that a column may have."""
    table = pa.table({"report": COLUMNS[name]})
    pq.write_table(table, tmp_path / "a.parquet")
    require_same([(TABLE, tmp_path / "a.parquet")], **options)
    require_same([(TABLE, table)], **options)


@pytest.mark.slow
def test_what_is_sound_is_not_looked_at_row_by_row(tmp_path):
    """Else all of this were in vain; with sums of raw reports, too, and under any name of a column."""
    path = tmp_path / "a.csv"
    path.write_text('cell\n1\n2\n1\n"2.0"\n')
    with patch.object(users, "staged_blocks", side_effect=AssertionError):
        assert facts([(TABLE, path)], column="cell")[0] == [((0,), [[1], [2]], [2, 2], None)]
        assert facts([(TABLE, {"users": np.array([1.0, 0.0, 1.0])})], column="users", raw=True)[0] == [
            ((0,), [[0], [1]], [1, 2], [[-1.0], [0.0]])
        ]
    require_same([(TABLE, path)], column="cell", raw=True)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_frames_are_counted_by_value(make):
    """And a stream, which can be read once alone, is looked at row by row."""
    columns = {"report": np.array([0.0, 1.0, 1.0])}
    assert require_same([(TABLE, make(columns))])[0] == [((0,), [[0], [1]], [1, 2], None)]
    stream = pa.table(columns).to_reader()
    assert facts([(TABLE, stream)])[0] == [((0,), [[0], [1]], [1, 2], None)]


def test_more_distinct_values_than_a_block_are_looked_at(monkeypatch):
    """They are no reports of the table, or text of a thousand forms."""
    monkeypatch.setattr(sound, "BLOCK", 3)
    require_same([(TABLE, {"report": np.array([0.0, 1.0, 2.0, 2.0])})])


SERVICES = ("points", "cells", "mixed")


def written(folder: Path, keys: list, change=None) -> list:
    """Three services whose users have these keys, in files of different orders; a change to the first's rows."""
    rng, made = np.random.default_rng(3), []
    for name, table in zip(SERVICES, (TABLE, CELLS, MIXED), strict=True):
        order = rng.permutation(len(keys))[: len(keys) - rng.integers(0, 3)]
        reports = table.sample(rng.uniform(0, 2, order.size), rng)
        rows = pa.table({"user": pa.array([keys[i] for i in order]), "report": reports})
        pq.write_table(rows if change is None or made else change(rows), folder / f"{name}.parquet")
        made.append((name, table, folder / f"{name}.parquet"))
    return made


KEYS = {
    "from one on": list(range(1, 60)),
    "negative": list(range(-30, 30)),
    "with gaps": list(range(0, 180, 3)),
    "far apart": [2**i for i in range(40)],
    "at the ends": [-(2**63), 2**63 - 1, *range(20)],
    "text": [f"{i:03}" for i in range(40)],
    "unsigned": pa.array(range(50), type=pa.uint64()).to_pylist(),
}


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", KEYS)
def test_users_are_matched_by_any_keys(tmp_path, name, options):
    """Dense integers in an array, others in the database: the same counts."""
    assert isinstance(require_same(written(tmp_path, KEYS[name]), key="user", **options), tuple)


def with_row(user, report):
    """A change that adds a row."""
    return lambda rows: pa.concat_tables(
        [rows, pa.table({"user": pa.array([user], type=pa.int64()), "report": pa.array([report], type=pa.float64())})]
    )


CHANGES = {
    "repeated": lambda rows: pa.concat_tables([rows, rows.slice(2, 2)]),
    "repeated and missing": lambda rows: with_row(rows["user"][0].as_py(), None)(rows),
    "nobody": with_row(None, 1.0),
    "missing": with_row(1000, None),
    "not a number": with_row(1000, float("nan")),
    "foreign": with_row(1000, 0.25),
    "no rows": lambda rows: rows.slice(0, 0),
    "all missing": lambda rows: rows.set_column(1, "report", pa.nulls(rows.num_rows, pa.float64())),
    "text": lambda rows: rows.set_column(1, "report", pa.array(["x", *map(str, rows["report"].to_pylist()[1:])])),
    "sound text": lambda rows: rows.set_column(1, "report", pa.array(map(str, rows["report"].to_pylist()))),
    "fractions": lambda rows: rows.set_column(0, "user", rows["user"].cast(pa.float64())),
}


@pytest.mark.nightly
@pytest.mark.parametrize("options", [*OPTIONS, {"keep_first": True}, {"raw": True}], ids=str)
@pytest.mark.parametrize("name", CHANGES)
def test_faults_of_matched_services_are_told_in_the_same_words(tmp_path, name, options):
    """Whatever is missing, foreign or repeated in one of three sources."""
    require_same(written(tmp_path, KEYS["from one on"], CHANGES[name]), key="user", **options)


def indexed(folder, keys, seed=3):
    """The same three services, whose reports are numbers of outputs."""
    made = written(folder, keys)
    rng = np.random.default_rng(seed)
    for name, table, path in made:
        rows = pq.read_table(path)
        outputs = table.sample_index(rng.uniform(0, 2, rows.num_rows), rng)
        pq.write_table(pa.table({"user": rows["user"], "output": outputs}), folder / f"{name}.parquet")
    return made


@pytest.mark.parametrize("name", KEYS)
def test_users_of_indexed_reports_are_joined_as_they_are_read(tmp_path, name):
    """Of many services too, whose codes need several words."""
    sources = indexed(tmp_path, KEYS[name])
    many = [(f"{j}", table, path) for j in range(5) for _, table, path in sources]
    expected = [the_long_way(each, key="user") for each in (sources, many)]
    with patch.object(users.Counting, "_code", side_effect=AssertionError):
        assert [facts(each, key="user") for each in (sources, many)] == expected


FAULTS = {
    "repeated": [(1, 0), (1, 0)],
    "repeated alone": [(1000, 0), (1000, 1)],
    "nobody": [(None, 1)],
    "missing": [(1000, None)],
    "foreign": [(1000, 3)],
    "negative": [(1000, -1)],
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", FAULTS)
def test_faults_of_indexed_reports_are_told_in_the_same_words(tmp_path, name, options):
    """Whatever is missing, foreign or repeated, by users of one service alone too."""
    sources = indexed(tmp_path, KEYS["from one on"])
    rows = pq.read_table(tmp_path / "points.parquet")
    user, output = (pa.array(column, type=pa.int64()) for column in zip(*FAULTS[name], strict=True))
    pq.write_table(pa.concat_tables([rows, pa.table({"user": user, "output": output})]), tmp_path / "points.parquet")
    require_same(sources, key="user", **options)
