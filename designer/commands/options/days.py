"""What counts by day may be asked, of an engine or here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

import typer

from ....mechanisms.errors import InputError
from .shared import Options

if TYPE_CHECKING:
    from ....estimators.engines.daily import Daily

DETAILS = ("--late", "--min-batch", "--today")


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
            metavar="table,day",
            help="Count each table and day separately, again and again: reports with a known report_id count "
            "once, and estimate and monitor add the counts up.",
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

    @cached_property
    def by_table(self) -> bool:
        """Whether days are parted by table; InputError for another way to part."""
        from ....estimators.engines.daily import BY

        if self.by is None or self.by.replace(" ", "") not in BY:
            raise InputError(f"--by must be {BY[0]}, or {BY[1]} where reports name no table, got {self.by!r:.60}")
        return self.by.replace(" ", "") == BY[0]

    def daily(self, *, arrived: str | None = None, ids: bool = True) -> Daily | None:
        """Return how counts are parted by days; None where they are not, for which nothing else is asked."""
        from ....estimators.engines.daily import LATE_DAYS, MIN_BATCH, Daily

        if self.by is None:
            self.refuse("for counts --by table,day", *DETAILS)
            if arrived is not None or not ids:
                raise InputError("--arrived and --no-ids are for counts --by table,day: leave them out, or add --by")
            return None
        _ = self.by_table
        late = LATE_DAYS if self.late is None else self.late
        least = MIN_BATCH if self.min_batch is None else self.min_batch
        return Daily(late, least, self.today, arrived, ids)
