"""Engines for real: the same counts from all, bit for bit, and reports that a killed worker's retry does not change.

`.ci/engines PYTHON` installs what is missing and starts this; `--only spark` and so on choose. An engine that cannot be
started is named, and fails the run.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from optldp.estimators import CategoryCounts, KeyValueCounts, ReportCounts, Service, SupportCounts, count
from optldp.estimators.days import load_days
from optldp.estimators.engines import count_query, output_cells, perturb_partition
from optldp.estimators.engines.daily import Daily
from optldp.estimators.reading.columns import SkippedRows
from optldp.mechanisms import InputError, duchi, make_exact, piecewise
from optldp.mechanisms.categorical import optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.files.identifier import table_identifier
from optldp.mechanisms.key_value import key_value_unary
from optldp.mechanisms.pseudorandom import KeyedReports, new_secret, read_secret

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from started.postgres import answer, load, server
from started.spark import spark_session

NARROW = make_exact(duchi([0.0, 1.0], 2.0)).mechanism
WIDE = make_exact(piecewise([0.0, 0.3, 1.0], 1.0)).mechanism
BROAD = make_exact(piecewise(np.linspace(0, 1, 129), 1.0)).mechanism
CASES = {"one": [WIDE], "three": [WIDE, NARROW, WIDE], "many": [BROAD] * 8}
"""Tables of the services; the last take 9 bits each, so that their codes go on in a second column."""

UNARY = optimised_unary([str(number) for number in range(199)], 1.0)
HASHED = local_hashing([str(number) for number in range(199)], 1.0)
PAIRS = key_value_unary(list("0123"), duchi([-1.0, 1.0], 0.5), 1.0)

KIND_ROWS, MONTH = 20_000, "2026-05"

USERS = {"one": 40_000, "three": 20_000, "many": 2_000}
WRITTEN = {"user": "string", "output": "int64", "table": "string"}
BATCH = 500
"""Rows that a task of Spark draws at a time, so that it can be killed between two of them."""

Ask = Callable[[str, dict[str, Path]], pa.Table]
"""A query and the Parquet files of its relations, to the answer."""

Lazily = Callable[[str, Path], Any]
"""The name of a relation and its Parquet file, to a frame that is not read yet."""


class Checks:
    """What was held, and what was not."""

    def __init__(self) -> None:
        self.passed, self.failed = 0, 0

    def that(self, claim: str, check: Callable[[], object]) -> None:
        """Run a check, which says False or raises where the claim is wrong."""
        started = time.perf_counter()
        try:
            held = check() is not False
        except Exception:
            traceback.print_exc()
            held = False
        self.passed, self.failed = self.passed + held, self.failed + (not held)
        print(f"{'holds' if held else 'FAILS'}  {claim} ({time.perf_counter() - started:.0f} s)", flush=True)


class Data:
    """Parquet files that all engines read, and what is to come out of them."""

    def __init__(self, folder: Path) -> None:
        rng = np.random.default_rng(1)
        self.folder = folder
        self.files: dict[str, dict[str, Path]] = {}
        self.expected: dict[str, list[Any]] = {}
        for case, tables in CASES.items():
            outputs = np.full((USERS[case], len(tables)), -1)
            for j, table in enumerate(tables):
                told = rng.random(USERS[case]) < (1.0 if case == "one" else 0.8)
                outputs[told, j] = table.sample_index(rng.uniform(0, 1, told.sum()), rng)
                users = rng.permutation(np.flatnonzero(told))
                named = {"table": np.full(users.size, table_identifier(table))}
                self._write(case, f"{case}_{j}", {"account": users + 10**12, "output": outputs[users, j]} | named)
            self.expected[case] = told_of(ReportCounts.from_outputs(services_of(tables), outputs))
        twice = {"account": np.arange(100) % 99, "output": np.zeros(100, dtype=np.int64)}
        self._write("twice", "twice", twice | {"table": np.full(100, table_identifier(NARROW))})
        foreign = {"account": np.arange(100), "output": np.zeros(100, dtype=np.int64)}
        self._write("foreign", "foreign", foreign | {"table": np.full(100, table_identifier(WIDE))})
        self._write("text", "text", {"account": np.arange(9), "output": np.array(list("010101010"))})
        reports = WIDE.sample(rng.uniform(0, 1, 5_000), rng)
        self.reports = np.concatenate([reports, [WIDE.high.max() + 1, WIDE.low.min() - 1, 1e9]])
        named = {"table": np.full(self.reports.size, table_identifier(WIDE))}
        self._write("cells", "reports", {"report": self.reports} | named)
        self._write("cells", "cells", output_cells(WIDE))
        self._write_kinds(rng)
        self.people = folder / "people.parquet"
        names = np.array([f"user {i}" for i in range(6_000)])
        pq.write_table(pa.table({"account": names, "income": rng.uniform(0, 1, names.size)}), self.people)
        self.secret = folder / "secret"
        self.secret.touch(mode=0o600)
        self.secret.write_bytes(new_secret())
        values = pq.read_table(self.people)["income"].to_numpy()
        drawn = KeyedReports(WIDE, read_secret(self.secret), column="income").sample_index(names, values)
        self.drawn = dict(zip(names.tolist(), drawn.tolist(), strict=True))

    def _write_kinds(self, rng: np.random.Generator) -> None:
        """Reports of categories and pairs, and of days, of which a tenth comes twice."""
        jobs = rng.integers(0, len(UNARY.categories), KIND_ROWS).astype(str)
        reports = UNARY.sample(jobs, rng)
        self.supports = SupportCounts.from_reports(UNARY, reports).supports
        self.most = {}
        pairs = PAIRS.drawn((rng.integers(0, 4, KIND_ROWS).astype(str), rng.uniform(-1, 1, KIND_ROWS)), rng)
        drawn = {"hashed": (HASHED, HASHED.sample(jobs, rng)), "pairs": (PAIRS, pairs), "unary": (UNARY, reports)}
        for name, (made, some) in drawn.items():
            texts = np.array(made.to_text(some))
            self.most[name] = int(np.unique(texts, return_counts=True)[1].max())
            self._write("kinds", name, {"report": texts, "table": np.full(KIND_ROWS, table_identifier(made))})
        outputs = WIDE.sample_index(rng.uniform(0, 1, KIND_ROWS), rng)
        numbers = rng.integers(24, 31, KIND_ROWS)
        order = np.concatenate([rng.permutation(KIND_ROWS), rng.permutation(KIND_ROWS)[: KIND_ROWS // 10]])
        columns = {
            "report": outputs,
            "day": np.array([f"{MONTH}-{number:02d}" for number in numbers]),
            "report_id": np.array([f"{number:032x}" for number in range(KIND_ROWS)]),
            "table": np.full(KIND_ROWS, table_identifier(WIDE)),
        }
        self._write("kinds", "days", {name: column[order] for name, column in columns.items()})
        self.days = {day: int((numbers == day).sum()) for day in range(27, 31)}

    def _write(self, case: str, name: str, columns: dict[str, np.ndarray]) -> None:
        self.files.setdefault(case, {})[name] = self.folder / f"{name}.parquet"
        pq.write_table(pa.table(columns), self.folder / f"{name}.parquet", row_group_size=5_000)

    def task(self) -> Callable[[Any], Any]:
        return partial(perturb_partition, mechanism=WIDE, secret=str(self.secret), column="income", key="account")

    def are_drawn(self, frame: Any) -> bool:
        """Whether a frame has each person's report, once."""
        users, outputs = frame["account"].to_pylist(), frame["output"].to_pylist()
        return len(users) == len(self.drawn) and dict(zip(users, outputs, strict=True)) == self.drawn


