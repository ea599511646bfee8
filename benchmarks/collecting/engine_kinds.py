"""Each engine counts each kind of reports, beside the best query that it is asked by hand, all in one run.

    .ci/others/engines .venv/bin/python --only duckdb    # installs what is missing: pyspark, psycopg, Java, PostgreSQL
    python benchmarks collecting.engine_kinds --rows 1000000 --write docs/how-to/engines-frames.md

Of ROWS reports each, of bits a tenth, the same for all engines. SQL engines are asked what `count-sql` prints; frames
are given to `count`, or their own groups to `from_counts` where `count` takes no such frame. What an engine is asked by
hand refuses nothing and makes no counts of ours. Both take turns; the least of each stands, in processor seconds of all
processes, the server's or the cluster's among them. Every count of ours must be that of the reports as drawn.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from measured import Table
from optldp import AttributeSampling
from optldp.estimators import CategoryCounts, KeyValueCounts, ReportCounts, SupportCounts, count
from optldp.estimators.attributes import AttributeCounts
from optldp.estimators.engines import count_query
from optldp.mechanisms import duchi, make_exact, piecewise
from optldp.mechanisms.categorical import optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.files.identifier import table_identifier
from optldp.mechanisms.key_value import key_value_unary
from started.postgres import answer, load, server
from started.processor import processor
from started.spark import spark_session

TURNS, SEED, LONG_ENOUGH = 3, 1, 0.1
BITS = 199
POINT = make_exact(duchi([0.0, 1.0], 1.0)).mechanism
MADE: dict[str, Any] = {
    "numbers": make_exact(piecewise(np.linspace(0.0, 1.0, 9), 1.0)).mechanism,
    "categories, hashed": local_hashing([str(number) for number in range(BITS)], 1.0),
    "categories, unary": optimised_unary([str(number) for number in range(BITS)], 1.0),
    "pairs": key_value_unary(list("0123"), duchi([-1.0, 1.0], 0.5), 1.0),
    "attributes": AttributeSampling(["age", "pay"], [POINT, POINT], 1, 1.0),
}
RELATIONS = dict(zip(MADE, ("numbers", "hashed", "bits", "pairs", "attributes"), strict=True))
COUNTS: dict[str, Any] = {
    "numbers": ReportCounts,
    "categories, hashed": CategoryCounts,
    "categories, unary": SupportCounts,
    "pairs": KeyValueCounts,
    "attributes": AttributeCounts,
}
COLUMNS = {"numbers": ["output"], "attributes": ["age", "pay"]}
"""Columns of reports, where they are not the one called report."""

MARKS = "<!-- engines, by kind -->\n", "\n<!-- end of engines, by kind -->"

Ask = Callable[[str], pa.Table]
Frame = Callable[[str], Any]


@dataclass(frozen=True)
class Ways:
    """How an engine counts one kind: ours, whose result has the number of users, and its own."""

    ours: Callable[[], Any]
    own: Callable[[], object]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--kept", type=Path, help="file from which a run that was stopped goes on")
    parser.add_argument("--write", type=Path, help="a page with marks for the table")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # engines say what of pandas they have not seen yet
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        folder.chmod(0o711)  # PostgreSQL's user passes through
        expected = reports_in(folder, asked.rows)
        rows = json.loads(asked.kept.read_text()) if asked.kept and asked.kept.exists() else []
        for name in asked.only:
            done = {kind for engine, _, kind, *_ in rows if engine == name}
            if done >= set(MADE):
                continue
            with ENGINES[name](folder) as (told, ways):
                for kind in [kind for kind in MADE if kind not in done]:
                    rows.append((name, told, kind, *measured(ways[kind], kind, expected[kind])))
                    print(*rows[-1], flush=True)
                    if asked.kept:
                        asked.kept.write_text(json.dumps(rows))
    columns = {"engine": "", "reports": "", "own, s": ".3f", "counts, s": ".3f", "times its own": ".2f"}
    text = Table(columns, [row[1:] for row in rows], about(asked.rows)).markdown()
    print(text)
    if asked.write is not None:
        page = asked.write.read_text()
        start, stop = (page.index(mark) for mark in MARKS)
        asked.write.write_text(page[: start + len(MARKS[0])] + text + page[stop:])


def about(rows: int) -> str:
    said = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, check=True).stdout
    return (
        f"{rows:,} reports of each kind, {rows // 10:,} of bits of {BITS} categories; seed {SEED}, commit "
        f"{said.strip()}, {len(os.sched_getaffinity(0))} cores. Processor seconds of all processes, of each way the "
        f"least of {TURNS} turns."
    )


def measured(way: Ways, kind: str, expected: int) -> tuple[float, float, float]:
    """Return the least seconds of the engine's own query and of ours, and their ratio."""
    if (found := checked(kind, way.ours())) != expected:
        raise AssertionError(f"{kind}: counted {found}, drawn were {expected}")
    turns = [(seconds_of(way.own), seconds_of(way.ours)) for _ in range(TURNS)]
    own, ours = (min(seconds) for seconds in zip(*turns, strict=True))
    return own, ours, ours / own


