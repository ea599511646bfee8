"""`count --by table,day`: batches of reports, each counted once, into a folder of counts of days."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....mechanisms.errors import InputError
from ..output.output import print_facts, print_json, say, say_wrote

if TYPE_CHECKING:
    from ....estimators.engines.daily import Daily
    from ..handlers.options import CountOptions


def count_days(asked: CountOptions, daily: Daily) -> None:
    """Count the reports of a batch that were not counted before, and say what came of it."""
    from ....estimators.days import collecting
    from ....estimators.engines.supports import bits_written
    from ....mechanisms import load_mechanism
    from ..handlers.registry import kind_of

    asked.refuse("for counts of whole files", "--key", "--allow-disjoint", "--rounds", "--window", "--drop-missing")
    if len(asked.files) != 2:
        raise InputError(f"--by counts reports of one table, got {len(asked.files)} files: TABLE REPORTS")
    if asked.out.exists() and not asked.out.is_dir():
        raise InputError(f"--by needs a folder for its counts, got the file {str(asked.out)!r}: choose another --out")
    table, reports = asked.files
    kind = kind_of(load_mechanism(table, allow_unproved=asked.allow_unproved)).for_estimates()
    kind.reports_in_text([])  # refuses kinds that are not counted so
    bits = bits_written(kind.mechanism)
    with collecting(asked.out, kind.identifier(), kind.reports_in_text, daily, bits) as days:
        batch = days.add(
            reports,
            column=asked.column,
            where=asked.where or (),
            skip_invalid=asked.skip_invalid,
            keep_first=asked.keep_first,
        )
    if batch.repeated:
        say(f"note: {batch.repeated:,} reports had been counted before and are not counted again")
    if batch.late:
        say(f"note: {batch.late:,} reports came after their day was closed and are counted apart")
    say_wrote(asked.out, f"{batch.new:,} reports, counted by day")
    facts = {"new": batch.new, "repeated": batch.repeated, "late": batch.late, "invalid": batch.invalid}
    if asked.as_json:
        print_json(facts | {"out": str(asked.out)})
    else:
        print_facts("counted", [(name, f"{many:,}") for name, many in facts.items()])
