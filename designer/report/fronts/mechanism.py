"""The first page of a mechanism of any kind: what it protects, what a client sends, and how well all are told."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np

from ....estimators.frequencies.decoder import frequency_decoder
from ....mechanisms import FAMILIES, TabulatedMechanism
from ....mechanisms.categorical.hashed_response import HashedResponse
from ....mechanisms.categorical.mechanism import CategoricalMechanism
from ....mechanisms.categorical.projective_geometry import ProjectiveGeometry
from ....mechanisms.categorical.subset_selection import SubsetSelection
from ....mechanisms.categorical.table import CategoricalTable
from ....mechanisms.categorical.unary_encoding import UnaryEncoding
from ....mechanisms.combinators.attribute_sampling import AttributeSampling
from ....mechanisms.combinators.personalised import PersonalisedMechanism
from ....mechanisms.compact_tables import FloorForm
from ....mechanisms.compact_tables.floor_and_windows import expanded
from ....mechanisms.documents.bundle import Bundle
from ....mechanisms.errors import InputError, unwired
from ....mechanisms.exactness.verification import MAX_BIAS, Verdict, Verification, verification_of
from ....mechanisms.key_value import KeyValueMechanism
from ....mechanisms.over_time import Directions
from ....mechanisms.over_time.way import Way
from ....mechanisms.printable import shortened
from ....mechanisms.promise import Metric, Promise, Pure
from ....mechanisms.statistics import as_supports
from ...methods.oracles import ORACLES
from ...objectives.biased import biased_facts, cut_words
from ...planning.people import shown, table_mean_within
from ...planning.people_of_pairs import pairs_within
from ..number_format import SAME, from_to, listed, percent, percent_up, round_up, short_up
from ..odds import BELIEFS, at_most, odds_grid
from .front import (
    NOT_PROTECTED,
    OF_THESE,
    ON_THE_DEVICE,
    SURE,
    Front,
    checked_users,
    on_page,
    people,
    promise_words,
    reach,
)

MOST_NAMED = 8
"""Categories, keys or attributes that are named, and levels that have a row; of more the first and how many."""

MOST_KNOTS = 401
"""Knots up to which closed forms are made to compare with: as many as a design has by default at most."""

MOST_DECODED = 1000
"""Categories up to which the decoder of a table is computed, in cubic time."""

PROVED = "Its promise is proved by whole numbers, from the probabilities that clients draw by: it may be handed out."
UNPROVED = (
    "Do not hand it out: its probabilities are in doubles, so what clients would draw by is not what was looked at. "
    "make_exact makes a table of it that can be proved."
)
LEFT_OUT = (
    "It was designed for a prior, which its file leaves out: whether another mechanism would err less for such values "
    "cannot be told from it."
)
SPENDING = "The budget is that of all that a person sends, whatever they hold."


def front_of(mechanism: TabulatedMechanism | Bundle, users: int | None = None) -> Front:
    """Return the first page of a mechanism.

    Parameters
    ----------
    mechanism : TabulatedMechanism or Bundle
        Of any kind that a file can hold.
    users : int, optional
        How many people will report; default: `SOME_USERS`.

    Raises
    ------
    InputError
        A mechanism of another kind, or a number of users that is none.

    Example
    -------
    >>> from optldp.mechanisms import grr
    >>> front_of(grr([0, 1, 2], 1.0), 1000).line[0]
    'epsilon 1'
    """
    return _front(mechanism, checked_users(users))


@singledispatch
def _front(mechanism: Any, n: int) -> Front:
    """Write the first page of a mechanism; a new kind registers its own."""
    raise InputError(f"a report is for a table or a bundle, got {mechanism!r:.60}")


@_front.register(TabulatedMechanism)
@_front.register(FloorForm)
def _numbers(table: TabulatedMechanism | FloorForm, n: int) -> Front:
    found = verification_of(table)
    assert found is not None  # of all that is of one number
    low, high = table.domain
    promise, odds, believed = promise_words(table.promise, _widest(table.promise, table.knots), table.units)
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


def _widest(promise: Promise, values: np.ndarray) -> float:
    """How far two values are apart at most, by the distance that the promise is of."""
    if not isinstance(promise, Metric):
        return float(values[-1] - values[0])
    limits = promise.limits(values)
    return float(limits[np.isfinite(limits)].max()) / promise.epsilon


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
    return (_priced("the best of the other published mechanisms", name, rivals[name] / own, what, n),)


def _priced(which: str, name: str, ratio: float, what: str, n: int) -> str:
    """Say what it costs to choose another mechanism at the same budget, or what it gains."""
    if abs(ratio - 1) < SAME:
        return f"To choose otherwise: {name}, {which}, takes as many people for the same error {what}."
    if ratio > 1:
        return (
            f"To choose otherwise costs people: {name}, {which}, takes {percent(ratio - 1, 1)} more for the same error "
            f"{what}, {people(n * ratio)} instead of {n:,}."
        )
    return (
        f"Better at the same budget: {name} takes {percent(1 - ratio, 1)} fewer people for the same error {what}, "
        f"{people(n * ratio)} instead of {n:,}."
    )


def _carried(table: TabulatedMechanism | FloorForm) -> tuple[str, ...]:
    if table.prior is None or table.prior.source != "sensitive":
        return ()
    return (
        "The file carries a prior that was computed from the sensitive data, and numbers on this page follow from it: "
        "the promise does not account for that. Design with --omit-prior before handing it out.",
    )


@_front.register(CategoricalMechanism)
def _categories(made: CategoricalMechanism, n: int) -> Front:
    labels, units = made.categories.labels, made.promise
    promise, odds, believed = promise_words(units, _widest(made.promise, np.arange(len(labels))))
    errors, said = _share_errors(made, n)
    return Front(
        protects=(
            f"One of {len(labels):,} categories of each person: {_named(labels)}. {ON_THE_DEVICE}",
            NOT_PROTECTED,
        ),
        promise=promise,
        odds=odds,
        sends=(_sent(made),),
        errors=errors,
        recommends=(*_proof(made), *_beside_oracles(made, n)),
        users=n,
        line=(str(units), believed, said),
    )


@singledispatch
def _sent(made: Any) -> str:
    """Say what leaves a device."""
    raise unwired("mechanism", made)


@_sent.register
def _(made: CategoricalTable) -> str:
    what = "numbers" if made.outputs is None else "places"
    return f"One of {made.numerators.shape[1]:,} {what}."


@_sent.register
def _(made: HashedResponse) -> str:
    return f"The number of a hash function, which tells nothing, and one of its {made.n_values} values."


@_sent.register
def _(made: SubsetSelection) -> str:
    return (
        f"A set of {made.n_chosen:,} of the {len(made.categories):,} categories, which need not hold the true one: "
        "a bit for each category."
    )


@_sent.register
def _(made: ProjectiveGeometry) -> str:
    return f"One of {made.n_reports:,} numbers, each of which stands for a set of categories, the true one or not."


@_sent.register
def _(made: UnaryEncoding) -> str:
    return f"{len(made.categories):,} bits, one for each category; several may be set, whichever category is true."


def _share_variance(made: CategoricalMechanism) -> float:
    """Return the variance of one report's share of a category, on the average over even categories."""
    size = len(made.categories)
    if size > MOST_DECODED and as_supports(made.statistic) is None:
        raise InputError(f"a table of more than {MOST_DECODED:,} categories is too large to say how well it tells them")
    return float(frequency_decoder(made).variances(np.full(size, 1.0 / size)).mean())


