"""A file of counts in windows that another stream goes on with: its header, and where its numbers end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ....estimators.reading.streams.csv_windows import LONGEST_ROW
from ....mechanisms.errors import InputError


@dataclass(frozen=True)
class CountsSoFar:
    """What a file of counts in windows holds already.

    Attributes
    ----------
    header : bytes
        Its first line; empty where there is none yet.
    windows, rows : int
        Of the streams that were counted into it: the numbers that the next window goes on from.
    last : tuple of str
        The cells of its last row.
    """

    header: bytes = b""
    windows: int = 0
    rows: int = 0
    last: tuple[str, ...] = ()

    @classmethod
    def of(cls, path: Path) -> CountsSoFar:
        """Return what a file holds; nothing for one that is not there. InputError for one of something else.

        Example
        -------
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "counts.csv")
        >>> _ = path.write_text("window,first_row,rows,output,n\\n0,1,50,0,20\\n0,1,50,1,30\\n")
        >>> CountsSoFar.of(path).windows, CountsSoFar.of(path).rows
        (1, 50)
        """
        if not path.exists() or not path.stat().st_size:
            return cls()
        with path.open("rb") as stream:
            header = stream.readline(LONGEST_ROW)
            stream.seek(max(len(header), path.stat().st_size - LONGEST_ROW))
            tail = stream.read()
        try:
            if not tail.endswith(b"\n"):
                raise ValueError
            last = tuple(tail.decode().splitlines()[-1].split(","))
            window, first_row, rows = map(int, last[:3])
        except (ValueError, IndexError):
            raise InputError(
                f"counts in windows go on with a file that count --window wrote, got {str(path)!r}, which ends "
                "otherwise: write to another --out"
            ) from None
        return cls(header, window + 1, first_row - 1 + rows, last)

    def require_like(self, header: bytes, constants: Mapping[str, str], path: Path) -> None:
        """Raise InputError unless further windows have the columns that are there, and the same table and constants."""
        if self.header and self.header != header:
            raise InputError(
                f"counts of {str(path)!r} must go on with the columns that it has, {self.header.decode().strip()!r}, "
                f"got {header.decode().strip()!r}: write to another --out"
            )
        for value, there in zip(reversed(constants.values()), reversed(self.last), strict=False):  # the last columns  # pyright: ignore[reportArgumentType, reportCallIssue] -- an ordered view
            if value != there:
                raise InputError(
                    f"counts of {str(path)!r} must go on with {there}, got {value}: write to another --out"
                )
