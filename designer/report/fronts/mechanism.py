"""The first page of a mechanism of any kind: what it protects, what a client sends, and how well all are told."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np

from ....mechanisms import TabulatedMechanism
from ....mechanisms.categorical.mechanism import CategoricalMechanism
from ....mechanisms.combinators.attribute_sampling import AttributeSampling
from ....mechanisms.combinators.personalised import PersonalisedMechanism
from ....mechanisms.compact_tables import FloorForm
from ....mechanisms.documents.bundle import Bundle
from ....mechanisms.errors import InputError
from ....mechanisms.key_value import KeyValueMechanism
from ....mechanisms.over_time import Directions, Tree
from ....mechanisms.over_time.way import Way
from ....mechanisms.printable import shortened
from ....mechanisms.promise import Pure
from ...objectives.biased import cut_words
from ...planning.people import shown, table_mean_within
from ...planning.people_of_pairs import pairs_within
from ..number_format import from_to, short_up
from ..odds import BELIEFS, at_most, odds_grid
from .categories import category_front
from .common import MOST_NAMED, SPENDING, named, proof
from .front import (
    NOT_PROTECTED,
    OF_THESE,
    ON_THE_DEVICE,
    Front,
    checked_users,
    on_page,
    promise_words,
)
from .numbers import number_front


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


_front.register(TabulatedMechanism, number_front)
_front.register(FloorForm, number_front)
_front.register(CategoricalMechanism, category_front)


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
            f"Which of {len(made.keys):,} keys a person has, {named(made.keys.labels)}, and the number with each, "
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
        recommends=proof(made),
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
            f"{len(made.attributes)} numbers of each person: {named(made.attributes)}. {ON_THE_DEVICE} {SPENDING}",
            NOT_PROTECTED,
        ),
        promise=promise,
        odds=odds,
        sends=(
            f"A report on {made.sampled} of the {len(made.attributes)} attributes, drawn at random for each person; "
            "the others stay empty.",
        ),
        errors=(*rows, OF_THESE),
        recommends=proof(made),
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
        recommends=proof(way),
        users=n,
        line=(str(way.promise), believed, "as planned"),
    )


@_front.register(Tree)
def _of_changes(way: Tree, n: int) -> Front:
    promise, odds, believed = promise_words(way.promise, 0.0)
    return Front(
        protects=(
            f"A whole history of each person. {ON_THE_DEVICE} The budget is that of all reports of all {way.periods:,} "
            "periods together, whatever they hold.",
            NOT_PROTECTED,
        ),
        promise=promise,
        odds=odds,
        sends=(
            "Some people report one value, in a period that a public draw names. Most send a sign when a block of "
            "periods ends: a fair one where their value stayed, and a noisy one where it changed.",
        ),
        errors=("What the means of periods are within, optldp plan says before, and estimate after.", OF_THESE),
        recommends=proof(way),
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
        recommends=proof(made),
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