def seconds_of(run: Callable[[], object]) -> float:
    """Processor seconds of a run: of as many as last long enough for the clock, whose ticks are hundredths."""
    started, runs = processor(), 0
    while (spent := processor() - started) < LONG_ENOUGH:
        run()
        runs += 1
    return spent / runs


def checked(kind: str, found: Any) -> int:
    """A number that is right only where the counts are: supports where there are bits, else the most frequent count."""
    if kind == "categories, unary":
        return int(found.supports @ np.arange(1, BITS + 1))
    if kind == "attributes":
        return int(found["age"].groups[0].counts[0])
    return int((found.groups[0].counts if kind == "numbers" else found.counts).max())


def reports_in(folder: Path, rows: int) -> dict[str, int]:
    """Write a Parquet file of each kind; return what `checked` is to say of its counts."""
    rng, found = np.random.default_rng(SEED), {}
    for kind, made in MADE.items():
        many = rows // 10 if kind == "categories, unary" else rows
        columns: dict[str, Any] = {}
        if kind == "numbers":
            columns["output"] = made.sample_index(rng.uniform(0, 1, many), rng)
            found[kind] = int(np.bincount(columns["output"]).max())
        elif kind == "attributes":
            drawn = made.drawn(rng.uniform(0, 1, (many, 2)), rng)
            for name, column in zip(COLUMNS[kind], drawn.T, strict=True):
                columns[name] = pa.array(column, mask=np.isnan(column))
            found[kind] = int((POINT.locate(drawn[:, 0]) == 0).sum())
        else:
            values: Any = rng.integers(0, BITS, many).astype(str)
            if kind == "pairs":
                values = (rng.integers(0, 4, many).astype(str), rng.uniform(-1, 1, many))
            reports = made.drawn(values, rng) if kind == "pairs" else made.sample(values, rng)
            texts = np.array(made.to_text(reports))
            columns["report"] = texts
            if kind == "categories, unary":
                found[kind] = int(SupportCounts.from_reports(made, reports).supports @ np.arange(1, BITS + 1))
            else:
                found[kind] = int(np.unique(texts, return_counts=True)[1].max())
        columns["table"] = np.full(many, table_identifier(made))
        pq.write_table(pa.table(columns), folder / f"{RELATIONS[kind]}.parquet")
    return found


def own_sums() -> str:
    """What an engine of SQL is asked by hand for sums of bits: one sum for each."""
    sums = []
    for bit in range(BITS):
        ones = ", ".join(f"'{digit}'" for digit in "0123456789abcdef" if int(digit, 16) & (8 >> bit % 4))
        sums.append(f"SUM(CASE WHEN SUBSTRING(report, {bit // 4 + 1}, 1) IN ({ones}) THEN 1 ELSE 0 END) AS b{bit}")
    return f"SELECT {', '.join(sums)} FROM bits"


