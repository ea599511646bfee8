"""What every user has spent, and the reports already given: a second report costs budget, a repeated one nothing.

The file holds no user names and no values: both are stored as HMAC-SHA-256 under a key that the ledger's owner keeps
elsewhere. What is stored in plain are reports, which are private by themselves, epsilons and the budget.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from ..channel import Channel
from ..client.sampler import Sampler
from ..errors import BudgetError, InputError
from ..report_id import ID_BYTES
from ..user_name import user_name
from .book import LedgerBook
from .booked import BookedMechanism, booked
from .file import create_ledger_file, ledger_transaction
from .record import Record
from .rounded import at_least
from .seals import checked_key

Value = float | np.number | str | Mapping[str, float]
"""In a table's domain, a category, or a number for each key or attribute."""


@dataclass(frozen=True)
class GivenReports:
    """Result of `Ledger.reports`.

    Attributes
    ----------
    reports : list
        One for each user, as `Ledger.report` returns it.
    new : int
        How many were drawn; the others had been given before and cost nothing.
    spent : float
        The most that any of these users has spent in all, at least 0, rounded up if it is no double.

    Example
    -------
    >>> from optldp.mechanisms.ledger import GivenReports
    >>> GivenReports([0.5, -0.5], 1, 2.0).repeated
    1
    """

    reports: list[Any]
    new: int
    spent: float

    @property
    def repeated(self) -> int:
        """How many had been given before."""
        return len(self.reports) - self.new


