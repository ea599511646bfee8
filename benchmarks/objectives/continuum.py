"""Designs against every unbiased mechanism on the whole interval: how the total gap falls with knots, and at what cost.

`variance` is the design's expected variance on [-1, 1], rounding between knots included; `bound` holds for every
unbiased mechanism there. The last columns split the gap by the design on 401 knots, whose variance is between the two.
Seconds are of the processor, one thread.
"""

import math
import time
from functools import partial

import numpy as np
from markdown_table import table
from optldp.designer import KnotChoice, Prior, continuum_certificate, design
from optldp.designer.designs.knots import ContinuumCertificate
from optldp.solvers import UnbiasedProgram, continuum_bound
from optldp.solvers.barrier.barrier_method import solve_by_barrier
from priors import EPSILONS
from scipy import stats

TITLE = "The whole interval"

FINEST = 401

NEAR = {0.5: 641, 1.0: 1201, 2.0: 2201, 4.0: 5601}
"""Knots by epsilon that bring both densities to a total gap of a millionth."""

TOLERANCE = 3e-7
"""On these knots."""

REPETITIONS = 3
"""Of which the least time is said: the machine does other work, too."""

KNOTS = (11, 21, 41, 81, 161)

DATA = np.clip(np.where(np.arange(3000) % 3, np.random.default_rng(1).normal(0.2, 0.2, 3000), 0.0), -1, 1)

DENSITIES = {
    "uniform": stats.uniform(-1, 2),
    "gaussian, sd 0.3": stats.truncnorm(-1 / 0.3, 1 / 0.3, scale=0.3),
    "gaussian, sd 0.1": stats.truncnorm(-10, 10, scale=0.1),
    "exponential": stats.truncexpon(12, loc=-1, scale=1 / 6),
    "beta": stats.beta(0.5, 0.5, loc=-1, scale=2),
}


def prior_of(name: str, n: int) -> Prior:
    """A density's prior, or that of 3000 values of which a third are exactly zero."""
    knots = np.linspace(-1, 1, n)
    if name == "data":
        return Prior.from_data(DATA, knots=knots)
    return Prior.from_distribution(DENSITIES[name], knots=knots)


def run() -> str:
    return "\n\n".join(
        [
            "The gap and the knots, no uniform share:",
            _gaps(),
            "As many knots as a gap of 1e-4 takes, 401 at most (the default), and as many as 1e-5 takes:",
            _enough(),
            "To a millionth, no uniform share: multipliers and a floor, whose variance needs no table:",
            _near(),
        ]
    )


def _certificate(name: str, n: int, epsilon: float) -> ContinuumCertificate:
    prior = prior_of(name, n)
    return continuum_certificate(design(prior, epsilon, tolerance=1e-6, uniform_share=0.0, exact=False))


def _gaps() -> str:
    rows = []
    for name in ("uniform", "gaussian, sd 0.3", "beta", "data"):
        for epsilon in (1.0, 4.0):
            finest = _certificate(name, FINEST, epsilon).expected_variance
            before = None
            for n in KNOTS:
                one = _certificate(name, n, epsilon)
                variance, bound = one.expected_variance, one.lower_bound
                rows.append(
                    (
                        name, f"{epsilon:g}", n, f"{variance:.6f}", f"{bound:.6f}", f"{one.total_gap:.1e}",
                        f"{before / one.total_gap:.2f}" if before else "", f"{(variance - finest) / variance:.1e}",
                        f"{(finest - bound) / variance:.1e}",
                    )
                )  # fmt: skip
                before = one.total_gap
    header = (
        "prior", "epsilon", "knots", "variance", "bound", "total gap", "ratio to the row above", "variance - finest",
        "finest - bound",
    )  # fmt: skip
    return table(header, rows)


def _enough() -> str:
    rows = []
    for name in (*DENSITIES, "data"):
        for epsilon in EPSILONS:
            row = [name, f"{epsilon:g}"]
            for gap in (None, 1e-5):
                started = time.process_time()
                found = design(KnotChoice(partial(prior_of, name), gap=gap), epsilon)
                seconds = time.process_time() - started
                tried = ", ".join(str(one.knots) for one in found.evidence.tried)
                row += [tried, f"{found.gap:.1e}", f"{seconds:.1f}"]
            rows.append(tuple(row))
    return table(("prior", "epsilon", "knots", "gap", "s", "knots", "gap", "s"), rows)


def _near() -> str:
    rows = []
    for name in ("uniform", "gaussian, sd 0.3"):
        for epsilon, n in NEAR.items():
            prior = prior_of(name, n)
            program = UnbiasedProgram(prior.knots, prior.weights, math.exp(epsilon))
            seconds, bound, variance = min(_solved(prior, program) for _ in range(REPETITIONS))
            gap = f"{(variance - bound) / variance:.1e}"
            rows.append((name, f"{epsilon:g}", n, gap, f"{seconds:.2f}", f"{bound:.8g}", f"{variance:.8g}"))
    return table(("prior", "epsilon", "knots", "total gap", "s", "bound", "variance"), rows)


def _solved(prior: Prior, program: UnbiasedProgram) -> tuple[float, float, float]:
    """Processor seconds, the bound for the whole interval, and the variance of the floor's rows with rounding."""
    started = time.process_time()
    found = solve_by_barrier(program.knots, program.weights, program.ratio, TOLERANCE, lambda *_: None)
    assert found is not None
    bound = continuum_bound(program, found.lam, found.nu, prior.rounding).lower_bound
    return time.process_time() - started, bound, found.floor.objective + prior.rounding_variance


if __name__ == "__main__":
    print(run())
