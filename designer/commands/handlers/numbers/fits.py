"""How a mean and a fitted distribution of numbers are told: as facts, in rows and in words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .....estimators.intervals import each_of
from .....estimators.reading.formats.axis import said_on
from .....mechanisms.errors import unwired
from .....mechanisms.promise import Pure
from ...output.output import number, say
from ...output.shortest import none_below
from ..kind import Found, Rows, split

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

    from .....estimators import DistributionEstimate, Estimate, MeanEstimate, ReportCounts
    from .....estimators.estimate import NumberEstimate
    from .....mechanisms import TabulatedMechanism
    from ..options import EstimateOptions

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)

BESIDE = 0.1
"""Share of a gap between two knots up to which a value is meant to be right above the first."""

CERTIFIED = {"smooth": "log-likelihood"}
"""What the certificate bounds the gain of, where there is a choice."""


def told_fit(estimate: DistributionEstimate, units: str, facts: dict[str, Any], asked: EstimateOptions) -> Found:
    """Return what a fit tells in the form that was asked for, with other facts beside its evidence."""
    facts = _evidence(estimate) | facts
    if estimate.instead_of:
        say(f"note: {estimate.instead_of} found no fit of these reports: {estimate.method} took its place")
        facts["instead_of"] = estimate.instead_of
    if (ends := asked.between) is not None:
        for note in (_cut_in_half(estimate, ends), _just_above(estimate, ends[0])):
            if note is not None:
                say(note)
        share = estimate.probability(*ends).to_dict(asked.confidence)
        facts["between"] = {"low_end": ends[0], "high_end": ends[1], **share}
    if (limit := asked.above) is not None:
        share, after = estimate.probability_above(limit).to_dict(asked.confidence), _places(estimate, limit)[1]
        facts["above"] = {"limit": limit, "next_knot": after, **share}
        if after is not None and f"{after:g}" != f"{limit:g}":  # a table for this share has knots as near as that
            say(
                f"note: a value between {limit:g} and {after:g} is reported as either, by chance: the low end is of "
                f"all above {limit:g}, the high end of those from {after:g} on, and how many lie between cannot be told"
            )
    return _found(estimate, units, facts, asked)


def of_another_table(table: TabulatedMechanism, found: Found) -> str | None:
    """Return what a table for the question would have told, where this one tells far less; None where it does not."""
    from ....objectives.questions.other_tables import FAR_BETTER, MANY, arm_of_a_share, shorter_for_distributions

    facts, n = found.facts, found.facts["n"]
    if (above := facts.get("above")) is not None and n >= MANY and isinstance(table.promise, Pure):
        arm, half = arm_of_a_share(above["value"], table.epsilon, n), (above["high"] - above["low"]) / 2
        if arm < FAR_BETTER * half:
            return (
                f"note: a table for this share alone would give +-{arm:.2g} instead of +-{half:.2g}: "
                f"design --objective share:above={above['limit']:g}"
            )
    told = found.more.get("quantiles", [])
    if not told or not table.provenance.claims_unbiased or table.prior is None:
        return None
    ratio = shorter_for_distributions(table, table.prior.weights, n)
    if ratio is None:
        return None
    middle = min(told, key=lambda one: abs(one["quantile"] - 0.5))
    half = (middle["high"] - middle["low"]) / 2
    return (
        f"note: a table for distributions would give about +-{ratio * half:.2g} instead of +-{half:.2g}: "
        "design --objective cdf"
    )


def with_rounds(made: Found, rounds: Mapping[str, Estimate], asked: EstimateOptions) -> Found:
    """Return what was found of rounds with what each one's own reports say, as facts and in words."""
    if not rounds:
        return made
    each = [{"round": name, **_own(one, asked)} for name, one in rounds.items()]
    together, users = sum(one["n"] for one in each), made.facts["n"]
    lines = [f"{together:,} reports of {users:,} users: intervals count users", "each round by itself:"]
    for one in each:
        told = one.get("quantiles") or [{"quantile": "mean", **one.get("mean", one)}]
        numbers = (f"{q['quantile']} {number(q['value'])} [{number(q['low'])}, {number(q['high'])}]" for q in told)
        lines.append(f"  {one['round']}, {one['n']:,} users: {', '.join(numbers)}")
    last = "\n".join([line for line in (made.last,) if line is not None] + lines)
    return replace(made, facts=made.facts | {"reports": together}, more=made.more | {"rounds": each}, last=last)