def services_of(tables: Sequence[Any]) -> list[Service]:
    return [Service(f"s{j}", table) for j, table in enumerate(tables)]


def told_of(counts: ReportCounts) -> list[Any]:
    return [(group.services, group.outputs.tolist(), group.counts.tolist()) for group in counts.groups]


def refused(ask: Callable[[], object], says: str) -> bool:
    """Whether one line says this."""
    try:
        ask()
    except InputError as error:
        if says in str(error) and "\n" not in str(error):
            return True
        print(error)
    return False


def check_queries(checks: Checks, engine: str, dialect: Any, data: Data, ask: Ask) -> None:
    """What count-sql prints in the dialect, asked of the engine."""

    def answered(case: str) -> bool:
        tables, files = CASES[case], data.files[case]
        query = count_query(tables, list(files), dialect=dialect, key=None if case == "one" else "account")
        counts = ReportCounts.from_counts(services_of(tables), ask(query, files))
        return told_of(counts) == data.expected[case]

    def joined() -> bool:
        query = count_query([WIDE], ["reports"], dialect=dialect, column="report", cells="cells")
        account = SkippedRows()
        counts = ReportCounts.from_counts(WIDE, ask(query, data.files["cells"]), skip_invalid=account)
        located = WIDE.locate(data.reports)
        expected = np.unique(located[located >= 0], return_counts=True)
        (group,) = counts.groups
        same = np.array_equal(group.outputs[:, 0], expected[0]) and np.array_equal(group.counts, expected[1])
        return same and account.count == (located < 0).sum() == 3

    for case, tables in CASES.items():
        checks.that(f"{engine}: count-sql --dialect {dialect}, services: {len(tables)}", partial(answered, case))
    checks.that(f"{engine}: cells joined; reports that no cell holds are counted", joined)
    twice = count_query([NARROW], ["twice"], dialect=dialect, key="account")
    checks.that(
        f"{engine}: users with several reports are refused in one line",
        lambda: refused(
            lambda: ReportCounts.from_counts(NARROW, ask(twice, data.files["twice"])), "users with several reports"
        ),
    )
    foreign = count_query([NARROW], ["foreign"], dialect=dialect, key="account")
    checks.that(
        f"{engine}: reports of another table are refused in one line",
        lambda: refused(
            lambda: ReportCounts.from_counts(NARROW, ask(foreign, data.files["foreign"])), table_identifier(WIDE)
        ),
    )


