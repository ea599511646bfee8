"""The first page of a mechanism for numbers."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from ....mechanisms import FAMILIES, TabulatedMechanism
from ....mechanisms.compact_tables import FloorForm
from ....mechanisms.compact_tables.floor_and_windows import expanded
from ....mechanisms.errors import InputError, unwired
from ....mechanisms.exactness.verification import MAX_BIAS, Verdict, Verification, verification_of
from ....mechanisms.promise import Pure
from ...objectives.biased import biased_facts, cut_words
from ...planning.people import shown, table_mean_within
from ..number_format import from_to, percent_up, round_up
from .common import PROVED, priced, widest
from .front import NOT_PROTECTED, OF_THESE, ON_THE_DEVICE, Front, on_page, promise_words

MOST_KNOTS = 401
"""Knots up to which closed forms are made to compare with: as many as a design has by default at most."""

UNPROVED = (
    "Do not hand it out: its probabilities are in doubles, so what clients would draw by is not what was looked at. "
    "make_exact makes a table of it that can be proved."
)
LEFT_OUT = (
    "It was designed for a prior, which its file leaves out: whether another mechanism would err less for such values "
    "cannot be told from it."
)


def number_front(table: TabulatedMechanism | FloorForm, n: int) -> Front:
    """Return the page of a mechanism for numbers, of which n people report."""
    found = verification_of(table)
    assert found is not None  # of all that is of one number
    low, high = table.domain
    promise, odds, believed = promise_words(table.promise, widest(table.promise, table.knots), table.units)
    errors, said = _mean_errors(table, found, n)
    return Front(
        protects=(
            f"One number of each person, {from_to(low, high, table.units)}. {ON_THE_DEVICE}",
            NOT_PROTECTED,
        ),
        promise=promise,
        odds=odds,
        sends=(_outputs(table),),
        errors=errors,
        recommends=_judged(table, found, n),
        warnings=_carried(table),
        users=n,
        line=(str(table.promise), believed, said),
    )


def _outputs(table: TabulatedMechanism | FloorForm) -> str:
    ends, count, what = _ends(table)
    if not np.isfinite(ends).all():
        return f"One of {count:,} {what}; it may be of any size."
    return f"One of {count:,} {what}, {from_to(float(ends[0]), float(ends[1]), table.units)}."


@singledispatch
def _ends(table: Any) -> tuple[tuple[float, float], int, str]:
    """The least and the largest report of a mechanism for numbers, how many outputs there are, and what they are."""
    raise unwired("mechanism", table)


@_ends.register
def _(table: FloorForm) -> tuple[tuple[float, float], int, str]:
    return (table.outputs[0], table.outputs[-1]), table.outputs.size, "numbers"


@_ends.register
def _(table: TabulatedMechanism) -> tuple[tuple[float, float], int, str]:
    used = table.probabilities.any(axis=0)
    what = "numbers" if (table.low == table.high)[used].all() else "intervals, and a number within it"
    return (table.low[used].min(), table.high[used].max()), int(used.sum()), what


def _unbiased(table: TabulatedMechanism | FloorForm, found: Verification) -> bool:
    return found.max_abs_bias <= MAX_BIAS * (table.domain[1] - table.domain[0])


def _mean_errors(table: TabulatedMechanism | FloorForm, found: Verification, n: int) -> tuple[tuple[str, ...], str]:
    """Return what is known of the error of a mean of n people, and the same in short."""
    units = table.units
    if not _unbiased(table, found):
        if table.provenance.is_for_error:
            return _promised(expanded(table), n)
        return (
            "Its reports are biased, for distributions: averages of them are no means, and how far an estimated "
            "distribution is off depends on the distribution.",
        ), "for distributions"
    found_within = table_mean_within(table, n)
    said = shown(found_within.within, units)
    return (on_page(found_within, units), OF_THESE), said


def _promised(table: TabulatedMechanism, n: int) -> tuple[tuple[str, ...], str]:
    """Return the error of a table that is biased on purpose, for as many people as are asked for, and what it cuts."""
    try:
        found = table_mean_within(table, n)
    except InputError:
        return ("The file does not say enough for the error of its mean, which is biased on purpose.",), "unknown"
    facts = biased_facts(table)
    outside, bias = percent_up(facts["share_outside"], 1), f"{round_up(facts['bias_bound'])} {table.units}".rstrip()
    cut = (
        f"It is a mean of values as they are counted, and these are not the values themselves: {cut_words(table)}. Of "
        f"the people whom the prior describes {outside} have values outside. Up to {bias} of the error is bias, which "
        f"more people do not lessen. The table was designed for {facts['users']:,} people."
    )
    return (on_page(found, table.units), cut, OF_THESE), shown(found.within, table.units)


def _judged(table: TabulatedMechanism | FloorForm, found: Verification, n: int) -> tuple[str, ...]:
    """Recommend the table or another, by its proof and by what the closed forms reach at its budget."""
    if found.verdict is not Verdict.PROVED:
        return (UNPROVED,)
    if not isinstance(table.promise, Pure) or not _unbiased(table, found) or table.knots.size > MOST_KNOTS:
        return (PROVED,)
    if table.prior is None and _designed_for_a_prior(table):
        return (PROVED, LEFT_OUT)
    own = found.worst_case_variance if found.expected_variance is None else found.expected_variance
    what = "for values of which nothing is known" if found.expected_variance is None else "under the prior it carries"
    return (PROVED, *_beside_closed_forms(table, own, what, n))


def _designed_for_a_prior(table: TabulatedMechanism | FloorForm) -> bool:
    """Whether the file says that the table was chosen for what is known of values, and not for the worst of them."""
    certificate = table.provenance.certificate
    return certificate is not None and certificate.get("objective") not in (None, "minimax")


def _beside_closed_forms(table: TabulatedMechanism | FloorForm, own: float, what: str, n: int) -> tuple[str, ...]:
    rivals: dict[str, float] = {}
    for name, family in FAMILIES.items():
        try:
            made = family(table.knots, table.epsilon)
        except InputError:  # not for these knots, or not for this budget
            continue
        if name != table.provenance.method and np.abs(made.knot_bias).max() <= MAX_BIAS * np.ptp(table.knots):
            rivals[name] = made.worst_case_variance()[0] if table.prior is None else made.expected_variance(table.prior)
    if not rivals or not own > 0:
        return ()
    name = min(rivals, key=lambda each: rivals[each])
    return (priced("the best of the other published mechanisms", name, rivals[name] / own, what, n),)


def _carried(table: TabulatedMechanism | FloorForm) -> tuple[str, ...]:
    if table.prior is None or table.prior.source != "sensitive":
        return ()
    return (
        "The file carries a prior that was computed from the sensitive data, and numbers on this page follow from it: "
        "the promise does not account for that. Design with --omit-prior before handing it out.",
    )
