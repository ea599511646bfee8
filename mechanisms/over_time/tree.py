"""Changes over blocks of periods as signs, each when its block ends: all of a user's hidden by one draw made before."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..display.summary import Dots, Told
from ..documents.bundle import Nested, require_exact
from ..documents.table import as_number, require_keys
from ..errors import InputError, TableError
from ..exactness.proof import failures_of
from ..integers.exponential import exponential_below
from ..sampling.law import Words
from ..sampling.random_words import draw53
from ..spaces.space import Space
from ..statistics import Statistic
from ..table.table import TabulatedMechanism
from ..user_name import user_name
from .histories import filled, scaled
from .panel import LIFE, checked_salt, checked_whole_shares
from .signs import Signs
from .turns import shared_turns, turn_words
from .way import Way, checked_periods

OFFSET, LAST, SIGNS = -1, -2, 0
"""Places of what a device remembers: its offset, its sign at the last block's end and how many changes it told, and its
signs."""

SIGN_TEXTS = {"+": 1.0, "-": -1.0}


class Branch(NamedTuple):
    """Users whose changes are told over blocks of so many periods, by signs of one law."""

    step: int
    signs: Signs


@dataclass(frozen=True, eq=False, repr=False)
class Tree(Way):
    """Most users send a sign at the end of each block of periods; the others send one value of one period.

    A hash of the user's name picks a period, of which the value is reported through the table, or a branch. Users of a
    branch have blocks that end in periods s, 2 s and so on. Each is 1 or -1: the sign of the value, scaled to [-1, 1],
    less the user's own offset, which is drawn once. Its mean over offsets is the value, and it changes no more often
    than the value. At the end of a block half the difference from the block before is 1, 0 or -1. Where it is 0 a fair
    sign is sent. Otherwise it is multiplied by the next of K signs that were drawn together at first; after K such
    blocks all count as 0.

    Fair and drawn signs together have a density from `low` to `high` of the law of signs, so every sequence of reports
    has a probability from c to c high / low for every history. Any two histories thus differ by at most that ratio,
    which is at most e^epsilon.

    Parameters
    ----------
    table : TabulatedMechanism
        Of one value, exact, of a pure budget that is at most epsilon.
    periods : int
        T, from 2.
    shares : sequence of int
        Of users who report their value of period 1 to T, and then of those of each branch; whole numbers of a sum below
        2^31.
    branches : sequence of (int, Signs)
        Steps s below T, all different, each with the law of its signs.
    variance : float
        Of a report of a value between users, in units of half the range: what estimators weigh it by.
    epsilon : float
        The budget of a life.
    salt : str
        32 hexadecimal digits, new for each collection.

    Raises
    ------
    InputError
        Numbers out of their ranges, or a table that spends more.
    TableError
        A table in doubles.

    Source
    ------
    Erlingsson et al. (2019), "Amplification by shuffling", section 4, of whom a user's level of the tree; Ohrimenko,
    Wirth and Wu (2022), of whom signs drawn together; offsets by Ding, Kulkarni and Yekhanin (2017).

    Example
    -------
    >>> from optldp import make_exact
    >>> from optldp.mechanisms import duchi
    >>> from optldp.mechanisms.over_time import Tree
    >>> from optldp.mechanisms.over_time.signs import best_signs
    >>> table = make_exact(duchi([0, 10], 1.0)).mechanism
    >>> made = Tree(table, 4, [1, 0, 0, 1, 2], [(2, best_signs(1, 1.0))], 5.0, 1.0, "0" * 32)
    >>> users = ["ann", "bo", "cy"]
    >>> made.beside(users)["branch"].tolist(), made.turns(users).tolist(), made.failures()
    ([0, 0, 1], [[4, 0], [1, 0], [2, 4]], ())
    """

    kind: ClassVar[str] = "tree"
    promised: ClassVar[str] = LIFE  # pyright: ignore[reportIncompatibleVariableOverride] -- the same for all of them
    keeps: ClassVar[str] = "the signs that it drew, its last sign, and how many changes it told"
    remembers: ClassVar[str] = "signs"
    table: TabulatedMechanism
    periods: int
    shares: tuple[int, ...]
    branches: tuple[Branch, ...]
    variance: float
    epsilon: float
    salt: str

    def __init__(
        self,
        table: TabulatedMechanism,
        periods: int,
        shares: Sequence[int],
        branches: Sequence[tuple[int, Signs]],
        variance: float,
        epsilon: float,
        salt: str,
    ) -> None:
        if not isinstance(table, TabulatedMechanism):
            raise InputError(f"values are reported through a table of numbers, got {table!r:.60}")
        require_exact("the table of values", table)
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "periods", checked_periods(periods))
        object.__setattr__(self, "branches", _checked_branches(branches, periods))
        object.__setattr__(self, "shares", checked_whole_shares(shares, periods + len(branches), "period and branche"))
        object.__setattr__(self, "variance", variance)
        object.__setattr__(self, "epsilon", check_epsilon(epsilon))
        object.__setattr__(self, "salt", checked_salt(salt))
        if not (isinstance(variance, float) and 0 < variance < math.inf):
            raise InputError(f"the variance of a report must be positive and finite, got {variance!r:.40}")
        if Fraction(table.epsilon) > Fraction(self.epsilon):
            raise InputError(f"a report must spend at most {self.epsilon:g}, got {table.epsilon!r}: use its budget")

    def __repr__(self) -> str:
        return f"Tree(periods={self.periods}, branches={len(self.branches)}, epsilon={self.epsilon:g})"

    def _told(self) -> Told:
        facts = {"epsilon": self.epsilon, "periods": self.periods, "branches": len(self.branches)}
        names = ["one value", *(f"blocks of {branch.step}" for branch in self.branches)]
        shares = [sum(self.shares[: self.periods]), *self.shares[self.periods :]]
        return Told(facts, picture=Dots(names, np.array(shares) / sum(self.shares), "share of users"))

    @property
    def mechanism(self) -> Self:  # pyright: ignore[reportIncompatibleVariableOverride] -- one promise for all reports
        """Itself: the reports of a user have one promise together."""
        return self

    @cached_property
    def reports(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride] -- it follows from the branches
        """Of a user at most."""
        return max([1, *(len(self.ends(branch)) for branch in range(len(self.branches)))])

    def ends(self, branch: int) -> np.ndarray:
        """Return the periods in which blocks of a branch, from 0 on, end; period 1 is where the first begins."""
        step = self.branches[branch].step
        return np.array([end for end in range(step, self.periods + 1, step) if end > 1])

    @property
    def max_log_ratio(self) -> float | None:
        """The epsilon that a life really keeps."""
        ratios = [math.log(branch.signs.ratio) for branch in self.branches]
        one = getattr(self.table, "max_log_ratio", None)
        return None if one is None else max([one, *ratios])

    def failures(self) -> tuple[str, ...]:
        limit = exponential_below(self.epsilon)
        return (
            *(f"the table of values: {failure}" for failure in failures_of(self.table)),
            *(
                f"signs of blocks of {step} must have a ratio of at most e^{self.epsilon:g}, got {float(signs.ratio):g}"
                for step, signs in self.branches
                if signs.ratio > limit
            ),
        )

    def groups(self, users: Sequence[str]) -> np.ndarray:
        """Return what each user (N,) is to report: the value of a period, 0 to T - 1, or T and the branch."""
        names, salt = [user_name(user) for user in users], bytes.fromhex(self.salt)
        return shared_turns(lambda number: turn_words(salt, names, number), self.shares)[:, 0] - 1

    def turns(self, users: Sequence[str]) -> np.ndarray:
        """Return in which periods (N, reports) users report; 0 fills up the rows of those who have fewer."""
        groups = self.groups(users)
        found = np.zeros((len(groups), self.reports), dtype=np.int64)
        found[:, 0] = np.where(groups < self.periods, groups + 1, 0)
        for branch in range(len(self.branches)):
            ends = self.ends(branch)
            found[groups == self.periods + branch, : len(ends)] = ends
        return found

    def in_turn(self, users: Sequence[str], periods: int | np.ndarray) -> np.ndarray:
        asked = periods if isinstance(periods, np.ndarray) else np.array(self.checked_period(periods))
        groups = self.groups(users)
        steps = np.array([1] * self.periods + [branch.step for branch in self.branches])[groups]
        return np.where(groups < self.periods, groups + 1 == asked, (asked > 1) & (asked % steps == 0))

    def part(self, period: int) -> float:
        self.checked_period(period)
        ended = [branch.step for branch in self.branches]
        many = self.shares[period - 1] + sum(
            share for share, step in zip(self.shares[self.periods :], ended, strict=True)
            if period > 1 and period % step == 0
        )  # fmt: skip
        return many / sum(self.shares)

    def beside(self, users: Sequence[str]) -> dict[str, np.ndarray]:
        """Return under "branch" that of each user, from 1 on; 0 of who reports one value."""
        return {"branch": np.maximum(self.groups(users) - self.periods + 1, 0)}

    @property
    def units(self) -> str:
        """Of the values."""
        return self.table.units

    @property
    def inputs(self) -> Space:
        """The values of one period."""
        return self.table.inputs

    @property
    def statistic(self) -> Statistic | None:
        """None: reports support values and changes."""
        return None

    def draw(self, held: np.ndarray, words: Words, /) -> np.ndarray:
        """Draw reports (N, 2) of those who report one value: 0, and what the table reports."""
        found = self.table.draw(held, words)
        return np.column_stack([np.zeros(len(found)), found])

    def first_memories(self, users: Sequence[str], held: np.ndarray, words: Words) -> list[dict[int, str]]:
        """Return what devices of users of branches remember first: offset, signs, and the sign of their value."""
        offsets, made = draw53(words, len(users)) * 2.0**-53, []
        branches = self.groups(users) - self.periods
        signs = self._signs_drawn(branches, words)
        for offset, mine, sign in zip(offsets.tolist(), signs, self._signed(held, offsets).tolist(), strict=True):
            made.append({OFFSET: repr(offset), SIGNS: _text(mine), LAST: _text([sign]) + "0"})
        return made

    def drawn_next(
        self, users: Sequence[str], held: np.ndarray, memories: Sequence[Mapping[int, str]], words: Words
    ) -> tuple[list[dict[int, str]], list[str]]:
        """Return what devices of users of branches remember when a block ends, and what they send then, as text."""
        offsets = np.array([float(memory[OFFSET]) for memory in memories])
        last = np.array([SIGN_TEXTS[memory[LAST][0]] for memory in memories])
        told = np.array([int(memory[LAST][1:]) for memory in memories], dtype=np.int64)
        signs = [[int(SIGN_TEXTS[sign]) for sign in memory[SIGNS]] for memory in memories]
        limits = np.array([len(mine) for mine in signs])
        next_ = np.array([mine[min(used, len(mine) - 1)] for mine, used in zip(signs, told.tolist(), strict=True)])
        now = self._signed(held, offsets)
        sent, told = _sent(now, last, told, limits, next_, words)
        after = [
            {**memory, LAST: _text([sign]) + str(used)}
            for memory, sign, used in zip(memories, now.tolist(), told.tolist(), strict=True)
        ]
        return after, list(_text(sent))

    def drawn_lives(
        self, users: Sequence[str], histories: np.ndarray, words: Words
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draw all reports of N users of histories (N, T): who (M,), in which period (M,), and what (M, 2)."""
        whole = filled(histories)
        held, groups = self.inputs.admitted(whole.ravel()).reshape(whole.shape), self.groups(users)
        ones = np.flatnonzero(groups < self.periods)
        parts = [(ones, groups[ones] + 1, self.draw(held[ones, groups[ones]], words))]
        for branch in range(len(self.branches)):
            mine = np.flatnonzero(groups == self.periods + branch)
            offsets, signs = draw53(words, mine.size) * 2.0**-53, self.branches[branch].signs.drawn(mine.size, words)
            last, told = self._signed(held[mine, 0], offsets), np.zeros(mine.size, dtype=np.int64)
            for end in self.ends(branch).tolist():
                now = self._signed(held[mine, end - 1], offsets)
                next_ = signs[np.arange(mine.size), np.minimum(told, signs.shape[1] - 1)]
                sent, told = _sent(now, last, told, np.array(signs.shape[1]), next_, words)
                parts.append((mine, np.full(mine.size, end), np.column_stack([np.ones(mine.size), sent])))
                last = now
        who, periods, reports = zip(*parts, strict=True)
        return np.concatenate(who), np.concatenate(periods), np.concatenate(reports)

    def _signs_drawn(self, branches: np.ndarray, words: Words) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in branches]
        for branch in np.unique(branches).tolist():
            rows = np.flatnonzero(branches == branch)
            for row, signs in zip(rows.tolist(), self.branches[branch].signs.drawn(rows.size, words), strict=True):
                found[row] = signs.tolist()
        return found

    def _signed(self, held: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Signs whose mean over offsets from 0 to 1 is the value, scaled."""
        low, high = self.table.domain
        return np.where(scaled(held, low, high) > 2 * offsets - 1, 1.0, -1.0)

    def checked_reports(self, reports: ArrayLike) -> np.ndarray:
        found = np.asarray(reports, dtype=float)
        if found.ndim != 2 or found.shape[1] != 2:
            raise InputError(f"reports must be a mark of signs and a number each, got shape {found.shape}")
        signs = found[:, 0] == 1
        if (~signs & (found[:, 0] != 0)).any() or (np.abs(found[signs, 1]) != 1).any():
            raise InputError("signs must be marked by 1 and be 1 or -1, numbers by 0, got others")
        self.table.checked_reports(found[~signs, 1])
        return found

    def to_text(self, reports: np.ndarray) -> list[str]:
        signs = reports[:, 0] == 1
        numbers = iter(self.table.to_text(reports[~signs, 1]))
        return [
            _text([value]) if sign else next(numbers)
            for sign, value in zip(signs.tolist(), reports[:, 1].tolist(), strict=True)
        ]

    def from_text(self, texts: Sequence[str]) -> np.ndarray:
        signs = np.array([text in SIGN_TEXTS for text in texts], dtype=bool)
        found = np.column_stack([signs.astype(float), np.zeros(len(signs))])
        found[signs, 1] = [SIGN_TEXTS[text] for text in texts if text in SIGN_TEXTS]
        found[~signs, 1] = self.table.from_text([text for text in texts if text not in SIGN_TEXTS])
        return found

    def nature(self) -> dict[str, object]:
        return {"kinds": type(self).__name__, "periods": self.periods, **self.table.nature()}

    def members(self) -> dict[str, Any]:
        return {
            "table": self.table,
            "periods": self.periods,
            "shares": list(self.shares),
            "branches": [[step, signs.many, signs.least, signs.high, signs.low] for step, signs in self.branches],
            "variance": self.variance,
            "epsilon": self.epsilon,
            "salt": self.salt,
        }

    @classmethod
    def from_members(cls, members: Mapping[str, Any], nested: Nested) -> Self:
        require_keys("the tree", members, ("table", "periods", "shares", "branches", "variance", "epsilon", "salt"))
        shares, branches = members["shares"], members["branches"]
        if not isinstance(shares, list) or not isinstance(branches, list):
            raise TableError("shares and branches must be lists, got others")
        if any(not isinstance(each, list) or len(each) != 5 for each in branches):
            raise TableError("a branch must be a list of five whole numbers, got another")
        variance, epsilon = (as_number(name, members[name]) for name in ("variance", "epsilon"))
        made = [(each[0], Signs(*each[1:])) for each in branches]
        return cls(
            nested(members["table"]), members["periods"], shares, made, variance, epsilon, members["salt"]
        )  # fmt: skip


def _sent(
    now: np.ndarray, last: np.ndarray, told: np.ndarray, limits: np.ndarray, signs: np.ndarray, words: Words
) -> tuple[np.ndarray, np.ndarray]:
    """What is sent of signs now and before, 1 or -1, by the next drawn ones, and how many changes are told then."""
    changed = np.where(told < limits, (now - last) / 2, 0.0)
    fair = np.where(words(len(now)) >> np.uint64(63), 1.0, -1.0)  # drawn for all, so that time tells nothing
    return np.where(changed == 0, fair, changed * signs), told + (changed != 0)


def _text(signs: Any) -> str:
    return "".join("+" if sign > 0 else "-" for sign in signs)


def _checked_branches(branches: Sequence[tuple[int, Signs]], periods: int) -> tuple[Branch, ...]:
    steps = [step for step, _ in branches]
    if any(type(step) is not int or not 1 <= step < periods for step in steps) or len(set(steps)) < len(steps):
        raise InputError(f"steps must be different whole numbers from 1 to {periods - 1}, got {steps!r:.60}")
    if any(not isinstance(signs, Signs) for _, signs in branches):
        raise InputError("a branch must have the law of its signs, got something else")
    return tuple(Branch(step, signs) for step, signs in branches)
