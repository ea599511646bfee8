"""EM-MR's orders after equation 13, against the Cramér-Rao bounds of even frequencies."""

from __future__ import annotations

import math

from optldp.mechanisms.categorical.local_hashing import local_hashing

from ..experiment.script import Check, Run

BUDGETS = (0.5, 1.0, 2.0, 4.0, 6.0)
SIZES = (64, 1024)


def orders(run: Run) -> list[Check]:
    """Probabilities and variances of GRR and OLH, over the orders that the paper gives them."""
    rows = []
    for size in SIZES:
        for epsilon in BUDGETS:
            total = math.exp(epsilon) + size - 1
            own, olh = math.exp(epsilon) / total, _hashing(size, epsilon)
            grr = _bound(own, 1 / total, size)
            decay = math.exp(2 * epsilon)
            row = (own / (epsilon / (epsilon + size)), grr * decay / size, olh * decay, math.sqrt(grr * size))
            rows.append((size, epsilon, *row))
    header = ("categories", "epsilon", "GRR's probability / its order", "GRR's variance / its order")
    header += ("OLH's variance / its order", "GRR's standard deviation / that of (13) as printed")
    run.table("orders", "Even frequencies, Cramér-Rao bounds", header, rows)
    spans = [[row[column] for row in rows] for column in (2, 3, 4)]
    names = ("GRR's probability, O(ε / (ε + K))", "GRR's variance, O(K / (n e^2ε))", "OLH's variance, O(1 / (n e^2ε))")
    grows = [max(span) / min(span) for span in spans]
    right = [_right(size, epsilon) for size in SIZES for epsilon in BUDGETS]
    return [
        *(
            Check(f"{name}: the ratio is not bounded", grow > 10, f"{min(span):.3g} to {max(span):.3g}")
            for name, grow, span in zip(names, grows, spans, strict=True)
        ),
        Check(
            "OLH's variance is (4 e^ε / (e^ε - 1)² + 1 / K) / n, so of order 1 / (n e^ε)",
            max(abs(ratio - 1) for ratio in right) < 0.25,
            f"{min(right):.3f} to {max(right):.3f} times it",
        ),
    ]


def _bound(own: float, other: float, size: int) -> float:
    """Return n times the Cramér-Rao variance of one of even frequencies: that of inverting its supports."""
    seen = own / size + other * (1 - 1 / size)
    return seen * (1 - seen) / (own - other) ** 2


def _hashing(size: int, epsilon: float) -> float:
    made = local_hashing(range(size), epsilon)
    return _bound(float(made.own_support), float(made.other_support), size)


def _right(size: int, epsilon: float) -> float:
    """OLH's variance over 4 e^epsilon / (e^epsilon - 1)^2 and what sampling adds."""
    return _hashing(size, epsilon) / (4 * math.exp(epsilon) / math.expm1(epsilon) ** 2 + 1 / size)
