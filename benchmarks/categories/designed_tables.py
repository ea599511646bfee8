"""Designed tables for categories to a certificate of 1e-3, beside the best of GRR, RAPPOR, OUE and OLH.

Errors are expected squared errors of the frequencies, summed over categories, times the number of reports.
"""

import numpy as np
from markdown_table import table
from optldp.designer import CategoricalPrior, design
from optldp.designer.comparison.categorical import compare_categorical

TITLE = "Designed tables for categories, relative gap 1e-3"
SIZES = (5, 16, 42, 64)
EPSILONS = (0.5, 1.0, 2.0, 4.0)


def run() -> str:
    rows = []
    for size in SIZES:
        for name, prior in (("uniform", np.ones(size)), ("Zipf", 1 / np.arange(1, size + 1))):
            for epsilon in EPSILONS:
                made = design(CategoricalPrior(range(size), prior), epsilon)
                others = compare_categorical(prior, epsilon, tolerance=0.5)[1:]
                best = min(others, key=lambda row: row.error)
                rows.append(
                    (
                        size, name, epsilon, f"{made.seconds:.1f}", f"{made.value:.5g}", f"{made.gap:.1e}",
                        len(made.mechanism.all_reports()), best.method, f"{best.error / made.value:.3f}",
                    )
                )  # fmt: skip
    header = ("K", "prior", "epsilon", "s", "error", "relative gap", "outputs", "best other", "its error / designed")
    return table(header, rows)
