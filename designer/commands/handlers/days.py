"""Counts that estimates are made of: files as they are, and counts by day taken together first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ....estimators.days.counts import by_day, load_days
from ....estimators.reading.columns.simulated_columns import COUNTED, INVALID, LATE, OUTPUT, USERS, WAITING
from ....mechanisms.errors import InputError
from ..output.output import say
from .kind import Answer
from .reading import answers_simulated

if TYPE_CHECKING:
    from ....estimators.days import DayCounts


def answered(paths: Sequence[Path], tables: Sequence[str], names: Sequence[str] = ()) -> tuple[list[Answer], bool]:
    """Return what `from_counts` takes of files, and whether they are of a simulation.

    Counts by day are taken together, of several tables each for itself: in a column of its service's name, if these
    are given, else as an answer of its own.

    Parameters
    ----------
    paths : sequence of path
        Of files; or of folders and files of counts by day.
    tables : sequence of str
        Identifiers.
    names : sequence of str
        Of their services, where there may be several.

    Raises
    ------
    InputError
        Counts by day among others, or of other tables; nothing counted.
    """
    parted = [by_day(path) for path in paths]
    if not any(parted):
        return list(paths), answers_simulated(paths)
    if not all(parted):
        raise InputError(
            f"counts must all be by day, or none, got {str(paths[parted.index(False)])!r} beside such: part them"
        )
    days = load_days(paths)
    days.require(tables)
    rows = [_told(days, table) for table in tables]
    if len(tables) == 1 or not names:
        return list(rows), days.simulated
    return _beside(rows, names), days.simulated


def _told(days: DayCounts, table: str) -> dict[str, Any]:
    """Return the counts of a table, and say what is not among them."""
    for state, words in (
        (WAITING, "wait for others of their day"),
        (LATE, "came too late and are not counted"),
        (INVALID, "are none of the table's and are not counted"),
    ):
        if many := days.number(table, state):
            say(f"note: {many:,} reports {words}")
    if not days.number(table, COUNTED):
        raise InputError(f"{days.where} must have counts of table {table}, got none: wait for more reports")
    return days.rows(table)


def _beside(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[Answer]:
    """Return counts of several tables as those of services, whose users reported to one of them each."""
    found: list[Answer] = []
    for mine, told in zip(names, rows, strict=True):
        blank = np.full(told[USERS].size, "", dtype=object)
        columns = {name: told[OUTPUT] if name == mine else blank for name in names}
        found.append(columns | {USERS: told[USERS]})
    return found
