"""Counting reports where they lie, beside what the engine itself asks for the same.

    python benchmarks collecting.engines --write docs/how-to/engines-frames.md

Parquet files are made on the spot: ROWS indexed reports of one service (100 million, a file of 63 MB; a billion by
`--rows 1000000000`), and three services with USERS each (`--users 10000000` for ten millions), in orders of their own,
matched by keys of three kinds. The tables of services are written into the page.
Every way of counting is a process of its own; all ways take turns, and of each the turn of least processor seconds, of
all its cores, stands. The engine's own query is as short as its language lets it be: it refuses nothing.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import duckdb
import numpy as np
from measured import Table
from optldp.estimators.engines import count_query
from optldp.mechanisms import make_exact, piecewise, save_table

TURNS = 3
SERVICES = ("a", "b", "c")
KEYS = {
    "numbers": '"user"',
    "hashes": 'CAST(hash("user") >> 1 AS BIGINT)',
    "texts": "'user ' || CAST(hash(\"user\") AS VARCHAR)",
}
"""What users are called, by SQL of their numbers from 0."""
MARKS = "<!-- engines, services -->\n", "\n<!-- end of engines, services -->"
TABLE = make_exact(piecewise(np.linspace(0.0, 1.0, 9), 1.0)).mechanism

BEFORE = """
import json, resource, sys, time
import duckdb, narwhals, polars
import optldp.estimators.counting.collect, optldp.estimators.engines.lazy
from optldp.estimators import count
from optldp.mechanisms import load_table
duckdb.execute("SET enable_progress_bar = false")
table = load_table("table.npz")
elapsed, processor = time.perf_counter(), time.process_time()
"""
AFTER = """
took = time.process_time() - processor, time.perf_counter() - elapsed
print(json.dumps([*took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3, users]))
"""

DUCKDB = "users = sum(row[-1] for row in duckdb.sql({query!r}).fetchall())"
COUNT = "users = count({what}).n_users"
GROUPED = "SELECT output, count(*) AS n FROM 'index.parquet' GROUP BY output"
POLARS = "polars.scan_parquet('index.parquet')"
LENGTHS = "users = {frame}.group_by('output').len().collect()['len'].sum()"
BRANCHES = "[(name, table, {frame}) for name in 'abc']"
JOINED = "SELECT a.output, b.output, c.output, count(*) AS n FROM 'a.parquet' a {b} {c} GROUP BY ALL"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--users", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--write", type=Path, help="a page with marks for the table of services")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        save_table(TABLE, folder / "table.npz")
        if asked.rows:
            print(_one_service(folder, asked.rows, asked.turns).markdown(), flush=True)
        if asked.users:
            tables = {kind: _three_services(folder, kind, asked.users, asked.turns) for kind in KEYS}
            for table in tables.values():
                print("\n" + table.markdown(), flush=True)
            text = _beside(tables, asked.users, asked.turns).markdown()
            print("\n" + text)
            if asked.write is not None:
                page = asked.write.read_text()
                start, stop = (page.index(mark) for mark in MARKS)
                asked.write.write_text(page[: start + len(MARKS[0])] + text + page[stop:])


def _beside(tables: Mapping[str, Table], users: int, turns: int) -> Table:
    """What each way takes, as times the full join, by the kind of keys."""
    said = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, check=True).stdout
    about = (
        f"Three services of {users:,} users each; commit {said.strip()}, {len(os.sched_getaffinity(0))} cores. "
        f"Processor seconds as times those of the engine's own FULL JOIN, of each way the least of {turns} turns."
    )
    ways = zip(*(table.rows for table in tables.values()), strict=True)
    rows = [(each[0][0], *(way[-1] for way in each)) for each in ways]
    return Table({"way": "", **{f"keys of {kind}": ".2f" for kind in tables}}, rows, about)


def _one_service(folder: Path, rows: int, turns: int) -> Table:
    with duckdb.connect() as connection:
        reports = f"SELECT CAST(hash(range) % {TABLE.low.size} AS BIGINT) AS output FROM range({rows})"
        connection.execute(f"COPY ({reports}) TO '{folder / 'index.parquet'}'")
    ways = {
        "duckdb's GROUP BY": DUCKDB.format(query=GROUPED),
        "count of the file": COUNT.format(what="table, 'index.parquet'"),
        "count of duckdb's relation": COUNT.format(what="table, duckdb.read_parquet('index.parquet')"),
        "polars' group_by": LENGTHS.format(frame=POLARS),
        "count of polars' lazy frame": COUNT.format(what=f"table, {POLARS}"),
    }
    beside = {name: "polars' group_by" if "polars" in name else "duckdb's GROUP BY" for name in ways}
    return _measured(folder, f"{rows:.0e} indexed reports", ways, beside, rows, turns)


def _three_services(folder: Path, kind: str, users: int, turns: int) -> Table:
    rng = np.random.default_rng(1)
    with duckdb.connect() as connection:
        for name in SERVICES:
            connection.register("rows", {"user": rng.permutation(users), "output": rng.integers(0, 17, users)})
            keyed = f"SELECT {KEYS[kind]} AS user, output FROM rows"
            connection.execute(f"COPY ({keyed}) TO '{folder / name}.parquet'")
    files = [f"{name}.parquet" for name in SERVICES]
    printed = count_query([TABLE] * 3, SERVICES, key="user", table=False)
    for name, file in zip(SERVICES, files, strict=True):
        printed = printed.replace(f'FROM "{name}"', f"FROM '{file}'")
    joins = {name: f"JOIN '{name}.parquet' {name} USING (user)" for name in "bc"}
    relation = BRANCHES.format(frame="duckdb.read_parquet(f'{name}.parquet')")
    ways = {
        "duckdb's JOIN, GROUP BY": DUCKDB.format(query=JOINED.format(**joins)),
        "duckdb's FULL JOIN, GROUP BY": DUCKDB.format(
            query=JOINED.format(**{name: f"FULL {join}" for name, join in joins.items()})
        ),
        "duckdb, the query of count-sql": DUCKDB.format(query=printed),
        "count of the files": COUNT.format(what=BRANCHES.format(frame="f'{name}.parquet'") + ", key='user'"),
        "count of duckdb's relations": COUNT.format(what=f"{relation}, key='user'"),
    }
    beside = dict.fromkeys(ways, "duckdb's FULL JOIN, GROUP BY")
    return _measured(folder, f"three services, {users:.0e} users each, keys of {kind}", ways, beside, users, turns)


def _measured(folder: Path, what: str, ways: dict[str, str], beside: dict[str, str], users: int, turns: int) -> Table:
    took: dict[str, list[list[float]]] = {name: [] for name in ways}
    for _ in range(turns):
        for name, way in ways.items():
            command = [sys.executable, "-c", f"{BEFORE}{way}{AFTER}"]
            environment = os.environ | {"OMP_NUM_THREADS": "1"}
            ran = subprocess.run(command, check=True, capture_output=True, cwd=folder, env=environment)
            *numbers, counted = json.loads(ran.stdout)
            if counted != users:
                raise AssertionError(f"{name}: counted {counted} of {users}")
            took[name].append(numbers)
    least = {name: min(turns) for name, turns in took.items()}
    peaks = {name: max(peak for _, _, peak in turns) for name, turns in took.items()}
    rows = [
        (name, processor, elapsed, peaks[name], least[beside[name]][0] / processor, processor / least[beside[name]][0])
        for name, (processor, elapsed, _) in least.items()
    ]
    columns = {what: "", "processor, s": ".2f", "elapsed, s": ".1f", "peak memory, MB": ".0f"}
    return Table(columns | {"speed beside the engine's own": ".2f", "time": ".2f"}, rows)


if __name__ == "__main__":
    main()
