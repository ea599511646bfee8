"""Dates, times and durations as numbers with a unit, and numbers of such a unit as dates, times and durations.

The unit's name says which it is, so that a table that keeps its units keeps the kind of its axis.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, timedelta

import numpy as np

from ....mechanisms.errors import InputError

DAYS = "days since 1970-01-01"
SECONDS = "seconds since 1970-01-01 00:00"
UTC_SECONDS = "seconds since 1970-01-01 00:00 UTC"
CLOCK = "seconds (h:mm:ss)"

TEMPORAL = (DAYS, SECONDS, UTC_SECONDS, CLOCK)
"""Units of numbers that stand for dates, times and durations."""

A_DAY = 86400
_EPOCH = date(1970, 1, 1)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?(Z|[+-][0-9]{2}:?[0-9]{2})?"
)
_CLOCK = re.compile(r"(-?)([0-9]{1,6}):([0-5][0-9])(?::([0-5][0-9](?:[.][0-9]+)?))?")


class AxisNumber(float):
    """A number that was given as a date, a time or a duration, and the unit that it is in; "" for a plain number."""

    units: str = ""

    @classmethod
    def read(cls, text: str) -> AxisNumber:
        """Return what a text says; ValueError for what is no number, date, time or duration.

        Example
        -------
        >>> AxisNumber.read("1.5"), AxisNumber.read("1970-01-11"), AxisNumber.read("1:30").units
        (1.5, 10.0, 'seconds (h:mm:ss)')
        """
        value, units = _read(text.strip())
        made = cls(value)
        made.units = units
        return made

    def to(self, units: str) -> float:
        """Return the number in the units of a column; InputError where it is of another kind.

        Example
        -------
        >>> AxisNumber.read("1970-01-02").to(SECONDS)
        86400.0
        """
        return float(converted(np.array([float(self)]), self.units, units, "a range")[0]) if self.units else float(self)


def _read(text: str) -> tuple[float, str]:
    if _DATE.fullmatch(text):
        return float((date.fromisoformat(text) - _EPOCH).days), DAYS
    if _TIME.fullmatch(text):
        when = datetime.fromisoformat(text)
        zoned = when.tzinfo is not None
        return (when if zoned else when.replace(tzinfo=UTC)).timestamp(), UTC_SECONDS if zoned else SECONDS
    if found := _CLOCK.fullmatch(text):
        sign, hours, minutes, seconds = found.groups()
        return (-1 if sign else 1) * (3600 * int(hours) + 60 * int(minutes) + float(seconds or 0)), CLOCK
    return float(text), ""


def in_units(domain: tuple[float, float] | None, units: str) -> tuple[float, float] | None:
    """Return a range in the units of a column; InputError for dates where it holds none.

    Example
    -------
    >>> in_units((AxisNumber.read("1970-01-02"), AxisNumber.read("1970-01-03")), SECONDS)
    (86400.0, 172800.0)
    """
    if domain is None:
        return None
    low, high = (end.to(units) if isinstance(end, AxisNumber) else end for end in domain)
    return low, high


def range_units(domain: tuple[float, float] | None, units: str) -> str:
    """Return the units, or those of a range of dates where no column says them.

    Example
    -------
    >>> range_units((AxisNumber.read("1970-01-02"), AxisNumber.read("1970-01-03")), "")
    'days since 1970-01-01'
    """
    return units or next((end.units for end in domain or () if isinstance(end, AxisNumber)), "")


def converted(values: np.ndarray, have: str, want: str, where: str) -> np.ndarray:
    """Return numbers of one temporal unit in another; plain numbers, and any units that are none of these, as they are.

    Raises
    ------
    InputError
        Dates where a plain number, a duration or other units are wanted, and times of day where whole days are.

    Example
    -------
    >>> converted(np.array([1.0]), DAYS, UTC_SECONDS, "column 'born'")
    array([86400.])
    """
    if have == want or have not in TEMPORAL:
        return values
    moments = (SECONDS, UTC_SECONDS)
    if have == DAYS and want in moments:
        return values * A_DAY
    if have in moments and want == DAYS and not np.any(values % A_DAY):
        return values / A_DAY
    raise InputError(f"{where} must be in {want or 'plain numbers'}, got {have}: write both alike")


def said_on(value: float | None, units: str) -> str | None:
    """Return a number of a temporal unit as a date, a time or a duration; None for other units, or beyond all dates.

    Example
    -------
    >>> said_on(18262.0, DAYS), said_on(18262.25, DAYS), said_on(5400, CLOCK), said_on(5400, SECONDS), said_on(1, "EUR")
    ('2020-01-01', '2020-01-01 06:00', '1:30:00', '1970-01-01 01:30:00', None)
    """
    if units not in TEMPORAL or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    if units == CLOCK:
        return _clock(value)
    try:
        when = datetime(1970, 1, 1) + timedelta(seconds=round(value * A_DAY if units == DAYS else value))
    except OverflowError:
        return None
    if units == DAYS:
        return f"{when:%Y-%m-%d}" if value == math.floor(value) else f"{when:%Y-%m-%d %H:%M}"
    return f"{when:%Y-%m-%d %H:%M:%S}" + (" UTC" if units == UTC_SECONDS else "")


def length_on(value: float, units: str) -> str | None:
    """Return a difference of two numbers of a temporal unit, such as a standard error; None for other units.

    Example
    -------
    >>> length_on(2.5, DAYS), length_on(90.0, SECONDS), length_on(2.0, "EUR")
    ('2.5 days', '0:01:30', None)
    """
    if units not in TEMPORAL or not math.isfinite(value):
        return None
    return f"{value:.4g} days" if units == DAYS else _clock(value)


def _clock(seconds: float) -> str:
    whole = round(abs(seconds))
    return f"{'-' if seconds < 0 and whole else ''}{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"
