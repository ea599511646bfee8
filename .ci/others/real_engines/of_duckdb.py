"""DuckDB, the engine that comes with optldp, by files, queries and relations."""

from importlib.metadata import version
from pathlib import Path

import duckdb
import pyarrow as pa
from optldp.estimators import count

from .checks import Checks
from .data import CASES, Data, told_of
from .frames import check_frames
from .kinds import check_kinds
from .queries import check_queries


def check(checks: Checks, data: Data) -> None:
    """Its answers are those of the files; Arrow's batches are perturbed one by one."""
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
    reader = connection.read_parquet(str(data.people)).to_arrow_reader(500)
    checks.that(
        "duckdb: perturb_partition of a reader of batches",
        lambda: data.are_drawn(pa.Table.from_batches(data.task()(reader))),
    )
