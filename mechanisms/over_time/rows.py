"""One linear report of a user's own history: of which row of weights, a public draw says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..channel import Channel
from ..display.summary import Dots, Told
from ..documents.bundle import Nested, require_exact
from ..documents.table import as_number, numbers_from_document, require_keys
from ..errors import InputError, TableError
from ..sampling.law import Words
from ..table.table import TabulatedMechanism
from ..user_name import user_name
from .histories import filled, scaled
from .of_mechanism import OfMechanism
from .panel import LIFE, checked_salt, checked_whole_shares
from .turns import shared_turns, turn_words
from .way import checked_periods

MOST_ROWS = 10_000


@dataclass(frozen=True, eq=False, repr=False)
class HistoryRows(OfMechanism):
    """One report of a user, about the weighted sum <a, x> of the values x of all periods, for one row a of weights.

    A hash of the user's name picks the row, by public shares. With values scaled to [-1, 1] the sum is clipped to [-1,
    1], scaled back, and reported through the mechanism when the last period with a weight ends. A user thus sends one
    report of one number, so any two histories have a log-ratio of at most epsilon. This includes histories that change
    more often than the rows were made for, whose sums may be clipped, which adds bias.

    Parameters
    ----------
    mechanism : TabulatedMechanism
        Of one report, exact, of a pure budget that is at most epsilon.
    rows : (m, T) array_like of float
        Each with a weight that is not zero.
    shares : sequence of int
        m non-negative whole numbers with a sum below 2^31: the users of each row.
    variances : (m,) array_like of float
        Of a report of each row between users, in units of half the range: what estimators weigh rows by. Wrong ones
        cost accuracy alone.
    epsilon : float
        The budget of a life.
    salt : str
        32 hexadecimal digits, new for each collection.
    stays : bool
        Whether estimators assume constant values, so that each period has the same mean. It is wrong if values move.

    Raises
    ------
    InputError
        Numbers out of their ranges, or a mechanism that spends more.
    TableError
        A table in doubles.

    Source: rows of docs/asking-again.md.

    Example
    -------
    >>> from optldp import make_exact
    >>> from optldp.mechanisms import duchi
    >>> from optldp.mechanisms.over_time import HistoryRows
    >>> table = make_exact(duchi([0, 10], 1.0)).mechanism
    >>> made = HistoryRows(table, [[0.5, 0.5, 0], [0, 0, 1]], [1, 1], [2.0, 2.0], 1.0, "0" * 32)
    >>> users = ["ann", "bo", "cy"]
    >>> made.beside(users)["row"].tolist(), made.turns(users).ravel().tolist()
    ([0, 0, 1], [2, 2, 3])
    >>> made.told(users, [[0, 10, 5], [10, 10, 5], [0, 0, 2]]).tolist()
    [5.0, 10.0, 2.0]
    """

    kind: ClassVar[str] = "rows"
    promised: ClassVar[str] = LIFE  # pyright: ignore[reportIncompatibleVariableOverride] -- the same for all of them
    keeps: ClassVar[str] = "its values until it reports, and the report"
    remembers: ClassVar[str] = "values"
    mechanism: Channel
    rows: np.ndarray
    shares: tuple[int, ...]
    variances: np.ndarray
    epsilon: float
    salt: str
    stays: bool

    def __init__(
        self,
        mechanism: TabulatedMechanism,
        rows: ArrayLike,
        shares: Sequence[int],
        variances: ArrayLike,
        epsilon: float,
        salt: str,
        stays: bool = False,
    ) -> None:
        if not isinstance(mechanism, TabulatedMechanism):
            raise InputError(f"rows are reported through a table of numbers, got {mechanism!r:.60}")
        require_exact("the table of rows", mechanism)
        weights, spread = _checked_rows(rows), np.array(variances, dtype=float)
        if spread.shape != (len(weights),) or not (np.isfinite(spread) & (spread > 0)).all():
            raise InputError(f"there must be a positive variance for each of {len(weights)} rows, got others")
        for array in (weights, spread):
            array.setflags(write=False)
        object.__setattr__(self, "mechanism", mechanism)
        object.__setattr__(self, "rows", weights)
        object.__setattr__(self, "shares", checked_whole_shares(shares, len(weights), "row"))
        object.__setattr__(self, "variances", spread)
        object.__setattr__(self, "epsilon", check_epsilon(epsilon))
        object.__setattr__(self, "salt", checked_salt(salt))
        object.__setattr__(self, "stays", stays)
        if type(stays) is not bool or (stays and not weights.sum(axis=1).any()):
            raise InputError("stays must be true or false, and true of rows that tell a value that stays, got others")
        if Fraction(mechanism.epsilon) > Fraction(self.epsilon):
            raise InputError(f"a report must spend at most {self.epsilon:g}, got {mechanism.epsilon!r}: use its budget")

    def __repr__(self) -> str:
        return f"HistoryRows(periods={self.periods}, rows={len(self.rows)}, epsilon={self.epsilon:g})"

    def _told(self) -> Told:
        facts = {"epsilon": self.epsilon, "periods": self.periods, "rows": len(self.rows)}
        ends, shares = self.ends, np.array(self.shares) / sum(self.shares)
        many = np.bincount(ends, weights=shares, minlength=self.periods + 1)[1:]
        names = [str(period) for period in range(1, self.periods + 1)]
        return Told(facts, picture=Dots(names, many, "share of users who report"))

    @property
    def periods(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride] -- it follows from the rows
        """T."""
        return self.rows.shape[1]

    @property
    def reports(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride] -- the same for all of them
        """One."""
        return 1

    @property
    def ends(self) -> np.ndarray:
        """The last period (m,) that each row has a weight of, from 1 on."""
        return self.periods - np.argmax(self.rows[:, ::-1] != 0, axis=1)

    def rows_of(self, users: Sequence[str]) -> np.ndarray:
        """Return the row (N,) of each user, from 0 on; a function of names alone."""
        names, salt = [user_name(user) for user in users], bytes.fromhex(self.salt)
        return shared_turns(lambda number: turn_words(salt, names, number), self.shares)[:, 0] - 1

    def turns(self, users: Sequence[str]) -> np.ndarray:
        return self.ends[self.rows_of(users)][:, None]

    def beside(self, users: Sequence[str]) -> dict[str, np.ndarray]:
        """Return the row of each user under "row"."""
        return {"row": self.rows_of(users)}

    def told(self, users: Sequence[str], histories: ArrayLike) -> np.ndarray:
        """Return the number (N,) that each user reports, in the units of the values.

        Parameters
        ----------
        users : sequence of str
        histories : (N, T) array_like of float
            Values of the domain; NaN where there is none, for which the last one before stands, or else the next.
        """
        low, high = self.mechanism.inputs.domain  # pyright: ignore[reportAttributeAccessIssue] -- of numbers
        sums = np.einsum("ij,ij->i", self.rows[self.rows_of(users)], scaled(filled(histories), low, high))
        return np.clip(0.5 * (low + high) + 0.5 * (high - low) * np.clip(sums, -1.0, 1.0), low, high)

    def drawn_of(self, users: Sequence[str], histories: np.ndarray, words: Words) -> np.ndarray:
        return self.draw(self.inputs.admitted(self.told(users, histories)), words)

    def members(self) -> dict[str, Any]:
        return {
            "mechanism": self.mechanism,
            "rows": [row.tolist() for row in self.rows],
            "shares": list(self.shares),
            "variances": self.variances.tolist(),
            "epsilon": self.epsilon,
            "salt": self.salt,
            "stays": self.stays,
        }

    @classmethod
    def from_members(cls, members: Mapping[str, Any], nested: Nested) -> Self:
        require_keys("rows", members, ("mechanism", "rows", "shares", "variances", "epsilon", "salt", "stays"))
        for name in ("rows", "shares"):
            if not isinstance(members[name], list):
                raise TableError(f"{name} must be a list, got {type(members[name]).__name__}")
        made, epsilon = nested(members["mechanism"]), as_number("epsilon", members["epsilon"])
        rows = [numbers_from_document("a row", row) for row in members["rows"]]
        variances = numbers_from_document("variances", members["variances"])
        return cls(made, rows, members["shares"], variances, epsilon, members["salt"], members["stays"])


def _checked_rows(rows: ArrayLike) -> np.ndarray:
    try:
        found = np.array(rows, dtype=float)
    except (TypeError, ValueError):
        raise InputError("rows must be lists of numbers, of one length, got others") from None
    if found.ndim != 2 or not 1 <= len(found) <= MOST_ROWS or not np.isfinite(found).all():
        raise InputError(f"there must be 1 to {MOST_ROWS} rows of finite weights, got shape {found.shape}")
    checked_periods(found.shape[1])
    if not found.any(axis=1).all():
        raise InputError("each row must have a weight that is not zero, got one without: leave it out")
    return found
