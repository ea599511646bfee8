"""`estimate --by` and `--weights`: one estimate for each group, or one of users with weights."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ....estimators.reading.columns import SkippedRows
from ....mechanisms.errors import InputError
from ..handlers.bundle import MOST_ROWS, found_rows
from ..handlers.categories import each_confidence, ranked
from ..handlers.kind import Found, Rows, Service, split
from ..handlers.options import EstimateOptions
from ..output.output import number, readable, say, told_of_reports
from .group_shares import in_clear, shares_by_group
from .quantiles import quantiles_by_group
from .refused import require_fitting

if TYPE_CHECKING:
    from ....estimators.differences import GroupedTallies, GroupEstimates, Tally

TOP = 5
"""Categories of each group that are printed."""

FEW_PEOPLE = 0.1
"""Share of the users below whose number an effective one is worth a note."""


def by_group(service: Service, asked: EstimateOptions) -> Found:
    """Return one estimate for each group."""
    from ....estimators.differences import WeightedFrequencies, estimate_groups

    require_fitting(asked, "--by", "--above", quantiles=True)
    if asked.of == "quantiles":
        return quantiles_by_group(_tallied(service, asked), asked)
    if asked.above is not None:
        return shares_by_group(_tallied(service, asked), asked.above, asked)
    tallies = _tallied(service, asked)
    found = estimate_groups(tallies, simultaneous=asked.simultaneous, target=asked.target)
    of_categories = isinstance(found.of[0], WeightedFrequencies)
    if not of_categories:
        asked.refuse("for frequencies of categories", "--top")
    said = found.to_dict(asked.confidence)
    once = {name: said[name] for name in ("confidence", "method", "target")}
    columns = {name: said[name] for name in said if name not in once}
    rows = [dict(zip(columns, row, strict=True)) | once for row in zip(*columns.values(), strict=True)]
    told = told_of_reports(tallies.simulated, tallies.skipped)
    facts: dict[str, Any] = {
        "by": found.by, "groups": len(found.groups), "users": sum(one.n for one in found.of),
        "simultaneous": asked.simultaneous, **once, **_weightless(tallies), **told,
    }  # fmt: skip
    _say_weights([tally for tally in tallies.tallies if tallies.weighted], tallies.weightless)
    say(in_clear(found.by))
    _say_few(found)
    shown = _shown(found, rows, asked, weighted=tallies.weighted)
    written: dict[str, Any] = {name: values for name, values in columns.items() if name != "too_few"}
    written["ratio_to_no_privacy"] = [math.nan if x is None else x for x in columns["ratio_to_no_privacy"]]
    return Found("estimate", facts, {"rows": rows}, shown, written, counts=[tallies.whole])


def of_weights(service: Service, asked: EstimateOptions) -> Found:
    """Return one estimate of users with weights."""
    from ....estimators.differences import WeightedMean, estimate_weighted

    require_fitting(asked, "--weights")
    tallies = _tallied(service, asked)
    tally = tallies.tallies[0]
    _say_weights([tally], tallies.weightless)
    found = estimate_weighted(tally, target=asked.target)
    told = _weightless(tallies) | told_of_reports(tallies.simulated, tallies.skipped)
    if isinstance(found, WeightedMean):
        asked.refuse("for frequencies, and for groups", "--simultaneous")
        asked.refuse("for frequencies of categories", "--top")
        if asked.out is not None:
            raise InputError("--out is for results of several rows, got a mean: leave it out")
        return Found("mean of the values, weighted", found.to_dict(asked.confidence) | told, counts=[tally])
    facts, columns = split(found, each_confidence(asked, found.value.size))
    made = ranked(found_rows("frequencies of the categories, weighted", facts | told, columns), tally, asked)
    return replace(made, counts=[tally])


def _tallied(service: Service, asked: EstimateOptions) -> GroupedTallies:
    from ....estimators.differences import tally_groups

    skipped = SkippedRows()
    return tally_groups(
        service.kind.mechanism,
        service.reports,
        by=asked.by,
        weights=asked.weights,
        column=asked.column,
        drop_missing=asked.drop_missing,
        skip_invalid=skipped if asked.skip_invalid else False,
    )


def _weightless(tallies: GroupedTallies) -> dict[str, Any]:
    return {"weightless": tallies.weightless} if tallies.weighted else {}


def _say_weights(tallies: list[Tally], weightless: int) -> None:
    """Say where weights leave few people, or some out."""
    if weightless:
        say(f"note: {weightless:,} users of weight 0 count for nothing")
    users, effective = sum(tally.n_users for tally in tallies), sum(tally.effective_n for tally in tallies)
    if tallies and effective < FEW_PEOPLE * users:
        say(
            f"warning: the weights are so unequal that {users:,} users tell as much as {effective:,.1f} of equal "
            "weights: check the largest ones"
        )


def _say_few(found: GroupEstimates) -> None:
    few = [group for group, one in zip(found.groups, found.of, strict=True) if one.few]
    if few:
        named = ", ".join(map(repr, few[:TOP])) + (f" and {len(few) - TOP} more" if len(few) > TOP else "")
        say(f"warning: too few reports for their intervals to be relied on: {named}; marked by ! in the table")


def _shown(found: GroupEstimates, rows: list[dict[str, Any]], asked: EstimateOptions, *, weighted: bool) -> Rows:
    """Return the rows for people: all groups, and of each the largest categories."""
    names = ["group", *(["category"] if "category" in rows[0] else []), "n"]
    names += ["effective_n"] if weighted else []
    names += ["value", "std_error", "low", "high"]
    top = asked.top or TOP
    each = len(rows) // len(found.groups)
    kept, cut = [], False
    for start in range(0, len(rows), each):
        largest = sorted(rows[start : start + each], key=lambda row: -row["value"])[:top]
        kept += largest
        cut = cut or len(largest) < each
    cells = [
        [str(row[names[0]]) + (" !" if row["too_few"] else ""), *(_cell(row[name]) for name in names[1:])]
        for row in kept
    ]
    last = []
    if cut:
        last.append(f"the {top} largest of {each} in each group; all of them: --out FILE or --json, or --top")
    if asked.simultaneous:
        last.append(f"all {len(rows):,} intervals hold at once with {100 * asked.confidence:g}% confidence (Sidak)")
    elif len(rows) > 1:
        last.append("each interval holds by itself; for all at once, --simultaneous")
    if len(cells) > (most := MOST_ROWS * TOP):
        cells = cells[:most]
        last.append(f"the first {most} rows of {len(kept):,}; all of them: --out FILE or --json")
    what = "frequencies" if "category" in rows[0] else "mean"
    return Rows(f"{what} by {found.by}", [found.by, *names[1:]], cells, "\n".join(last) or None)


def _cell(value: object) -> str:
    return number(value) if isinstance(value, float) else readable(value)
