"""Clarabel, the quickest general solver that was found, and HiGHS's interior point solve the wider bell at epsilon 1.

They get the outputs, an even grid, and the smallest known form of the program. They stop at a gap of 1e-6 that they
report themselves; their modelling is not timed. Ours chooses the outputs, and its certificate of 1e-6 holds for every
mechanism on the whole line. "Above" is how far a grid's value is above ours, which may itself be 1e-6 above the
optimum: 321 outputs lose 1e-5, and 1281 are what it takes to come as near as ours. "Ours, these outputs" is the
library's structured interior point for given outputs.

The second table has packages for frequencies, each on its own problem by its own calls. They draw a report of each user
and estimate from the reports, for values by Zipf's law at epsilon 1. `pip install -e ".[rivals]"` brings pure-ldp.
multi-freq-ldpy has no wheel and so is not pinned (`pip install multi-freq-ldpy numba`). It scales its estimates to a
distribution, which lowers its errors. Tools that are not installed are not measured.
"""

import importlib
import statistics
from collections.abc import Callable
from importlib import metadata
from typing import Any

import numpy as np
from measured import Cell, Table, alone, memory, timed
from optldp.estimators import CategoryCounts, estimate_frequencies
from optldp.mechanisms.categorical import categorical_grr, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.solvers import solve_unbiased

from designs import given_outputs
from designs.many_knots import GAP, bell

TITLE = "Beside other solvers and packages"
GIVEN: tuple[tuple[int, int, tuple[str, ...]], ...] = (
    (65, 321, ("ours, these outputs", "Clarabel", "HiGHS")),
    (101, 321, ("ours, these outputs", "Clarabel", "HiGHS")),
    (101, 1281, ("Clarabel",)),
    (401, 321, ("Clarabel", "HiGHS")),
    (401, 1281, ("Clarabel",)),
)
MOST_SECONDS, MOST_GIGABYTES = 60, 12
REPEATS = 5
USERS, CATEGORIES = 100_000, 64
OURS = {"GRR": categorical_grr, "OUE": optimised_unary, "OLH": local_hashing}


def run() -> list[Table]:
    return [_solvers(), packages()]


def _solvers() -> Table:
    rows: list[tuple[Cell, ...]] = []
    ours: dict[int, dict[str, float]] = {}
    for n, m, ways in GIVEN:
        if n not in ours:
            ours[n] = found = alone(free, n)
            rows.append((n, "free", "**ours**", found["seconds"], 1.0, found["megabytes"], found["value"], None))
        best = ours[n]
        for way in ways:
            found = alone(given_outputs.one, way, n, m, seconds=MOST_SECONDS, gigabytes=MOST_GIGABYTES)
            if isinstance(found, str):
                rows.append((n, m, way, found, f"more than {MOST_SECONDS / best['seconds']:.0f}", None, None, None))
            else:
                times, above = found["seconds"] / best["seconds"], found["value"] / best["value"] - 1
                rows.append((n, m, way, found["seconds"], times, found["megabytes"], found["value"], above))
    columns = {
        "knots": "", "outputs": "", "way": "", "s": ".3g", "times ours": ".3g", "MB, the process at most": ".0f",
        "expected variance": ".7f", "above": ".1e",
    }  # fmt: skip
    return Table(columns, rows)


def free(n: int) -> dict[str, float]:
    """Ours, from knots to a table with its certificate: the median of some runs, the first of a process left out."""
    program = bell(n)
    runs = [
        timed(lambda: solve_unbiased(program.knots, program.weights, program.ratio, tolerance=GAP))
        for _ in range(1 + REPEATS)
    ]
    best = runs[0][0]
    assert best.gap <= GAP
    seconds = statistics.median(taken for _, taken in runs[1:])
    return {"value": best.value, "seconds": seconds, "megabytes": memory("VmHWM")}


