"""Any text file as a plain one: unpacked, in UTF-8, with what stands between its cells.

Copies lie in a folder that only the user can read, for as long as they are read. Standard input, which can be
read once, is kept so until the program ends.
"""

from __future__ import annotations

import atexit
import codecs
import functools
import gzip
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import duckdb

from ....mechanisms.errors import InputError
from .delimiter import delimiter_name, delimiter_of
from .encoding import AT_ONCE, encoding_of
from .overrides import overrides
from .parquet_parts import parquet_parts
from .zst_frames import require_whole

STANDARD_INPUT = "-"

TEXT = (".csv", ".tsv", ".tab", ".txt")
PACKED = (".gz", ".zst")
FEATHER = (".feather", ".arrow")

SMALL, BYTES_A_BYTE = 2**28, 64
"""A packed file may unpack to so many bytes, or to so many for each of its own."""

NO_EXTENSIONS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
"""A file is read by what is here: nothing is fetched from anywhere because of what it holds or is called."""

_STARTS = {b"\x1f\x8b": ".csv.gz", b"\x28\xb5\x2f\xfd": ".csv.zst", b"PAR1": ".parquet", b"ARROW1": ".feather"}
_LINE = "c0"


@dataclass(frozen=True)
class PlainFile:
    """A text file in UTF-8.

    Attributes
    ----------
    file : Path
    delimiter : str
    is_copy : bool
        Whether it is gone when the block that it was made in ends.
    """

    file: Path
    delimiter: str
    is_copy: bool


def kind_of_file(path: Any) -> str:
    """Return ".csv" for text of any form, ".parquet" or ".feather", by the name of a file; InputError for another.

    What comes by standard input is told by its first bytes.

    Example
    -------
    >>> kind_of_file("Reports.TSV.gz"), kind_of_file("a.arrow")
    ('.csv', '.feather')
    """
    if parquet_parts(path) is not None:
        return ".parquet"
    name = received() if str(path) == STANDARD_INPUT else Path(path)
    suffix = name.suffix.lower()
    if suffix in PACKED:
        suffix = Path(name.stem).suffix.lower()
        if suffix in TEXT:
            return ".csv"
    if suffix in TEXT:
        return ".csv"
    if name.suffix.lower() == ".parquet":
        return ".parquet"
    if name.suffix.lower() in FEATHER:
        return ".feather"
    raise InputError(
        f"a data file must end in .csv or .parquet, .tsv, .txt, .csv.gz, .csv.zst or .feather, got {str(path)!r}: "
        "convert or rename it"
    )


def existing(path: Any) -> Path:
    """Return the file of a path, or that of standard input; InputError where there is none."""
    file = received() if str(path) == STANDARD_INPUT else Path(path)
    if not file.exists():
        raise InputError(f"a data file must exist, got {str(path)!r}: check the path")
    if not file.is_file():
        raise InputError(f"a data file must be a file, got {str(path)!r}, which is not one")
    return file


@contextmanager
def plain_file(path: Any) -> Iterator[PlainFile]:
    """Yield a text file as a plain one, itself where it is; who asked to be told is told what it is otherwise.

    Raises
    ------
    InputError
        A packed file that is damaged or unpacks to far more than it should, text that its encoding has not, an
        ambiguous delimiter.
    """
    file, shown = existing(path), str(path)
    packing = next((suffix for suffix in PACKED if file.name.lower().endswith(suffix)), None)
    with tempfile.TemporaryDirectory(prefix="optldp-") as folder:
        text = file
        if packing is not None:
            text = Path(folder, "unpacked.csv")
            _unpack(file, packing, text, shown)
        encoding = overrides().encoding or _encoding(text)
        if codecs.lookup(encoding).name not in ("utf-8", "utf-8-sig", "ascii"):
            text = _decoded(text, encoding, Path(folder, "decoded.csv"), shown)
        delimiter = delimiter_of(text, shown)
        said = [] if encoding == "utf-8" else [encoding]
        said += [] if delimiter == "," else [f"{delimiter_name(delimiter)} separated"]
        if said:
            name = "standard input" if shown == STANDARD_INPUT else Path(shown).name
            overrides().tell(f"{name} is read as {', '.join(said)}")
        if len(_DELIMITERS) >= REMEMBERED:
            _DELIMITERS.clear()
        _DELIMITERS[shown] = delimiter
        yield PlainFile(text, delimiter, text is not file)