def _own(estimate: Estimate, asked: EstimateOptions) -> dict[str, Any]:
    """What one round's own reports say of what was asked."""
    from .....estimators import DistributionEstimate

    if not isinstance(estimate, DistributionEstimate):
        return estimate.to_dict(asked.confidence)
    if asked.of in (None, "mean"):
        return estimate.mean().to_dict(asked.confidence)
    own: dict[str, Any] = {"n": estimate.n}
    if asked.of == "quantiles":
        shares = asked.quantiles or QUANTILES
        found = ((share, estimate.quantile(share).to_dict(_each(asked, len(shares)))) for share in shares)
        return own | {"quantiles": [{"quantile": share, **one} for share, one in found]}
    own |= {"mean": estimate.mean().to_dict(asked.confidence)}
    if asked.between is not None:
        own |= {"between": estimate.probability(*asked.between).to_dict(asked.confidence)}
    if asked.above is not None:
        own |= {"above": estimate.probability_above(asked.above).to_dict(asked.confidence)}
    return own


def _places(estimate: DistributionEstimate, value: float) -> tuple[float | None, float | None]:
    """Return the last place up to a value and the first above it that reports tell apart, if values lie between."""
    if (explained := estimate.explained) is None or not explained.between:
        return None, None
    points = explained.points
    up_to, above = points[points <= value], points[points > value]
    return (float(up_to[-1]) if up_to.size else None), (float(above[0]) if above.size else None)


def _just_above(estimate: DistributionEstimate, low: float) -> str | None:
    """Return what to say of a range that begins right above a place that reports do not tell it from."""
    before, after = _places(estimate, low)
    if before is None or after is None or not 0.0 < low - before < BESIDE * (after - before):
        return None
    return (
        f"note: no report tells a value right above {before:g} from {before:g} itself, so that the interval counts all "
        f"that may stand there: --above {before:g} asks for what is above"
    )


def _cut_in_half(estimate: DistributionEstimate, ends: tuple[float, float]) -> str | None:
    """Return what to say of a range of whole numbers that holds half of its end's cell; None where it cuts none, or
    masses alone, which are in the range."""
    edges = estimate.grid.edges
    inner = edges[1:-1]
    if inner.size == 0 or not (np.all(inner % 1 == 0.5) and np.all(np.diff(inner) == 1)):
        return None
    low, high = ends
    inside = [end for end in ends if end % 1 == 0 and edges[0] <= end <= edges[-1]]
    if all(estimate.probability(end, end).value > 0 for end in inside):
        return None
    return (
        f"note: a value is spread over half a step to either side, so that --between {low:g} {high:g} holds but half "
        f"of those at its ends: --between {low - 0.5:g} {high + 0.5:g} holds the whole numbers from {low:g} to {high:g}"
    )


def _evidence(estimate: DistributionEstimate) -> dict[str, Any]:
    fit = estimate.fit
    return {
        "iterations": fit.iterations,
        "certificate": fit.certificate,
        "loglik": fit.loglik,
        "stop": str(fit.stop),
        "solver": fit.method if estimate.method == "em" else None,
        "components": estimate.components,
        "certificate_of": CERTIFIED.get(estimate.method),
    } | _averaged(estimate)


def _averaged(estimate: DistributionEstimate) -> dict[str, Any]:
    """Return what is known of an average of log densities: orders, masses, and how exact its modes are."""
    if (found := estimate.smooth) is None:
        return {}
    atoms = found.atoms
    return {
        "decrement": found.decrement,
        "orders": found.orders,
        "masses_at": list(atoms) or None,
        "masses_sure": list(atoms.values()) or None,
    }


def mean_found(
    found: MeanEstimate,
    asked: EstimateOptions,
    evidence: dict[str, Any],
    counts: ReportCounts | None = None,
    variance: float | None = None,
) -> Found:
    """Return a mean, what else is known of it, and what privacy costs where counts or a fit say how values vary."""
    facts = found.to_dict(asked.confidence) | ratio_facts(found, asked, counts, variance) | evidence
    return Found("mean of the values", facts, counts=[] if counts is None else [counts])


def ratio_facts(
    found: NumberEstimate, asked: EstimateOptions, counts: ReportCounts | None, variance: float | None = None
) -> dict[str, Any]:
    """Return the ratio to the interval that no privacy would give, None where it cannot be known."""
    from .....estimators.differences.without_privacy import RATIO, ratio_to_no_privacy

    if counts is None and variance is None:
        return {RATIO: None}
    return {RATIO: ratio_to_no_privacy(found, counts, variance=variance, confidence=asked.confidence)}