def _least(run: Callable[[], object]) -> float:
    """Seconds of the quickest of three runs."""
    seconds = []
    for _ in range(3):
        started = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def _own_sums() -> str:
    """What an engine is asked by hand for sums of bits: one sum for each."""
    sums = []
    for bit in range(len(UNARY.categories)):
        ones = ", ".join(f"'{digit}'" for digit in "0123456789abcdef" if int(digit, 16) & (8 >> bit % 4))
        sums.append(f"SUM(CASE WHEN SUBSTRING(report, {bit // 4 + 1}, 1) IN ({ones}) THEN 1 ELSE 0 END) AS b{bit}")
    return f"SELECT {', '.join(sums)} FROM {{}}"


OWN = {
    "": "SELECT report, COUNT(*) AS n FROM {} GROUP BY report",
    "unary": _own_sums(),
    "days": "SELECT day, report, COUNT(DISTINCT report_id) AS n FROM {} GROUP BY day, report",
}
"""What people would ask an engine without us, by the relation."""


def check_kinds(checks: Checks, engine: str, dialect: Any, data: Data, ask: Ask) -> None:
    """Categories, pairs and days, with the seconds that the engine takes beside those of its own plain query."""

    def bits() -> bool:
        found = SupportCounts.from_sums(UNARY, asked([UNARY], "unary", "report"))
        return np.array_equal(found.supports, data.supports) and found.n_users == KIND_ROWS

    def whole(made: Any, name: str, counts: Any) -> bool:
        found = counts.from_counts(made, asked([made], name, "report"))
        return found.n_users == KIND_ROWS and int(found.counts.max()) == data.most[name]

    def asked(tables: Sequence[Any], name: str, column: str, **options: Any) -> pa.Table:
        query, files = count_query(tables, [name], dialect=dialect, column=column, **options), data.files["kinds"]
        answer = ask(query, files)
        seconds = [_least(partial(ask, asked_for, files)) for asked_for in (query, OWN.get(name, OWN[""]).format(name))]
        print(f"       {seconds[0]:.3f} s, {seconds[0] / seconds[1]:.2f} times the engine's own")
        return answer

    def days() -> bool:
        daily = Daily(late=3, min_batch=1, today=f"{MONTH}-30")
        path = data.folder / f"days-{engine.replace(' ', '-')}.parquet"
        pq.write_table(asked([WIDE], "days", "report", daily=daily), path)
        found = load_days([path])
        name = table_identifier(WIDE)
        told = {day.day: found.number(name, "counted", day=day) for day in found.dates(name)}
        return told == data.days

    checks.that(f"{engine}: bits of {len(UNARY.categories)} categories, a row per bit", bits)
    checks.that(f"{engine}: hashed categories", partial(whole, HASHED, "hashed", CategoryCounts))
    checks.that(f"{engine}: pairs", partial(whole, PAIRS, "pairs", KeyValueCounts))
    checks.that(f"{engine}: open days, each report once", days)