def by_query(dialect: Any, ask: Ask) -> dict[str, Ways]:
    """The ways of an engine that is asked in SQL."""
    ways = {}
    for kind, made in MADE.items():
        named = ", ".join(COLUMNS.get(kind, ["report"]))
        own = f"SELECT {named}, COUNT(*) AS n FROM {RELATIONS[kind]} GROUP BY {named}"
        if kind == "attributes":
            ours: Callable[[], Any] = partial(of_attributes, partial(ask, own))
        else:
            query = count_query([made], [RELATIONS[kind]], dialect=dialect, column=named)
            ours = partial(from_answer, kind, partial(ask, query))
        ways[kind] = Ways(ours, partial(ask, own_sums() if kind == "categories, unary" else own))
    return ways


def from_answer(kind: str, ask: Callable[[], pa.Table]) -> Any:
    counts = COUNTS[kind]
    return (counts.from_sums if kind == "categories, unary" else counts.from_counts)(MADE[kind], ask())


def of_attributes(ask: Callable[[], pa.Table]) -> Any:
    """Counts of equal rows of numbers, whose outputs are looked up: there are few."""
    rows = {
        name: np.array(column.to_pylist(), dtype=float)
        for name, column in zip((*COLUMNS["attributes"], "n"), ask().columns, strict=True)
    }
    for name in COLUMNS["attributes"]:
        lacks = np.isnan(rows[name])
        rows[name] = np.where(lacks, np.nan, POINT.locate(np.where(lacks, POINT.high[0], rows[name])))
    return AttributeCounts.from_counts(MADE["attributes"], rows | {"n": rows["n"].astype(np.int64)})


def by_frame(
    frame: Frame, grouped: Callable[[Any, list[str]], Any], texts: Callable[[Any], list[str]], *, lazy: bool
) -> dict[str, Ways]:
    """The ways of an engine of frames.

    `grouped` returns the rows of equal reports with n, `texts` a column of text; a lazy frame of categories is counted
    whole, of others reports are read from their text.
    """
    ways = {}
    for kind, made in MADE.items():
        columns, relation = COLUMNS.get(kind, ["report"]), RELATIONS[kind]

        def own(relation: str = relation, columns: list[str] = columns) -> pa.Table:
            return grouped(frame(relation), columns)

        def counted(made: Any = made, relation: str = relation) -> Any:
            return count(made, frame(relation))

        def summed(relation: str = relation) -> np.ndarray:
            return bit_sums(texts(frame(relation)))

        def read(made: Any = made, relation: str = relation) -> Any:
            return SupportCounts.from_reports(made, made.from_text(texts(frame(relation))))

        def of_groups(kind: str = kind, own: Callable[[], pa.Table] = own) -> Any:
            return COUNTS[kind].from_counts(MADE[kind], own().rename_columns(["output", "n"]))

        if kind == "categories, unary":
            ways[kind] = Ways(counted if lazy else read, summed)
        elif kind == "attributes":
            ways[kind] = Ways(partial(of_attributes, own), own)
        elif kind == "numbers" or (lazy and kind == "categories, hashed"):
            ways[kind] = Ways(counted, own)
        else:
            ways[kind] = Ways(of_groups, own)
    return ways


def bit_sums(texts: list[str]) -> np.ndarray:
    """What numpy is asked by hand for sums of bits."""
    held = np.frombuffer(bytes.fromhex("".join(texts)), dtype=np.uint8).reshape(len(texts), -1)
    return np.unpackbits(held, axis=1)[:, :BITS].sum(axis=0)


@contextmanager
def duckdb(folder: Path) -> Iterator[tuple[str, dict[str, Ways]]]:
    import duckdb

    with duckdb.connect() as connection:
        for name in RELATIONS.values():
            connection.read_parquet(str(folder / f"{name}.parquet")).create_view(name)
        yield f"DuckDB {version('duckdb')}", by_query("duckdb", lambda query: connection.sql(query).to_arrow_table())


