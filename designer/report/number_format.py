"""Numbers as the sentences of a report on bounds say them.

Bounds are rounded by `decimal`, in the direction in which they stay true; libraries that write numbers for people
(Babel, humanize) round to the nearest, and know no power of ten in superscripts.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from ...estimators.reading.formats.axis import said_on
from ..plots.scales import power_of_ten

DIGITS = 4
"""Significant digits of a number in a sentence."""

SMALLEST_PLAIN, LARGEST_PLAIN = 1e-3, 1e7
"""Numbers outside of these are easier to read with a power of ten."""

NO_BREAK = "\N{NO-BREAK SPACE}"
"""Keeps a number and what belongs to it on one line."""

TIMES = "\N{MULTIPLICATION SIGN}"


SAME = 5e-4
"""Ratios closer to one than this are said to be equal: a tenth of a percent to one digit."""


def short(value: float | None) -> str:
    """Format a number for a sentence: four significant digits, commas or a power of ten where it is large.

    Example
    -------
    >>> short(12345.678), short(2.0), short(1.5e12).split(TIMES)[1].strip(), short(None)
    ('12,350', '2', '10¹²', 'unknown')
    """
    if value is None:
        return "unknown"
    rounded = float(f"{value:.{DIGITS}g}")
    if rounded == 0 or SMALLEST_PLAIN <= abs(rounded) < 1e4:
        return f"{rounded:.{DIGITS}g}"
    if 1e4 <= abs(rounded) < LARGEST_PLAIN:
        return f"{rounded:,.0f}"
    digits, _, power = f"{rounded:.{DIGITS - 1}e}".partition("e")
    digits = digits.rstrip("0").rstrip(".")
    return f"{digits}{NO_BREAK}{TIMES}{NO_BREAK}{power_of_ten(int(power))}"


def short_down(value: float | None) -> str:
    """Format what nothing is below, so that it stays true: rounded down.

    Example
    -------
    >>> short_down(3.99064), short_down(16.0), short_up(3.99021), short_up(16.0028)
    ('3.99', '16', '3.991', '16.01')
    """
    return short(_directed(value, ROUND_FLOOR))


def short_up(value: float | None) -> str:
    """Format what nothing is above, rounded up; examples at `short_down`."""
    return short(_directed(value, ROUND_CEILING))


def round_up(value: float) -> str:
    """Format an error that nothing is above for people: three significant digits, rounded up, with commas.

    Example
    -------
    >>> round_up(2696.4), round_up(0.98)
    ('2,700', '0.98')
    """
    if value == 0 or not math.isfinite(value):
        return short(value)
    rounded = float(Context(prec=3, rounding=ROUND_CEILING).create_decimal_from_float(value))
    return f"{rounded:,.12g}" if SMALLEST_PLAIN <= abs(rounded) < LARGEST_PLAIN else short(rounded)


def _directed(value: float | None, rounding: str) -> float | None:
    if value is None or float(f"{value:.{DIGITS}g}") == value:  # as short as it is
        return value
    return float(Context(prec=DIGITS, rounding=rounding).create_decimal_from_float(value))


def percent_up(share: float, digits: int) -> str:
    """Format a share that nothing is above, rounded up.

    Example
    -------
    >>> [percent_up(share, 2).replace(NO_BREAK, " ") for share in (0.12341, 2.4e-7, 0.0)]
    ['12.35 %', '0.01 %', '0.00 %']
    """
    places = Decimal(1).scaleb(-digits - 2)
    return percent(float(Decimal(repr(float(share))).quantize(places, ROUND_CEILING)), digits)


def percent(share: float, digits: int) -> str:
    """Format a share as percent, a rounding error below zero as zero.

    Example
    -------
    >>> [percent(share, 1).replace(NO_BREAK, " ") for share in (0.1234, -1e-9)]
    ['12.3 %', '0.0 %']
    """
    return f"{round(100 * share, digits) + 0.0:.{digits}f}{NO_BREAK}%"


def percent_above(ratio: float) -> str:
    """Say how far a ratio is above or below one.

    Example
    -------
    >>> [percent_above(ratio).replace(NO_BREAK, " ") for ratio in (1.0432, 2.31, 0.9991, 1.0001)]
    ['4.3 % above', '2.31 times', '0.1 % below', 'equal to']
    """
    if abs(ratio - 1) < SAME:
        return "equal to"
    if ratio >= 2:
        return f"{ratio:.3g} times"
    return f"{percent(abs(ratio - 1), 1)} " + ("above" if ratio > 1 else "below")


def with_units(value: float, units: str) -> str:
    """Format a number with its unit, if it has one."""
    return f"{short(value)} {units}".rstrip()


def from_to(low: float, high: float, units: str) -> str:
    """Format a range with its unit, if it has one; of dates and times as such.

    Example
    -------
    >>> from_to(0, 12345.6, "EUR"), from_to(-7305, 12783, "days since 1970-01-01")
    ('from 0 to 12,350 EUR', 'from 1950-01-01 to 2004-12-31')
    """
    first, last = (said_on(end, units) for end in (low, high))
    if first is not None and last is not None:
        return f"from {first} to {last}"
    return f"from {short(low)} to {with_units(high, units)}"


def listed(names: list[str]) -> str:
    """Join names as a sentence does.

    Example
    -------
    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