def check_frames(checks: Checks, engine: str, data: Data, lazily: Lazily) -> None:
    """`count` of frames that are not read yet."""

    def counted(case: str) -> bool:
        frames = [lazily(name, path) for name, path in data.files[case].items()]
        named = [(f"s{j}", table, frame) for j, (table, frame) in enumerate(zip(CASES[case], frames, strict=True))]
        return told_of(count(named, key=None if case == "one" else "account")) == data.expected[case]

    def of(name: str) -> Any:
        return lazily(name, data.files[name][name])

    for case, tables in CASES.items():
        checks.that(f"{engine}: count of lazy frames, services: {len(tables)}", partial(counted, case))
    checks.that(
        f"{engine}: users with several reports are refused in one line",
        lambda: refused(lambda: count([("web", NARROW, of("twice"))], key="account"), "users with several reports"),
    )
    checks.that(
        f"{engine}: a column of text is refused in one line",
        lambda: refused(lambda: count(NARROW, of("text")), "must hold whole numbers, got type String"),
    )


def embedded(checks: Checks, data: Data) -> None:
    """The engine that comes with optldp, by files, queries and relations; Arrow's batches are perturbed one by one."""
    print(f"duckdb {version('duckdb')}")
    connection = duckdb.connect()

    def ask(query: str, files: dict[str, Path]) -> pa.Table:
        for name, path in files.items():
            connection.read_parquet(str(path)).create_view(name, replace=True)
        return connection.sql(query).to_arrow_table()

    for case, tables in CASES.items():
        named = [(f"s{j}", t, path) for j, (t, path) in enumerate(zip(tables, data.files[case].values(), strict=True))]
        checks.that(
            f"files: count, services: {len(tables)}",
            lambda named=named, case=case: (
                told_of(count(named, key=None if case == "one" else "account")) == data.expected[case]
            ),
        )
    check_queries(checks, "duckdb", "duckdb", data, ask)
    check_kinds(checks, "duckdb", "duckdb", data, ask)
    check_frames(checks, "duckdb", data, lambda name, path: connection.read_parquet(str(path)))
    reader = connection.read_parquet(str(data.people)).to_arrow_reader(BATCH)
    checks.that(
        "duckdb: perturb_partition of a reader of batches",
        lambda: data.are_drawn(pa.Table.from_batches(data.task()(reader))),
    )


def polars(checks: Checks, data: Data) -> None:
    print(f"polars {version('polars')}")
    check_frames(checks, "polars", data, lambda name, path: pl.scan_parquet(path))
    schema = {"account": pl.String, "output": pl.Int64, "table": pl.String}
    drawn = pl.scan_parquet(data.people).map_batches(data.task(), schema=schema)
    checks.that("polars: perturb_partition by map_batches", lambda: data.are_drawn(drawn.collect().to_arrow()))


def dask(checks: Checks, data: Data) -> None:
    """A cluster of two worker processes, one of which dies after it has drawn."""
    import pandas as pd
    from dask import dataframe
    from distributed import Client, LocalCluster

    print(f"dask, distributed {version('distributed')}: two workers")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(host="127.0.0.1", **options) as cluster, Client(cluster):
        check_frames(checks, "dask", data, lambda name, path: dataframe.read_parquet(path, split_row_groups=1))
        task, folder = data.task(), data.folder / "dask"
        folder.mkdir()

        def dying(part: Any) -> Any:
            drawn = task(part)
            if len(part) and part["account"].iloc[0] == "user 0":
                attempt = len(list(folder.iterdir()))
                drawn.to_pickle(folder / f"attempt-{attempt}")
                if attempt == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
            return drawn

        def survived() -> bool:
            people = dataframe.from_pandas(pd.read_parquet(data.people), npartitions=6)
            kinds = {"account": "str", "output": "int64", "table": "str"}
            meta = pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in kinds.items()})
            drawn = people.map_partitions(dying, meta=meta).compute()
            attempts = [pd.read_pickle(path) for path in sorted(folder.iterdir())]
            print(f"       attempts at the first part: {len(attempts)}")
            alike = len(attempts) > 1 and all(attempts[0].equals(each) for each in attempts)
            return alike and data.are_drawn(pa.Table.from_pandas(drawn, preserve_index=False))

        checks.that("dask: map_partitions, a worker killed in the middle: the same reports", survived)


def spark(checks: Checks, data: Data) -> None:
    """A cluster of two workers, each a JVM; one of their executors is killed between two batches of its task."""
    java = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr.splitlines()[0]
    print(f"pyspark {version('pyspark')}, {java}: two workers of one core")
    with cluster_of(2) as session:

        def frame(name: str, path: Path) -> Any:
            return session.read.parquet(str(path))

        def ask(query: str, files: dict[str, Path]) -> pa.Table:
            for name, path in files.items():
                frame(name, path).createOrReplaceTempView(name)
            return session.sql(query).toArrow()

        check_queries(checks, "spark", "spark", data, ask)
        check_kinds(checks, "spark", "spark", data, ask)
        check_frames(checks, "spark", data, frame)
        killed_between_batches(checks, data, frame("people", data.people))


