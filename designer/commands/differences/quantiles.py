"""`estimate --of quantiles` with `--by` or `--versus`: quantiles of each group, or the first's less the second's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..handlers.kind import Found, Rows
from ..handlers.numbers.fits import QUANTILES
from ..handlers.options import EstimateOptions
from ..output.output import number, readable, say, told_of_reports
from .group_shares import in_clear

if TYPE_CHECKING:
    from ....estimators.differences import (
        DifferencesOfQuantiles,
        GroupDifferences,
        GroupedTallies,
        GroupQuantiles,
        MatchedTallies,
    )

USELESS = "--top", "--target", "--weights", "--above"


def quantiles_by_group(tallies: GroupedTallies, asked: EstimateOptions) -> Found:
    """Return quantiles of each group."""
    from ....estimators.differences import estimate_group_quantiles

    asked.refuse("of no use to quantiles", *USELESS)
    shares = asked.quantiles or QUANTILES
    found = estimate_group_quantiles(tallies, shares=shares, simultaneous=asked.simultaneous)
    facts = {"by": found.by, "groups": len(found.groups), "users": sum(tally.n_users for tally in tallies.tallies)}
    say(in_clear(found.by))
    told = facts | told_of_reports(tallies.simulated, tallies.skipped)
    made = rows_of(found, asked, ("group", "quantile", "n", "value", "low", "high"), told, f"quantiles by {found.by}")
    return Found("estimate", *made, counts=[tallies.whole])


def quantile_differences(tallies: MatchedTallies, asked: EstimateOptions) -> Found:
    """Return how much larger quantiles are in the first."""
    from ....estimators.differences import estimate_quantile_differences

    shares = asked.quantiles or QUANTILES
    found = estimate_quantile_differences(tallies.first, tallies.second, shares=shares, simultaneous=asked.simultaneous)
    told = {"n": found.n, **told_of_reports(tallies.simulated, tallies.skipped)}
    shown = ("quantile", "first", "second", "value", "low", "high")
    made = rows_of(found, asked, shown, told, "quantiles, first less second")
    return Found("estimate", *made, counts=(tallies.first, tallies.second))


def rows_of(
    found: GroupQuantiles | DifferencesOfQuantiles | GroupDifferences, asked: EstimateOptions, shown: tuple[str, ...],
    told: dict[str, Any], title: str, assumed: str = "; intervals assume nothing of the distribution",
) -> tuple[dict[str, Any], dict[str, Any], Rows, dict[str, Any]]:  # fmt: skip
    """Return facts, rows for programs and for people, and columns to write."""
    columns = found.to_dict(asked.confidence)
    once = {name: columns.pop(name) for name in [*columns] if not isinstance(columns[name], list)}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    facts = told | {"simultaneous": asked.simultaneous} | {name: once[name] for name in once if name not in told}
    cells = [
        [readable(row[name]) if name in ("group", "category", "quantile", "n") else number(row[name]) for name in shown]
        for row in rows
    ]
    held = (
        f"all {len(rows):,} intervals hold at once with {100 * asked.confidence:g}% confidence (Sidak)"
        if asked.simultaneous
        else "each interval holds by itself; for all at once, --simultaneous"
    )
    return facts, {"rows": rows}, Rows(title, list(shown), cells, held + assumed), columns
