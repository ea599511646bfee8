"""Other shapes of the piecewise mechanism beside PTT and the certified optimum: python benchmarks objectives.shaped."""

import math
import time

import numpy as np
from designs.shape_comparison import CELLS, WIDER, shape_comparison
from designs.shaped_heights import cheapest_heights
from markdown_table import table
from optldp.designer import Pieces, Prior, design
from optldp.mechanisms.families.ptt import optimal_eta, window_shape
from optldp.mechanisms.families.ptt2 import ptt2_variance
from priors import EPSILONS, at_knots

TITLE = "Shapes of the piecewise mechanism"
NAMES = ("uniform", "gaussian 0.1", "gaussian 0.3", "exponential")
PIECES = (1, 2, 3, 5, 8)


def prior(name: str, n: int) -> Prior:
    if name == "gaussian 0.3":
        x = np.linspace(-1, 1, n)
        return Prior.on_knots(x, np.exp(-(x**2) / (2 * 0.3**2)), source="public")
    return at_knots(name.split()[0], n)


def run() -> str:
    return "\n\n".join(
        [
            f"One shape for all values, {CELLS} heights on a window of the given multiple of PTT's length (worst-case "
            "eta), by linear programming; the constant part of the variance:",
            _heights(),
            "Expected variance on 17 knots, and the share of the gap between PTT and the certified optimum closed:",
            _shapes(17, NAMES, False),
            "Largest variance at 17 knots, all parameters chosen for it:",
            _shapes(17, ("uniform",), True),
            "Expected variance on 101 knots, up to 3 pieces:",
            _shapes(101, NAMES, False, (1, 2, 3)),
            "Three pieces at 101 knots, `Pieces` with its defaults: all there is to know of the mechanism "
            "(units of the domain [-1, 1]; floor masses; s is processor time on one thread, the certificate included):",
            _parameters(),
        ]
    )


def _heights() -> str:
    rows = []
    for epsilon in EPSILONS:
        excess, eta = math.expm1(epsilon), optimal_eta(epsilon)
        stretch, length = window_shape(excess, eta, kind=1)
        values, levels = [], []
        for wider in WIDER:
            side = stretch + wider * length
            density = (1 - 1 / stretch) / (2 * side)
            edges = np.linspace(-wider * length, wider * length, CELLS + 1)
            heights, second = cheapest_heights(edges, density * (1 + 1e-12), 1 + excess, 1 / stretch, 0.0)
            values.append(f"{2 * density * side**3 / 3 + second:.5f}")
            between = (heights > 1 + 1e-6) & (heights < (1 + excess) * (1 - 1e-6))
            levels.append(str(int(between.sum())))
        tent = float(ptt2_variance(0.0, epsilon, optimal_eta(epsilon, kind=2)))
        rows.append((epsilon, f"{eta:.4f}", *values, ", ".join(levels), f"{tent:.5f}"))
    header = ("epsilon", "eta", *(f"x {wider}" for wider in WIDER), "cells between q and Eq", "best tent")
    return table(header, rows)


def _shapes(n: int, names: tuple[str, ...], worst_case: bool, pieces: tuple[int, ...] = PIECES) -> str:
    rows = []
    for name in names:
        for epsilon in EPSILONS:
            found = shape_comparison(prior(name, n), epsilon, pieces=pieces, worst_case=worst_case)
            value = {row.name: row.worst_knot_variance if worst_case else row.expected_variance for row in found}
            closed = [f"{round(row.gap_closed, 4) + 0.0:.1%}" for row in found if "piece" in row.name]  # never -0.0%
            shown = [f"{value[kind]:.5f}" for kind in ("tent", "common heights", "own heights", "ptt")]
            rows.append(("worst case" if worst_case else name, epsilon, *shown, *closed, f"{value['optimum']:.6f}"))
    counts = [f"{m} piece" + ("s" if m > 1 else "") for m in pieces]
    return table(("", "epsilon", "tent", "common heights", "own heights", "PTT", *counts, "optimum"), rows)


def _parameters() -> str:
    rows = []
    for name in ("uniform", "gaussian 0.1", "exponential"):
        for epsilon in EPSILONS:
            started = time.process_time()
            made = design(prior(name, 101), epsilon, method=Pieces())
            seconds = time.process_time() - started
            parts = zip(made.evidence.shape.low, made.evidence.shape.high, made.evidence.shape.mass, strict=True)
            shape = "; ".join(f"{mass:.4f} on [{low:.4f}, {high:.4f}]" for low, high, mass in parts)
            rows.append(
                (name, epsilon, shape, f"{made.evidence.window_mass:.5f}", f"{made.evidence.gap_closed:.1%}",
                 f"{made.gap:.2%}", f"{made.worst_case_variance:.4f}", f"{seconds:.1f}")
            )  # fmt: skip
    header = ("prior", "epsilon", "floor", "window", "gap closed", "above the optimum", "worst case", "s")
    return table(header, rows)


if __name__ == "__main__":
    print(run())
