"""A database that lives as long as one computation, in memory as far as it fits and else on disk."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from ....mechanisms.errors import InputError
from .files import FilePath, connected, short_message

MEMORY_LIMIT = "2GB"
"""What duckdb may keep in memory unless told otherwise: room for sorting, on any machine."""


@contextmanager
def work_database(
    memory_limit: str | None = None, temp_directory: FilePath | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection to an empty database that spills into a folder of its own, gone at the end in any case.

    Only the user who runs the program can read the folder.

    Parameters
    ----------
    memory_limit : str, optional
        Memory limit of duckdb, such as "4GB"; 2GB by default.
    temp_directory : path, optional
        An existing folder to make that one in; the system's by default.

    Raises
    ------
    InputError
        A limit that is no amount of memory or too small, a folder that cannot be used, a full disk.

    Example
    -------
    >>> with work_database() as connection:
    ...     _ = connection.execute("CREATE TABLE numbers AS SELECT 1 AS n")
    ...     connection.execute("SELECT n FROM numbers").fetchall()
    [(1,)]
    """
    limit = memory_limit or MEMORY_LIMIT
    with _private_folder(temp_directory) as folder:
        try:
            with connected({"temp_directory": str(folder / "spill")}) as connection:
                _limit_memory(connection, limit)
                yield connection
        except (duckdb.OutOfMemoryException, duckdb.IOException) as error:
            raise InputError(
                f"counting must fit into memory_limit, got {limit!r}, and the disk: raise it, or give a "
                f"temp_directory with more room ({short_message(error)})"
            ) from None


@contextmanager
def _private_folder(parent: FilePath | None) -> Iterator[Path]:
    try:
        folder = tempfile.TemporaryDirectory(prefix="optldp-", dir=parent)
    except OSError as error:
        raise InputError(
            f"temp_directory must be a folder that can be written to, got {str(parent or tempfile.gettempdir())!r}: "
            f"{error.strerror or error}"
        ) from None
    with folder as name:
        yield Path(name)


def _limit_memory(connection: duckdb.DuckDBPyConnection, limit: str) -> None:
    text = str(limit).replace("'", "''")
    try:
        connection.execute(f"SET memory_limit = '{text}'")
    except (duckdb.ParserException, duckdb.InvalidInputException) as error:
        raise InputError(
            f"memory_limit must be an amount such as '4GB', got {limit!r}: {short_message(error)}"
        ) from None