class Ledger:
    """A file of budgets spent and reports given, for any number of threads and processes of one machine.

    Epsilons of different reports of a user add up (basic composition), as exact fractions. The same user's same value
    under the same mechanism gets the same report again, at no cost; so a changed report reveals a changed value, which
    this ledger does not hide.

    Spending and drawing are one call, `report`: it reads, draws and writes in one transaction of SQLite, and a returned
    report is on disk and survives a power loss. A failed call has booked nothing or, if interrupted after the commit, a
    report that the next call returns for free.

    The file must exist: `Ledger.create` makes it, once. Every record and the file as a whole are sealed under the key,
    so that nobody without the key can change, add, remove, move or roll back records unnoticed. A user's own records
    are checked with every call, all of them by `check`. **The file itself cannot show that it is an old copy.** An open
    ledger refuses a copy that replaces its file; between openings, keep `mark` elsewhere and pass it when opening.

    Parameters
    ----------
    path : path
        A ledger's file, on a disk of this machine (locks on network folders are unreliable) and in a folder that others
        cannot write to.
    key : bytes
        The key it was made with; anybody with key and file can test guesses of users and values.
    budget : float, optional
        The budget it was made with: a larger one would break the promise to users. Default: the file's sealed budget.
    mark : str, optional
        A `mark` kept elsewhere: older files, and files of another history, are refused.

    Raises
    ------
    InputError
        No file, a file that is not a ledger of this key and budget, or one that was altered.

    Example
    -------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from optldp import make_exact
    >>> from optldp.mechanisms import grr
    >>> from optldp.mechanisms.ledger import Ledger
    >>> table = make_exact(grr([0, 1], 1.0)).mechanism
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger.create(Path(folder, "people.ledger"), bytes(range(32)), 1.5)
    ...     first = ledger.report(table, "ann", 1.0)
    ...     ledger.report(table, "ann", 1.0) == first, ledger.spent("ann")
    (True, 1.0)
    """

    def __init__(
        self, path: str | os.PathLike[str], key: bytes, budget: float | None = None, *, mark: str | None = None
    ) -> None:
        self._path = _absolute(path)
        self._key = checked_key(key)
        self._budget = None if budget is None else _checked_budget(budget)
        self._seen = mark
        with self._transaction(writes=False) as book:
            self._budget = book.head.budget

    @classmethod
    def create(cls, path: str | os.PathLike[str], key: bytes, budget: float) -> Ledger:
        """Make the file of a new ledger, readable by its owner alone, and return the ledger.

        Parameters
        ----------
        path : path
            Where no file is yet: a ledger is never replaced.
        key : bytes
            At least 32, such as from `new_ledger_key`; keep it elsewhere.
        budget : float
            Largest sum of epsilons per user.

        Raises
        ------
        InputError
            A key, budget or path that is not usable; nothing is left behind.
        """
        create_ledger_file(_absolute(path), checked_key(key), _checked_budget(budget))
        return cls(path, key, budget)

    def __repr__(self) -> str:
        return f"Ledger({str(self._path)!r}, budget={self.budget:g})"

    @property
    def path(self) -> Path:
        """Where the file is, whatever the working folder becomes."""
        return self._path

    @property
    def budget(self) -> float:
        """Largest sum of epsilons per user."""
        assert self._budget is not None  # known once it is open
        return self._budget

    def spent(self, user: str) -> float:
        """Return the sum of epsilons that a user has spent, rounded up if it is no double."""
        name = user_name(user)
        with self._transaction(writes=False) as book:
            return at_least(_total(book.records(book.seals.digest("user", name))))

    def report(
        self,
        mechanism: Sampler | Channel,
        user: str,
        value: Value,
        *,
        fresh: bool = False,
    ) -> Any:
        """Return the user's report on a value: the one already given, or a new one if the budget allows it.

        Parameters
        ----------
        mechanism : Sampler, TabulatedMechanism, CategoricalMechanism, KeyValueMechanism or AttributeSampling
            Exact and private, which is proved here; not a simulation.
        user : str
            Any name; only its keyed digest is stored. Names are compared in Unicode's form NFC, in which an accented
            letter is the same however it was typed; case, spaces and invisible characters tell names apart.
        value : float, str or mapping
            In the table's domain, or a category; for pairs a number for each key that the user holds, for attributes
            one for each. Only its keyed digest, together with user and mechanism, is stored.
        fresh : bool
            Draw a new report even where one was given; it costs epsilon again, and is the one repeated from then on.

        Returns
        -------
        float, int, ndarray or mapping
            As the mechanism's `sample` gives it for one user; of attributes a number each, NaN where none was drawn.

        Raises
        ------
        BudgetError
            A new report would exceed the user's budget; nothing is drawn.
        TableError
            A mechanism that is not exact, or not proved to be private.
        InputError
            A value or name that is not usable (the message does not show it), a simulated sampler, a file that was
            altered or replaced by an older one, or that cannot be written.
        """
        source, name = booked(mechanism), user_name(user)
        content = source.content(value)
        with self._transaction(writes=True) as book:
            given = _give(book, source, name, content, fresh=fresh)
        return source.read(given.text)  # on disk by now

    def reports(
        self,
        mechanism: Sampler | Channel,
        users: Sequence[str],
        values: Sequence[Value],
        *,
        progress: Callable[[int], None] | None = None,
    ) -> GivenReports:
        """Return the reports of many users, as `report` gives each of them, in one transaction: all, or none.

        Parameters
        ----------
        mechanism : as for `report`
        users : sequence of str
        values : sequence of float, str or mapping
            One for each user.
        progress : callable, optional
            Called with how many users are done.

        Raises
        ------
        BudgetError
            New reports would exceed the budget of some users; nothing is drawn for anybody.
        TableError
            As `report`.
        InputError
            As `report`, and not one value for each user.

        Example
        -------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from optldp.mechanisms.categorical.table import categorical_grr
        >>> from optldp.mechanisms.ledger import Ledger
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ledger = Ledger.create(Path(folder, "people.ledger"), bytes(range(32)), 1.0)
        ...     given = ledger.reports(categorical_grr(["yes", "no"], 1.0), ["ann", "bo", "ann"], ["yes", "no", "yes"])
        >>> given.new, given.spent, bool(given.reports[0] == given.reports[2])
        (2, 1.0, True)
        """
        source, names = booked(mechanism), [user_name(user) for user in users]
        contents = [source.content(value) for value in values]
        if len(names) != len(contents):
            raise InputError(f"there must be a value for each of {len(names)} users, got {len(contents)}")
        given, without = [], []
        with self._transaction(writes=True) as book:
            for row, (name, content) in enumerate(zip(names, contents, strict=True), 1):
                try:
                    given.append(_give(book, source, name, content))
                except BudgetError:
                    without.append(row)
                if progress is not None:
                    progress(row)
            if without:
                raise BudgetError(
                    f"a user's epsilons must sum to at most {book.head.budget!r}, which this report of epsilon "
                    f"{source.epsilon!r} would exceed for {len(without)} of {len(names)} users, the first of "
                    f"them number {without[0]}: leave them out; nothing was drawn for anybody"
                )
        return GivenReports(
            [source.read(each.text) for each in given],
            sum(each.new for each in given),
            at_least(max((each.spent for each in given), default=Fraction(0))),
        )

    def report_ids(
        self, mechanism: Sampler | Channel, users: Sequence[str], *, column: str = "", period: str = ""
    ) -> list[str]:
        """Return the id of each user's report of a period, 32 hexadecimal digits, by which copies are told.

        An id is a function of the key, this ledger, the mechanism, the column, the period and the user, and not of the
        value: so it tells nothing of the value, and of each period a user has one. Nothing is booked.

        Parameters
        ----------
        mechanism, users
            As for `reports`.
        column, period : str
            Of the values, as their owner calls them.

        Example
        -------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from optldp.mechanisms.categorical.table import categorical_grr
        >>> from optldp.mechanisms.ledger import Ledger
        >>> table = categorical_grr(["yes", "no"], 1.0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ledger = Ledger.create(Path(folder, "people.ledger"), bytes(range(32)), 1.0)
        ...     first, again = (ledger.report_ids(table, ["ann"], period="2026-05") for _ in range(2))
        >>> first == again, len(first[0])
        (True, 32)
        """
        source, names = booked(mechanism), [user_name(user) for user in users]
        shared = [source.checksum, *(text.encode(errors="surrogatepass") for text in (column, period))]
        with self._transaction(writes=False) as book:
            return [book.seals.digest("report id", *shared, name)[:ID_BYTES].hex() for name in names]

    def mark(self) -> str:
        """Return a short text that tells this ledger, as it is now, from all older copies and other histories of it.

        Kept where whoever could restore an old copy cannot write, it shows that one was restored: see `Ledger`.
        """
        with self._transaction(writes=False) as book:
            return book.mark()

    def check(self) -> int:
        """Check every record and that none is missing, and return how many reports were booked; linear in them.

        Raises InputError for the first thing that was altered.
        """
        with self._transaction(writes=False) as book:
            book.check()
            return book.head.reports

    @contextmanager
    def _transaction(self, *, writes: bool) -> Iterator[LedgerBook]:
        """A transaction on a file that is this ledger's, and no older than what this object has seen of it."""
        with ledger_transaction(self._path, self._key, writes=writes) as book:
            if self._budget not in (None, book.head.budget):
                raise InputError(
                    f"the ledger {str(self._path)!r} must be opened with the budget that it was made with, "
                    f"{book.head.budget:g}, got {self._budget:g}"
                )
            if self._seen is not None:
                book.require_mark(self._seen)
            yield book
            mark = book.mark()
        self._seen = mark  # not before the commit


