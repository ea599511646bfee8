"""Robust designs: what is guaranteed, beside what the design for the prior guarantees, and what that costs.

Seconds are of the processor, on one thread: python benchmarks objectives.robust.
"""

import time

import numpy as np
from markdown_table import table
from optldp.designer import Guarantee, Prior, TwoPhasePlan, design
from optldp.designer.priors.ambiguity import AMBIGUITIES
from priors import EPSILONS, at_knots

TITLE = "Robust designs"
RADII = {"relative": (0.2, 1.0), "tv": (0.05, 0.2), "wasserstein": (0.05, 0.2)}
CONFIDENCE = 0.95
HEADER = (
    "set", "radius", "epsilon", "guarantee", "of the nominal", "less by", "expected", "of the nominal", "price", "gap",
    "outputs", "s",
)  # fmt: skip


def run() -> str:
    return "\n\n".join(
        [
            "Prior gaussian, 101 knots on [-1, 1]:",
            _kinds("gaussian", 2),
            "Prior exponential:",
            _kinds("exponential", 1),
            f"Regions of confidence {CONFIDENCE:g} from first reports through the square wave, 33 knots; the values "
            "are normal, mean 0.2, deviation 0.15; both expected variances are under the values themselves:",
            _regions(),
        ]
    )


def _kinds(name: str, radii: int) -> str:
    prior = at_knots(name, 101)
    cases = [(kind, radius) for kind, known in RADII.items() for radius in known[:radii]]
    return table(HEADER, [_row(prior, kind, radius, epsilon) for kind, radius in cases for epsilon in EPSILONS])


def _row(prior: Prior, kind: str, radius: float, epsilon: float) -> tuple[object, ...]:
    started = time.process_time()
    made = design(prior, epsilon, objective=Guarantee(AMBIGUITIES[kind](radius)))
    seconds = time.process_time() - started
    return (
        kind, radius, epsilon, f"{made.value:.5f}", f"{made.evidence.nominal_guarantee:.5f}",
        f"{made.evidence.gain_of_robustness:.2%}", f"{made.expected_variance:.5f}",
        f"{made.evidence.nominal_variance:.5f}", f"{made.evidence.price_of_robustness:.4f}", f"{made.gap:.1e}",
        made.mechanism.low.size, f"{seconds:.2f}",
    )  # fmt: skip


def _regions() -> str:
    rows, rng = [], np.random.default_rng(1)
    for epsilon in EPSILONS:
        for clients in (300, 3000, 30_000):
            values = rng.normal(0.2, 0.15, clients).clip(-1, 1)
            own = Prior.from_data(values, knots=33, domain=(-1, 1)).knot_prior
            plan = TwoPhasePlan((-1, 1), epsilon, knots=33, robust_confidence=CONFIDENCE)
            plain = TwoPhasePlan((-1, 1), epsilon, knots=33)
            reports = plan.first.sample(values, rng)
            started = time.process_time()
            made = plan.second(reports)
            seconds = time.process_time() - started
            assert isinstance(made.objective, Guarantee)
            nominal = plain.second(reports).mechanism
            rows.append(
                (
                    epsilon, clients, f"{made.value:.5f}", f"{made.evidence.nominal_guarantee:.5f}",
                    f"{made.evidence.gain_of_robustness:.2%}", f"{made.mechanism.expected_variance(own):.5f}",
                    f"{nominal.expected_variance(own):.5f}", "yes" if made.evidence.is_minimax else "no",
                    f"{made.gap:.1e}", f"{seconds:.2f}",
                )
            )  # fmt: skip
    header = (
        "epsilon", "first reports", "guarantee", "of the nominal", "less by", "expected", "of the nominal", "minimax",
        "gap", "s",
    )  # fmt: skip
    return table(header, rows)


if __name__ == "__main__":
    print(run())
