"""This part makes designs of 101 knots for the priors of AAA's figure 3, exact tables and certificates of 1e-6
included."""

import statistics

from measured import Table, timed
from optldp.designer import design
from priors import EPSILONS, at_knots

TITLE = "Certified designs, outputs free, relative gap 1e-6"
PRIORS = ("gaussian", "exponential", "beta")
REPEATS = 3


def run() -> list[Table]:
    rows = []
    for name in PRIORS:
        prior = at_knots(name, 101)
        for epsilon in EPSILONS:
            runs = [
                timed(lambda prior=prior, epsilon=epsilon: design(prior, epsilon, uniform_share=0.0))
                for _ in range(REPEATS)
            ]
            found, seconds = runs[0][0], [taken for _, taken in runs]
            rows.append(
                (
                    name, epsilon, statistics.median(seconds), max(seconds), found.expected_variance, found.gap,
                    found.mechanism.probabilities.shape[1],
                )
            )  # fmt: skip
    columns = {
        "prior": "", "epsilon": "", "median s": ".3f", "largest s": ".3f", "expected variance": ".7f",
        "relative gap": ".1e", "outputs": "",
    }  # fmt: skip
    return [Table(columns, rows)]