def packages() -> Table:
    weights = 1 / np.arange(1, CATEGORIES + 1)
    codes = np.random.default_rng(1).choice(CATEGORIES, USERS, p=weights / weights.sum())
    rows, absent = [], []
    for package, kinds in PACKAGES.items():
        try:
            named = f"{package} {metadata.version(package)}"
        except metadata.PackageNotFoundError:
            absent.append(package)
            continue
        rows += [_row(named, kind, theirs, codes) for kind, theirs in kinds().items()]
    columns = {
        "package": "", "mechanism": "", "drawing, s": ".4f", "estimating, s": ".4f", "ours, drawing, s": ".4f",
        "ours, estimating, s": ".4f", "times ours": ".0f", "its mean error": ".4f", "our mean error": ".4f",
    }  # fmt: skip
    about = f"{USERS:,} users, {CATEGORIES} categories" + "".join(f"; {one} was not installed" for one in absent) + ":"
    return Table(columns, rows, about)


Protocol = tuple[Callable[[int], Any], Callable[[list[Any]], np.ndarray]]
"""From a code to its report, and from the reports to frequencies (K,)."""


def _row(package: str, kind: str, theirs: Protocol, codes: np.ndarray) -> tuple[Cell, ...]:
    mechanism = OURS[kind](range(CATEGORIES), 1.0)
    exact = np.bincount(codes, minlength=CATEGORIES) / codes.size
    draw, estimate = theirs
    values = codes.tolist()
    draw(values[0])  # what is compiled at the first call
    reports, drawing = timed(lambda: [draw(value) for value in values])
    found, estimating = timed(lambda: estimate(reports))
    mechanism.sample_codes(codes[:10])
    sent, our_drawing = timed(lambda: mechanism.sample_codes(codes))
    ours, our_estimating = timed(lambda: estimate_frequencies(CategoryCounts.from_reports(mechanism, sent)).value)
    times = (drawing + estimating) / (our_drawing + our_estimating)
    errors = [float(np.abs(one - exact).mean()) for one in (found, ours)]
    return package, kind, drawing, estimating, our_drawing, our_estimating, times, *errors


def _pure_ldp() -> dict[str, Protocol]:
    oracles = importlib.import_module("pure_ldp.frequency_oracles")

    def protocol(client: Any, server: Any, **options: bool) -> Protocol:
        sending, receiving = (kind(1.0, CATEGORIES, index_mapper=int, **options) for kind in (client, server))

        def estimate(reports: list[Any]) -> np.ndarray:
            for report in reports:
                receiving.aggregate(report)
            return np.array([receiving.estimate(code, suppress_warnings=True) for code in range(CATEGORIES)]) / USERS

        return sending.privatise, estimate

    return {
        "GRR": protocol(oracles.DEClient, oracles.DEServer),
        "OUE": protocol(oracles.UEClient, oracles.UEServer, use_oue=True),
        "OLH": protocol(oracles.LHClient, oracles.LHServer, use_olh=True),
    }


def _multi_freq() -> dict[str, Protocol]:
    grr, unary, hashing = (
        importlib.import_module(f"multi_freq_ldpy.pure_frequency_oracles.{name}") for name in ("GRR", "UE", "LH")
    )
    k = CATEGORIES
    return {
        "GRR": (lambda code: grr.GRR_Client(code, k, 1.0), lambda sent: grr.GRR_Aggregator_MI(sent, k, 1.0)),
        "OUE": (lambda code: unary.UE_Client(code, k, 1.0), lambda sent: unary.UE_Aggregator_MI(sent, 1.0)),
        "OLH": (lambda code: hashing.LH_Client(code, k, 1.0), lambda sent: hashing.LH_Aggregator_MI(sent, k, 1.0)),
    }


PACKAGES: dict[str, Callable[[], dict[str, Protocol]]] = {"pure-ldp": _pure_ldp, "multi-freq-ldpy": _multi_freq}
