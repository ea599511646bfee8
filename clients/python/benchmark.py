"""How fast the client draws: `python clients/python/benchmark.py FILE`, in processor seconds, the best of five."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

from optldp_client import read_table

REPORTS = 100_000
table = read_table(Path(sys.argv[1]).read_text("utf-8"))
value = 0.63 * table.knots[0] + 0.37 * table.knots[-1]


def rate(draw: Callable[[float], float]) -> float:
    """Reports in a processor second."""
    times = []
    for _ in range(5):
        before = time.process_time()
        for _ in range(REPORTS):
            draw(value)
        times.append(time.process_time() - before)
    return REPORTS / min(times)


print(f"{len(table.knots)} knots, {len(table.low)} outputs")
print(f"index: {rate(table.index):.3g} a second; report: {rate(table.report):.3g} a second")
