"""Drawing reports by keyed words: a user's report of a value is the same wherever and with whomever it is drawn."""

import struct
import unicodedata
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..categorical.mechanism import CategoricalMechanism
from ..categorical.table import CategoricalTable
from ..compact_tables.floor_and_windows import FloorForm
from ..errors import InputError
from ..exactness.verification import require_proved
from ..files.bundle import document_of
from ..files.checksum import checksum
from ..sampling.domain import numbers
from ..sampling.drawing import invert_rows
from ..sampling.law import Uniform, Words
from ..sampling.random_words import draw53
from ..sampling.short_floats import require_doubles
from ..table.table import TabulatedMechanism
from ..user_name import LONGEST_NAME
from .secret import HOLDERS, Secret
from .words import ReportWords

TOGETHER = 2**16
"""Users drawn at a time."""

NOT_THE_LAW = ("epsilon", "prior", "promise", "provenance", "units")
"""Members of a document that no report depends on: with another prior or history it is the same mechanism."""

Keyed = TabulatedMechanism | FloorForm | CategoricalMechanism
"""What takes one value of one user."""


class KeyedReports:
    """A proved mechanism whose reports are a function of a secret, the user and the value.

    It is for holders of values whose tasks may be repeated: a report drawn again is the same one, so nothing is spent
    twice. Without the secret each report has the mechanism's law, as far as HMAC-SHA-256 looks random; holders of the
    secret can undo the noise. A changed value gets another report, which spends again and shows the change; so does
    another table, column or round.

    Parameters
    ----------
    mechanism : TabulatedMechanism, FloorForm or CategoricalMechanism
        Exact.
    secret : Secret
    column : str
        Column of the values: different columns have independent reports.
    label : str
        Name of the round: users report anew in another one.

    Raises
    ------
    TableError
        The mechanism is not proved by whole numbers to keep its promise.
    InputError
        A mechanism of another kind, no secret, or names that are no text.

    Example
    -------
    >>> from optldp import make_exact
    >>> from optldp.mechanisms import duchi
    >>> from optldp.mechanisms.pseudorandom import KeyedReports, Secret
    >>> keyed = KeyedReports(make_exact(duchi([0, 1], 1.0)).mechanism, Secret(bytes(range(32))), column="x")
    >>> keyed.sample_index(["ann", "bo", "cy", "di"], [0.25, 0.5, 0.5, 0.75])
    array([0, 0, 0, 1])
    >>> keyed.sample_index(["di", "cy", "bo", "ann"], [0.75, 0.5, 0.5, 0.25])  # the same, in another order
    array([1, 0, 0, 0])
    """

    def __init__(self, mechanism: Keyed, secret: Secret, *, column: str = "", label: str = "") -> None:
        if not isinstance(mechanism, Keyed):
            raise InputError(
                f"keyed reports are for tables of numbers and categories, got {type(mechanism).__name__}: a ledger "
                "repeats reports of other kinds, too"
            )
        if not isinstance(secret, Secret):
            raise InputError(f"a secret must be a Secret, got {type(secret).__name__}: read_secret; {HOLDERS}")
        if not (isinstance(column, str) and isinstance(label, str)):
            raise InputError("column and label must be text, got something else")
        if isinstance(mechanism, TabulatedMechanism):
            require_proved(mechanism)
        else:
            mechanism.require_private()
        self.mechanism = mechanism
        self._words = ReportWords(secret, law_checksum(mechanism), column, label)

    def sample(self, users: ArrayLike, values: ArrayLike) -> np.ndarray:
        """Return one report (N, ...) for each user's value, as `sample` of the mechanism writes reports.

        Parameters
        ----------
        users : (N,) array_like of str or int
            Who each value is of; numbers are taken by their digits, texts in Unicode's form NFC.
        values : (N,) array_like
            As `sample` of the mechanism takes them.

        Raises
        ------
        InputError
            Values that the mechanism does not take; users that are none, or not one for each value; a user with two
            values, whose reports would be two.
        """
        return self._drawn(users, values, self._report, self._reports())

    def sample_index(self, users: ArrayLike, values: ArrayLike) -> np.ndarray:
        """Return the number (N,) of the output of what `sample` returns, for tables of numbers; see there."""
        if isinstance(self.mechanism, CategoricalMechanism):
            raise InputError("numbers of outputs are for tables of numbers, got categories: sample says reports")
        return self._drawn(users, values, self._index, self._indices())

    def written(self, users: ArrayLike, values: ArrayLike) -> np.ndarray:
        """Return one report (N,) for each user's value as a column holds it: numbers of outputs, or text of bytes."""
        made = self.mechanism
        if not isinstance(made, CategoricalMechanism):
            return self.sample_index(users, values)
        reports = self.sample(users, values)
        return reports if reports.ndim == 1 else np.array(made.to_text(reports), dtype=object)

    def report_ids(self, users: ArrayLike) -> list[str]:
        """Return the id of each user's report, 32 hexadecimal digits: a report that is drawn again has the same.

        An id is a function of the secret, the table, the column, the round and the user, and not of the value. So it
        tells nothing of the value, and two reports of a user in a round, of two values, have one id.

        Parameters
        ----------
        users : (N,) array_like of str or int
            As of `sample`.

        Raises
        ------
        InputError
            Users that are none.

        Example
        -------
        >>> from optldp import make_exact
        >>> from optldp.mechanisms import duchi
        >>> from optldp.mechanisms.pseudorandom import KeyedReports, Secret
        >>> keyed = KeyedReports(make_exact(duchi([0, 1], 1.0)).mechanism, Secret(bytes(range(32))), label="2026-05")
        >>> first, second = keyed.report_ids(["ann", "bo"])
        >>> len(first), first == second, keyed.report_ids(["ann"]) == [first]
        (32, False, True)
        """
        return [self._words.report_id(name) for name in user_names(users)]

    def run_mark(self) -> str:
        """Return a text that is the same for all that draws the same reports, and tells nothing of the secret.

        Example
        -------
        >>> from optldp import make_exact
        >>> from optldp.mechanisms import duchi
        >>> from optldp.mechanisms.pseudorandom import KeyedReports, Secret
        >>> table, secret = make_exact(duchi([0, 1], 1.0)).mechanism, Secret(bytes(range(32)))
        >>> [len(KeyedReports(table, secret, label=label).run_mark()) for label in ("May", "June")]
        [64, 64]
        """
        return self._words.digest(b"", b"", 0).hex()  # of no user: names have letters

    def _drawn(
        self,
        users: ArrayLike,
        values: ArrayLike,
        alone: Callable[[np.ndarray, Words], np.ndarray],
        together: Callable[[np.ndarray, Words], np.ndarray] | None,
    ) -> np.ndarray:
        names, held = user_names(users), self._admitted(values)
        if len(names) != held.size:
            raise InputError(f"there must be a user for each of {held.size} values, got {len(names)}")
        contents = [struct.pack("<d", x) for x in (held + 0.0).tolist()] if held.dtype == float else self._labels(held)
        require_one_value(names, contents)
        if not names:
            return alone(held, lambda size: np.zeros(size, dtype=np.uint64))
        if together is None:
            rows = range(len(names))
            drawn = [alone(held[i : i + 1], self._words.stream(names[i], contents[i])) for i in rows]
        else:
            blocks = [slice(start, start + TOGETHER) for start in range(0, len(names), TOGETHER)]
            drawn = [together(held[some], self._words.aligned(names[some], contents[some])) for some in blocks]
        return np.concatenate(drawn)

    def _admitted(self, values: ArrayLike) -> np.ndarray:
        """Values as doubles, or the positions of categories; tasks write errors to logs, so no value is named."""
        made = self.mechanism
        if isinstance(made, CategoricalMechanism):
            codes = made.categories.locate(values)
            if unknown := np.count_nonzero(codes < 0):
                raise InputError(
                    f"values must be among the {len(made.categories)} categories, got {unknown} of {codes.size} that "
                    "are not: correct them, or declare the category"
                )
            return codes
        require_doubles(values)
        (low, high), held = made.domain, numbers("values", values)
        if outside := np.count_nonzero((held < low) | (held > high)):
            raise InputError(
                f"values must lie in [{low:g}, {high:g}], got {outside} of {held.size} outside: clip them or widen "
                "the domain"
            )
        return made.admitted(held)

    def _labels(self, codes: np.ndarray) -> list[bytes]:
        assert isinstance(self.mechanism, CategoricalMechanism)
        labels = [label.encode() for label in self.mechanism.categories.labels]
        return [labels[code] for code in codes.tolist()]

    def _report(self, held: np.ndarray, words: Words) -> np.ndarray:
        return self.mechanism.draw(held, words)

    def _index(self, held: np.ndarray, words: Words) -> np.ndarray:
        assert not isinstance(self.mechanism, CategoricalMechanism)
        return self.mechanism.draw_index(held, words)

    def _reports(self) -> Callable[[np.ndarray, Words], np.ndarray] | None:
        """How many reports are drawn at once, where all ask for as many words."""
        made = self.mechanism
        if isinstance(made, CategoricalTable):
            cumulative = np.cumsum(made.numerators, axis=1)
            return lambda codes, words: _dealt(cumulative, codes, words)
        index = self._indices()
        if index is None or not isinstance(made, TabulatedMechanism) or not isinstance(made.within, Uniform):
            return None
        within, low, high = made.within, made.low, made.high
        return lambda held, words: within.draw_exact(low, high, index(held, words), words)

    def _indices(self) -> Callable[[np.ndarray, Words], np.ndarray] | None:
        if not isinstance(self.mechanism, TabulatedMechanism):
            return None
        law = self.mechanism.exact_law
        return lambda held, words: _dealt(law.cumulative, law.rows(held, words), words)


