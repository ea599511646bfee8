"""What the commands around a design take in all, from the shell and back, on one thread: processor seconds and peak
memory of the process, Python and the libraries that it loads included. The quickest of a few turns."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.estimators.reading.columns.number_cells import write_column

TITLE = "Commands"
FEW = 200
DESIGN = ("design", "few.csv", "--column", "x", "--range", "0", "100", "--epsilon", "1", "--public", "--force")


def run(users: int = 10_000_000, turns: int = 3) -> str:
    shown = [(label, f"{seconds:.2f}", f"{megabytes:.0f}") for label, seconds, megabytes in rows(users, turns)]
    return table(("what", "processor, s", "peak memory, MB"), shown)


def rows(users: int, turns: int) -> list[tuple[str, float, float]]:
    """Return what was done, processor seconds and megabytes of each command."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        values = np.random.default_rng(1).uniform(0, 100, users).round(2)
        write_column(place / "few.csv", "x", values[:FEW])
        write_column(place / "many.parquet", "x", values)
        _cost(place, (*DESIGN, "--out", "mech.json"))
        return [
            (label, *min(_cost(place, command) for _ in range(turns if few else 1)))
            for label, few, command in _commands(users)
        ]


def _commands(users: int) -> Iterator[tuple[str, bool, tuple[str, ...]]]:
    """Label, whether it takes a moment only, and arguments; what a command reads, one before it has written."""
    yield "`design`, 9 knots", True, (*DESIGN, "--knots", "9", "--out", "short.json")
    drawn = "perturb", "mech.json", "--force"
    yield f"`perturb` of {FEW} values, CSV", True, (*drawn, "few.csv", "--column", "x", "--out", "reports.csv")
    for suffix in ("csv", "parquet"):
        arguments = ("many.parquet", "--column", "x", "--out", f"reports.{suffix}")
        yield f"`perturb` of {users:.0e} values, Parquet to {suffix}", False, (*drawn, *arguments)
        yield f"`estimate` of {users:.0e} reports, {suffix}", False, ("estimate", "mech.json", f"reports.{suffix}")


def _cost(folder: Path, arguments: tuple[str, ...]) -> tuple[float, float]:
    """Processor seconds of a command, and its peak memory in megabytes."""
    optldp = str(Path(sys.executable).with_name("optldp"))
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen([optldp, *arguments], cwd=folder, env=one_thread, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"optldp {' '.join(arguments)} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
