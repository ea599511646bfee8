"""`estimate --by --above`: the share above a value in each group, with its honest interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..handlers.kind import Found, Rows
from ..handlers.options import EstimateOptions
from ..output.output import number, readable, say, told_of_reports

if TYPE_CHECKING:
    from ....estimators.differences import GroupedTallies

SHOWN = ("value", "low", "high", "shortest_possible")


def in_clear(by: str) -> str:
    """Return what to say of groups that reports name.

    Example
    -------
    >>> in_clear("region")
    "note: the groups stand in clear: whoever sees the reports knows each person's 'region'"
    """
    return f"note: the groups stand in clear: whoever sees the reports knows each person's {by!r}"


def shares_by_group(tallies: GroupedTallies, above: float, asked: EstimateOptions) -> Found:
    """Return the share above a value in each group."""
    from ....estimators.differences import estimate_group_shares

    asked.refuse("of no use to shares above a value", "--top", "--target", "--weights")
    found = estimate_group_shares(tallies, above=above, simultaneous=asked.simultaneous)
    columns = found.to_dict(asked.confidence)
    once = {name: columns.pop(name) for name in [*columns] if not isinstance(columns[name], list)}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    facts: dict[str, Any] = {
        "by": found.by, "groups": len(found.groups), "users": int(found.n.sum()), "above": above,
        "simultaneous": asked.simultaneous, **once, **told_of_reports(tallies.simulated, tallies.skipped),
    }  # fmt: skip
    say(in_clear(found.by))
    cells = [[row["group"], readable(row["n"]), *(number(row[name]) for name in SHOWN)] for row in rows]
    held = (
        f"all {len(rows):,} intervals hold at once with {100 * asked.confidence:g}% confidence (Sidak)"
        if asked.simultaneous
        else "each interval holds by itself; for all at once, --simultaneous"
    )
    last = f"{held}; intervals assume nothing of the distribution, and no honest one is shorter than the last column"
    shown = Rows(f"share above {above:g} by {found.by}", [found.by, "n", *SHOWN], cells, last)
    said = {name: fact for name, fact in facts.items() if name not in ("above", "assumption_p_value")}
    return Found("estimate", facts, {"rows": rows}, shown, columns, said=said, counts=[tallies.whole])