def law_checksum(mechanism: Keyed) -> str:
    """Return a checksum of all that the law of a mechanism's reports depends on.

    Example
    -------
    >>> from ..families.duchi import duchi
    >>> law_checksum(duchi([0, 1], 1.0)) == law_checksum(duchi([0, 1], 2.0))
    False
    """
    return checksum({name: member for name, member in document_of(mechanism).items() if name not in NOT_THE_LAW})


def user_names(users: ArrayLike) -> list[bytes]:
    """Return users as bytes: digits of whole numbers, texts in form NFC and UTF-8; or raise InputError, naming none.

    Example
    -------
    >>> user_names([7, 8]), user_names(["ann"])
    ([b'7', b'8'], [b'ann'])
    """
    given = np.asarray(users)
    if given.ndim != 1:
        raise InputError(f"users must be one-dimensional, got shape {given.shape}")
    names = given.tolist()
    for row, name in enumerate(names, 1):
        if isinstance(name, bool) or not isinstance(name, str | int) or name == "":
            raise InputError(f"users must be texts or whole numbers, got {type(name).__name__} in row {row}: name them")
        if isinstance(name, str) and len(name) > LONGEST_NAME:
            raise InputError(f"a user's name must have at most {LONGEST_NAME} characters, got more in row {row}")
    try:
        return [unicodedata.normalize("NFC", str(name)).encode() for name in names]
    except UnicodeEncodeError:
        raise InputError("names of users must be Unicode, got one that is not: correct it") from None


def require_one_value(names: Sequence[bytes], contents: Sequence[bytes]) -> None:
    """Raise InputError for users with several values: one round would have two reports of them.

    Example
    -------
    >>> require_one_value([b"ann", b"bo", b"ann"], [b"1", b"2", b"1"])
    """
    held = dict(zip(names, contents, strict=True))
    wrong = [row for row, (name, content) in enumerate(zip(names, contents, strict=True), 1) if held[name] != content]
    if wrong:
        raise several_values(len({names[row - 1] for row in wrong}), wrong[0])


def several_values(users: int, row: int) -> InputError:
    """Return what is to be raised where so many users have several values, of whom one is first seen in a row.

    Example
    -------
    >>> str(several_values(2, 7))[:69]
    'a user must have one value in a round, got another for 2 users, the f'
    """
    return InputError(
        f"a user must have one value in a round, got another for {users} users, the first in row {row}: each value "
        "more spends the budget again"
    )


def _dealt(cumulative: np.ndarray, rows: np.ndarray, words: Words) -> np.ndarray:
    """The output (N,) of each user by the user's own word: `invert_rows` deals them by the order of the rows."""
    return invert_rows(cumulative, rows, draw53(words, rows.size)[np.argsort(rows, kind="stable")])
