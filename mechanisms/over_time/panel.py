"""A rotating panel: each user reports in few periods, drawn without a look at data, with a share of the budget."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self, cast

import numpy as np

from ..budget import check_epsilon
from ..categorical.mechanism import CategoricalMechanism
from ..channel import Channel
from ..display.summary import Dots, Told
from ..documents.bundle import Nested, require_exact
from ..documents.table import as_number, require_keys
from ..errors import InputError, TableError
from ..promise import Pure
from ..sampling.random_words import random_words
from ..table.table import TabulatedMechanism
from ..user_name import user_name
from .of_mechanism import OfMechanism
from .turns import LARGEST_TOTAL, Word, even_turns, shared_turns, turn_words
from .way import checked_periods

SALT_BYTES = 16

LIFE = (
    "whatever a user's whole history, what is received is at most {factor} times likelier than under any other history "
    "(epsilon {epsilon})"
)
"""What ways promise that give a life one budget."""


@dataclass(frozen=True, eq=False, repr=False)
class Panel(OfMechanism):
    """r reports of a user, in r of T periods that a hash of the user's name picks.

    Periods do not depend on values. Given the periods, a user sends r reports of the mechanism, so any two histories of
    values have a log-ratio of at most r times its epsilon, which is at most `epsilon`.

    The draw is public: everybody with the file knows when a user reports, which reveals nothing about values. Without a
    salt each device draws its own periods and keeps them, so that nobody else knows who still has to report.

    With a `span` of W periods the panel rotates: a user reports in r of the first W periods and every W periods after
    each, so that any W periods in a row have r of its reports, and `epsilon` is of these. A whole life spends
    `life_epsilon`, which grows with the periods.

    Parameters
    ----------
    mechanism : TabulatedMechanism or CategoricalMechanism
        Of one report, exact, of a pure budget that r times is at most epsilon.
    periods : int
        T, from 2.
    reports : int
        r, from 1 to T, or to the span.
    epsilon : float
        The budget of a life, or of a span.
    salt : str or None
        32 hexadecimal digits, new for each collection, so that two of them pick periods of their own. None: devices
        draw.
    shares : sequence of int, optional
        T non-negative whole numbers with a sum below 2^31, by which users are spread over periods, with one report
        each. Default: evenly.
    span : int, optional
        W, from 1 to T: how many periods in a row are protected together. Default: all.

    Raises
    ------
    InputError
        Numbers out of their ranges, a mechanism that spends more, or shares beside several reports or a span.
    TableError
        A table in doubles.

    Source
    ------
    A rotating panel with a hashed rotation group; shares by Theorem 1 of docs/theory/asking-again.md.

    Example
    -------
    >>> from optldp import make_exact
    >>> from optldp.mechanisms import duchi
    >>> from optldp.mechanisms.over_time import Panel
    >>> made = Panel(make_exact(duchi([0, 10], 1.0)).mechanism, 12, 1, 1.0, "0" * 32)
    >>> made.turns(["ann", "bo"]).tolist(), made.in_turn(["ann", "bo"], 6).tolist()
    ([[6], [3]], [True, False])
    >>> rotating = Panel(made.mechanism, 12, 1, 1.0, "0" * 32, span=4)
    >>> [period for period in range(1, 13) if rotating.in_turn(["ann"], period)], rotating.life_epsilon
    ([2, 6, 10], 3.0)
    """

    kind: ClassVar[str] = "panel"
    keeps: ClassVar[str] = "which reports were sent"
    mechanism: Channel
    periods: int
    reports: int
    epsilon: float
    salt: str | None
    shares: tuple[int, ...] | None
    span: int | None

    def __init__(
        self,
        mechanism: TabulatedMechanism | CategoricalMechanism,
        periods: int,
        reports: int,
        epsilon: float,
        salt: str | None,
        shares: Sequence[int] | None = None,
        span: int | None = None,
    ) -> None:
        object.__setattr__(self, "mechanism", checked_mechanism(mechanism))
        object.__setattr__(self, "periods", checked_periods(periods))
        object.__setattr__(self, "reports", reports)
        object.__setattr__(self, "epsilon", check_epsilon(epsilon))
        object.__setattr__(self, "salt", None if salt is None else checked_salt(salt))
        object.__setattr__(self, "shares", None if shares is None else _checked_shares(shares, periods, reports))
        object.__setattr__(self, "span", None if span is None else _checked_span(span, periods, shares))
        if type(reports) is not int or not 1 <= reports <= self._cycle:
            raise InputError(f"reports must be a whole number from 1 to {self._cycle}, got {reports!r:.40}")
        if Fraction(mechanism.epsilon) * reports > Fraction(self.epsilon):
            raise InputError(
                f"{reports} reports of a user must spend at most {self.epsilon:g}, got {mechanism.epsilon!r} each: "
                "give the mechanism attribute_budget(epsilon, reports)"
            )

    def __repr__(self) -> str:
        span = "" if self.span is None else f", span={self.span}"
        return f"Panel(periods={self.periods}, reports={self.reports}, epsilon={self.epsilon:g}{span})"

    @property
    def promised(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride] -- it depends on the span
        if self.span is None:
            return LIFE
        return (
            f"of any {self.span} periods in a row, what is received is at most {{factor}} times likelier than had a "
            f"user's values in these been any others (epsilon {{epsilon}}); of all {self.periods} periods together "
            f"epsilon is {self.life_epsilon:g}"
        )

    @property
    def _cycle(self) -> int:
        """After so many periods turns are the same again."""
        return self.span or self.periods

    @property
    def life_epsilon(self) -> float:
        """What all reports of a user in all periods may spend: that of a span for each that has begun."""
        return self.epsilon * -(-self.periods // self._cycle)

    @property
    def named_turns(self) -> bool:
        return self.salt is not None

    def _told(self) -> Told:
        budgets = np.array([float(Fraction(self.epsilon) / self.reports), self.epsilon])
        facts = {"epsilon": self.epsilon, "periods": self.periods, "reports": self.reports}
        return Told(facts, picture=Dots(["a report at most", "a life"], budgets, "epsilon"))

    def turns(self, users: Sequence[str]) -> np.ndarray:
        if self.salt is None:
            raise InputError("periods of this panel are drawn by devices, got names: ask the state of a device")
        names, salt = [user_name(user) for user in users], bytes.fromhex(self.salt)
        return self._turns_by(lambda number: turn_words(salt, names, number))

    def named(self, seed: int) -> Self:
        """Return the same panel with turns by names and a salt that is this number: for simulations."""
        salt = f"{seed % 2 ** (8 * SALT_BYTES):0{2 * SALT_BYTES}x}"
        return type(self)(
            cast(Any, self.mechanism), self.periods, self.reports, self.epsilon, salt, self.shares, self.span
        )

    def part(self, period: int) -> float:
        if self.shares is None:
            return super().part(period)
        return self.shares[self.checked_period(period) - 1] / sum(self.shares)

    def drawn_turns(self, many: int) -> np.ndarray:
        """Return turns (N, r) of so many users as devices draw them, by the operating system's random numbers."""
        words = random_words(None)
        return self._turns_by(lambda _: words(many))

    def _turns_by(self, word: Word) -> np.ndarray:
        if self.shares is not None:
            return shared_turns(word, self.shares)
        return even_turns(word, self._cycle, self.reports)

    @property
    def max_log_ratio(self) -> float | None:
        """The epsilon that the reports of a user in a life, or in a span, really keep."""
        mine = super().max_log_ratio
        return None if mine is None else self.reports * mine

    def members(self) -> dict[str, Any]:
        return {
            "mechanism": self.mechanism,
            "periods": self.periods,
            "reports": self.reports,
            "epsilon": self.epsilon,
            "salt": self.salt,
            "shares": None if self.shares is None else list(self.shares),
            "span": self.span,
        }

    @classmethod
    def from_members(cls, members: Mapping[str, Any], nested: Nested) -> Self:
        require_keys("the panel", members, ("mechanism", "periods", "reports", "epsilon", "salt", "shares", "span"))
        shares = members["shares"]
        if shares is not None and not isinstance(shares, list):
            raise TableError(f"shares must be a list or null, got {type(shares).__name__}")
        made, epsilon = nested(members["mechanism"]), as_number("epsilon", members["epsilon"])
        return cls(made, members["periods"], members["reports"], epsilon, members["salt"], shares, members["span"])


