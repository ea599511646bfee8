"""Frames that are not read yet: every engine's counts are those of the same rows read here, bit for bit."""

import builtins
from collections.abc import Callable
from typing import Any

import dask.dataframe as dask
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from optldp.estimators import ReportCounts, Service, count
from optldp.estimators.engines import collect_lazily
from optldp.estimators.engines.lazy import is_lazy
from optldp.estimators.reading.columns import SkippedRows
from optldp.mechanisms import InputError, TabulatedMechanism, duchi, make_exact, piecewise

NARROW = make_exact(duchi([0.0, 1.0], 2.0)).mechanism
WIDE = make_exact(piecewise([0.0, 0.3, 1.0], 1.0)).mechanism

pytestmark = pytest.mark.filterwarnings("ignore:Dask support is moving")  # into a package that is to be installed

Frame = dict[str, np.ndarray]

ENGINES: dict[str, Callable[[Frame], Any]] = {
    "polars": lambda rows: pl.DataFrame(rows).lazy(),
    "duckdb": lambda rows: duckdb.from_arrow(pl.DataFrame(rows).to_arrow()),
    "dask": lambda rows: dask.from_pandas(pd.DataFrame(rows), npartitions=3),  # pyright: ignore[reportPrivateImportUsage]
}


def rows_of(mechanism: TabulatedMechanism, seed: int) -> Frame:
    rng = np.random.default_rng(seed)
    return {"user": rng.permutation(60)[:45], "output": mechanism.sample_index(rng.uniform(0, 1, 45), rng)}


def told(counts: ReportCounts) -> list[tuple[Any, ...]]:
    return [(group.services, group.outputs.tolist(), group.counts.tolist()) for group in counts.groups]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("tables", [[WIDE], [WIDE, NARROW, WIDE]], ids=["one", "three"])
def test_every_engine_counts_users_alike(engine, tables):
    frames = [rows_of(table, seed) for seed, table in enumerate(tables)]
    named = [f"s{j}" for j in range(len(tables))]
    expected = count(list(zip(named, tables, frames, strict=True)), key="user")
    lazy = [ENGINES[engine](frame) for frame in frames]
    assert all(map(is_lazy, lazy))
    assert told(count(list(zip(named, tables, lazy, strict=True)), key="user")) == told(expected)


@pytest.mark.nightly
def test_many_services_have_two_words():
    tables = [WIDE] * 25
    frames = [rows_of(table, seed) for seed, table in enumerate(tables)]
    named = [f"s{j}" for j in range(25)]
    lazy = [ENGINES["polars"](frame) for frame in frames]
    expected = told(count(list(zip(named, tables, frames, strict=True)), key="user"))
    assert told(count(list(zip(named, tables, lazy, strict=True)), key="user")) == expected
    again = pl.concat([lazy[-1], lazy[-1].head(2)])
    with pytest.raises(InputError, match=r"got 2 of what is none.*users with several reports to a service"):
        count(list(zip(named, tables, [*lazy[:-1], again], strict=True)), key="user")


@pytest.mark.parametrize("engine", ENGINES)
def test_reports_of_points_need_no_index(engine):
    rows = rows_of(NARROW, 1)
    expected = count(NARROW, NARROW.low[rows["output"]])
    for frame in ({"report": NARROW.low[rows["output"]]}, {"output": rows["output"]}):
        assert told(count(NARROW, ENGINES[engine](frame))) == [
            ((0,), expected.groups[0].outputs.tolist(), expected.groups[0].counts.tolist())
        ]


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_what_is_no_user_is_refused_or_counted(engine):
    """Two reports of user 1, one that is none, two rows without a user, one without a report."""
    rows = {"user": [1, 1, 2, None, None, 3, 4], "output": [0, 1, 9, 1, 0, 1, None]}
    frame = pl.DataFrame(rows, schema={"user": pl.Int64, "output": pl.Int64})
    lazy = frame.lazy() if engine == "polars" else duckdb.from_arrow(frame.to_arrow())
    with pytest.raises(InputError, match="got 5 of what is none, the first in row"):
        collect_lazily([Service("web", NARROW)], [lazy], key="user")
    account = SkippedRows()
    assert collect_lazily([Service("web", NARROW)], [lazy], key="user", skip_invalid=account).n_users == 1
    assert account.count == 5
    with pytest.raises(InputError, match=r"no output|no whole number"):
        count(NARROW, lazy)


