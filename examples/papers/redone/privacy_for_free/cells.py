"""ULE by both algorithms at several numbers of cells: "Privacy for Free", figures 4 and 5, parts on distributions.

The paper names no number of cells; the code that its authors released has 1024.  Columns are Jensen-Shannon distances.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ..experiment.drawn_values import Draw, services_sets
from ..experiment.repeated import Scores
from ..experiment.script import Check, Run
from .distributions import ALGORITHMS, NEARLY_ALL, THREE, UNEQUAL, named, scores
from .means import Config

SIZES = (64, 256, 1024)
BUDGETS = (0.1, 0.3, 0.6, 0.2, 0.4, 0.5)
"""In the order of their seeds."""

SMOOTHED = (0.1, 0.3, 0.6)
SYNTHETIC = 2
"""Budgets, and sets of values, for EMS too: a repetition with 1024 cells takes five to ten seconds."""

Case = tuple[str, str, int, str]
"""Data, where, cells, algorithm."""


def equal_budgets(run: Run) -> list[Check]:
    """Figure 4, (e) to (h), at 100,000 users."""
    every: dict[Case, Scores] = {}
    for number, (name, draw) in enumerate(_sets(run)):
        for i, e in enumerate(BUDGETS if not run.quick else SMOOTHED):
            algorithms = ALGORITHMS if number < SYNTHETIC and e in SMOOTHED else ("EM",)
            for cells, algorithm in itertools.product(_sizes(run), algorithms):
                config = [(f, e) for f in THREE]
                every[name, f"{e:g}", cells, algorithm] = _scores(run, draw, config, (41, number, i), algorithm, cells)
    _show(run, "figure-4-cells", "Equal budgets", "epsilon", every)
    at_end = {c: every["Beta(2,5)", "0.6", c, "EM"].gain("ULE", "SW") for c in _sizes(run)}
    at_start = {c: every["Beta(2,5)", "0.1", c, "EM"].gain("ULE", "SW") for c in _sizes(run)}
    return [
        Check(
            "by plain EM, Beta(2,5): at any number of cells ULE gains on the square wave at 0.1 and loses to it at 0.6",
            max(at_end.values()) < 0 < min(at_start.values()),
            f"{_spans(at_start)} at 0.1, {_spans(at_end)} at 0.6",
        ),
        *_smoothed(every),
    ]


def unequal_budgets(run: Run) -> list[Check]:
    """Figure 5, (e) to (h), by plain EM at more cells than the 64 of figure-5-distributions."""
    every: dict[Case, Scores] = {}
    for number, (name, draw) in enumerate(_sets(run)):
        for i, (label, budgets) in enumerate(UNEQUAL.items()):
            for cells in _sizes(run)[1:]:
                config = list(zip(THREE, budgets, strict=True))
                every[name, label, cells, "EM"] = _scores(run, draw, config, (51, number, i), "EM", cells)
    _show(run, "figure-5-cells", "Unequal budgets", "budgets", every)
    return []


def _sets(run: Run) -> list[tuple[str, Draw]]:
    sets = list(services_sets(run).items())
    return sets if not run.quick else sets[:1]


def _scores(run: Run, draw: Draw, config: Config, case: Sequence[int], algorithm: str, cells: int) -> Scores:
    found = scores(run, draw, config, case, algorithm=algorithm, cells=cells, repetitions=(3, 3))
    return named(found, THREE)


def _sizes(run: Run) -> tuple[int, ...]:
    return SIZES if not run.quick else SIZES[:2]


def _show(run: Run, name: str, title: str, place: str, every: dict[Case, Scores]) -> None:
    rows = []
    for (data, where, cells, algorithm), found in every.items():
        gains = [f"{100 * found.gain('ULE', other):+.1f}%" for other in ("best single", "SW")]
        shown = [found.show(m) for m in (*THREE, "ULE")]
        rows.append((data, where, str(cells), algorithm, *shown, *gains))
    header = ("data", place, "cells", "algorithm", *THREE, "ULE", "over the best", "over SW")
    run.table(name, f"{title}: Jensen-Shannon distance and the gain of ULE", header, rows)
    for algorithm, cells in itertools.product(ALGORITHMS, _sizes(run)):
        gains = [f.gain("ULE", "best single") for (*_, c, a), f in every.items() if (c, a) == (cells, algorithm)]
        better = sum(gain > 0 for gain in gains)
        if gains:
            span = f"{100 * min(gains):+.1f}% to {100 * max(gains):+.1f}%"
            print(f"\n{algorithm}, {cells} cells: ULE is better than the best in {better} of {len(gains)} ({span})")


def _spans(gains: dict[int, float]) -> str:
    return ", ".join(f"{100 * gain:+.0f}% ({cells})" for cells, gain in gains.items())


def _smoothed(every: dict[Case, Scores]) -> list[Check]:
    gains = [found.gain("ULE", "best single") for (*_, algorithm), found in every.items() if algorithm == "EMS"]
    better = sum(gain > 0 for gain in gains)
    claim = "by EMS ULE has the smallest distance in most cases, at any number of cells"
    return [Check(claim, better >= NEARLY_ALL * len(gains), f"in {better} of {len(gains)} cases")]