@dataclass(frozen=True)
class _Given:
    text: bytes
    new: bool
    spent: Fraction


def _give(book: LedgerBook, source: BookedMechanism, name: bytes, content: bytes, *, fresh: bool = False) -> _Given:
    """A user's report on a value: the one already given, or a new one, written down, if the budget allows it."""
    person = book.seals.digest("user", name)
    given = book.seals.digest("value", person, source.checksum, content)
    mine = book.records(person)
    known = [record.report for record in mine if record.given == given]
    if known and not fresh:
        return _Given(known[-1], False, _total(mine))
    _require_budget(book.head.budget, [*mine], source.epsilon)
    text = source.draw(content)
    book.append(person, given, source.epsilon, text)
    return _Given(text, True, _total(mine) + Fraction(source.epsilon))


def _total(records: Iterable[Record]) -> Fraction:
    return sum((Fraction(record.epsilon) for record in records), Fraction(0))


def _require_budget(budget: float, records: list[Record], epsilon: float) -> None:
    """Raise BudgetError if one more report would cost more than there is left."""
    spent = _total(records) + Fraction(epsilon)
    if spent > Fraction(budget):
        raise BudgetError(
            f"a user's epsilons must sum to at most {budget!r}, got {at_least(spent)!r} with this report: "
            "repeat the report already given, or stop"
        )


def _checked_budget(budget: object) -> float:
    if isinstance(budget, int | float) and not isinstance(budget, bool):
        try:
            number = float(budget)
        except OverflowError:
            number = math.inf
        if 0 < number < math.inf and number == budget:
            return number
    raise InputError(f"the budget must be positive and finite, and a double, got {budget!r:.60}")


def _absolute(path: str | os.PathLike[str]) -> Path:
    try:
        text = os.path.abspath(os.fspath(path))
        os.fsencode(text)
    except (TypeError, ValueError):  # half a surrogate pair is a ValueError
        text = "\0"
    if not isinstance(text, str) or "\0" in text:
        raise InputError("the ledger's path must be Unicode text without NUL, got something else")
    return Path(text)
