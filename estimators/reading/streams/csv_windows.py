"""Standard input cut into windows of rows: text that may never end, of which only one window is kept at a time."""

from __future__ import annotations

import codecs
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ....mechanisms.errors import InputError
from ..formats.delimiter import delimiter_of
from ..formats.overrides import overrides, read_as
from ..formats.plain_file import STANDARD_INPUT

LONGEST_ROW = 2**20
"""Bytes of a row; a quote that is never closed ends here."""


@dataclass(frozen=True)
class Window:
    """Rows of a stream, as a CSV file with the stream's header that lasts until the next window.

    Attributes
    ----------
    number : int
        From 0.
    first_row : int
        From 1 below the header.
    rows : int
    file : Path
    """

    number: int
    first_row: int
    rows: int
    file: Path

    @contextmanager
    def named(self) -> Iterator[None]:
        """Say in an error which window and which stream it is about; rows are counted from the window's first."""
        try:
            yield
        except InputError as error:
            message = str(error).replace(str(self.file), STANDARD_INPUT)
            last = self.first_row + self.rows - 1
            raise InputError(
                f"rows {self.first_row:,} to {last:,} of the stream, counted anew from 1: {message} (windows before "
                "these are out, this one is not)"
            ) from None


def csv_windows(rows: int) -> Iterator[Window]:
    """Yield standard input, text with a header, in windows of complete rows; the last may be shorter.

    How the text is written is not guessed anew for each window: UTF-8 and decimal points, unless `read_as` says else,
    and the delimiter that the first window shows.

    Raises
    ------
    InputError
        No stream, a terminal, no header, a row that does not end, an encoding that is not of single bytes at heart.

    Example
    -------
    >>> import io
    >>> before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(b'x,note\\n1,"a\\nb"\\n2,\\n3,\\n'))
    >>> [(window.first_row, window.file.read_text()) for window in csv_windows(2)]
    [(1, 'x,note\\n1,"a\\nb"\\n2,\\n'), (3, 'x,note\\n3,\\n')]
    >>> sys.stdin = before
    """
    if rows < 1:
        raise InputError(f"a window must have at least one row, got {rows}")
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError("standard input must be a file or a pipe, got a terminal: name the file instead of -")
    said = overrides()
    encoding = said.encoding or "utf-8"
    if "\n".encode(encoding) != b"\n" and codecs.lookup(encoding).name != "utf-8-sig":
        raise InputError(f"a stream in windows must be text of single bytes or UTF-8, got {encoding}: recode it before")
    stream = sys.stdin.buffer
    header = _row(stream)
    if not header.strip():
        raise InputError("the first line of '-' must name the columns, but it is empty")
    with tempfile.TemporaryDirectory(prefix="optldp-") as folder:
        file, delimiter, number, first = Path(folder, "window.csv"), said.delimiter, 0, 1
        while many := _write(stream, header, rows, file):
            delimiter = delimiter or delimiter_of(file, STANDARD_INPUT)
            plain = said.decimal or "."
            with read_as(delimiter=delimiter, decimal=plain, encoding=encoding, na=said.na, told=said.told):
                yield Window(number, first, many, file)
            number, first = number + 1, first + many


def _write(stream: BinaryIO, header: bytes, rows: int, file: Path) -> int:
    """Write the header and the next rows; return how many there were."""
    many = 0
    with file.open("wb") as window:
        window.write(header if header.endswith(b"\n") else header + b"\n")
        while many < rows and (row := _row(stream)):
            window.write(row)
            many += 1
    return many


def _row(stream: BinaryIO) -> bytes:
    """The next row, of several lines where a quote is open at the end of one; empty at the end of the stream."""
    row = stream.readline(LONGEST_ROW)
    while row.count(b'"') % 2 and len(row) < LONGEST_ROW and (line := stream.readline(LONGEST_ROW)):
        row += line
    if len(row) >= LONGEST_ROW:
        raise InputError(f"a row of '-' must have less than {LONGEST_ROW} bytes, got more: is a quote never closed?")
    return row