def killed_between_batches(checks: Checks, data: Data, people: Any) -> None:
    """An executor dies, once, when its task has drawn two batches; what another draws then is the same."""
    folder, task = data.folder / "spark", data.task()
    folder.mkdir()

    def dying(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        part, attempt = context.partitionId(), context.taskAttemptId()
        for i, batch in enumerate(task(batches)):
            pq.write_table(pa.Table.from_batches([batch]), folder / f"{part}-{attempt}-{i}")
            yield batch
            if part == 0 and i == 1 and not (folder / "killed").exists():
                (folder / "killed").write_text(f"{part}-{attempt}-*")
                os.kill(executor(), signal.SIGKILL)
                os.kill(os.getpid(), signal.SIGKILL)  # it would draw on until it notices

    def survived() -> bool:
        drawn = people.repartition(2).mapInArrow(dying, "account string, output long, `table` string").toArrow()
        before = set(folder.glob((folder / "killed").read_text()))
        after = set(folder.glob("0-*")) - before
        print(f"       batches of the first part before the kill: {len(before)}, after it: {len(after)}")
        rows = [row for path in before | after for row in zip(*pq.read_table(path).to_pydict().values(), strict=True)]
        alike = all(data.drawn[user] == output for user, output in rows)
        return alike and len(before) == 2 and len(after) > 2 and data.are_drawn(drawn)

    checks.that("spark: mapInArrow, an executor killed in the middle: the same reports", survived)


def cluster_of(workers: int) -> AbstractContextManager[Any]:
    """Spark on so many workers of one core, which draws so few rows at a time that it can be killed between two."""
    batch = {"spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH)}
    return spark_session(f"local-cluster[{workers},1,1024]", **batch)


def executor() -> int:
    """The process of the JVM that the task's Python works for."""
    pid = os.getpid()
    while Path(f"/proc/{pid}/comm").read_text().strip() != "java":
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return pid


def postgres(checks: Checks, data: Data) -> None:
    """A server of its own on a socket in the folder; Ibis wraps its tables."""
    import ibis
    import psycopg

    with server(data.folder / "postgres") as socket, psycopg.connect(host=socket, user="postgres") as connection:
        (told,) = connection.execute("SELECT version()").fetchone() or ("",)
        print(f"{told.partition(' on ')[0]}, psycopg {version('psycopg')}, ibis {version('ibis-framework')}")
        for files in data.files.values():
            for name, path in files.items():
                load(connection, name, pq.read_table(path))
        connection.commit()

        def ask(query: str, files: dict[str, Path]) -> pa.Table:
            return answer(connection, query)

        check_queries(checks, "postgres", "postgres", data, ask)
        check_kinds(checks, "postgres", "postgres", data, ask)
        held = ibis.postgres.connect(host=socket, user="postgres", database="postgres")
        check_frames(checks, "postgres by ibis", data, lambda name, path: held.table(name))
        held.disconnect()


def scaling() -> None:
    """Spark's counting on one worker and on two, where two have a core each and the driver and the system theirs."""
    if (cores := len(os.sched_getaffinity(0))) < 4:
        print(f"spark on two workers and on one: not measured, {cores} cores are there and 4 are needed")
        return
    seconds = {}
    for workers in (1, 2):
        with cluster_of(workers) as session:
            took = []
            for _ in range(4):
                started = time.perf_counter()
                rows = session.range(400_000_000, numPartitions=8).selectExpr("id % 17 AS output")
                rows.groupBy("output").count().collect()
                took.append(time.perf_counter() - started)
            seconds[workers] = min(took[1:])
    print(f"spark on two workers: {seconds[1] / seconds[2]:.2f} times as fast as on one")


ENGINES = {"duckdb": embedded, "polars": polars, "dask": dask, "postgres": postgres, "spark": spark}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=ENGINES, default=list(ENGINES), help="all by default")
    chosen = parser.parse_args().only
    warnings.simplefilter("ignore")  # engines say what of pandas they have not seen yet
    checks = Checks()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        folder.chmod(0o711)  # PostgreSQL's user passes through
        data = Data(folder)
        for name in chosen:
            print(f"== {name}", flush=True)
            checks.that(f"{name} was started and asked", partial(ENGINES[name], checks, data))
    if "spark" in chosen:
        scaling()
    print(f"{checks.passed} passed, {checks.failed} failed")
    sys.exit(1 if checks.failed else 0)


if __name__ == "__main__":
    main()
