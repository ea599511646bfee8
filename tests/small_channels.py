"""A small mechanism of every kind that can be registered, and the columns of people.csv that it perturbs."""

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from optldp.mechanisms import (
    Approximate,
    AttributeSampling,
    Metric,
    PersonalisedMechanism,
    TabulatedMechanism,
    duchi,
    gaussian,
    geometric,
    grr,
    make_exact,
    piecewise,
    save_bundle,
    save_table,
    square_wave,
)
from optldp.mechanisms.categorical import CategoricalTable, categorical_grr, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.projective_geometry import geometry_of_levels, projective_geometry
from optldp.mechanisms.categorical.subset_selection import subset_selection
from optldp.mechanisms.compact_tables import form_over
from optldp.mechanisms.documents.bundle import Bundle
from optldp.mechanisms.features import Feature, Features, Quadratic
from optldp.mechanisms.key_value import key_value_response, key_value_unary
from optldp.mechanisms.over_time import Directions, HistoryRows, Memoised, Panel, Tree
from optldp.mechanisms.over_time.signs import best_signs
from optldp.mechanisms.promise import Blocks, OfPairs, Sensitive
from optldp.mechanisms.spaces.cells import Cells
from optldp.mechanisms.spaces.places import Places
from optldp.mechanisms.third_party import adopt

KNOTS = np.linspace(0.0, 60.0, 5)
JOBS = ["cook", "nurse", "smith"]
PAY = make_exact(grr(KNOTS, 2.0)).mechanism
TWO = [make_exact(duchi([0.0, 60.0], epsilon)).mechanism for epsilon in (1.0, 2.0)]


def _of_pairs(promise: OfPairs) -> TabulatedMechanism:
    """Randomised response, mixed with an even law until it keeps the least log-ratio that is promised."""
    even, one = np.full((5, 5), 0.2), np.eye(5)
    ratio = math.expm1(promise.limits(KNOTS)[~np.eye(5, dtype=bool)].min())
    share = ratio / (ratio + 5)
    matrix = 0.999 * share * one + (1 - 0.999 * share) * even
    return make_exact(TabulatedMechanism.from_points(KNOTS, KNOTS, matrix, promise.epsilon, promise=promise)).mechanism


OF_PAIRS: Mapping[str, TabulatedMechanism] = {
    "sensitive": _of_pairs(Sensitive(2.0, [True, True, False, False, True])),
    "blocks": _of_pairs(Blocks([0, 0, 1, 1, 1], 0.5, 2.0)),
}
"""Those that promise a log-ratio for each pair of knots."""


def _of_places() -> CategoricalTable:
    """Planar noise on the places of pay and more, cut off and evened out until it keeps its promise."""
    places = Places([[x, y] for x in KNOTS for y in KNOTS])
    law = np.exp(-0.02 * places.apart(places))
    made = law / law.sum(1, keepdims=True)
    return CategoricalTable.from_probabilities(places, made, 0.1, outputs=places, promise=Metric(0.1))


def _of_features() -> Features:
    """The product of pay and more, and pay itself, each reported by some."""
    none, centres, scales = np.zeros((2, 2)), [30.0, 30.0], [30.0, 30.0]
    both = Quadratic(centres, scales, 0.0, [0, 0], [[0, 0.5], [0.5, 0]])
    ends = make_exact(duchi([-1.0, 1.0], 2.0)).mechanism
    told = {"way": "moments", "scale": 900.0}
    pay, more = (Quadratic(centres, scales, 0.0, one, none) for one in ([1, 0], [0, 1]))
    each = [Feature(name, formula, ends) for name, formula in (("x", pay), ("y", more), ("xy", both))]
    return Features({"pay": (0.0, 60.0), "more": (0.0, 60.0)}, each, 2.0, "covariance", told)


