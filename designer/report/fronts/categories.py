"""The first page of a mechanism for categories."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from ....estimators.frequencies.decoder import frequency_decoder
from ....mechanisms.categorical.hashed_response import HashedResponse
from ....mechanisms.categorical.mechanism import CategoricalMechanism
from ....mechanisms.categorical.projective_geometry import ProjectiveGeometry
from ....mechanisms.categorical.subset_selection import SubsetSelection
from ....mechanisms.categorical.table import CategoricalTable
from ....mechanisms.categorical.unary_encoding import UnaryEncoding
from ....mechanisms.errors import InputError, unwired
from ....mechanisms.promise import Pure
from ....mechanisms.statistics import as_supports
from ...methods.oracles import ORACLES
from ..number_format import SAME, round_up
from .common import named, priced, proof, widest
from .front import NOT_PROTECTED, ON_THE_DEVICE, SURE, Front, promise_words, reach

MOST_DECODED = 1000
"""Categories up to which the decoder of a table is computed, in cubic time."""


def category_front(made: CategoricalMechanism, n: int) -> Front:
    """Return the page of a mechanism for categories, of which n people report."""
    labels, units = made.categories.labels, made.promise
    promise, odds, believed = promise_words(units, widest(made.promise, np.arange(len(labels))))
    errors, said = _share_errors(made, n)
    return Front(
        protects=(
            f"One of {len(labels):,} categories of each person: {named(labels)}. {ON_THE_DEVICE}",
            NOT_PROTECTED,
        ),
        promise=promise,
        odds=odds,
        sends=(_sent(made),),
        errors=errors,
        recommends=(*proof(made), *_beside_oracles(made, n)),
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
    return (priced("the best of the other protocols", name, rivals[name] / own, "of even shares", n),)
