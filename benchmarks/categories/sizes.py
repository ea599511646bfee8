"""From 16 to 128 categories at epsilon 1: seconds of processor time in one thread, and the certified gap.

Zipf's prior has no two weights alike, another has ten of each. Version 0.1.0 took 0.2, 1.1, 11.5 and 153 s for Zipf's
16, 32, 64 and 128 on the same machine, to gaps of 1.0e-4, 6.8e-4, 7.6e-4 and 7.9e-4, and 508 MB for the last. Other
sizes are its arguments: `python benchmarks/run.py benchmarks-categories --part sizes 512`, a minute for each prior. For
512 categories 4,000 outputs, the most by default, are too few for a gap of 1e-3.
"""

import resource
import time

import numpy as np
from markdown_table import table
from optldp.designer import CategoricalPrior, design

TITLE = "Tables for more and more categories"
SIZES = (16, 32, 64, 128)


def run(*sizes: int) -> str:
    rows = []
    for size in sizes or SIZES:
        ranks = np.arange(1, size + 1)
        for name, prior in (
            ("Zipf", 1 / ranks),
            ("ten of each", 1 / (1 + (ranks - 1) // 10)),
            ("uniform", 0 * ranks + 1),
        ):
            started = time.process_time()
            made = design(CategoricalPrior(range(size), prior), 1.0)
            seconds = time.process_time() - started
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            outputs = len(made.mechanism.all_reports())
            rows.append((size, name, f"{seconds:.2f}", f"{made.value:.6g}", f"{made.gap:.1e}", made.status.value,
                         outputs, f"{memory:.0f}"))  # fmt: skip
    header = ("K", "prior", "s", "error", "relative gap", "status", "outputs", "MB of the process so far, at most")
    return table(header, rows)
