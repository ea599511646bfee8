"""Folders of Parquet, as engines write them, and patterns of names are read as one table."""

import os

import polars as pl
import pytest
from optldp.estimators import count
from optldp.mechanisms import InputError, duchi, make_exact
from optldp.mechanisms.files.identifier import table_identifier

TABLE = make_exact(duchi([0.0, 1.0], 1.0)).mechanism


def written(folder, tables):
    folder.mkdir()
    (folder / "_SUCCESS").touch()
    for number, name in enumerate(tables):
        rows = {"output": [0, 1, 1], "table": [name] * 3} if number % 2 else {"table": [name] * 3, "output": [0, 1, 1]}
        pl.DataFrame(rows).write_parquet(folder / f"part-{number}.parquet")
    return folder


def test_a_folder_and_a_pattern_count_as_their_files_together(tmp_path):
    folder = written(tmp_path / "out", [table_identifier(TABLE)] * 3)
    for source in (folder, str(folder / "part-*.parquet")):
        assert count(TABLE, source).groups[0].counts.tolist() == [3, 6]
    assert count(TABLE, str(folder / "part-[01].parquet")).n_users == 6


def test_a_part_of_another_table_and_a_folder_without_parts_are_refused(tmp_path):
    mixed = written(tmp_path / "mixed", [table_identifier(TABLE), "t0123456789ab"])
    with pytest.raises(InputError, match="t0123456789ab"):
        count(TABLE, mixed)
    with pytest.raises(InputError, match="got none for"):
        count(TABLE, written(tmp_path / "empty", []))
    with pytest.raises(InputError, match="got none for"):
        count(TABLE, os.fspath(tmp_path / "no-*.parquet"))
