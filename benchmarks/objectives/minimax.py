"""Minimax designs beside the worst cases of the closed forms, growth with knots, and trade-off curves.

Seconds are of the processor, on one thread: python benchmarks objectives.minimax.
"""

import time

import numpy as np
from markdown_table import table
from optldp.designer import Design, Prior, WorstCase, design, trade_off_curve
from optldp.designer.objectives.worst_case import minimax_knots
from optldp.mechanisms import FAMILIES
from priors import at_knots

TITLE = "Minimax designs"
EPSILONS = (0.5, 1.0, 2.0, 3.0, 4.0)
KNOTS = np.linspace(-1, 1, 101)


def run() -> str:
    return "\n\n".join(
        [
            "101 knots on [-1, 1], relative gap 1e-6; the rivals' worst cases are at the knots too, the optimum is the "
            "expected-variance design for the uniform prior:",
            _beside_families(),
            "As many knots as `minimax_knots` advises, so that rounding between them adds at most 1e-4:",
            _whole_domain(),
            "Trade-off at epsilon 2 on 101 knots, `trade_off_curve`; weight 0 is `design` without a floor:",
            _trade_off(),
        ]
    )


def _timed(knots: np.ndarray, epsilon: float) -> tuple[Design, str]:
    started = time.process_time()
    made = design(Prior.even(knots), epsilon, objective=WorstCase())
    return made, f"{time.process_time() - started:.2f}"


def _beside_families() -> str:
    rows = []
    uniform = at_knots("uniform", 101)
    for epsilon in EPSILONS:
        made, seconds = _timed(KNOTS, epsilon)
        tables = {name: family(KNOTS, epsilon) for name, family in FAMILIES.items()}
        worst = {name: found.knot_variances.max() for name, found in tables.items() if found.provenance.claims_unbiased}
        best = min(worst, key=lambda name: worst[name])
        expected = design(uniform, epsilon, uniform_share=0.0).mechanism.knot_variances.max()
        rows.append(
            (
                epsilon, f"{made.value:.6f}", f"{made.bound:.6f}", f"{made.gap:.1e}",
                f"{worst[best]:.4f} ({best})", f"{1 - made.value / worst[best]:.1%}",
                f"{worst['piecewise']:.4f}", f"{worst['duchi']:.4f}", f"{expected:.4f}",
                made.mechanism.low.size, seconds,
            )
        )  # fmt: skip
    header = (
        "epsilon", "minimax", "lower bound", "gap", "best closed form", "less by", "PM", "Duchi", "optimum", "outputs",
        "s",
    )  # fmt: skip
    return table(header, rows)


def _whole_domain() -> str:
    rows = []
    for epsilon in EPSILONS:
        made, seconds = _timed(minimax_knots(-1, 1, epsilon), epsilon)
        rows.append(
            (
                epsilon, made.mechanism.knots.size, f"{made.value:.6f}",
                f"{made.worst_case_variance:.6f}", f"{made.evidence.between_knots:.1e}", f"{made.bound:.6f}",
                f"{made.gap:.1e}", seconds,
            )
        )  # fmt: skip
    header = (
        "epsilon", "knots", "worst at knots", "worst on the domain", "between knots", "lower bound", "gap", "s",
    )  # fmt: skip
    return table(header, rows)


def _trade_off() -> str:
    rows = []
    for name in ("gaussian", "exponential"):
        prior = at_knots(name, 101)
        best = design(prior, 2.0, uniform_share=0.0)
        rows.append((name, 0, f"{best.expected_variance:.5f}", f"{best.mechanism.knot_variances.max():.5f}"))
        rows += [
            (name, one.objective.worst, f"{one.expected_variance:.5f}", f"{one.evidence.worst_knot_variance:.5f}")
            for one in trade_off_curve(prior, 2.0)
        ]
    return table(("prior", "weight of the worst case", "expected variance", "worst at knots"), rows)


if __name__ == "__main__":
    print(run())
