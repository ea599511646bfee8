"""What an engine answers to the query that counts users: rows of outputs, or of codes of all services, and numbers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..reading.columns.other_table import Made
from ..reading.columns.rows.counted_rows import CountedRows, Wanted, counted_rows
from ..reading.columns.rows.skipped_rows import ROWS_NAMED, SkippedRows
from ..reading.columns.simulated_columns import OUTPUT, USERS
from .codes import FAULTS, OutputCodes
from .group import NOT_REPORTED

if TYPE_CHECKING:
    from .counts import ReportCounts


def answered_outputs(
    services: Sequence[tuple[str, np.ndarray]], rows: Any, made: Made, skipped: SkippedRows | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the outputs (R, J) of users, -1 where there is no report, and how many users (R,) reported them.

    Parameters
    ----------
    services : sequence of (str, (m,) ndarray of bool)
        The name of each of J services, and which of its outputs its table can make.
    rows : path or table in memory
        See `ReportCounts.from_counts`.
    made : callable
        Says which tables the reports have to be of, where rows name them.
    skipped : SkippedRows, optional
        Where users are counted whose reports are none; without it they are refused.

    Raises
    ------
    InputError
        See `ReportCounts.from_counts`.

    Example
    -------
    >>> both = [("web", np.ones(2, dtype=bool)), ("app", np.ones(3, dtype=bool))]
    >>> rows = {"web": np.array([1, 0]), "app": np.ma.masked_array([2, 0], [False, True]), "n": np.array([5, 7])}
    >>> answered_outputs(both, rows, lambda: "t0123456789ab+tba9876543210", None)
    (array([[ 1,  2],
           [ 0, -1]], dtype=int32), array([5, 7]))
    """
    possible = [able for _, able in services]
    if len(services) == 1:
        found = _told(counted_rows(rows, [Wanted((OUTPUT,))], made, skipped), skipped, only=FAULTS)
        return _sound(found, found.columns, services, skipped, blank=False)
    codes = OutputCodes.of([able.size for able in possible])
    coded, named = Wanted(tuple(codes.columns)), Wanted(tuple(name for name, _ in services), may_be_blank=True)
    found = counted_rows(rows, [coded, named], made, skipped)
    if found.wanted is named:
        return _sound(found, found.columns, services, skipped)
    found = _told(found, skipped)
    outputs = codes.decode(found.columns)
    again = np.zeros((codes.n_words, len(outputs)), dtype=np.int64)
    for j, word in enumerate(codes.words):
        again[word] |= codes.encode(j, outputs[:, j])
    strange = (again != np.stack(found.columns)).any(axis=0)
    first = [f"{code} is no code of these services" for code in found.columns[0][strange][:ROWS_NAMED].tolist()]
    return _sound(found.refuse(strange, first, skipped), list(outputs[~strange].T), services, skipped)


def answer_of(counts: ReportCounts) -> dict[str, np.ndarray]:
    """Return counts as the rows that `ReportCounts.from_counts` takes: what the query of `count_query` would answer.

    Example
    -------
    >>> from optldp.estimators.counting.counts import ReportCounts
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> counts = ReportCounts.from_counts(duchi([0, 1], 1.0), {"output": np.array([1, 0]), "n": np.array([6, 4])})
    >>> answer_of(counts)
    {'output': array([0, 1]), 'n': array([4, 6])}
    """
    sizes = [mechanism.low.size for mechanism in counts.mechanisms]
    users = [group.counts for group in counts.groups] or [np.zeros(0, dtype=np.int64)]
    if len(sizes) == 1:
        outputs = [group.outputs[:, 0].astype(np.int64) for group in counts.groups] or [np.zeros(0, dtype=np.int64)]
        return {OUTPUT: np.concatenate(outputs), USERS: np.concatenate(users)}
    codes = OutputCodes.of(sizes)
    words = [np.zeros((codes.n_words, 0), dtype=np.int64)]
    for group in counts.groups:
        word = np.zeros((codes.n_words, group.counts.size), dtype=np.int64)
        for place, j in enumerate(group.services):
            word[codes.words[j]] |= codes.encode(j, group.outputs[:, place])
        words.append(word)
    return dict(zip(codes.columns, np.concatenate(words, axis=1), strict=True)) | {USERS: np.concatenate(users)}


def drawn_outputs(
    attributes: Sequence[tuple[str, np.ndarray]], drawn: int, rows: Any, made: Made, skipped: SkippedRows | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the outputs (R, d) of users who each report some of d attributes, -1 elsewhere, and how many users (R,).

    Parameters
    ----------
    attributes : sequence of (str, (m,) ndarray of bool)
        Name, which is that of its column, and which of its outputs its table can make.
    drawn : int
        Attributes that each user reports.
    rows, made, skipped
        As of `answered_outputs`.

    Raises
    ------
    InputError
        See `AttributeCounts.from_counts`.

    Example
    -------
    >>> one = [("age", np.ones(2, dtype=bool))]
    >>> drawn_outputs(one, 1, {"age": np.array([1, 0]), "n": np.array([5, 7])}, lambda: "t0123456789ab", None)[1]
    array([5, 7])
    """
    found = counted_rows(rows, [Wanted(tuple(name for name, _ in attributes), may_be_blank=True)], made, skipped)
    many = (np.stack(found.columns, axis=1) != NOT_REPORTED).sum(axis=1)
    reasons = [f"{number} attributes and not {drawn}" for number in many[many != drawn][:ROWS_NAMED].tolist()]
    found = found.refuse(many != drawn, reasons, skipped)
    return _sound(found, found.columns, attributes, skipped)


def _told(found: CountedRows, skipped: SkippedRows | None, *, only: Collection[int] | None = None) -> CountedRows:
    """The rows that have no number below 0, or of these `only` some: they stand for what is no user."""
    faults = np.minimum.reduce(found.columns)
    wrong = faults < 0 if only is None else np.isin(faults, list(only))
    first = faults[wrong][:ROWS_NAMED].tolist()
    return found.refuse(wrong, [FAULTS.get(fault, f"{fault} is no code") for fault in first], skipped)


def _sound(
    found: CountedRows,
    columns: Sequence[np.ndarray],
    services: Sequence[tuple[str, np.ndarray]],
    skipped: SkippedRows | None,
    *,
    blank: bool = True,
) -> tuple[np.ndarray, np.ndarray]:
    """The rows whose outputs their tables can all make; -1 is none, where there may be none."""
    wrong, least = np.zeros(found.users.size, dtype=bool), NOT_REPORTED if blank else 0
    for column, (_, possible) in zip(columns, services, strict=True):
        inside = (column >= least) & (column < possible.size)
        wrong |= ~inside | ~(possible[np.where(inside, column, 0)] | (column == NOT_REPORTED))
    first = [
        " and ".join(str(column[row]) for column in columns) + " is no output of its table"
        for row in np.flatnonzero(wrong)[:ROWS_NAMED]
    ]
    kept = found.refuse(wrong, first, skipped)
    return np.stack([column[~wrong] for column in columns], axis=1).astype(np.int32), kept.users
