"""`estimate --by` with `--versus`: how much each group of the first is above the same group of the second."""

from __future__ import annotations

from typing import Any

from ....estimators.reading.columns import SkippedRows
from ....mechanisms import load_mechanism
from ..handlers.kind import Found, Service
from ..handlers.numbers.fits import QUANTILES
from ..handlers.options import EstimateOptions
from ..output.output import say, told_of_reports
from .group_shares import in_clear
from .quantiles import rows_of

INDEPENDENT = "note: the two are taken as independent: if some people are in both, the intervals are not honest"


def versus_by_group(service: Service, asked: EstimateOptions) -> Found:
    """Return the difference of each group."""
    from ....estimators.differences import estimate_group_differences, tally_groups

    asked.refuse("of no use to differences of groups, which share no users", "--key", "--keep-first", "--top")
    if asked.of == "quantiles" or asked.above is not None:
        asked.refuse("for differences of means and frequencies", "--target", "--weights")
    if asked.of == "quantiles":
        asked.refuse("of no use to quantiles", "--above")
    assert asked.versus is not None
    table, reports = asked.versus
    other = load_mechanism(table, allow_unproved=asked.allow_unproved)
    skipped = SkippedRows()
    first, second = (
        tally_groups(
            made, held, by=asked.by, weights=asked.weights, column=asked.column, drop_missing=asked.drop_missing,
            skip_invalid=skipped if asked.skip_invalid else False,
        )
        for made, held in ((service.kind.mechanism, service.reports), (other, reports))
    )  # fmt: skip
    found = estimate_group_differences(
        first, second, above=asked.above, simultaneous=asked.simultaneous, target=asked.target,
        shares=(asked.quantiles or QUANTILES) if asked.of == "quantiles" else None,
    )  # fmt: skip
    facts: dict[str, Any] = {"by": found.by, "groups": len(found.groups), "users": sum(one.n for one in found.of)}
    if asked.above is not None:
        facts["above"] = asked.above
    told = facts | told_of_reports(first.simulated or second.simulated, skipped)
    say(in_clear(found.by))
    if asked.of != "quantiles":  # whose intervals hold both groups' at once
        say(INDEPENDENT)
    shown = (*found.labels, "n", "first", "second", "value", "low", "high")
    what = "differences" if asked.above is None else f"differences of the share above {asked.above:g}"
    made = rows_of(found, asked, shown, told, f"{what} by {found.by}, first less second", "")
    said = {name: fact for name, fact in made[0].items() if name != "above"}  # the title has it
    return Found("estimate", *made, said=said, counts=(first.whole, second.whole))
