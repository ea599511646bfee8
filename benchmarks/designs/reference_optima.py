"""This part checks the reference optima for 17 knots, to six digits, with continuous certificates."""

from measured import Table, timed
from optldp.designer import design
from priors import EPSILONS, at_knots

TITLE = "Reference optima, 17 knots, outputs free"
REFERENCE = {
    "gaussian": (15.764916, 3.345629, 0.526262, 0.046030),
    "exponential": (15.795037, 3.803270, 0.770015, 0.083001),
    "uniform": (16.000626, 3.909797, 0.788867, 0.108200),
}
"""Computed independently, with relative gaps below 1e-6."""


def run() -> list[Table]:
    rows = []
    for name, optima in REFERENCE.items():
        prior = at_knots(name, 17)
        for epsilon, optimum in zip(EPSILONS, optima, strict=True):
            found, seconds = timed(
                lambda prior=prior, epsilon=epsilon: design(prior, epsilon, uniform_share=0.0, tolerance=1e-7)
            )
            outputs = found.mechanism.probabilities.shape[1]
            rows.append((name, epsilon, optimum, found.expected_variance, found.bound, found.gap, outputs, seconds))
    columns = {
        "prior": "", "epsilon": "", "reference": ".6f", "expected variance": ".7f", "lower bound": ".7f",
        "relative gap": ".1e", "outputs": "", "s": ".3f",
    }  # fmt: skip
    return [Table(columns, rows)]