REMEMBERED = 64
"""Files whose delimiters are kept in mind."""

_DELIMITERS: dict[str, str] = {}


def has_commas(path: Any) -> bool:
    """Whether commas separated the cells of a file when it was last opened, as they do in files of other kinds, too."""
    return _DELIMITERS.get(str(path), ",") == ","


def _encoding(file: Path) -> str:
    stat = file.stat()
    return _encoding_of(file, stat.st_size, stat.st_mtime_ns)


@functools.lru_cache(64)
def _encoding_of(file: Path, size: int, changed: int) -> str:
    return encoding_of(file)


def _unpack(file: Path, packing: str, to: Path, shown: str) -> None:
    most = max(SMALL, BYTES_A_BYTE * file.stat().st_size)
    try:
        with to.open("wb") as stream:
            written = 0
            for block in (_gunzipped if packing == ".gz" else _lines_of_zst)(file):
                if (written := written + len(block)) > most:
                    raise InputError(
                        f"{shown!r} must unpack to at most {most} bytes, and does to more: unpack it first"
                    )
                stream.write(block)
    except (OSError, EOFError, ValueError, zlib.error, duckdb.Error) as error:
        reason = " ".join(str(error).split())[:160]
        raise InputError(f"{shown!r} must be a readable {packing} file: {reason}") from None


def _gunzipped(file: Path) -> Iterator[bytes]:
    with gzip.open(file) as stream:
        yield from iter(lambda: stream.read(AT_ONCE), b"")


def _lines_of_zst(file: Path) -> Iterator[bytes]:
    """Lines, as duckdb unpacks them: Python has no such module before 3.14."""
    require_whole(file)
    with duckdb.connect(config=NO_EXTENSIONS) as connection, tempfile.TemporaryDirectory(prefix="optldp-") as folder:
        link = Path(folder, "lines.csv.zst")
        link.symlink_to(file.absolute())
        lines = connection.execute(
            f"SELECT {_LINE} FROM read_csv(?, compression='zstd', columns={{'{_LINE}': 'VARCHAR'}}, auto_detect=false, "
            "header=false, delim=chr(31), quote='', escape='')",
            [str(link)],
        )
        while block := lines.fetchmany(2**14):
            yield "".join(f"{line or ''}\n" for (line,) in block).encode()


def _decoded(file: Path, encoding: str, to: Path, shown: str) -> Path:
    """The text in UTF-8; a mark at the start, which UTF-16 may have, is no text."""
    try:
        with file.open(encoding=encoding, newline="") as source, to.open("w", encoding="utf-8", newline="") as stream:
            for block in iter(lambda: source.read(AT_ONCE), ""):
                stream.write(block)
    except UnicodeError as error:
        raise InputError(
            f"{shown!r} must be text in {encoding}: {error}: say another by --format csv:encoding=NAME"
        ) from None
    return to


_RECEIVED: list[tuple[Any, tempfile.TemporaryDirectory[str], Path]] = []


def received() -> Path:
    """Return a file with what standard input held, read once; InputError where nothing is piped into it."""
    if _RECEIVED and _RECEIVED[0][0] is sys.stdin:
        return _RECEIVED[0][2]
    forget()
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError("standard input must be a file or a pipe, got a terminal: name the file instead of -")
    folder = tempfile.TemporaryDirectory(prefix="optldp-")
    part = Path(folder.name, "input")
    source: BinaryIO = sys.stdin.buffer
    with part.open("wb") as stream:
        for block in iter(lambda: source.read(AT_ONCE), b""):
            stream.write(block)
    with part.open("rb") as stream:
        start = stream.read(6)
    suffix = next((suffix for mark, suffix in _STARTS.items() if start.startswith(mark)), ".csv")
    file = part.rename(part.with_name(f"input{suffix}"))
    _RECEIVED.append((sys.stdin, folder, file))
    return file


@atexit.register
def forget() -> None:
    """Throw away what standard input held."""
    while _RECEIVED:
        _RECEIVED.pop()[1].cleanup()