SMALL: Mapping[str, TabulatedMechanism | Bundle] = {
    "numbers": PAY,
    "intervals": make_exact(piecewise(KNOTS, 2.0)).mechanism,
    "wave": make_exact(square_wave(KNOTS, 2.0)).mechanism,
    "delta": make_exact(gaussian(KNOTS, Approximate(1.0, 1e-6))).mechanism,
    "unit": make_exact(geometric(KNOTS, Metric(0.1))).mechanism,
    **OF_PAIRS,
    "floor": form_over(KNOTS[::2], [-60.0, 30.0, 120.0], [0.2, 0.1, 0.2], 2.0),
    "categories": categorical_grr(JOBS, 2.0),
    "bits": optimised_unary(JOBS, 2.0),
    "hashes": local_hashing(JOBS, 2.0),
    "subsets": subset_selection([*JOBS, "clerk", "none"], 1.0),
    "points": projective_geometry([*JOBS, "clerk", "none"], 1.0, order=2),
    "places": _of_places(),
    "cells": subset_selection(Cells({"job": JOBS, "budget": ["1", "2"]}).categories, 1.0),
    "adopted": adopt("grr", JOBS, 2.0),
    "seeded": adopt("olh", JOBS, 2.0),
    "levels of numbers": PersonalisedMechanism(TWO),
    "protected levels of numbers": PersonalisedMechanism(TWO, 1.0),
    "levels of categories": PersonalisedMechanism([categorical_grr(JOBS, e) for e in (1.0, 2.0)]),
    "protected levels of categories": PersonalisedMechanism([categorical_grr(JOBS, e) for e in (1.0, 2.0)], 1.0),
    "pairs": key_value_unary(JOBS, PAY, 2.0),
    "pairs of one key": key_value_response(JOBS, PAY, 2.0),
    "attributes": AttributeSampling(["pay", "more"], [PAY, PAY], 1, 2.0),
    "features": _of_features(),
    "panel of numbers": Panel(PAY, 4, 1, 2.0, "0" * 32),
    "panel of jobs": Panel(categorical_grr(JOBS, 1.0), 4, 2, 2.0, "0" * 32),
    "rows of numbers": HistoryRows(
        PAY, [[1, 0, 0], [0.5, 0.5, 0], [0, 0, 1]], [1, 2, 1], [2.0, 1.5, 2.0], 2.0, "0" * 32
    ),
    "directions of numbers": Directions(0.0, 60.0, 2**20 * np.eye(3, dtype=int), 56800, 8, 2, (5, 2), 1.0),
    "tree of numbers": Tree(
        PAY, 3, [1, 0, 1, 1, 2], [(1, best_signs(1, 2.0)), (2, best_signs(1, 2.0))], 2.0, 2.0, "0" * 32
    ),
    "memoised numbers": Memoised(PAY, 3, 2, 4.0),
    "memoised jobs": Memoised(categorical_grr(JOBS, 1.0), 4, 3, 3.0),
    "levels of attributes": PersonalisedMechanism(
        [AttributeSampling(["pay", "more"], [t, t], 1, t.epsilon) for t in TWO]
    ),
    "levels of pairs": PersonalisedMechanism([key_value_unary(JOBS, t, t.epsilon) for t in TWO]),
    "protected levels of pairs": PersonalisedMechanism([key_value_unary(JOBS, t, t.epsilon) for t in TWO], 1.0),
}
"""By names that say what is in them; more than one of a kind where estimators treat them differently."""

COMBINATIONS: Mapping[str, Bundle] = {
    "protected levels of intervals": PersonalisedMechanism(
        [make_exact(piecewise(KNOTS, e)).mechanism for e in (1.0, 2.0)], 1.0
    ),
    "categories of blocks": CategoricalTable.from_probabilities(
        JOBS, [[0.5, 0.3, 0.2], [0.3, 0.5, 0.2], [0.1, 0.1, 0.8]], 2.0, promise=Blocks([0, 0, 1], 1.0, 2.0)
    ),
    "protected levels of bits": PersonalisedMechanism([optimised_unary(JOBS, e) for e in (1.0, 2.0)], 1.0),
    "levels of hashes": PersonalisedMechanism([local_hashing(JOBS, e, n_values=2) for e in (1.0, 2.0)]),
    "levels of points": PersonalisedMechanism(geometry_of_levels([*JOBS, "clerk", "none"], [1.0, 2.0], order=2)),
    "protected levels of attributes": PersonalisedMechanism(
        [AttributeSampling(["pay", "more"], [t, t], 1, t.epsilon) for t in TWO], 1.0
    ),
    "levels of pairs of one key": PersonalisedMechanism([key_value_response(JOBS, t, t.epsilon) for t in TWO]),
}
"""What no code knows of: kinds of the above made of each other, which must do all that these do."""

DRAWN_BY: Mapping[str, str] = {"adopted": "categories", "seeded": "none"}
"""Whose reports stand for those of a kind that draws none itself; of "none" other programs' are needed."""

_LEVEL = ("--level-column", "budget")
_PAIR = ("--column", "job", "--value-column", "pay")


def columns(name: str) -> tuple[str, ...]:
    """The options of `perturb` that name what a mechanism perturbs in people.csv."""
    level = _LEVEL if "levels" in name else ()
    if "attributes" in name or name in ("features", "cells"):
        return level
    if name == "places":
        return "--column", "pay", "--column", "more"
    if "pairs" in name:
        return (*_PAIR, *level)
    made = DRAWN_BY.get(name, name)
    numbers = (
        "numbers" in made or "intervals" in made or made in ("wave", "delta", "unit", "sensitive", "blocks", "floor")
    )
    return ("--column", "pay" if numbers else "job", *level)


def write_people(path: Path, users: int = 240) -> None:
    """Write people.csv: user, job, pay, more and budget, the same each time."""
    rows = (f"u{i},{JOBS[i * i % 3]},{15 * (i % 5)},{15 * (i // 5 % 5)},{1 + i % 2}" for i in range(users))
    path.write_text("user,job,pay,more,budget\n" + "\n".join(rows) + "\n")


def save(mechanism: TabulatedMechanism | Bundle, path: Path) -> None:
    """Write the file of a mechanism of any kind."""
    if isinstance(mechanism, TabulatedMechanism):
        save_table(mechanism, path)
    else:
        save_bundle(mechanism, path)
