"""Where a service's reports are: a file, a table in memory, or plain numbers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import duckdb
import numpy as np

from ...mechanisms.channel import Channel
from ...mechanisms.errors import InputError
from ...mechanisms.files.identifier import table_identifier
from ...mechanisms.table.table import TabulatedMechanism
from ..reading.columns.simulated_columns import OUTPUT, ROUND, column_of_reports
from ..reading.columns.source import Source
from .counts import Service
from .group import NOT_REPORTED

M = TypeVar("M")


@dataclass(frozen=True, eq=False)
class ReportSource(Source):
    """The reports of a table of numbers, and the service that has it.

    Parameters
    ----------
    service : Service
    indexed : bool
        Whether a report is said by the number of its output.
    """

    service: Service
    indexed: bool = False

    def made(self) -> str:
        """Return the name of the table that its rows have to be of."""
        return table_identifier(self.service.mechanism)

    def knowing(self, connection: duckdb.DuckDBPyConnection, column: str) -> ReportSource:
        """Return the source, knowing whether the column of reports that it has holds numbers of outputs."""
        if self.vector is not None:
            return self
        named = column_of_reports(self.open(connection)[1], column)
        return replace(self, indexed=named == OUTPUT)

    def locate(self, reports: np.ndarray) -> np.ndarray:
        """Return the output (n,) of each report, -1 for NaN and what is none of the table's."""
        mechanism = self.service.mechanism
        if not self.indexed:
            return mechanism.locate(reports)
        with np.errstate(invalid="ignore"):
            whole = np.where((reports >= 0) & (reports < mechanism.low.size), reports, -1.0).astype(np.intp)
        return np.where((whole == reports) & mechanism.possible[whole], whole, NOT_REPORTED)


def report_sources(sources: Sequence[Sequence[Any]]) -> tuple[ReportSource, ...]:
    """Return the sources that tuples of (mechanism, reports) or (name, mechanism, reports) describe.

    A service without a name is called by its position, from "service 1" on, so that shards of the same services
    can be added.

    Raises
    ------
    InputError
        None at all, or something else than such a tuple.

    Example
    -------
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> report_sources([("web", duchi([0, 1], 1.0), "web.csv")])[0].where
    "service 'web' ('web.csv')"
    """
    return tuple(
        ReportSource(reports, where, Service(name, mechanism))
        for name, mechanism, reports, where in described(sources, TabulatedMechanism)
    )


def described(sources: Sequence[Sequence[Any]], kind: type[M]) -> list[tuple[str, M, Any, str]]:
    """Return name, mechanism and reports of each service, and how messages call them; see `report_sources`.

    Raises InputError for mechanisms of another kind, too.
    """
    if not isinstance(sources, list | tuple) or not sources:
        raise InputError(f"sources must be a list of (mechanism, reports), at least one, got {_brief(sources)}")
    made = []
    for position, source in enumerate(sources, 1):
        parts = source if isinstance(source, list | tuple) else ()
        name, mechanism, reports = (f"service {position}", *parts) if len(parts) == 2 else (*parts, "", "", "")[:3]
        if len(parts) > 3 or not isinstance(name, str) or not isinstance(mechanism, Channel):
            raise InputError(
                f"source {position} must be (mechanism, reports) or (name, mechanism, reports), got {_brief(source)}"
            )
        if not isinstance(mechanism, kind):
            raise InputError(
                "services, whose users are matched, must all be of tables of numbers or all of several attributes, got "
                f"{mechanism!r:.60} for {name!r}: count its reports by themselves"
            )
        where = name if len(parts) == 2 else f"service {name!r}"
        if isinstance(reports, str | os.PathLike):
            where += f" ({str(reports)!r})"
        made.append((name, mechanism, reports, where))
    return made


def require_one_round(connection: duckdb.DuckDBPyConnection, sources: Sequence[Source]) -> None:
    """Raise InputError for sources that say that they are of different rounds; one that says nothing may be of any.

    Example
    -------
    >>> days = [Source({"user": np.array([7]), "round": np.array(["5 May"])}, "'day.csv'") for _ in range(2)]
    >>> with duckdb.connect() as connection:
    ...     require_one_round(connection, days)
    """
    refuse_several_rounds([(source.where, source.said_once(connection, ROUND)) for source in sources])


def refuse_several_rounds(told: Sequence[tuple[str, str | None]]) -> None:
    """Raise InputError for services (where, round) of which two name different rounds; None names none.

    Example
    -------
    >>> refuse_several_rounds([("web", "5 May"), ("app", None), ("shop", "5 May")])
    """
    said = [(where, text) for where, text in told if text is not None]
    for where, text in said[1:]:
        first, other = said[0]
        if text != other:
            raise InputError(
                f"services that are joined must have measured one value of each user, got round {other!r:.40} of "
                f"{first} and {text!r:.40} of {where}: files of different times are rounds=True (--rounds), and those "
                "of one time have one round (optldp perturb --period)"
            )


def _brief(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"{type(value).__name__} of ({', '.join(type(part).__name__ for part in value)})"
    return type(value).__name__
