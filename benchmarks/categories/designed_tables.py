"""This part designs tables for categories to a certificate of 1e-3, and compares the best of GRR, RAPPOR, OUE, OLH and
subsets.

Errors are expected squared errors of the frequencies, summed over categories, times the number of reports.
"""

import numpy as np
from measured import Table, timed
from optldp.designer import CategoricalPrior, compare_categorical, design

TITLE = "Designed tables for categories, relative gap 1e-3"
SIZES = (5, 16, 42, 64)
EPSILONS = (0.5, 1.0, 2.0, 4.0)


def run() -> list[Table]:
    rows = []
    for size in SIZES:
        for name, prior in (("uniform", np.ones(size)), ("Zipf", 1 / np.arange(1, size + 1))):
            for epsilon in EPSILONS:
                given = CategoricalPrior(range(size), prior)
                made, seconds = timed(lambda given=given, epsilon=epsilon: design(given, epsilon))
                others = compare_categorical(prior, epsilon, tolerance=0.5)[1:]
                best = min(others, key=lambda row: row.error)
                rows.append(
                    (
                        size, name, epsilon, seconds, made.value, made.gap, len(made.mechanism.all_reports()),
                        best.method, best.error / made.value,
                    )
                )  # fmt: skip
    columns = {
        "K": "", "prior": "", "epsilon": "", "s": ".2f", "error": ".5g", "relative gap": ".1e", "outputs": "",
        "best other": "", "its error / designed": ".3f",
    }  # fmt: skip
    return [Table(columns, rows)]