def _share_errors(made: CategoricalMechanism, n: int) -> tuple[tuple[str, ...], str]:
    try:
        off = reach(_share_variance(made), n)
    except InputError as error:
        return (f"How well shares are told is not known: {error}.",), "unknown"
    said = f"{round_up(100 * off)} points"
    return (
        f"With {n:,} people the share of a category that is told from their reports is within {round_up(100 * off)} "
        f"percentage points of the true share among these people ({SURE} sure, each by itself), if all are about as "
        "frequent; it hardly depends on that unless one is very frequent.",
    ), said


def _proof(made: Bundle) -> tuple[str, ...]:
    broken = made.failures()
    return (PROVED,) if not broken else (f"Do not use it: {broken[0]}.",)


def _beside_oracles(made: CategoricalMechanism, n: int) -> tuple[str, ...]:
    if not isinstance(made.promise, Pure):  # which is what oracles keep
        return ()
    try:
        own = _share_variance(made)
        few = len(made.categories) <= MOST_DECODED
        names = [name for name in ORACLES if name != "auto" and (few or name != "grr")]
        others = {name: _share_variance(ORACLES[name](made.categories, made.epsilon)) for name in names}
    except InputError:  # nothing unbiased to compare
        return ()
    rivals = {name: value for name, value in others.items() if abs(value / own - 1) >= SAME}
    if not rivals or not own > 0:
        return ()
    name = min(rivals, key=lambda each: rivals[each])
    return (_priced("the best of the other protocols", name, rivals[name] / own, "of even shares", n),)


