"""What a part of the benchmarks returns, tables of numbers, and how time and memory are measured for them."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import markdown_table
import numpy as np

T = TypeVar("T")
Cell = str | float | None

TURNS = 7
"""Of the calibration loop: the quickest is what it takes, whatever else the machine does meanwhile."""


@dataclass(frozen=True)
class Table:
    """Rows as they were measured, and how a page shows them.

    Parameters
    ----------
    columns : mapping of str to str
        Header of each column, and the format of its numbers ("" for as they are).
    rows : sequence of sequences
        Cells: text, a number, or None for an empty one.
    about : str
        A paragraph before the table.

    Example
    -------
    >>> print(Table({"knots": ",", "s": ".2f"}, [(1001, 0.254), (4001, None)]).markdown())
    | knots | s |
    |---|---|
    | 1,001 | 0.25 |
    | 4,001 |  |
    """

    columns: Mapping[str, str]
    rows: Sequence[Sequence[Cell]]
    about: str = ""

    def __post_init__(self) -> None:
        uneven = [row for row in self.rows if len(row) != len(self.columns)]
        if uneven:
            raise ValueError(f"every row must have {len(self.columns)} cells, got {uneven[0]!r}")

    def markdown(self) -> str:
        shown = [[_shown(cell, how) for cell, how in zip(row, self.columns.values(), strict=True)] for row in self.rows]
        made = markdown_table.table(list(self.columns), shown)
        return f"{self.about}\n\n{made}" if self.about else made


def _shown(cell: Cell, how: str) -> str:
    if cell is None or isinstance(cell, str):
        return cell or ""
    return format(cell, how)


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return what the work returns and its processor seconds, those of all threads and of processes that ended."""
    started = _processor()
    return work(), _processor() - started


def _processor() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def calibration() -> float:
    """Return the processor seconds of a loop that never changes: sorts, small Cholesky factors and plain Python.

    What the library does is a mixture of these. A time in units of this one can be compared between machines, and
    between a busy hour and a quiet one.
    """
    return min(timed(_loop)[1] for _ in range(TURNS))


def _loop() -> float:
    numbers, matrix = _material()
    total = 0.0
    for _ in range(6):
        total += float(np.argsort(numbers, kind="stable")[0])
    for _ in range(500):
        total += float(np.linalg.cholesky(matrix)[0, 0])
    for i in range(200_000):
        total += i % 7
    return total


@cache
def _material() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    half = rng.normal(size=(60, 60))
    return rng.random(20_000), half @ half.T + np.eye(60)


def alone(work: Callable[..., object], *arguments: object, seconds: int = 0, gigabytes: int = 0) -> Any:
    """Call a module's function in a process of its own, on one thread, and return what it returns or "more than ...".

    Parameters
    ----------
    work : callable
        Of a module that can be imported from here; arguments and what it returns go through JSON.
    seconds, gigabytes : int
        Processor time and address space it may take; 0 is as much as it likes.

    Example
    -------
    >>> alone(round, 2.6)
    3
    """
    limits = {"RLIMIT_CPU": seconds, "RLIMIT_AS": gigabytes * 2**30}
    lines = [
        "import json, resource, sys",
        *(f"resource.setrlimit(resource.{name}, ({most}, {most + 5}))" for name, most in limits.items() if most),
        f"from {work.__module__} import {work.__name__}",
        f"print(json.dumps({work.__name__}(*json.loads(sys.argv[1]))))",
    ]
    command = [sys.executable, "-c", "\n".join(lines), json.dumps(arguments)]
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    ran = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent, env=one_thread)
    if ran.returncode in (-signal.SIGXCPU, -signal.SIGKILL) and seconds:
        return f"more than {seconds} s"
    if ran.returncode and gigabytes and (ran.returncode == -signal.SIGABRT or "MemoryError" in ran.stderr):
        return f"more than {gigabytes} GB"
    if ran.returncode:
        raise RuntimeError(f"{work.__module__}.{work.__name__}{arguments} ended with {ran.returncode}:\n{ran.stderr}")
    return json.loads(ran.stdout)


def memory(what: str) -> float:
    """Megabytes of this process: "VmRSS" now, "VmHWM" at most so far; both the latter where there is no /proc.

    There getrusage has to do, which counts what the parent had when it started this process, too.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # macOS counts bytes
    return int(status.read_text().partition(f"{what}:")[2].split()[0]) / 1024
