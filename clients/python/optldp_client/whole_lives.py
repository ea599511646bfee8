"""Reports of a whole life whose one budget holds for all of a history: one sum of it, or signs of its changes.

docs/bundle-format.md has the ways, docs/asking-again.md what they promise. No message holds a value.
"""

from __future__ import annotations

from dataclasses import dataclass

from .category_drawing import below, choices, words_of
from .drawing import Table, random_words
from .kept import Kept
from .over_time import Way, picked, random_share, text_of, turn_word, user_name

Number = float | str
"""Of which text is refused."""


@dataclass(frozen=True)
class Rows(Way):
    """A user reports one sum of a history, by public weights, when the last period with a weight ends.

    Attributes
    ----------
    mechanism : Table
    rows : tuple of tuple of float
        Weights of the periods, of each row.
    shares : tuple of int
        Of users who have each row.
    salt : bytes
    """

    mechanism: Table
    rows: tuple[tuple[float, ...], ...]
    shares: tuple[int, ...]
    salt: bytes

    def row(self, name: str) -> int:
        """Return the number of a user's row, which stands beside the report."""
        return picked(self.shares, turn_word(self.salt, user_name(name), 0))

    def end(self, name: str) -> int:
        """Return the period in which a user reports."""
        return max(period for period, weight in enumerate(self.rows[self.row(name)], 1) if weight)

    def in_turn(self, kept: Kept, name: str, period: int) -> bool:
        """Whether the user's last period with a weight ends."""
        return period == self.end(name)

    def note(self, kept: Kept, name: str, period: int, value: Number) -> None:
        """Keep the first value of a period until the report is drawn."""
        if period <= self.end(name) and not kept.reports:
            self.mechanism.placed(value)  # refuses what is no number of the domain
            kept.values.setdefault(str(period), float(value) + 0.0)

    def drawn(self, kept: Kept, name: str, value: Number) -> str | None:
        """Return the report of the sum, and forget the history."""
        low, high = self.mechanism.knots[0], self.mechanism.knots[-1]
        held, total = kept.values[min(kept.values, key=int)], 0.0
        for period, weight in enumerate(self.rows[self.row(name)], 1):
            held = kept.values.get(str(period), held)  # the last one before, or else the next
            total += weight * scaled(held, low, high)
        told = 0.5 * (low + high) + 0.5 * (high - low) * max(-1.0, min(1.0, total))
        report = text_of(self.mechanism, max(low, min(high, told)))
        kept.values = {}
        return report


@dataclass(frozen=True)
class Branch:
    """Users who send a sign whenever so many periods end, by K signs that are drawn together.

    Attributes
    ----------
    step : int
    many : int
        K.
    weights : tuple of int
        Of 0, 1, ..., K plus signs, all orders together.
    """

    step: int
    many: int
    weights: tuple[int, ...]

    def signs(self) -> str:
        """Draw all of them."""
        words = words_of(1 + self.many)
        plus = _below_which(self.weights, below(sum(self.weights), words))
        return "".join("+" if one < plus else "-" for one in choices(self.many, self.many, words))


@dataclass(frozen=True)
class Tree(Way):
    """A user reports the value of one period, or a sign at the end of each block of periods.

    Attributes
    ----------
    mechanism : Table
        Of who reports a value.
    shares : tuple of int
        Of users who report in each period, and then of each branch.
    branches : tuple of Branch
    salt : bytes
    """

    mechanism: Table
    shares: tuple[int, ...]
    branches: tuple[Branch, ...]
    salt: bytes

    def branch(self, name: str) -> int:
        """Return the number of a user's branch, which stands beside reports, from 1; 0 of who reports a value."""
        return max(self._place(name) - self.periods + 1, 0)

    def in_turn(self, kept: Kept, name: str, period: int) -> bool:
        """Whether a block ends, or it is the user's one period."""
        branch = self.branch(name)
        step = self.branches[branch - 1].step if branch else 1
        return period > 1 and period % step == 0 if branch else period == self._place(name) + 1

    def note(self, kept: Kept, name: str, period: int, value: Number) -> None:
        """Draw the signs and the offset of a user of a branch, and keep the sign of this first value.

        Where another copy of the state may have drawn signs there are no new ones.
        """
        branch = self.branch(name)
        if branch and kept.signs is None and not kept.lost:
            kept.offset = random_share()
            kept.signs, kept.sign = self.branches[branch - 1].signs(), self._sign(value, kept.offset)

    def drawn(self, kept: Kept, name: str, value: Number) -> str | None:
        """Return a value's report, or the next sign; None where another copy may have sent it for another change."""
        if not self.branch(name):
            return text_of(self.mechanism, value)
        if kept.lost or kept.signs is None or kept.offset is None:
            return None
        now, fair = self._sign(value, kept.offset), "+" if random_words(1)[0] >> 63 else "-"  # drawn by all
        changed = now != kept.sign and kept.told < len(kept.signs)
        sent = fair
        if changed:  # the change, plus if it was upwards, times the next sign
            sent = "+" if now == kept.signs[kept.told] else "-"
        kept.sign, kept.told = now, kept.told + changed
        return sent

    def _place(self, name: str) -> int:
        return picked(self.shares, turn_word(self.salt, user_name(name), 0))

    def _sign(self, value: Number, offset: float) -> str:
        self.mechanism.placed(value)  # refuses what is no number of the domain
        low, high = self.mechanism.knots[0], self.mechanism.knots[-1]
        return "+" if scaled(float(value), low, high) > 2 * offset - 1 else "-"


def scaled(value: float, low: float, high: float) -> float:
    """Return a value of [low, high] moved to [-1, 1]."""
    return (value - 0.5 * (low + high)) / (0.5 * (high - low))


def _below_which(weights: tuple[int, ...], drawn: int) -> int:
    end = 0
    for place, weight in enumerate(weights):
        end += weight
        if end > drawn:
            return place
    return len(weights) - 1
