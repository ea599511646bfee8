"""A file that is written in parts: joined when all are there, thrown away at a failure, or kept to go on from.

A part is there whole or not at all, and once it is there nothing writes it again. So of reports that are drawn part by
part no row is drawn twice, however often the run is interrupted.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import duckdb

from ....mechanisms.errors import InputError
from ....mechanisms.files.atomic_write import TEMPORARY, replacing
from ..columns.files import FilePath, connected, short_message, written_extension
from ..columns.rows.written_rows import write_parquet_rows
from ..formats.destination import destination
from .value_blocks import MEMORY

SUFFIX = ".partial"
"""After the name of the output: the folder of the parts of a run that can be gone on with."""

JOURNAL = "run.json"

FORMAT = "optldp-partial/1"

JOINED = "optldp-partial/1 joined"
"""The format of a journal whose parts are in the output, all of them."""

MOST_JOURNAL = 2**16
"""Bytes of a journal that are read."""


@dataclass(frozen=True, eq=False)
class OutputParts:
    """The parts of an output, numbered from 0.

    Attributes
    ----------
    folder : Path
    suffix : str
        ".csv" or ".parquet".
    """

    folder: Path
    suffix: str

    @property
    def done(self) -> int:
        """How many parts are there; InputError where one before the last is missing."""
        numbers = sorted(int(each.stem) for each in self.folder.glob(f"[0-9]*{self.suffix}"))
        if numbers != list(range(len(numbers))):
            raise InputError(f"the parts in {str(self.folder)!r} must be complete, got {len(numbers)} with gaps")
        return len(numbers)

    @contextmanager
    def writing(self, number: int) -> Iterator[Path]:
        """Yield a file to write a part in, which is there, and on disk, when the block ends well.

        Raises
        ------
        InputError
            The part is there already: somebody else writes the same output.
        """
        place = self.folder / f"{number:08d}{self.suffix}"
        with replacing(place) as temporary:
            yield temporary
            _to_disk(temporary)
            if place.exists():
                raise InputError(f"one run at a time may write {str(self.folder)!r}, got two: end one of them")

    def join(self, out: FilePath, constants: Mapping[str, str] = MappingProxyType({})) -> None:
        """Write all parts, which have these constants, one after the other as one file, whole or not at all.

        A killed run leaves it among the parts.
        """
        files = [self.folder / f"{number:08d}{self.suffix}" for number in range(self.done)]
        with destination(out, within=self.folder) as joined:
            if self.suffix == ".csv":
                with joined.open("wb") as stream:
                    for file in files:
                        with file.open("rb") as part:
                            shutil.copyfileobj(part, stream, 2**20)
            else:
                self._join_parquet(files, joined, out, constants)
            _to_disk(joined)  # before the parts go

    def _join_parquet(self, files: list[Path], joined: Path, out: FilePath, constants: Mapping[str, str]) -> None:
        try:
            with tempfile.TemporaryDirectory(prefix="optldp-") as folder:
                link = Path(folder, "parts")  # the output's name may be a pattern to duckdb
                link.symlink_to(self.folder.absolute())
                limits = {"memory_limit": MEMORY, "temp_directory": str(Path(folder, "spill")), "threads": "1"}
                with connected(limits) as connection:
                    names = [str(link / file.name) for file in files]
                    rows = connection.read_parquet(names, hive_partitioning=False)
                    write_parquet_rows(connection, rows, joined, constants)
        except duckdb.Error as error:
            raise InputError(f"the output must be writable, got {str(out)!r}: {short_message(error)}") from None


def _to_disk(path: Path) -> None:
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())


def partial_folder(out: FilePath) -> Path:
    """Return where parts of an output are kept.

    Example
    -------
    >>> partial_folder("reports.csv").name
    'reports.csv.partial'
    """
    return Path(f"{out}{SUFFIX}")


def refuse_partial(out: FilePath) -> None:
    """Raise InputError where an interrupted run has left parts: drawn anew, they would be second reports."""
    folder = partial_folder(out)
    _clear(folder)
    if os.path.lexists(folder):
        raise InputError(
            f"there must be no reports of an interrupted run, got {str(folder)!r}: --resume goes on with them; delete "
            "the folder to draw them anew, if nobody has seen it"
        )


@contextmanager
def output_parts(out: FilePath) -> Iterator[OutputParts]:
    """Yield parts that are gone when the block ends, however it does, beside the output or in the system's folder.

    Example
    -------
    >>> path = Path(tempfile.mkdtemp()) / "out.csv"
    >>> with output_parts(path) as parts:
    ...     for number, text in enumerate(["a\\n1\\n", "2\\n"]):
    ...         with parts.writing(number) as part:
    ...             _ = part.write_text(text)
    ...     parts.join(path)
    >>> path.read_text().split(), len(list(path.parent.iterdir()))
    (['a', '1', '2'], 1)
    """
    suffix = written_extension(out)
    beside = None if str(out) == "-" else Path(out).parent
    with tempfile.TemporaryDirectory(prefix=".optldp-", dir=beside) as folder:
        yield OutputParts(Path(folder), suffix)


@contextmanager
def resumed_parts(out: FilePath, run: Mapping[str, Any]) -> Iterator[OutputParts]:
    """Yield parts that stay where the block fails, those of an earlier run among them if it was the same run.

    Parameters
    ----------
    out : path
    run : mapping of str to a JSON value
        What must not have changed in between.

    Raises
    ------
    InputError
        The parts that are there are of another run, or of none.

    Example
    -------
    >>> path = Path(tempfile.mkdtemp()) / "out.csv"
    >>> try:
    ...     with resumed_parts(path, {"rows": 2}) as parts:
    ...         with parts.writing(0) as part:
    ...             _ = part.write_text("a\\n1\\n")
    ...         raise KeyboardInterrupt
    ... except KeyboardInterrupt:
    ...     with resumed_parts(path, {"rows": 2}) as parts:
    ...         parts.done, partial_folder(path).exists()
    (1, True)
    >>> partial_folder(path).exists()
    False
    """
    folder, told = partial_folder(out), {"format": FORMAT, **run}
    _clear(folder)
    if os.path.lexists(folder):
        _require_same(folder, told)
    else:
        folder.mkdir(mode=0o700)
        _write_journal(folder, told)
    for left in folder.glob(f"{TEMPORARY}*"):  # of what was being written, a part or all of them
        left.unlink()
    yield OutputParts(folder, written_extension(out))
    _write_journal(folder, {"format": JOINED})
    _clear(folder)


def _write_journal(folder: Path, told: Mapping[str, Any]) -> None:
    with replacing(folder / JOURNAL) as temporary:
        temporary.write_text(json.dumps(told, indent=2))


def _clear(folder: Path) -> None:
    """Remove a folder with no report that is still needed: of a run killed before its first, or after the last."""
    if not folder.is_dir() or folder.is_symlink():
        return
    others = [each for each in folder.iterdir() if each.name != JOURNAL]
    begun = (folder / JOURNAL).exists()
    if begun and _journal(folder).get("format") != JOINED:
        return
    if not begun and not all(each.name.startswith(TEMPORARY) for each in others):
        return  # not ours
    for each in others:
        each.unlink()
    (folder / JOURNAL).unlink(missing_ok=True)  # last: it says that the others may go
    folder.rmdir()


def _journal(folder: Path) -> dict[str, Any]:
    """What the journal says; nothing where it is none."""
    try:
        with (folder / JOURNAL).open("rb") as stream:
            found = json.loads(stream.read(MOST_JOURNAL))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _require_same(folder: Path, told: Mapping[str, Any]) -> None:
    found = _journal(folder)
    if found.get("format") != FORMAT:
        raise InputError(f"--resume goes on with a folder that perturb left, got {str(folder)!r}, which is none")
    if changed := [name for name in told if found.get(name) != told[name]]:
        raise InputError(
            f"--resume must go on with the same run, got another {', '.join(changed)} than that of {str(folder)!r}: "
            "put back what has changed, or write to another --out"
        )
