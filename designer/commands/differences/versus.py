"""`estimate --versus`: the difference of two groups or periods."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ....estimators.reading.columns import SkippedRows
from ....mechanisms import load_mechanism
from ....mechanisms.errors import InputError
from ..handlers.bundle import MOST_ROWS, found_rows
from ..handlers.kind import Found, Service, split
from ..handlers.options import EstimateOptions
from ..output.output import say, told_of_reports
from ..output.shortest import none_below
from .group_differences import versus_by_group
from .quantiles import USELESS, quantile_differences
from .refused import require_fitting

if TYPE_CHECKING:
    from ....estimators.differences import Difference, MatchedTallies
    from ....estimators.intervals import Interval

INDEPENDENT = (
    "note: the two are taken as independent: if some people are in both, name their column by --key, and what they "
    "have in common is taken out of the interval"
)


INDEPENDENT_SHARES = (
    "note: the two are taken as independent: if some people are in both, the interval is not honest; --key, without "
    "--above, is for differences of means of the same people"
)


def versus(service: Service, asked: EstimateOptions) -> Found:
    """Return how much the first is above the second, and both."""
    from ....estimators.differences import WeightedFrequencies, estimate_difference

    require_fitting(asked, "--versus", "--key", "--keep-first", "--above", quantiles=True)
    if asked.by is not None:
        return versus_by_group(service, asked)
    if asked.above is not None:
        asked.refuse("of no use to a difference of shares, whose groups share no users", "--key", "--weights")
    if asked.of == "quantiles":
        asked.refuse("of no use to quantiles", *USELESS, "--key")
    tallies = _matched(service, asked)
    if asked.of == "quantiles":
        return quantile_differences(tallies, asked)
    if asked.above is not None:
        return _of_shares(tallies, asked.above, asked)
    found = estimate_difference(tallies, simultaneous=asked.simultaneous, target=asked.target)
    told = told_of_reports(tallies.simulated, tallies.skipped)
    facts, columns = split(found, asked.confidence)
    parts: dict[str, Any] = {"first_estimate": _part(found.first, asked), "second_estimate": _part(found.second, asked)}
    if found.matched is None:
        say(INDEPENDENT)
    last, both = _in_words(found, asked), (tallies.first, tallies.second)
    if not isinstance(found.first, WeightedFrequencies):
        asked.refuse("for frequencies, and for groups", "--simultaneous")
        asked.refuse("for frequencies of categories", "--top")
        if asked.out is not None:
            raise InputError("--out is for results of several rows, got a mean: leave it out")
        return Found("difference of the means", facts | told, parts, last=last, counts=both)
    top = asked.top or MOST_ROWS
    made = found_rows(
        "differences of the frequencies, first less second", facts, columns, top=top, in_order=True, signed=True
    )
    more = {"simultaneous": asked.simultaneous}
    return replace(made, facts=facts | more | told, more={**columns, **parts}, last=last, counts=both)


def _of_shares(tallies: MatchedTallies, above: float, asked: EstimateOptions) -> Found:
    """Return how much the share above a value is larger in the first."""
    from ....estimators.differences import estimate_share_difference

    asked.refuse("of no use to one share", "--simultaneous", "--top", "--out", "--target")
    found = estimate_share_difference(tallies.first, tallies.second, above=above)
    facts: dict[str, Any] = {"above": above} | found.to_dict(asked.confidence)
    parts: dict[str, Any] = {"first_estimate": _part(found.first, asked), "second_estimate": _part(found.second, asked)}
    say(INDEPENDENT_SHARES)
    facts |= told_of_reports(tallies.simulated, tallies.skipped)
    shown = {name: facts[name] for name in ("value", "std_error", "low", "high", "confidence", "n", "first", "second")}
    last = f"{_decided(found.interval(asked.confidence), asked)}; {none_below(facts, '')}"
    both = (tallies.first, tallies.second)
    return Found(f"difference of the shares above {above:g}", facts, parts, said=shown, last=last, counts=both)


def _part(found: Any, asked: EstimateOptions) -> dict[str, Any]:
    return found.to_dict(asked.confidence)


def _in_words(found: Difference, asked: EstimateOptions) -> str:
    """Return what the difference decides, and what matching did, in words."""
    ends = found.interval(asked.confidence)
    lines, level = [], f"{100 * asked.confidence:g}%"
    if isinstance(found.value, float):
        lines.append(_decided(ends, asked))
    else:
        apart = int(((ends.low > 0) | (ends.high < 0)).sum())
        how = "all at once" if asked.simultaneous else "each by itself, so some by chance: --simultaneous"
        lines.append(f"{apart:,} of {found.value.size:,} frequencies differ with {level} confidence, {how}")
    if found.matched is not None:
        words = f"{found.matched:,} of {found.n:,} people are in both"
        lines.append(f"{words}: what they have in common is taken out of the interval")
    return "\n".join(lines)


def _decided(ends: Interval, asked: EstimateOptions) -> str:
    """Return which of two is larger."""
    known = "above" if ends.low > 0 else "below" if ends.high < 0 else ""
    words = f"the first is {known} the second" if known else "which is above the other cannot be said"
    level = f"{100 * asked.confidence:g}%"
    return f"with {level} confidence {words}: first less second is {ends.low:.4g} to {ends.high:.4g}"


def _matched(service: Service, asked: EstimateOptions) -> MatchedTallies:
    """Return the counts of both; matched by user if there is a key."""
    from ....estimators.differences import MatchedTallies, match_users, tally_groups

    assert asked.versus is not None
    table, reports = asked.versus
    other = load_mechanism(table, allow_unproved=asked.allow_unproved)
    skipped = SkippedRows()
    sources = (service.kind.mechanism, service.reports), (other, reports)
    options: dict[str, Any] = {
        "column": asked.column,
        "drop_missing": asked.drop_missing,
        "skip_invalid": skipped if asked.skip_invalid else False,
    }
    if asked.key is not None:
        asked.refuse("for independent groups, got --key: leave one of them out", "--weights")
        return match_users(*sources, key=asked.key, keep_first=asked.keep_first, **options)
    asked.refuse("for --key: name the column of users", "--keep-first")
    first, second = (tally_groups(*one, weights=asked.weights, **options) for one in sources)
    weightless, simulated = first.weightless + second.weightless, first.simulated or second.simulated
    return MatchedTallies(first.tallies[0], second.tallies[0], None, weightless, simulated, skipped)
