"""Designs against every unbiased mechanism on the whole interval: how the total gap falls with knots, and at what cost.

`variance` is the design's expected variance on [-1, 1], rounding between knots included; `bound` holds for every
unbiased mechanism there. The last columns split the gap by the design on 401 knots, whose variance is between the two.
"""

import time

import numpy as np
from markdown_table import table
from optldp.designer import KnotChoice, Prior, design
from optldp.designer.designs.knots import ContinuumCertificate, continuum_certificate
from priors import EPSILONS
from scipy import stats

TITLE = "The whole interval"

GAP = 1e-3

FINEST = 401

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
    return (
        "The gap and the knots, no floor:\n\n"
        + _gaps()
        + f"\n\nAs many knots as a gap of {GAP:g} asks for, default floor:\n\n"
        + _enough()
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
            started = time.perf_counter()
            found = design(KnotChoice(lambda n, name=name: prior_of(name, n), gap=GAP), epsilon)
            seconds = time.perf_counter() - started
            tried = ", ".join(str(one.knots) for one in found.evidence.tried)
            rows.append((name, f"{epsilon:g}", tried, f"{found.gap:.1e}", found.status, f"{seconds:.1f}"))
    return table(("prior", "epsilon", "knots tried", "total gap", "status", "s"), rows)


if __name__ == "__main__":
    print(run())