@contextmanager
def polars(folder: Path) -> Iterator[tuple[str, dict[str, Ways]]]:
    import polars as pl

    def grouped(frame: Any, columns: list[str]) -> pa.Table:
        return frame.group_by(columns).agg(pl.len().alias("n")).collect().to_arrow()

    def texts(frame: Any) -> list[str]:
        return frame.select("report").collect()["report"].to_list()

    def scanned(name: str) -> Any:
        return pl.scan_parquet(folder / f"{name}.parquet")

    yield f"Polars {version('polars')}, lazy", by_frame(scanned, grouped, texts, lazy=True)


@contextmanager
def pandas(folder: Path) -> Iterator[tuple[str, dict[str, Ways]]]:
    import pandas as pd

    def grouped(frame: Any, columns: list[str]) -> pa.Table:
        return pa.Table.from_pandas(
            frame.groupby(columns, dropna=False).size().reset_index(name="n"), preserve_index=False
        )

    held = {name: pd.read_parquet(folder / f"{name}.parquet") for name in RELATIONS.values()}
    yield (
        f"pandas {version('pandas')}",
        by_frame(held.__getitem__, grouped, lambda frame: frame["report"].tolist(), lazy=False),
    )


@contextmanager
def pyarrow(folder: Path) -> Iterator[tuple[str, dict[str, Ways]]]:
    def grouped(frame: Any, columns: list[str]) -> pa.Table:
        return frame.group_by(columns).aggregate([([], "count_all")])

    held = {name: pq.read_table(folder / f"{name}.parquet") for name in RELATIONS.values()}
    told = f"PyArrow {version('pyarrow')}"
    yield told, by_frame(held.__getitem__, grouped, lambda frame: frame["report"].to_pylist(), lazy=False)


@contextmanager
def dask(folder: Path) -> Iterator[tuple[str, dict[str, Ways]]]:
    from dask import dataframe

    def grouped(frame: Any, columns: list[str]) -> pa.Table:
        rows = frame.groupby(columns, dropna=False).size().compute().reset_index(name="n")
        return pa.Table.from_pandas(rows, preserve_index=False)

    def texts(frame: Any) -> list[str]:
        return frame["report"].compute().tolist()

    def read(name: str) -> Any:
        return dataframe.read_parquet(folder / f"{name}.parquet")

    yield f"Dask {version('dask')}, threads", by_frame(read, grouped, texts, lazy=True)


@contextmanager
def postgres(folder: Path) -> Iterator[tuple[str, dict[str, Ways]]]:
    import psycopg  # pyright: ignore[reportMissingImports] -- `.ci/others/engines` installs it

    with server(folder / "postgres") as socket, psycopg.connect(host=socket, user="postgres") as connection:
        (told,) = connection.execute("SELECT version()").fetchone() or ("",)
        for name in RELATIONS.values():
            load(connection, name, pq.read_table(folder / f"{name}.parquet"))
        connection.commit()
        yield told.partition(" (")[0].partition(" on ")[0], by_query("postgres", partial(answer, connection))


@contextmanager
def spark(folder: Path) -> Iterator[tuple[str, dict[str, Ways]]]:
    with spark_session("local[2]") as session:
        for name in RELATIONS.values():
            session.read.parquet(str(folder / f"{name}.parquet")).createOrReplaceTempView(name)
        yield f"Spark {version('pyspark')}, local", by_query("spark", lambda query: session.sql(query).toArrow())


ENGINES = {
    "duckdb": duckdb,
    "polars": polars,
    "pandas": pandas,
    "pyarrow": pyarrow,
    "dask": dask,
    "postgres": postgres,
    "spark": spark,
}

if __name__ == "__main__":
    sys.exit(main())
