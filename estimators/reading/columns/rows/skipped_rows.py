"""Rows of a file of reports that hold none, left out but not in silence: how many, and what the first of them hold."""

from __future__ import annotations

import bisect
import warnings
from collections.abc import Callable, Sequence

import numpy as np

from .....mechanisms.errors import InputError
from .....mechanisms.printable import printable

ROWS_NAMED = 5
"""Rows that are named: enough to see what is wrong, still one line."""

TEXT_SHOWN = 60
"""Characters of an offending cell, or of another library's message, that an error repeats."""

OFFER = "or leave such rows out with skip_invalid (--skip-invalid)"
"""What to say to whoever might."""


class SkippedRowsWarning(UserWarning):
    """Some rows held no report that their mechanism can make, and were left out."""


class SkippedRows:
    """An account of the rows that were left out; pass one as `skip_invalid` and read it afterwards.

    Such rows are not missing at random if senders chose what to send. The remaining rows are then no random part of
    all, which no estimate corrects.

    Attributes
    ----------
    count : int
        Rows left out.
    first : tuple of str
        The first five of them, each with its row, counted from 1 below the header, and the reason.

    Example
    -------
    >>> from optldp.estimators.reading.columns import SkippedRows
    >>> account = SkippedRows()
    >>> account.note(2, [(17, "'banana' is no number"), (20, "1e999 is no finite number")])
    >>> print(account)
    2 rows hold no report and were left out: row 17: 'banana' is no number; row 20: 1e999 is no finite number
    """

    def __init__(self) -> None:
        self.count = 0
        self._first: list[tuple[int, int, str]] = []

    @property
    def first(self) -> tuple[str, ...]:
        """The first rows, each with its number and the reason."""
        return tuple(text for _, _, text in self._first)

    def note(self, count: int, first: Sequence[tuple[int, str]], *, source: int = 0, where: str = "") -> None:
        """Count rows of a source, and remember the first ones.

        Parameters
        ----------
        count : int
        first : sequence of (int, str)
            Some of them: row and reason, among them the first ones.
        source : int
            Position of the source among several.
        where : str
            How messages call it; empty where there is but one.
        """
        self.count += count
        for row, reason in first[:ROWS_NAMED]:
            named = f"{where}, row {row}" if where else f"row {row}"
            bisect.insort(self._first, (source, row, printable(f"{named}: {reason}")))
        del self._first[ROWS_NAMED:]

    def __str__(self) -> str:
        rows = f"{self.count} row{'s'[: self.count != 1]} hold{'s'[: self.count == 1]} no report"
        more = f"; and {self.count - len(self._first)} more" if self.count > len(self._first) else ""
        return f"{rows} and {'was' if self.count == 1 else 'were'} left out: {'; '.join(self.first)}{more}"

    @staticmethod
    def of(skip_invalid: bool | SkippedRows) -> tuple[SkippedRows, bool]:
        """Return the account to keep, a new one unless one is given, and whether rows may be left out."""
        if isinstance(skip_invalid, SkippedRows):
            return skip_invalid, True
        if not isinstance(skip_invalid, bool):
            raise InputError(f"skip_invalid must be True, False or SkippedRows, got {type(skip_invalid).__name__}")
        return SkippedRows(), skip_invalid

    def tell(self, skip_invalid: bool | SkippedRows) -> None:
        """Warn of what was left out, unless somebody holds the account and can read it."""
        if self.count and skip_invalid is True:
            warnings.warn(str(self), SkippedRowsWarning, stacklevel=3)


def failing_rows(check: Callable[[np.ndarray], object], n: int) -> np.ndarray:
    """Return the rows (k,) of n, from 0, for which a check raises InputError; rows pass or fail each by itself.

    Halves that fail are halved again: O(n + k log n) rows are looked at.

    Example
    -------
    >>> def check(rows):
    ...     if (rows == 5).any():
    ...         raise InputError("no report")
    >>> failing_rows(check, 8)
    array([5])
    """
    failing: list[int] = []
    waiting = [np.arange(n)]
    while waiting:
        rows = waiting.pop()
        if not rows.size:
            continue
        try:
            check(rows)
        except InputError:
            if rows.size == 1:
                failing.append(int(rows[0]))
            else:
                waiting += np.array_split(rows, 2)
    return np.array(sorted(failing), dtype=np.int64)