def panel_of(
    mechanism: Any,
    periods: int,
    reports: int,
    epsilon: float,
    shares: Sequence[int] | None = None,
    span: int | None = None,
    *,
    by_devices: bool = False,
) -> Panel:
    """Return a panel with a salt of its own, by the operating system's random numbers.

    Parameters
    ----------
    mechanism : TabulatedMechanism or CategoricalMechanism
    periods, reports : int
    epsilon : float
    shares : sequence of int, optional
    span : int, optional
        As for `Panel`, with the same refusals.
    by_devices : bool
        Whether devices draw turns; there is no salt then.

    Returns
    -------
    panel : Panel

    Example
    -------
    >>> from optldp.mechanisms.categorical import categorical_grr
    >>> from optldp.mechanisms.over_time import panel_of
    >>> made = panel_of(categorical_grr(["yes", "no"], 1.0), 52, 2, 2.0)
    >>> made.turns(["ann"]).shape, made.salt == panel_of(made.mechanism, 52, 2, 2.0).salt
    ((1, 2), False)
    """
    salt = None if by_devices else secrets.token_hex(SALT_BYTES)
    return Panel(mechanism, periods, reports, epsilon, salt, shares, span)


def checked_mechanism(mechanism: object) -> Channel:
    """Return the mechanism of a report; TableError or InputError unless it is exact and of a pure budget.

    Example
    -------
    >>> from ..categorical import categorical_grr
    >>> checked_mechanism(categorical_grr(["no", "yes"], 1.0)).epsilon
    1.0
    """
    if isinstance(mechanism, TabulatedMechanism):
        require_exact("the table of a way", mechanism)
    elif not isinstance(mechanism, CategoricalMechanism) or not isinstance(mechanism.promise, Pure):
        raise InputError(
            "a way over time is of a table of numbers or a mechanism for categories of a pure budget, got "
            f"{mechanism!r:.60}"
        )
    return mechanism