@_front.register(KeyValueMechanism)
def _pairs(made: KeyValueMechanism, n: int) -> Front:
    low, high = made.value.domain
    promise, odds, believed = promise_words(Pure(made.epsilon), 0.0)
    errors, said = _key_errors(made, n)
    held = (
        "exactly one pair" if made.padding == 0 else f"up to {made.padding} pairs, or more of which some are left out"
    )
    return Front(
        protects=(
            f"Which of {len(made.keys):,} keys a person has, {_named(made.keys.labels)}, and the number with each, "
            f"{from_to(low, high, made.value.units)}; everybody holds {held}. "
            f"{ON_THE_DEVICE} {SPENDING}",
            NOT_PROTECTED,
        ),
        promise=promise,
        odds=odds,
        sends=(
            "One report of one pair that is drawn at random: about its key, and about its number, or a number that is "
            "made up where there is none.",
        ),
        errors=errors,
        recommends=_proof(made),
        users=n,
        line=(str(Pure(made.epsilon)), believed, said),
    )


def _key_errors(made: KeyValueMechanism, n: int) -> tuple[tuple[str, ...], str]:
    """How well the share of a key and the mean of its values are told, where one in as many people as keys holds it."""
    many = len(made.keys)
    try:
        found = pairs_within(made, n, holders=many)
    except InputError:  # nothing unbiased to tell
        return ("Depends on how many people have which key: optldp estimate tells it with its results.",), "by key"
    told = on_page(found, made.value.units), "Of rarer keys less is known."
    return told, f"{shown(found.share_within or 0.0)} of a share, {shown(found.within, made.value.units)} of a mean"


@_front.register(AttributeSampling)
def _attributes(made: AttributeSampling, n: int) -> Front:
    promise, odds, believed = promise_words(Pure(made.epsilon), 0.0)
    asked = made.sampled / len(made.attributes)
    rows, first = [], ""
    for name, table in list(zip(made.attributes, made.mechanisms, strict=True))[:MOST_NAMED]:
        try:
            found = table_mean_within(table, n, share=asked)
        except InputError:
            rows.append(
                f"{shortened(name, 32)}: its reports are biased, for distributions, and averages of them no means."
            )
            continue
        first = first or f"{shown(found.within, table.units)} ({shortened(name, 32)})"
        rows.append(on_page(found, table.units, shortened(name, 32)))
        if table.provenance.is_for_error:
            rows.append(f"Of {shortened(name, 32)} it is a mean of values as counted: {cut_words(table)}.")
    return Front(
        protects=(
            f"{len(made.attributes)} numbers of each person: {_named(made.attributes)}. {ON_THE_DEVICE} {SPENDING}",
            NOT_PROTECTED,
        ),
        promise=promise,
        odds=odds,
        sends=(
            f"A report on {made.sampled} of the {len(made.attributes)} attributes, drawn at random for each person; "
            "the others stay empty.",
        ),
        errors=(*rows, OF_THESE),
        recommends=_proof(made),
        users=n,
        line=(str(Pure(made.epsilon)), believed, first or "biased"),
    )


