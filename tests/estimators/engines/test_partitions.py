"""Parts of tables perturbed by tasks: a task that is run again draws what it drew."""

import pickle
import traceback
from functools import partial
from pathlib import Path

import dask.dataframe as dask
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from optldp.estimators import count
from optldp.estimators.engines import perturb_partition
from optldp.mechanisms import InputError, duchi, make_exact
from optldp.mechanisms.categorical import categorical_grr, optimised_unary
from optldp.mechanisms.files.identifier import table_identifier
from optldp.mechanisms.pseudorandom import KeyedReports, Secret, new_secret, read_secret
from optldp.mechanisms.sampling.domain import ClippingWarning

TABLE = make_exact(duchi([0.0, 1.0], 1.0)).mechanism
WRITTEN = {"user": pl.String, "output": pl.Int64, "table": pl.String}
PEOPLE = {"user": [f"u{i}" for i in range(30)], "x": np.linspace(0, 1, 30)}


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret"
    path.touch(mode=0o600)
    path.write_bytes(new_secret())
    return path


@pytest.mark.slow
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


@pytest.mark.parametrize("made", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_frames_one_after_another_draw_the_same(secret, made):
    """As Spark's mapInPandas and Polars' collect_batches hand them over."""
    expected = KeyedReports(TABLE, read_secret(secret), column="x").sample_index(PEOPLE["user"], PEOPLE["x"]).tolist()
    parts = [{name: column[i : i + 7] for name, column in PEOPLE.items()} for i in range(0, 30, 7)]
    drawn = list(perturb_partition(iter(map(made, parts)), TABLE, secret, column="x", key="user"))
    assert [output for part in drawn for output in pl.DataFrame(part)["output"].to_list()] == expected


def test_a_column_of_short_floats_is_refused(secret):
    short = pl.DataFrame(PEOPLE).with_columns(pl.col("x").cast(pl.Float32))
    with pytest.raises(InputError, match="doubles or whole numbers, got Float32"):
        perturb_partition(short, TABLE, secret, column="x", key="user")


@pytest.mark.parametrize("made", [categorical_grr("ab", 1.0), optimised_unary("ab", 1.0)], ids=lambda made: made.kind)
def test_categories_are_written_as_perturb_writes_them(secret, made):
    people = pl.DataFrame({"user": [1, 2, 3], "job": ["a", "b", "a"]})
    drawn = perturb_partition(people, made, secret, column="job", key="user")["output"].to_list()
    reports = KeyedReports(made, read_secret(secret), column="job").sample([1, 2, 3], ["a", "b", "a"])
    assert list(map(str, drawn)) == made.to_text(reports)


def test_no_rows_are_no_reports(secret):
    empty = pl.DataFrame({"user": [], "x": []}, schema={"user": pl.String, "x": pl.Float64})
    assert perturb_partition(empty, TABLE, secret, column="x", key="user").shape == (0, 3)


@pytest.mark.parametrize("made", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_reports_of_a_day_have_ids_which_a_task_that_is_run_again_gives_again(secret, made):
    task = partial(perturb_partition, mechanism=TABLE, secret=secret, column="x", key="user", day="2026-05-01")
    first, again, none = (pl.DataFrame(task(made(PEOPLE))[:rows]) for rows in (30, 30, 0))
    assert first.equals(again)
    assert first.columns == none.columns == ["user", "output", "table", "day", "report_id"]
    assert set(first["day"]) == {"2026-05-01"}
    ids = KeyedReports(TABLE, read_secret(secret), column="x").report_ids(PEOPLE["user"])
    assert first["report_id"].to_list() == ids


@pytest.mark.parametrize(
    ("change", "options", "says"),
    [
        ({}, {"column": "y"}, "column 'y' of a part must exist: it has 'user', 'x'"),
        ({}, {"key": "x"}, "the key must be another column"),
        ({}, {"day": "2026-02-30"}, "a day must be written as 2026-05-01"),
        ({}, {"day": "2026-05-01", "key": "report_id"}, "a part must exist"),
        ({"x": [None] * 30}, {}, "got 30 missing in a part"),
        ({"x": [2.0] * 30}, {}, "got 30 of 30 outside"),
        ({"user": [None] * 30}, {}, "got NoneType in row 1"),
        ({"user": ["ann"] * 30}, {}, "one value in a round"),
        ({}, {"secret": "none"}, "the secret must be readable"),
        ({}, {"mechanism": categorical_grr("ab", 1.0), "clip": True}, "clip is for tables of numbers"),
    ],
)
def test_bad_parts(secret, change, options, says):
    chosen = {"mechanism": TABLE, "secret": secret, "column": "x", "key": "user"} | options
    with pytest.raises(InputError, match=says):
        perturb_partition(pl.DataFrame(PEOPLE | change), **chosen)


@pytest.mark.parametrize(
    "people",
    [
        pl.DataFrame({"user": ["a", "b", "c", "d"], "x": [0.5, None, 7.0, float("nan")]}),
        pd.DataFrame({"user": ["a", "b", "c", "d"], "x": [0.5, None, 7.0, float("nan")]}),
        pa.table({"user": ["a", "b", "c", "d"], "x": [0.5, None, 7.0, float("nan")]}),
    ],
    ids=["polars", "pandas", "arrow"],
)
def test_values_are_clipped_and_rows_without_one_left_out_where_that_is_asked(secret, people):
    """The reports are those of the clipped values; no warning and no error names a value."""
    task = partial(perturb_partition, people, TABLE, secret, column="x", key="user")
    with pytest.raises(InputError, match="got 2 missing in a part: leave them out"):
        task(clip=True)
    with pytest.raises(InputError, match="got 1 of 2 outside: clip them") as outside:
        task(drop_missing=True)
    with pytest.warns(ClippingWarning, match="1 of 2 values were outside") as warned:
        drawn = pa.table(task(clip=True, drop_missing=True))
    assert drawn["user"].to_pylist() == ["a", "c"]
    expected = KeyedReports(TABLE, read_secret(secret), column="x").sample_index(["a", "c"], [0.5, 1.0])
    assert drawn["output"].to_pylist() == expected.tolist()
    assert "7" not in str(outside.value) + str(warned[0].message)


def test_texts_are_missing_as_perturb_has_it_and_a_wrong_one_is_not_named(secret):
    jobs = pl.DataFrame({"user": ["a", "b", "c", "d"], "job": ["a", None, "NA", "leper"]})
    task = partial(perturb_partition, mechanism=categorical_grr("ab", 1.0), secret=secret, column="job", key="user")
    with pytest.raises(InputError, match="got 1 of 2 that are not") as told:
        task(jobs, drop_missing=True)
    assert "leper" not in "".join(traceback.format_exception(told.value))
    assert task(jobs[:3], drop_missing=True)["user"].to_list() == ["a"]


class TestSecretsOfTasks:
    """Told apart by their type; a path and what fetches a secret travel, and none is ever shown."""

    PART = pl.DataFrame(PEOPLE)

    def task(self, secret, **options):
        return partial(perturb_partition, mechanism=TABLE, secret=secret, column="x", key="user", **options)

    def test_a_path_and_a_callable_travel_as_what_they_are(self, secret):
        content = secret.read_bytes()
        for source in (secret, str(secret), partial(read_secret, secret), partial(Path.read_bytes, secret)):
            packed = pickle.dumps(self.task(source))
            assert content not in packed
            assert pickle.loads(packed)(self.PART).equals(self.task(secret)(self.PART))
        with pytest.raises(InputError, match="must not be copied or pickled"):
            pickle.dumps(self.task(Secret(content)))

    @pytest.mark.parametrize(
        "form", [bytes, bytearray, memoryview, bytes.hex, str, Path], ids=lambda form: form.__name__
    )
    def test_what_is_no_path_is_never_shown(self, form):
        """Not in the message, nor in the traceback that an engine writes to its log."""
        content = b"0123456789abcdef" * 2
        given = form(content.decode()) if form is Path else form(content)
        with pytest.raises(InputError, match="secret must be") as told:
            self.task(given)(self.PART)
        shown = "".join(traceback.format_exception(told.value))
        assert not any(part in shown for part in ("0123456789abcdef", content.hex()))

    def test_what_fails_to_fetch_shows_nothing_of_what_it_fetched(self):
        def fetch():
            raise ValueError("cannot decode 0123456789abcdef")

        for source, says in ((fetch, "raised ValueError"), (lambda: "0123456789abcdef" * 2, "got str")):
            with pytest.raises(InputError, match=says) as told:
                self.task(source)(self.PART)
            assert "0123456789abcdef" not in "".join(traceback.format_exception(told.value))

    def test_a_group_readable_mount_is_taken_where_the_owner_says_so(self, secret):
        expected = self.task(secret)(self.PART)
        secret.chmod(0o440)
        with pytest.raises(InputError, match="got mode 440"):
            self.task(secret)(self.PART)
        assert self.task(secret, group_readable=True)(self.PART).equals(expected)
