"""Designs to a continuous certificate of 1e-6: 101 knots, the priors of AAA's figure 3, and growth with knots."""

import math
import resource
import statistics
import subprocess
import sys
from pathlib import Path

from markdown_table import table
from optldp.designer import design
from priors import EPSILONS, at_knots

TITLE = "Certified designs, outputs free, relative gap 1e-6"
PRIORS = ("gaussian", "exponential", "beta")
REPEATS = 3
TOP = Path(__file__).parents[1]
ONE = f"from {__name__} import one; one"


def run() -> str:
    rows = []
    for name in PRIORS:
        for epsilon in EPSILONS:
            prior = at_knots(name, 101)
            found = [design(prior, epsilon, uniform_share=0.0) for _ in range(REPEATS)]
            seconds = [one.seconds for one in found]
            rows.append(
                (
                    name, epsilon, f"{statistics.median(seconds):.2f}", f"{max(seconds):.2f}",
                    f"{found[0].expected_variance:.7f}", f"{found[0].gap:.1e}",
                    found[0].mechanism.probabilities.shape[1],
                )
            )  # fmt: skip
    header = ("prior", "epsilon", "median s", "worst s", "expected variance", "relative gap", "outputs")
    return "101 knots:\n\n" + table(header, rows) + "\n\nGrowth with knots:\n\n" + _growth()


def _growth() -> str:
    """Each design in a process of its own, so that its peak memory can be told."""
    rows, seconds = [], {}
    for n in (26, 51, 101, 201, 401):
        for name, epsilon in (("gaussian", 1.0), ("exponential", 1.0), ("exponential", 4.0), ("beta", 1.0)):
            command = [sys.executable, "-c", f"{ONE}({name!r}, {n}, {epsilon})"]
            cells = subprocess.run(command, check=True, capture_output=True, text=True, cwd=TOP).stdout.split()
            rows.append((n, name, epsilon, *cells))
            seconds[n, name, epsilon] = float(cells[0])
    powers = [
        math.log(seconds[401, name, epsilon] / seconds[101, name, epsilon]) / math.log(401 / 101)
        for n, name, epsilon in seconds
        if n == 401
    ]
    made = table(("knots", "prior", "epsilon", "s", "peak memory, MB", "relative gap", "outputs"), rows)
    return f"{made}\n\nFrom 101 to 401 knots the time grows like knots^{min(powers):.1f} to knots^{max(powers):.1f}."


def one(name: str, n: int, epsilon: float) -> None:
    found = design(at_knots(name, n), epsilon, uniform_share=0.0)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{found.seconds:.2f} {peak:.0f} {found.gap:.1e} {found.mechanism.probabilities.shape[1]}")
