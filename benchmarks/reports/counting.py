"""`collect` counts reports of three services (Duchi's mechanism, piecewise, square wave) in a process of its own. They
lie in Parquet files, each in an order of its own, and are matched by an integer key. The pair of continuous mechanisms
is grouped into 256 output cells. Processor seconds are those of all cores; peak memory is the process's, Python and
numpy included."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from measured import Table
from optldp.estimators.reading.columns.files import connected
from optldp.mechanisms import TabulatedMechanism, duchi, make_exact, piecewise, save_table, square_wave
from optldp.mechanisms.table.output_cells import with_output_cells

TITLE = "Counting"
EPSILON = 0.5
KNOTS = np.linspace(0.0, 1.0, 257)
CELLS = 256
SERVICES = ("duchi", "piecewise", "square-wave")

COUNT = """
import resource, sys, time
from optldp.estimators.counting.collect import collect
from optldp.mechanisms import load_table
started, processor = time.perf_counter(), time.process_time()
sources = [(name, load_table(f"{name}.npz"), f"{name}.parquet") for name in sys.argv[1:]]
counts = collect(sources, key="user", temp_directory=".")
seconds = time.perf_counter() - started, time.process_time() - processor
rows = sum(group.counts.size for group in counts.groups)
print(counts.n_users, rows, *seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def run(users: int = 10_000_000) -> list[Table]:
    with tempfile.TemporaryDirectory() as folder:
        _write_services(Path(folder), users)
        ran = subprocess.run([sys.executable, "-c", COUNT, *SERVICES], check=True, capture_output=True, cwd=folder)
    counted, combinations, elapsed, processor, kilobytes = ran.stdout.decode().split()
    if int(counted) != users:
        raise AssertionError(f"counted {counted} of {users} users")
    row = users, int(combinations), float(elapsed), float(processor), float(kilobytes) * 1024 / 1e9
    columns = {
        "users": ".0e", "distinct combinations": ",", "elapsed, s": ".1f", "processor, s": ".1f",
        "peak memory, GB": ".2f",
    }  # fmt: skip
    return [Table(columns, [row])]


def _write_services(folder: Path, users: int) -> None:
    rng = np.random.default_rng(1)
    values = rng.beta(2, 5, users)
    for name, mechanism in zip(SERVICES, _mechanisms(), strict=True):
        save_table(make_exact(_grouped(mechanism)).mechanism, folder / f"{name}.npz")
        reports, order = mechanism.sample(values, rng), rng.permutation(users)
        with connected() as connection:
            connection.register("reports", {"user": order, "report": reports[order]})
            connection.view("reports").write_parquet(str(folder / f"{name}.parquet"))


def _mechanisms() -> tuple[TabulatedMechanism, ...]:
    return duchi(KNOTS, EPSILON), piecewise(KNOTS, EPSILON), square_wave(KNOTS, EPSILON)


def _grouped(mechanism: TabulatedMechanism) -> TabulatedMechanism:
    if mechanism.is_discrete:
        return mechanism
    return with_output_cells(mechanism, np.linspace(mechanism.low.min(), mechanism.high.max(), CELLS + 1))