@_front.register(Way)
def _over_time(way: Way, n: int) -> Front:
    """The page of one report, of those who report in a period, with the promise of a whole life."""
    one = _front(way.mechanism, max(1, n * way.reports // way.periods))
    promise, odds, believed = promise_words(way.promise, 0.0)
    whole = f"The budget is that of a person's reports in all of {way.periods:,} periods together, whatever they hold."
    turns = f"A person reports in {way.reports:,} of {way.periods:,} periods, which a public draw names."
    what = "A whole history of each person."
    if way.protects == "pattern":
        what = "The values of each person, of those who changed them at the same times."
        whole = "When a person's values change or come back shows: of a whole life nothing is promised."
        turns = "A person reports in every period, the same again while the value stays."
    return replace(
        one,
        protects=(f"{what} {whole}", *one.protects),
        promise=promise,
        odds=odds,
        sends=(turns, *one.sends),
        line=(str(way.promise), believed, one.line[2]),
    )


@_front.register(Directions)
def _of_histories(way: Directions, n: int) -> Front:
    promise, odds, believed = promise_words(way.promise, 0.0)
    return Front(
        protects=(
            f"A whole history of each person. {ON_THE_DEVICE} The budget is that of one report of all {way.periods:,} "
            "periods, whatever they hold.",
            NOT_PROTECTED,
        ),
        promise=promise,
        odds=odds,
        sends=(
            f"When the last period ends, a random number, and which of the {way.directions:,} directions that it makes "
            "was drawn; those that agree with the person's history are likelier.",
        ),
        errors=("What the means of periods are within, optldp plan says before, and estimate after.", OF_THESE),
        recommends=_proof(way),
        users=n,
        line=(str(way.promise), believed, "as planned"),
    )


@_front.register(PersonalisedMechanism)
def _levels(made: PersonalisedMechanism, n: int) -> Front:
    """The levels' own pages, put together: what one says of its values holds for all."""
    chosen = _spread(made.epsilons)
    fronts = [front_of(made.levels[made.epsilons.index(epsilon)], n) for epsilon in chosen]
    first, last = fronts[0], made.epsilons[-1]
    if made.level_epsilon is None:
        level = "Which level a person chose is reported in the clear, and is not protected."
    else:
        level = (
            f"The level itself is reported with epsilon {made.level_epsilon:g}; to somebody who knows the value, "
            f"both reports together tell of it {_by_at_most(made.level_leakage)}."
        )
    several = f"Each person chooses one of {len(made.levels)} budgets, from {made.epsilons[0]:g} to {last:g}."
    errors = [f"If all choose epsilon {chosen[0]:g}: {first.errors[0]}", *first.errors[1:]]
    errors += [
        f"If all choose epsilon {eps:g}: within {one.line[2]}." for eps, one in zip(chosen, fronts, strict=True)
    ][1:]
    if first.errors == fronts[-1].errors:
        errors = list(first.errors)
    return replace(
        first,
        protects=(*first.protects, several),
        promise=(
            f"Of somebody who chose epsilon {last:g}, the largest: {fronts[-1].promise[0]}",
            level,
        ),
        odds=odds_grid("after a report at", [(f"epsilon {epsilon:g}", epsilon) for epsilon in chosen]),
        sends=("The level, and:", *first.sends),
        errors=tuple(errors),
        recommends=_proof(made),
        line=(
            f"epsilon {made.epsilons[0]:g} to {last:g}",
            at_most(BELIEFS[0], last),
            f"{first.line[2]} to {fronts[-1].line[2]}" if first.line[2] != fronts[-1].line[2] else first.line[2],
        ),
    )


def _by_at_most(leakage: float) -> str:
    return f"by at most epsilon {short_up(leakage)}" if math.isfinite(leakage) else "without a bound"


def _spread(epsilons: Sequence[float]) -> list[float]:
    """Return so many of them that they can be listed, the ends among them."""
    if len(epsilons) <= MOST_NAMED:
        return list(epsilons)
    places = np.linspace(0, len(epsilons) - 1, MOST_NAMED).round().astype(int)
    return [epsilons[place] for place in places]


def _named(labels: Sequence[object]) -> str:
    """Name a few of them, each short enough, and say how many more there are."""
    shown = [shortened(str(label), 32) for label in labels[:MOST_NAMED]]
    rest = len(labels) - len(shown)
    return listed([*shown, f"{rest:,} more"] if rest else shown)
