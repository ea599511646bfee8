"""What counts by day may be asked, of an engine or here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

import typer

from ....estimators.reading.columns.simulated_columns import DAY
from ....mechanisms.errors import InputError
from .shared import Options

if TYPE_CHECKING:
    from ....estimators.engines.daily import Daily

DETAILS = ("--late", "--min-batch", "--today", "--day-column")


@dataclass(frozen=True, kw_only=True)
class DayOptions(Options):
    """How reports are counted by table and day, and which of them."""

    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="COMPARISON", help='Rows to count, as "region = north"; repeat for AND.'),
    ] = None
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="table,day[,COLUMN]",
            help="Count each table, day and cell of any COLUMN separately, in repeated runs: reports with a known "
            "report_id count once. estimate and monitor add the counts up.",
        ),
    ] = None
    late: Annotated[
        int | None,
        typer.Option("--late", metavar="DAYS", help="With --by: how many days a day stays open. Default: 3."),
    ] = None
    min_batch: Annotated[
        int | None,
        typer.Option(
            "--min-batch",
            metavar="K",
            help="With --by: hold a day's counts back until it has so many reports. Default: 100.",
        ),
    ] = None
    today: Annotated[
        str | None,
        typer.Option(
            "--today", metavar="DAY", help="With --by: the last day, as 2026-05-01. Default: that of the clock."
        ),
    ] = None

    day_column: Annotated[
        str | None,
        typer.Option(
            "--day-column", help="With --by: column of days, or of times, of which the day counts. Default: day."
        ),
    ] = None

    @cached_property
    def _parted(self) -> tuple[bool, str | None]:
        """Whether days are parted by table, and the column of windows; InputError for another way to part."""
        from ....estimators.engines.daily import BY

        for by in BY:
            if self.by is not None and (found := re.fullmatch(rf"{by}(?:,([^,]+))?", re.sub(r"\s*,\s*", ",", self.by))):
                return by == BY[0], found[1]
        raise InputError(
            f"--by must be {BY[0]}, or {BY[1]} where reports name no table, and after it at most one COLUMN, got "
            f"{self.by!r:.60}: a day says when its ids are forgotten"
        )

    @property
    def by_table(self) -> bool:
        """Whether days are parted by table; InputError for another way to part."""
        return self._parted[0]

    def daily(self, *, arrived: str | None = None, ids: bool = True) -> Daily | None:
        """Return how counts are parted by days; None where they are not, for which nothing else is asked."""
        from ....estimators.engines.daily import LATE_DAYS, MIN_BATCH, Daily

        if self.by is None:
            self.refuse("for counts --by table,day", *DETAILS)
            if arrived is not None or not ids:
                raise InputError("--arrived and --no-ids are for counts --by table,day: leave them out, or add --by")
            return None
        window = self._parted[1]
        late = LATE_DAYS if self.late is None else self.late
        least = MIN_BATCH if self.min_batch is None else self.min_batch
        return Daily(late, least, self.today, arrived, ids, window, self.day_column or DAY)
