"""A PostgreSQL server of its own, on a socket in a folder."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

KINDS = {"int64": "bigint", "double": "double precision", "string": "text"}


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """Yield the socket's folder of a server, which does not run as root."""
    found = [shutil.which("initdb"), *sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin/initdb")), reverse=True)]
    programs = Path(next(path for path in found if path)).resolve().parent
    other: dict[str, Any] = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
    folder.mkdir()
    if other:
        shutil.chown(folder, **other)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    made = [programs / "initdb", "-D", folder / "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale"]
    subprocess.run(made, check=True, **quiet, **other)
    chosen = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={folder}", "-c", "fsync=off"]
    running = subprocess.Popen([programs / "postgres", "-D", folder / "data", *chosen], **quiet, **other)
    try:
        ready = [programs / "pg_isready", "-h", folder, "-q"]
        for _ in range(300):
            if subprocess.run(ready, check=False).returncode == 0:
                break
            time.sleep(0.2)
        yield str(folder)
    finally:
        running.send_signal(signal.SIGINT)
        running.wait(60)


def load(connection: Any, name: str, table: pa.Table) -> None:
    """Copy a table into one of that name, and have the planner know it."""
    columns = ", ".join(f'"{field.name}" {KINDS[str(field.type)]}' for field in table.schema)
    connection.execute(f"CREATE TABLE {name} ({columns})")
    with connection.cursor().copy(f"COPY {name} FROM STDIN") as copy:
        for row in zip(*table.to_pydict().values(), strict=True):
            copy.write_row(row)
    connection.execute(f"ANALYZE {name}")


def answer(connection: Any, query: str) -> pa.Table:
    """Return what a query answers, sums of whole numbers, which PostgreSQL makes decimal, as whole numbers."""
    cursor = connection.execute(query)
    names = [column.name for column in cursor.description or ()]
    columns = zip(*cursor.fetchall(), strict=True)
    return pa.table({name: list(map(_cell, column)) for name, column in zip(names, columns, strict=True)})


def _cell(cell: Any) -> Any:
    return cell if cell is None or isinstance(cell, str | float) else int(cell)
