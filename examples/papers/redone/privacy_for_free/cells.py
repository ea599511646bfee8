"""ULE by both algorithms at several numbers of cells: "Privacy for Free", figure 4, part on distributions.

The paper names no number of cells; the code that its authors released has 1024.  Columns are Jensen-Shannon distances.
"""

from __future__ import annotations

from ..experiment.drawn_values import services_sets
from ..experiment.repeated import Scores
from ..experiment.script import Check, Run
from .distributions import ALGORITHMS, NEARLY_ALL, THREE, named, scores

SIZES = (64, 256, 1024)
BUDGETS = (0.1, 0.3, 0.6)
SYNTHETIC = 2
"""Sets of values, the synthetic ones: a case of 1024 cells takes twenty seconds for both algorithms."""

Case = tuple[str, str, int, str]
"""Data, where, cells, algorithm."""


def equal_budgets(run: Run) -> list[Check]:
    """Figure 4, (e) to (h), at 100,000 users."""
    sets = list(services_sets(run).items())[:SYNTHETIC]
    every: dict[Case, Scores] = {}
    for number, (name, draw) in enumerate(sets if not run.quick else sets[:1]):
        for i, e in enumerate(BUDGETS):
            for cells in _sizes(run):
                for algorithm in ALGORITHMS:
                    found = scores(
                        run, draw, [(f, e) for f in THREE], (41, number, i),
                        algorithm=algorithm, cells=cells, repetitions=(3, 3),
                    )  # fmt: skip
                    every[name, f"{e:g}", cells, algorithm] = named(found, THREE)
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
    for algorithm in ALGORITHMS:
        for cells in _sizes(run):
            gains = [f.gain("ULE", "best single") for (*_, c, a), f in every.items() if (c, a) == (cells, algorithm)]
            better = sum(gain > 0 for gain in gains)
            span = f"{100 * min(gains):+.1f}% to {100 * max(gains):+.1f}%"
            print(f"\n{algorithm}, {cells} cells: ULE is better than the best in {better} of {len(gains)} ({span})")


def _spans(gains: dict[int, float]) -> str:
    return ", ".join(f"{100 * gain:+.0f}% ({cells})" for cells, gain in gains.items())


def _smoothed(every: dict[Case, Scores]) -> list[Check]:
    gains = [found.gain("ULE", "best single") for (*_, algorithm), found in every.items() if algorithm == "EMS"]
    better = sum(gain > 0 for gain in gains)
    claim = "by EMS ULE has the smallest distance in most cases, at any number of cells"
    return [Check(claim, better >= NEARLY_ALL * len(gains), f"in {better} of {len(gains)} cases")]
