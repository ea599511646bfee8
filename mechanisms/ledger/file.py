"""A ledger's file: an SQLite database that is opened for one transaction at a time, and trusted in nothing.

A connection lives as long as its transaction. None is ever shared by threads, and none is open while the process forks:
an SQLite connection that a fork copies believes in locks that its process does not have.
"""

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import RLock

from ..errors import InputError
from .book import LedgerBook
from .seals import FORMAT

OWNER_ONLY = 0o600
"""SQLite gives its journal the mode of the database."""

WAIT_SECONDS = 60
"""A report holds the file for some milliseconds, so that this is time for thousands of others."""

LARGEST_CELL = 2**20
"""Bytes; the longest report, of a million categories in unary encoding, takes a quarter of it."""

PAGE_BYTES = 4096
"""SQLite's own default, set so that it is known."""

LEAF_PAGE = 13
"""SQLite's number for a page of a table without pages below."""

JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
"""How a journal begins and, where it names another file, ends."""

SECTOR_BYTES = 512
"""The least that a journal's header takes."""

SETTINGS = {
    "trusted_schema": "OFF",  # nothing in a file's schema may call functions
    "cell_size_check": "ON",  # a damaged page is refused, not read across its end
    "mmap_size": "0",  # a file cut short under our hands is an error, not a signal
    "temp_store": "MEMORY",  # nothing in folders that others may read
    "journal_mode": "DELETE",  # a commit is the removal of the journal,
    "synchronous": "EXTRA",  # and of the folder's entry too: a power loss cannot bring the journal back and undo it
    "fullfsync": "ON",  # macOS: fsync alone leaves data in the disk's own cache
}

ONE_CONNECTION = RLock()
"""Held while a connection is open; taken before a fork and released after it in both processes."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=ONE_CONNECTION.acquire,
        after_in_parent=ONE_CONNECTION.release,
        after_in_child=ONE_CONNECTION.release,
    )


@contextmanager
def ledger_transaction(path: Path, key: bytes, *, writes: bool) -> Iterator[LedgerBook]:
    """Yield a ledger's book within one transaction, which is on disk when the block has ended.

    Whatever goes wrong before, in the block or in the commit, Ctrl-C and a lost process included, nothing is written.

    Parameters
    ----------
    path : Path
        Absolute.
    key : bytes
    writes : bool
        Whether nobody else may write from the beginning on, so that what is read stays true.

    Raises
    ------
    InputError
        No file, a file that is not a ledger of this key or not as it was left, or one that cannot be used now.
    """
    with ONE_CONNECTION, _one_line(path):
        _require_ledger_file(path)
        with closing(_connect(path)) as connection:
            connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
            yield LedgerBook(connection, str(path), key)
            connection.execute("COMMIT")


def create_ledger_file(path: Path, key: bytes, budget: float) -> None:
    """Make the file of a new ledger, whole or not at all.

    Raises
    ------
    InputError
        Something is at the path already, or nothing can be written there.
    """
    _require_no_journal(path, *_JOURNALS)
    with ONE_CONNECTION, _one_line(path):
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, OWNER_ONLY))
        except FileExistsError:
            raise InputError(
                f"a new ledger must not replace a file, got {str(path)!r}: open it with Ledger, or name another"
            ) from None
        try:
            with closing(_connect(path)) as connection:
                connection.execute("BEGIN EXCLUSIVE")
                LedgerBook.begin(connection, str(path), key, budget)
                connection.execute("COMMIT")
        except BaseException:
            with suppress(OSError):
                path.unlink()
            raise


_JOURNALS = "-journal", "-wal", "-shm"


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=WAIT_SECONDS, isolation_level=None)
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_CELL)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")  # of a new file; of others it is known by now
        for name, value in SETTINGS.items():
            connection.execute(f"PRAGMA {name} = {value}").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def _require_ledger_file(path: Path) -> None:
    """Raise InputError unless there is a file of its own that SQLite may safely look into."""
    name = str(path)
    try:
        state = path.lstat()
    except FileNotFoundError:
        raise InputError(
            f"there must be a ledger at {name!r}, got no file: put the latest copy back, or make one with Ledger.create"
        ) from None
    if not stat.S_ISREG(state.st_mode):
        raise InputError(f"the ledger must be a file itself, got a link or something else at {name!r}: name the file")
    if state.st_nlink > 1:
        raise InputError(f"the ledger must have one name, got a hard link {name!r}: remove the others")
    _require_no_journal(path, "-wal", "-shm")
    _require_harmless_journal(f"{name}-journal")
    _require_header(path)


def _require_harmless_journal(name: str) -> None:
    """Raise InputError for a journal that would have SQLite write or delete files elsewhere.

    It is written through a link, and one that ends in a name has the file of that name deleted; a ledger's never does.
    """
    with suppress(FileNotFoundError):  # another process's, gone meanwhile
        if stat.S_ISREG(os.lstat(name).st_mode):
            with open(name, "rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(size - len(JOURNAL_MAGIC), 0))
                if size <= SECTOR_BYTES or file.read() != JOURNAL_MAGIC:
                    return
        raise InputError(
            f"a ledger's journal must be its own, got a link or one that names other files: remove {name!r}"
        )


def _require_no_journal(path: Path, *suffixes: str) -> None:
    for beside in (f"{path}{suffix}" for suffix in suffixes):
        if os.path.lexists(beside):
            raise InputError(f"a ledger must not be made or read with {beside!r} beside it: move that file away")


def _require_header(path: Path) -> None:
    """Raise InputError unless the first page says that the schema is in it and nowhere else: SQLite reads it all."""
    with path.open("rb") as file:
        start = file.read(PAGE_BYTES)
    if start.lstrip().startswith(b"{"):
        raise InputError(
            f"the ledger must be of format {FORMAT}, got JSON, perhaps of version 0.1, in {str(path)!r}: "
            "keep that file, and make a new one with Ledger.create and what is left of the budget"
        )
    page = int.from_bytes(start[16:18], "big")
    rollback_journal = start[18:20] == b"\1\1"
    if not (start.startswith(b"SQLite format 3\0") and page == PAGE_BYTES and rollback_journal and len(start) == page):
        raise InputError(f"the ledger must be of format {FORMAT}, got another file {str(path)!r}, or a part of one")
    if start[100] != LEAF_PAGE:
        raise InputError(f"the ledger must be of format {FORMAT}, got a database of many tables in {str(path)!r}")


@contextmanager
def _one_line(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and the system into an InputError; SQLite's texts may quote the file, so they stay here."""
    error: sqlite3.Error | OSError | UnicodeDecodeError | None = None
    try:
        yield
    except (sqlite3.Error, OSError, UnicodeDecodeError) as caught:  # the last, from a message that quotes bytes
        error = caught
    if error is None:
        return
    if isinstance(error, OSError):
        what = error.strerror or "an error of the system"
        raise InputError(f"the ledger {str(path)!r} must be readable and writable, with its folder, got {what!r}")
    code, what = getattr(error, "sqlite_errorcode", 0) & 0xFF, getattr(error, "sqlite_errorname", "an error")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        raise InputError(f"the ledger {str(path)!r} must be free, got others at it for {WAIT_SECONDS} s: try again")
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
        raise InputError(
            f"the ledger {str(path)!r} must be writable, with its folder, got {what}: nothing was reported"
        )
    raise InputError(
        f"the ledger {str(path)!r} must be as it was left, got {what} from its database: "
        "put the latest copy back, and take what was reported since as spent"
    )
