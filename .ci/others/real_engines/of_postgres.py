"""PostgreSQL, by a server of its own, and by Ibis on it."""

from importlib.metadata import version
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from started.postgres import answer, load, server

from .checks import Checks
from .data import Data
from .frames import check_frames
from .kinds import check_kinds
from .queries import check_queries


def check(checks: Checks, data: Data) -> None:
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