POLARS = ENGINES["polars"]({"user": np.array([1]), "output": np.array([1]), "text": np.array(["x"])})


@pytest.mark.parametrize(
    ("services", "options", "says"),
    [
        ([("a", NARROW, POLARS)], {"key": "who"}, "column 'who' of 'a' must exist: the frame has 'user'"),
        ([("a", NARROW, POLARS)], {"column": "text"}, "must hold numbers, got type String"),
        ([("a", NARROW, POLARS.with_columns(output=pl.lit(1.0)))], {}, "must hold whole numbers, got type Float64"),
        ([("a", NARROW, POLARS.with_columns(output=pl.lit("1")))], {"key": "user"}, "must hold whole numbers"),
        ([("a", NARROW, POLARS)] * 1 + [("b", NARROW, POLARS)], {}, "must name the column of users"),
        ([("a", NARROW, POLARS), ("b", NARROW, rows_of(NARROW, 1))], {"key": "user"}, "all be frames that are not"),
        ([("a", NARROW, POLARS)], {"keep_first": True}, "keep_first is for reports that are read here"),
        (
            [("a", NARROW, POLARS), ("b", NARROW, POLARS.with_columns(user=pl.lit("1")))],
            {"key": "user"},
            "keys must have the same type in all frames, got Int64 for 'a' and String for 'b'",
        ),
        (
            [("a", NARROW, POLARS), ("b", NARROW, duckdb.sql("SELECT 1::BIGINT AS user, 1 AS output"))],
            {"key": "user"},
            "the engine of 'a' must answer",
        ),
        ([("a", WIDE, POLARS.rename({"text": "t"}).rename({"output": "report"}))], {}, "perturb --as index"),
    ],
)
def test_what_a_frame_cannot_be_asked(services, options, says):
    with pytest.raises(InputError, match=says) as caught:
        count(services, **options)
    assert "\n" not in str(caught.value)


def test_the_extra_is_named_where_narwhals_is_not_there(monkeypatch):
    real = builtins.__import__

    def hidden(name, *rest, **more):
        if name.split(".")[0] == "narwhals":
            raise ModuleNotFoundError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", hidden)
    with pytest.raises(InputError, match=r"optldp\[engines\]"):
        count(NARROW, POLARS)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_frames_that_name_different_rounds_are_joined_as_rounds_alone(engine):
    """As files of the same rows are; those that name one round, or none, are services."""
    both = [rows_of(WIDE, seed) for seed in (1, 2)]

    def frames(*rounds: str) -> list[tuple[str, TabulatedMechanism, Any]]:
        named = [frame | {"round": np.full(45, name)} for frame, name in zip(both, rounds, strict=False)]
        return [(f"s{j}", WIDE, ENGINES[engine](frame)) for j, frame in enumerate([*named, *both[len(named) :]])]

    with pytest.raises(
        InputError, match=r"got round 'June' of s1 and 'May' of s0|got round 'May' of s0 and 'June' of s1"
    ):
        count(frames("May", "June"), key="user")
    assert count(frames("May", "June"), key="user", rounds=True).rounds
    assert not count(frames("May", "May"), key="user").rounds
    assert not count(frames("May"), key="user").rounds
    both[1]["round"] = np.array(["May"] * 44 + [None], dtype=object)  # a row that names none is of any
    assert not count(frames("May"), key="user").rounds
