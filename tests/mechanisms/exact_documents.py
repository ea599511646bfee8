"""Exact table documents, good ones and one for every fault, for all that reads or verifies them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from optldp.mechanisms import FAMILIES, Approximate, Metric, TabulatedMechanism, gaussian, geometric, make_exact
from optldp.mechanisms.documents.table import table_to_document
from optldp.mechanisms.files.checksum import checksum
from optldp.mechanisms.files.json_text import to_json
from optldp.mechanisms.integers.exponential import exponential_below
from optldp.mechanisms.sampling.within_cell import GeometricTails
from optldp.mechanisms.table.knot_prior import KnotPrior

D = 2**53

Change = Callable[[dict[str, Any]], object]


def lattice() -> TabulatedMechanism:
    """Two points between geometric tails, unbiased by symmetry."""
    return TabulatedMechanism(
        knots=np.array([-1.0, 1.0]),
        low=np.array([-np.inf, -1.5, 1.5, 5.0]),
        high=np.array([-5.0, -1.5, 1.5, np.inf]),
        probabilities=np.array(
            [[0.25, 0.5 - 1 / 32, 0.25 - 1 / 32, 1 / 16], [1 / 16, 0.25 - 1 / 32, 0.5 - 1 / 32, 0.25]]
        ),
        epsilon=1.5,
        within=GeometricTails(1.0, 0.375),
        units="EUR",
    )


def at_the_limit(units_below: int = 0) -> dict[str, Any]:
    """Two outputs whose ratio is as large as whole numbers allow at epsilon = 1, or that many units beyond."""
    limit = exponential_below(1.0)
    small = -(-D * limit.denominator // (limit.denominator + limit.numerator)) - units_below
    return document(numerators=[[small, D - small], [D - small, small]], epsilon=1.0)


def document(**changes: object) -> dict[str, Any]:
    """Two knots, two points, a ratio of three, with members changed and a fresh checksum."""
    plain = {
        "format": "optldp-table/2",
        "units": "",
        "epsilon": 1.1,
        "knots": [0.0, 10.0],
        "low": [-5.0, 15.0],
        "high": [-5.0, 15.0],
        "denominator": D,
        "numerators": [[3 * D // 4, D // 4], [D // 4, 3 * D // 4]],
        "within": {"kind": "uniform"},
        "provenance": {"method": "test", "parameters": {}, "version": "0", "certificate": None},
        "prior": None,
    } | changes
    return {**plain, "checksum": checksum(plain)}


def of_pairs(epsilon: float, promise: dict[str, Any], first: list[list[int]] | None = None) -> dict[str, Any]:
    """Three knots of some of which a promise says more than of others; the last one may be told apart most."""
    rows = first or [[D // 2, D // 4, D // 4], [D // 4, D // 2, D // 4]]
    points = {"knots": [0.0, 1.0, 2.0], "low": [-5.0, 0.0, 15.0], "high": [-5.0, 0.0, 15.0]}
    return document(epsilon=epsilon, promise=promise, numerators=[*rows, [D // 4, D // 4, D // 2]], **points)


def of_table(table: TabulatedMechanism) -> dict[str, Any]:
    """The document of the exact form of a table, as plain JSON values."""
    made = json.loads(to_json(table_to_document(make_exact(table).mechanism)))
    return {**made, "checksum": checksum(made)}


def few_ulps(start: float, ends: list[int], **changes: object) -> dict[str, Any]:
    """Two knots three ulps apart from a start on, with outputs whose ends are so many ulps above it."""
    ulp = float(np.spacing(abs(start)))
    places = [start + end * ulp for end in ends]
    low, high = places[0::2], places[1::2]
    row = [D // len(low)] * len(low)
    row[0] += D - sum(row)
    rows = [row, row[::-1]]
    return document(**{"knots": [start, start + 3 * ulp], "low": low, "high": high, "numerators": rows} | changes)


def tails(left: float, right: float, step: float, ratio: float) -> dict[str, Any]:
    """Two geometric tails and nothing between."""
    within = {"kind": "geometric-tails", "step": step, "ratio": ratio}
    return document(low=["-inf", right], high=[left, "inf"], within=within)


PRIOR = KnotPrior(np.array([0.25, 0.5, 0.25]), np.array([0.01, 0.02]), "public")

GOOD: dict[str, dict[str, Any]] = {
    "two points": document(),
    "at the limit": at_the_limit(),
    "an output of zero everywhere": document(
        low=[-5.0, 0.0, 15.0], high=[-5.0, 0.0, 15.0], numerators=[[3 * D // 4, 0, D // 4], [D // 4, 0, 3 * D // 4]]
    ),
    "lattice": of_table(lattice()),
    "unbiased": document(
        provenance={"method": "x", "parameters": {"unbiased": True}, "version": "", "certificate": None}
    ),
    "with prior": of_table(FAMILIES["piecewise"]([0.0, 1.0, 3.0], 1.0).with_prior(PRIOR)),
    **{name: of_table(family([-1.0, 0.3, 1.0], 1.3)) for name, family in FAMILIES.items()},
    "cells of a few doubles": few_ulps(1e16, [0, 1, 1, 3, 3, 4, 6, 11]),
    "cells of a few doubles on the negative side": few_ulps(-1e16, [0, 1, 1, 3, 3, 4, 6, 11]),
    "denormal cells": few_ulps(0.0, [-4, -1, -1, 0, 0, 1, 1, 3], knots=[0.0, 1.0]),
    "points among the few doubles of cells": few_ulps(7.0, [0, 0, 0, 3, 2, 2, 3, 5, 4, 4]),
    "a run of points in a cell": few_ulps(-0.7, [0, 4, 1, 1, 2, 2, 3, 3, 4, 9]),
    "a point at zero in a cell": document(low=[-5.0, 0.0], high=[5.0, 0.0]),
    "tails of steps far below an ulp": tails(-1e10, 1e10, 1e-30, 0.5),
    "tails of very many steps": tails(0.1, 0.3, 0.7, 1 - 2.0**-53),
    "small budget": of_table(FAMILIES["duchi"]([0.0, 1.0], 0.001)),
    "large budget": of_table(FAMILIES["hybrid"]([0.0, 0.5, 1.0], 16.0)),
}
"""Documents that every verifier must accept."""

APPROXIMATE = {"kind": "approximate", "delta": 0.08}

PROMISED: dict[str, dict[str, Any]] = {
    "all but a delta": document(epsilon=1.0, promise=APPROXIMATE),
    "an output that is possible once": document(
        epsilon=1.0, promise=APPROXIMATE, low=[-5, 0, 15], high=[-5, 0, 15], numerators=[[9, 0, D - 9], [0, 9, D - 9]]
    ),
    "gaussian": of_table(gaussian([0.0, 0.5, 1.0], Approximate(1.0, 1e-6))),
    "per unit": document(epsilon=0.11, promise={"kind": "metric"}),
    "geometric": of_table(geometric([0, 1, 2, 3], Metric(1.0))),
    "round a circle": document(epsilon=0.25, knots=[0.0, 20.0], promise={"kind": "metric", "period": 24.5}),
    "of a distance": of_pairs(0.25, {"kind": "metric", "distance": [[0, 5, 9], [5, 0, 9], ["inf", 9, 0]]}),
    "log-ratios": of_pairs(2.25, {"kind": "ratios", "log_ratios": [[0, 1.25, 9], [1.25, 0, 1], [2, 1, 0]]}),
    "budgets by value": of_pairs(2.0, {"kind": "by-value", "epsilons": [1, 2, 2], "rule": "average"}),
    "the smaller budget": of_pairs(2.0, {"kind": "by-value", "epsilons": [1.25, 2, 2], "rule": "min"}),
    "blocks": of_pairs(3.0, {"kind": "blocks", "blocks": [0, 0, 1], "within": 1.25, "across": 3}),
    "sensitive values": of_pairs(
        1.25, {"kind": "sensitive", "sensitive": [True, True, False]}, [[D // 2, D // 2, 0], [D // 4, 3 * D // 4, 0]]
    ),
}
"""Documents that keep another promise than a pure one; readers that know no such promise refuse them."""

BROKEN_PROMISES: dict[str, tuple[dict[str, Any], str]] = {
    "too small a delta": (
        document(epsilon=1.0, promise=APPROXIMATE | {"delta": 0.07}),
        "delta must be at least the divergence at epsilon 1, 0.0704",
    ),
    "too little per unit": (
        document(epsilon=0.1, promise={"kind": "metric"}),
        "the log-ratio must be at most 1, got 1.0986",
    ),
    "a pure promise said twice": (document(promise={"kind": "pure"}), "whose kind is one of approximate, metric"),
    "an unknown promise": (document(promise={"kind": "renyi", "order": 2}), "whose kind is one of approximate, metric"),
    "a promise in words": (document(promise="pure"), "promise must be an object"),
    "no promise": (document(promise=None), "promise must be an object"),
    "no delta": (document(promise={"kind": "approximate"}), "must have the keys kind, delta only"),
    "a delta too many": (
        document(promise={"kind": "metric", "delta": 0.1}),
        "must have the keys kind, distance, period only",
    ),
    "a delta of 1": (document(promise=APPROXIMATE | {"delta": 1}), "delta must lie strictly between 0 and 1"),
    "a delta of 0": (document(promise=APPROXIMATE | {"delta": 0.0}), "delta must lie strictly between 0 and 1"),
    "a delta in words": (document(promise=APPROXIMATE | {"delta": "0.1"}), "must have numbers"),
}
"""Documents whose promise is not kept, or is none, with a part of the line that says so."""

UNBIASED = {"method": "x", "parameters": {"unbiased": True}, "version": "", "certificate": None}

BAD: dict[str, tuple[dict[str, Any], str]] = {
    "wrong version": (document(format="optldp-table/3"), "format must be"),
    "no numerators": ({k: v for k, v in document().items() if k != "numerators"}, "key 'numerators', which is missing"),
    "a key too many": (document(probabilities=[[0.5, 0.5]] * 2), "got 'probabilities'"),
    "another denominator": (document(denominator=2**52), "denominator must be 9007199254740992, got 4503599627370496"),
    "a denominator in doubles": (document(denominator=float(D)), "denominator must be"),
    "a fraction": (document(numerators=[[0.5, D - 1], [1, D - 1]]), "whole numbers, got 0.5 at row 0, output 0"),
    "a double": (document(numerators=[[1, D - 1], [1.0, D - 1]]), "whole numbers, got 1.0 at row 1, output 0"),
    "a text": (document(numerators=[[1, D - 1], [1, "2"]]), "whole numbers, got '2' at row 1, output 1"),
    "true": (document(numerators=[[True, D - 1], [1, D - 1]]), "whole numbers, got True at row 0, output 0"),
    "negative": (document(numerators=[[-1, D + 1], [1, D - 1]]), r"lie in 0..2\^53, got -1 at row 0, output 0"),
    "above one": (document(numerators=[[D + 1, 0], [1, D - 1]]), r"lie in 0..2\^53, got 9007199254740993 at row 0"),
    "far above one": (document(numerators=[[10**300, 0], [1, D - 1]]), r"lie in 0..2\^53, got 1000"),
    "uneven rows": (document(numerators=[[1, D - 1], [D]]), "rows of equal length, got 1 in row 1"),
    "a row too few": (document(numerators=[[1, D - 1]]), r"must have shape \(2, 2\)"),
    "no rows": (document(numerators=[]), r"must have shape \(2, 2\)"),
    "an output too many": (document(low=[-5.0], high=[-5.0]), r"must have shape \(2, 1\)"),
    "a sum one above": (
        document(numerators=[[D // 4, 3 * D // 4 + 1], [D // 2, D // 2]]),
        r"row 0 must sum to 2\^53 exactly, got 1 more",
    ),
    "a sum one below": (
        document(numerators=[[D // 2, D // 2], [D // 4, 3 * D // 4 - 1]]),
        r"row 1 must sum to 2\^53 exactly, got 1 less",
    ),
    "one unit over the limit": (at_the_limit(1), "the log-ratio must be at most 1, got 1.0"),
    "an output of zero in one row": (
        document(numerators=[[0, D], [1, D - 1]]),
        "must be at most 1.1, got inf at output 0",
    ),
    "duplicate outputs": (document(low=[5.0, 5.0], high=[5.0, 5.0]), "without repeats, got .* at output 1"),
    "unsorted outputs": (document(low=[15.0, -5.0], high=[15.0, -5.0]), "sorted by low end"),
    "overlapping cells": (document(low=[0.0, 1.0], high=[2.0, 3.0]), "cells must not overlap"),
    "a cell of points only": (few_ulps(1.0, [0, 0, 0, 1]), "must hold a double that is no point"),
    "two points that fill a cell": (few_ulps(1.0, [0, 0, 0, 2, 1, 1]), "must hold a double that is no point"),
    "two tails with one end": (tails(1.0, 1.0, 1.0, 0.5), "must have ends of their own"),
    "an end too far": (document(low=[-5.0, 1e130], high=[-5.0, 1e130]), "must be within 1e"),
    "knots that fall": (document(knots=[10.0, 0.0]), "strictly increasing"),
    "a law that differs between rows": (
        document(within={"kind": "linear", "tilt": [[0.0, 0.0]] * 2}),
        "same for all rows, got linear",
    ),
    "an infinite cell": (document(low=["-inf", 15.0]), "needs finite ends"),
    "no unbiasedness": (
        document(provenance=UNBIASED, low=[-5.0, 15.001], high=[-5.0, 15.001]),
        "claims to be unbiased must be so",
    ),
    "a bias of 2e-12": (
        document(provenance=UNBIASED, low=[-5.0, 15 + 8e-11], high=[-5.0, 15 + 8e-11]),
        "claims to be unbiased must be so",
    ),
    "no budget": (document(epsilon=0.0), "epsilon must be positive"),
    "too large a budget": (document(epsilon=17.0), "epsilon must be at most 16"),
    "another checksum": ({**document(), "checksum": "sha256:" + "0" * 64}, "checksum must be"),
    "no object": ([document()], "one JSON object, got list"),  # pyright: ignore[reportAssignmentType] -- that is its fault
}
"""A document for every fault, and what a one-line refusal says of it."""


def write(folder: Path, made: object) -> Path:
    """The document as a file."""
    path = folder / "table.json"
    path.write_text(json.dumps(made))
    return path
