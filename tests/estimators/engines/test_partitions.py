"""Parts of tables perturbed by tasks: a task that is run again draws what it drew."""

from functools import partial

import dask.dataframe as dask
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from optldp.estimators import count
from optldp.estimators.engines import perturb_partition
from optldp.mechanisms import InputError, duchi, make_exact
from optldp.mechanisms.categorical.table import categorical_grr
from optldp.mechanisms.categorical.unary_encoding import optimised_unary
from optldp.mechanisms.files.identifier import table_identifier
from optldp.mechanisms.keyed import KeyedReports, new_secret, read_secret

TABLE = make_exact(duchi([0.0, 1.0], 1.0)).mechanism
WRITTEN = {"user": pl.String, "output": pl.Int64, "table": pl.String}
PEOPLE = {"user": [f"u{i}" for i in range(30)], "x": np.linspace(0, 1, 30)}


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret"
    path.touch(mode=0o600)
    path.write_bytes(new_secret())
    return path


def test_every_kind_of_part_draws_the_reports_of_all_together_and_again(secret):
    expected = KeyedReports(TABLE, read_secret(secret), column="x").sample_index(PEOPLE["user"], PEOPLE["x"]).tolist()
    task = partial(perturb_partition, mechanism=TABLE, secret=secret, column="x", key="user")
    batches = pa.table(PEOPLE).to_batches(max_chunksize=7)
    for _ in range(2):
        assert pa.Table.from_batches(task(iter(batches)))["output"].to_pylist() == expected
        assert task(pa.table(PEOPLE))["output"].to_pylist() == expected
        assert pl.DataFrame(PEOPLE).lazy().map_batches(task, schema=WRITTEN).collect()["output"].to_list() == expected
        kinds = {"user": "str", "output": "int64", "table": "str"}
        meta = pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in kinds.items()})
        whole = dask.from_pandas(pd.DataFrame(PEOPLE), npartitions=4)  # pyright: ignore[reportPrivateImportUsage]
        frame = whole.map_partitions(task, meta=meta)
        done = frame.compute(scheduler="synchronous")
        assert done["output"].tolist() == expected
        assert done["user"].tolist() == PEOPLE["user"]
    lazily = pl.DataFrame(PEOPLE).lazy().map_batches(task, schema=WRITTEN)
    assert count(TABLE, lazily).n_users == 30
    with pytest.raises(InputError, match=f"got some of table {table_identifier(TABLE)}"):
        count(duchi([0.0, 1.0], 2.0), lazily)
    with pytest.raises(InputError, match=f"got some of table {table_identifier(TABLE)}"):
        count([(duchi([0.0, 1.0], 2.0), lazily), (TABLE, lazily)], key="user")
    assert count([(TABLE, lazily), (TABLE, lazily)], key="user").n_users == 30


@pytest.mark.parametrize("made", [categorical_grr("ab", 1.0), optimised_unary("ab", 1.0)], ids=lambda made: made.kind)
def test_categories_are_written_as_perturb_writes_them(secret, made):
    people = pl.DataFrame({"user": [1, 2, 3], "job": ["a", "b", "a"]})
    drawn = perturb_partition(people, made, secret, column="job", key="user")["output"].to_list()
    reports = KeyedReports(made, read_secret(secret), column="job").sample([1, 2, 3], ["a", "b", "a"])
    assert list(map(str, drawn)) == made.to_text(reports)


def test_no_rows_are_no_reports(secret):
    empty = pl.DataFrame({"user": [], "x": []}, schema={"user": pl.String, "x": pl.Float64})
    assert perturb_partition(empty, TABLE, secret, column="x", key="user").shape == (0, 3)


@pytest.mark.parametrize(
    ("change", "options", "says"),
    [
        ({}, {"column": "y"}, "column 'y' of a part must exist: it has 'user', 'x'"),
        ({}, {"key": "x"}, "the key must be another column"),
        ({"x": [None] * 30}, {}, "got 30 missing in a part"),
        ({"x": [2.0] * 30}, {}, "values must lie in"),
        ({"user": [None] * 30}, {}, "got NoneType in row 1"),
        ({"user": ["ann"] * 30}, {}, "one value in a round"),
        ({}, {"secret": "none"}, "the secret must be readable"),
    ],
)
def test_bad_parts(secret, change, options, says):
    chosen = {"secret": secret, "column": "x", "key": "user"} | options
    with pytest.raises(InputError, match=says):
        perturb_partition(pl.DataFrame(PEOPLE | change), TABLE, **chosen)