def _found(estimate: DistributionEstimate, units: str, facts: dict[str, Any], asked: EstimateOptions) -> Found:
    """Return a fit in the form that was asked for; a file and a picture have all of it in each."""
    if asked.of in (None, "mean"):
        found = mean_found(estimate.mean(), asked, facts, variance=float(estimate.variance().value))
    elif asked.of == "quantiles":
        found = _quantiles(estimate, units, asked, facts)
    elif asked.of == "distribution":
        found = _distribution(estimate, units, asked, facts)
    else:
        raise unwired("--of", asked.of)

    def figure() -> Axes:
        return estimate.plot(units=units, confidence=asked.confidence, simultaneous=asked.simultaneous)

    columns = found.columns
    if columns is None:
        _, columns = split(estimate, _each(asked, estimate.grid.size))
    return replace(found, columns=columns, figure=figure)


def _each(asked: EstimateOptions, many: int) -> float:
    """Return the confidence of each interval of many, so that they hold at once where that is asked for."""
    return each_of(asked.confidence, many) if asked.simultaneous else asked.confidence


def _distribution(
    estimate: DistributionEstimate, units: str, asked: EstimateOptions, evidence: dict[str, Any]
) -> Found:
    confidence, at_once = asked.confidence, {"confidence": asked.confidence, "simultaneous": asked.simultaneous}
    mean = estimate.mean().to_dict(confidence) | {"one_report": evidence.pop("one_report", None)}
    variance = {"variance": estimate.variance().to_dict(confidence)}
    ranges, last = _ranges(estimate, units, asked)
    answers = {name: evidence[name] for name in ("between", "above") if name in evidence}  # what was asked for: first
    facts, columns = split(estimate, _each(asked, estimate.grid.size))
    return Found(
        "distribution of the values, and their mean",
        facts | columns | at_once | {"mean": mean} | variance | ranges | evidence,
        said=answers | mean | variance | evidence,
        columns=columns,
        last="\n".join([*last, "the weights themselves: --out FILE, --plot FILE or --json"]),
    )


def _ranges(estimate: DistributionEstimate, units: str, asked: EstimateOptions) -> tuple[dict[str, Any], list[str]]:
    """Return the shares of ranges that reports can tell apart, as facts and in words; nothing where none is known."""
    if estimate.explained is None:
        return {}, []
    edges, shares, errors, ends = estimate.ranges(asked.confidence, simultaneous=asked.simultaneous)
    low, high = ends.low.tolist(), ends.high.tolist()
    facts: dict[str, Any] = {"edges": edges.tolist(), "value": shares.tolist(), "std_error": errors.tolist()}
    facts |= {"low": low, "high": high, "confidence": ends.confidence, "simultaneous": asked.simultaneous}
    facts |= {"n": estimate.n, "method": estimate.method, "target": estimate.target}
    held = "all at once" if asked.simultaneous else "each by itself"
    places = [said_on(edge, units) or number(edge) for edge in edges.tolist()]
    lines = [f"shares of the ranges that the reports can tell apart, {100 * asked.confidence:g}% intervals, {held}:"]
    for k, share in enumerate(facts["value"]):
        lines.append(f"  {places[k]} to {places[k + 1]}: {number(share)} [{number(low[k])}, {number(high[k])}]")
    return {"ranges": facts}, lines


def _quantiles(estimate: DistributionEstimate, units: str, asked: EstimateOptions, evidence: dict[str, Any]) -> Found:
    shares = asked.quantiles or QUANTILES
    confidence = _each(asked, len(shares))
    found = [{"quantile": share, **estimate.quantile(share).to_dict(confidence)} for share in shares]
    facts = {"method": estimate.method, "n": estimate.n, "confidence": asked.confidence, "target": estimate.target}
    facts |= ({"simultaneous": True} if asked.simultaneous else {}) | evidence
    found = [one | {"confidence": asked.confidence} for one in found]
    names = ("value", "low", "high")
    cells = [
        [f"{one['quantile']:g}", *(said_on(one[name], units) or number(one[name]) for name in names)] for one in found
    ]
    lines = [f"  {one['quantile']:g}: {line}" for one in found if (line := none_below(one, units))]
    last = "\n".join([*([] if found[0].get("assumed") is None else [assumed_said(found[0])]), *lines]) or None
    rows = Rows("quantiles of the values", ["quantile", *names], cells, last)
    return Found("fit", facts, {"quantiles": found}, rows)


def assumed_said(told: Mapping[str, Any]) -> str:
    """Return what intervals assume, and what the reports say of it, in words."""
    p_value = told["assumption_p_value"]
    if p_value is None:
        return "intervals assume nothing of the distribution"
    from .....estimators.assumption_free.linear_numbers import REFUTED

    said = f"refute it at level {REFUTED:g}" if "without_assumption" in told else "do not refute it"
    return f"intervals assume {told['assumed']}; the reports {said} (p-value {p_value:.3g})"