def _checked_span(span: object, periods: int, shares: object) -> int:
    if shares is not None:
        raise InputError("shares of periods are of a whole life, got a span beside them: leave one of them out")
    if type(span) is not int or not 1 <= span <= periods:
        raise InputError(f"a span must be a whole number from 1 to {periods} periods, got {span!r:.40}")
    return span


def checked_salt(salt: object) -> str:
    """Return a salt; InputError unless it is 32 hexadecimal digits.

    Example
    -------
    >>> checked_salt("0" * 32) == "0" * 32
    True
    """
    if not (isinstance(salt, str) and len(salt) == 2 * SALT_BYTES and set(salt) <= set("0123456789abcdef")):
        raise InputError(f"the salt must be {2 * SALT_BYTES} hexadecimal digits, got {salt!r:.60}")
    return salt


def _checked_shares(shares: Sequence[int], periods: int, reports: int) -> tuple[int, ...]:
    if reports != 1:
        raise InputError(f"shares of periods are for one report a user, got {reports} reports: leave shares out")
    return checked_whole_shares(shares, periods, "period")


def checked_whole_shares(shares: Sequence[int], many: int, what: str) -> tuple[int, ...]:
    """Return whole shares of users; InputError unless there is one of each of so many periods or rows.

    Example
    -------
    >>> checked_whole_shares([1, 3], 2, "row")
    (1, 3)
    """
    found = tuple(shares)
    if len(found) != many or any(type(share) is not int or share < 0 for share in found):
        raise InputError(f"there must be a share for each of {many} {what}s, whole numbers from 0, got others")
    if not 0 < sum(found) < LARGEST_TOTAL:
        raise InputError(f"shares must have a sum from 1 to {LARGEST_TOTAL - 1}, got {sum(found)}: scale them")
    return found
