"""This part takes 16 to 128 categories at epsilon 1. It shows seconds of processor time in one thread, and the
certified gap.

No two weights of Zipf's prior are alike; the other prior has ten of each. Version 0.1.0 took 0.2, 1.1, 11.5 and 153 s
for Zipf's 16, 32, 64 and 128 on the same machine, to gaps of 1.0e-4, 6.8e-4, 7.6e-4 and 7.9e-4, and 508 MB for the
last. Other sizes are its arguments: `python benchmarks/run.py benchmarks-categories --part sizes 512`, a minute for
each prior. For 512 categories 4,000 outputs, the most by default, are too few for a gap of 1e-3.
"""

import numpy as np
from measured import Table, memory, timed
from optldp.designer import CategoricalPrior, design

TITLE = "Tables for more and more categories"
SIZES = (16, 32, 64, 128)


def run(*sizes: int) -> list[Table]:
    rows = []
    for size in sizes or SIZES:
        ranks = np.arange(1, size + 1)
        for name, prior in (
            ("Zipf", 1 / ranks),
            ("ten of each", 1 / (1 + (ranks - 1) // 10)),
            ("uniform", 0 * ranks + 1),
        ):
            given = CategoricalPrior(range(size), prior)
            made, seconds = timed(lambda given=given: design(given, 1.0))
            outputs = len(made.mechanism.all_reports())
            rows.append((size, name, seconds, made.value, made.gap, made.status.value, outputs, memory("VmHWM")))
    columns = {
        "K": "", "prior": "", "s": ".2f", "error": ".6g", "relative gap": ".1e", "status": "", "outputs": "",
        "MB of the process so far, at most": ".0f",
    }  # fmt: skip
    return [Table(columns, rows)]
