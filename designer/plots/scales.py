"""Logarithmic axes with numbers that people read: 0.5, 1, 2, 5, not powers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

FEWEST_TICKS = 5
"""An axis with fewer numbers than that cannot be read off."""

LEAST_GAP = 0.07
"""Of two ticks, as a share of the axis: numbers closer than that run into each other."""

FIRST_DIGITS = ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 5.0, 7.0))
"""Of the numbers on a logarithmic axis, ever denser."""

TIMES, MINUS = "\N{MULTIPLICATION SIGN}", "\N{MINUS SIGN}"

SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")

PLAIN_FROM, PLAIN_TO = 1e-4, 1e6
"""Numbers outside are written as powers of ten: their zeros cannot be counted at a glance."""


def log_axis(axes: Axes, which: Literal["x", "y"], low: float, high: float, *, prefer: Sequence[float] = ()) -> None:
    """Make one axis logarithmic from low to high, with plain numbers: those preferred if there is room for them."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    gaps = np.diff(np.log(prefer)) / math.log(high / low)
    ticks = list(prefer) if len(prefer) and gaps.min(initial=1.0) > LEAST_GAP else round_numbers(low, high)
    (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    (axes.set_xlim if which == "x" else axes.set_ylim)(low, high)
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FixedFormatter([plain_number(tick) for tick in ticks]))
    axis.set_minor_locator(NullLocator())


def round_numbers(low: float, high: float) -> list[float]:
    """Return round numbers between two positive ones, as few as suffice to read off an axis.

    Example
    -------
    >>> round_numbers(0.2, 6), round_numbers(0.95, 1.3)
    ([0.2, 0.5, 1.0, 2.0, 5.0], [1.0, 1.1, 1.2, 1.3])
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in FIRST_DIGITS:
        found = [float(f"{digit}e{power}") for power in powers for digit in digits]
        found = [value for value in found if low <= value <= high]
        if len(found) >= FEWEST_TICKS:
            return found
    step = 10 ** math.floor(math.log10((high - low) / 2))
    step *= next(k for k in (1, 2, 5, 10) if (high - low) / (k * step) <= FEWEST_TICKS + 2)
    return [float(f"{k * step:.12g}") for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def plain_number(value: float) -> str:
    """Write a number for an axis, in letters: formulas take matplotlib ten times as long to draw.

    Example
    -------
    >>> plain_number(0.25), plain_number(20_000.0), plain_number(-3e7)
    ('0.25', '20,000', '−3×10⁷')
    """
    if value == 0 or PLAIN_FROM <= abs(value) < PLAIN_TO:
        return f"{value:,.12g}".replace("-", MINUS)
    digits, power = f"{value:e}".split("e")
    first = "" if float(digits) == 1.0 else f"{float(digits):g}{TIMES}"
    return f"{first}{power_of_ten(int(power))}".replace("-", MINUS)


def power_of_ten(power: int) -> str:
    """Write a power of ten in letters.

    Example
    -------
    >>> power_of_ten(-12)
    '10⁻¹²'
    """
    return f"10{str(power).translate(SUPERSCRIPTS)}"


def plain_numbers(axis: Axis) -> None:
    """Write the numbers of a linear axis as `plain_number` does."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: plain_number(value)))
