"""A file that a long computation fills line by line, so that after an interruption only what is missing is computed.

JSON lines.  The first says what the others belong to; a file with another first line is refused and left as it is.
Lines are written by one call and flushed to the disk, so that a process or a machine that stops leaves at most one
line without its end; reading drops that.

Why no library: one for JSON lines would save two calls of `json`, not the checks; a cache (joblib.Memory, diskcache)
knows results by their arguments and cannot refuse the file of another computation, nor can people read it; a database
would be one more format, for some hundred rows that one process at a time writes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from ...estimators.reading.columns.files import FilePath
from ...mechanisms.errors import InputError, TableError
from ...mechanisms.files.atomic_write import replacing
from ...mechanisms.files.json_text import from_json

Item = TypeVar("Item")

LONGEST_LINE = 2**20
"""Bytes of a line: a row has some hundred, a budget of bounds with all its criteria some ten thousand."""


@dataclass(frozen=True)
class ResultsWording:
    """How a results file is spoken of.

    Attributes
    ----------
    file : str
        What the file must be, such as "a file that a sweep made".
    line : str
        What a line must be, such as "a row of this sweep".
    several : str
        What must not be mixed, such as "different sweeps".
    differing : mapping of str to str
        What to say of parts of the first line whose values tell a reader nothing.
    """

    file: str
    line: str
    several: str
    differing: Mapping[str, str] = field(default_factory=dict)


class ResultsFile(Generic[Item]):
    """A results file, made or taken up, for one computation at a time.

    Parameters
    ----------
    path : path
        Made if it is missing or empty.
    header : dict
        The first line; its "format" tells kinds of files apart.
    item : callable
        Makes an item of what a line holds; None for a line that holds none.
    wording : ResultsWording

    Attributes
    ----------
    items : list of Item
        Those that the file held when it was opened.

    Raises
    ------
    InputError
        A file of another computation, one that is no results file, a line that is no item, or a path that cannot be
        written. Such a file is left as it is.

    Example
    -------
    >>> import tempfile
    >>> wording = ResultsWording("a file of numbers", "a number", "different numbers")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ResultsFile(f"{folder}/file.jsonl", {"format": "numbers"}, lambda found: found, wording).append([1, 2])
    ...     ResultsFile(f"{folder}/file.jsonl", {"format": "numbers"}, lambda found: found, wording).items
    [1, 2]
    """

    def __init__(
        self, path: FilePath, header: dict[str, Any], item: Callable[[Any], Item | None], wording: ResultsWording
    ) -> None:
        self.path, self.wording = Path(path), wording
        self.items: list[Item] = []
        number, whole, torn = 0, 0, False
        for number, line in enumerate(self._lines(), start=1):
            if number == 1:
                self._check_header(line, header)
            torn = not line.endswith(b"\n")  # what an interruption left of the last line
            if not torn:
                whole += len(line)
                if number > 1:
                    self._take_up(number, item(_parsed(line)))
        if torn:
            self._change(lambda: os.truncate(self.path, whole))
        if not number:
            with replacing(self.path) as part:
                part.write_bytes(_line(header))

    def _take_up(self, number: int, found: Item | None) -> None:
        if found is None:
            where = f"line {number} of results {str(self.path)!r}"
            raise InputError(f"{where} must be {self.wording.line}: delete it")
        self.items.append(found)

    def append(self, documents: Iterable[Any]) -> None:
        """Add lines and flush them to the disk; InputError where that cannot be done."""

        def add() -> None:
            with self.path.open("ab", buffering=0) as stream:
                stream.write(b"".join(map(_line, documents)))
                os.fsync(stream.fileno())

        self._change(add)

    def _lines(self) -> Iterator[bytes]:
        """The lines, each with its end; none of a file that is missing."""
        if self.path.exists() and not self.path.is_file():
            raise InputError(f"results must be a readable file, got {str(self.path)!r}, which is no file: name another")
        try:
            with self.path.open("rb") as stream:
                while line := stream.readline(LONGEST_LINE + 1):
                    if len(line) > LONGEST_LINE:
                        raise InputError(
                            f"results must have lines of at most {LONGEST_LINE} bytes, got a longer one in "
                            f"{str(self.path)!r}: name another"
                        )
                    yield line
        except FileNotFoundError:
            return
        except OSError as error:
            raise InputError(f"results must be a readable file, got {str(self.path)!r}: {error.strerror}") from None

    def _change(self, change: Callable[[], object]) -> None:
        try:
            change()
        except OSError as error:
            raise InputError(f"results must be writable, got {str(self.path)!r}: {error.strerror}") from None

    def _check_header(self, line: bytes, header: dict[str, Any]) -> None:
        found, where = _parsed(line), str(self.path)
        if not (isinstance(found, dict) and found.get("format") == header["format"]):
            raise InputError(f"results must be {self.wording.file}, got {where!r}: name another")
        for name, wanted in header.items():
            if found.get(name) != wanted:
                given = f"{name} {found.get(name)!r} instead of {wanted!r}"
                other = self.wording.differing.get(name, given)
                raise InputError(
                    f"results of {self.wording.several} must not be mixed, got {where!r} with {other}: "
                    "name another file"
                )


def _line(document: Any) -> bytes:
    return json.dumps(document, allow_nan=False).encode() + b"\n"


def _parsed(line: bytes) -> Any:
    try:
        return from_json(line)
    except TableError:
        return None
