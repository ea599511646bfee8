"""What a budget means to somebody who bets: how far one report can move a belief, or a bet, at most.

For a statement about a person's value that was believed with probability p, and reports of which none is more than
e^epsilon times as probable where the statement holds as where it does not, Bayes' rule leaves at most

    p e^epsilon / (1 - p + p e^epsilon),

whatever else is known. Numbers are computed with forty digits and rounded in the direction in which they stay true.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from .number_format import NO_BREAK

BELIEFS = (Decimal("0.01"), Decimal("0.1"), Decimal("0.5"))
"""What somebody may have believed before: unlikely, well possible, even odds."""

DIGITS = 40
"""Of the arithmetic: 37 more than are shown."""


def most_believed(before: Decimal, epsilon: float) -> Decimal:
    """Return the most that is believed after one report, as a probability that nothing exceeds.

    Parameters
    ----------
    before : Decimal
        In [0, 1].
    epsilon : float
        Logarithm of the largest ratio of the report's probabilities, >= 0.

    Example
    -------
    >>> round(most_believed(Decimal("0.01"), 1.0), 6)
    Decimal('0.026724')
    """
    up, down = Context(prec=DIGITS, rounding=ROUND_CEILING), Context(prec=DIGITS, rounding=ROUND_FLOOR)
    # (1 - p) / (p e^epsilon) from below: all of it grows with what is left out of the belief.
    if before == 0:
        return before
    ratio = up.next_plus(up.exp(Decimal(epsilon))) if epsilon else Decimal(1)
    against = down.divide(1 - before, up.multiply(before, ratio))
    return min(Decimal(1), up.divide(Decimal(1), down.add(Decimal(1), against)))


def at_most(before: Decimal, epsilon: float) -> str:
    """Return the same as percent for a sentence, rounded up.

    Example
    -------
    >>> [at_most(Decimal("0.01"), epsilon).replace(NO_BREAK, " ") for epsilon in (1.0, 4.0, 40.0)]
    ['2.7 %', '35.6 %', '100 %']
    """
    return percent_of(most_believed(before, epsilon))


def percent_of(share: Decimal) -> str:
    """Return a probability as percent with at most one decimal, rounded up."""
    tenths = (1000 * share).to_integral_value(ROUND_CEILING)
    shown = f"{tenths / 10:.1f}"
    return f"{shown.removesuffix('.0')}{NO_BREAK}%"


def still_against(before: Decimal, epsilon: float) -> str:
    """Return the odds against it that are left at least, to two digits, rounded down.

    Example
    -------
    >>> still_against(Decimal("0.01"), 1.0), still_against(Decimal("0.01"), 6.0)
    ('36 to 1', '0.24 to 1')
    """
    down = Context(prec=DIGITS, rounding=ROUND_FLOOR)
    believed = most_believed(before, epsilon)
    left = Context(prec=2, rounding=ROUND_FLOOR).create_decimal(down.divide(1 - believed, believed))
    return f"{float(left):g} to 1"


@dataclass(frozen=True)
class Grid:
    """A small table of a page: names of columns, rows of text, and which row is set off, if any."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    shown: int | None = None


def odds_grid(what: str, cases: Iterable[tuple[str, float]]) -> Grid:
    """Return beliefs before and the most after, a row for each case: its name, and the logarithm of its ratio.

    Example
    -------
    >>> grid = odds_grid("after", [("one report", 1.0), ("two", 2.0)])
    >>> [cell.replace(NO_BREAK, " ") for cell in (*grid.header, *grid.rows[0])]
    ['after', 'from 1 %', 'from 10 %', 'from 50 %', 'one report', '2.7 %', '23.2 %', '73.2 %']
    """
    header = (what, *(f"from {percent_of(before)}" for before in BELIEFS))
    return Grid(header, tuple((name, *(at_most(before, epsilon) for before in BELIEFS)) for name, epsilon in cases))


def odds_sentence(epsilon: float) -> str:
    """Return what one report of a pure budget means to somebody who bets.

    Example
    -------
    >>> odds_sentence(1.0).replace(NO_BREAK, " ")[:110]
    'Somebody who thinks something about a person 1 % likely, whatever it is, thinks it at most 2.7 % likely after '
    """
    before = BELIEFS[0]
    return (
        f"Somebody who thinks something about a person {percent_of(before)} likely, whatever it is, thinks it at most "
        f"{at_most(before, epsilon)} likely after seeing that person's report: who bets 99 to 1 against it before, "
        f"can still bet at least {still_against(before, epsilon)} against it after. That holds whatever else they know "
        "and however much they compute."
    )
