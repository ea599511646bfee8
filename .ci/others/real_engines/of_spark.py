"""Spark, on a cluster of two workers, each a JVM."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from started.spark import spark_session

from .checks import Checks
from .data import Data
from .frames import check_frames
from .kinds import check_kinds
from .queries import check_queries

BATCH = 500
"""Rows that a task of Spark draws at a time, so that it can be killed between two of them."""


def check(checks: Checks, data: Data) -> None:
    """One of the workers' executors is killed between two batches of its task."""
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
