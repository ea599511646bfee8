"""Commands with the largest files that are accepted keep to the memory that docs/bundle-format.md says.

Each is a process of its own. Every axis of a file has the command that costs most there, of those that were measured:
reading the file is part of each. Left out are what takes as long and no memory (subset selection of
2^19 categories, a list of 256 columns), and a fit of 2500 cells, 40 s.

Resident memory is what `/proc` says of the process at its end (VmHWM), as a child's `ru_maxrss` starts at its parent's.
Processor time is a limit of the process, so that one that runs wild ends, and is not asserted.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from optldp.mechanisms import Approximate, PersonalisedMechanism, duchi, grr, make_exact, save_bundle, save_table
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.compact_tables import FloorForm
from optldp.mechanisms.cost import MOST_MEMORY
from optldp.mechanisms.key_value import key_value_unary

from ...mechanisms.test_cost import square_table

SECONDS = 150
"""Of a processor, several times what the slowest takes."""

CHILD = f"""
import atexit, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}))
atexit.register(lambda: print(next(line for line in open("/proc/self/status") if "VmHWM" in line), file=sys.stderr))
from optldp.designer.command_line import main
sys.argv[0] = "optldp"
main()
"""

Make = Callable[[Path], list[str]]
"""Writes the files and returns the command."""


def column(folder: Path, name: str, cells: list) -> str:
    """A CSV file of one column."""
    path = folder / f"{name}.csv"
    path.write_text("\n".join([name, *map(str, cells)]) + "\n")
    return str(path)


def table_file(folder: Path, knots: int, outputs: int, promise: Approximate | None = None) -> str:
    """An archive of a table that gives each output alike."""
    path = str(folder / "table.npz")
    save_table(square_table(knots, outputs, promise), path)
    return path


def most_outputs(folder: Path) -> list[str]:
    """Few knots, whose rows an audit compares in pairs."""
    return ["audit", table_file(folder, 2**10, 2**15)]


def most_entries(folder: Path) -> list[str]:
    """Nearly square: a decoder of the mean is asked for."""
    return ["show", table_file(folder, 2**12, 2**13)]


def most_knots(folder: Path) -> list[str]:
    """Few outputs, and running sums of every row."""
    people = column(folder, "v", [0, 1, 2**14])
    return ["perturb", table_file(folder, 2**15, 2**10), people, "--column", "v", "--out", str(folder / "out.csv")]


def all_pairs(folder: Path) -> list[str]:
    """A promise of (epsilon, delta)."""
    return ["verify", table_file(folder, 1270, 1290, promise=Approximate(1.0, 0.5))]


def floor_form(folder: Path) -> list[str]:
    """Knots and outputs as many as there may be, whose table would be 2^30 entries."""
    path, m = str(folder / "floor.npz"), 2**15
    starts = np.linspace(0, 2**52, m).astype(np.int64)
    knots, places = np.arange(m, dtype=float), np.arange(-m // 2, m // 2)
    save_bundle(FloorForm(knots, places, 1.0, np.full(m, 2**52 // m), starts, 3 * 2**128, 1.1), path)
    return ["verify", path]


def most_categories(folder: Path) -> list[str]:
    """A likelihood of all of them."""
    path, oracle = str(folder / "oracle.json"), local_hashing(range(2**20), 1.0, n_values=2)
    save_bundle(oracle, path)
    sent = oracle.to_text(oracle.sample(["0", "1", "5", "7"] * 5))
    return ["estimate", path, column(folder, "report", sent), "--method", "mle"]


def most_pairs(folder: Path) -> list[str]:
    """Every output of every key."""
    path, value = str(folder / "pairs.json"), make_exact(grr(np.arange(300.0), 0.5)).mechanism
    save_bundle(key_value_unary(range(2**25 // 300), value, 1.0), path)
    counts = folder / "counts.csv"
    counts.write_text("output,n\n0:0,5\n1:1,3\n")
    return ["estimate", path, "--counts", str(counts)]


def most_values_at_levels(folder: Path) -> list[str]:
    """A joint fit of the values and the levels."""
    path = str(folder / "levels.json")
    levels = PersonalisedMechanism([local_hashing(range(1350), e, n_values=4) for e in (0.5, 1.0)], 1.0)
    save_bundle(levels, path)
    sent = levels.sample([str(i % 900) for i in range(2000)], np.arange(2000) % 2)
    rows = zip(sent.reports.tolist(), np.array(levels.epsilons)[sent.levels].tolist(), strict=True)
    reports = folder / "reports.csv"
    reports.write_text("report,level\n" + "".join(f"{report},{level}\n" for report, level in rows))
    return ["estimate", path, str(reports)]


def most_columns(folder: Path) -> list[str]:
    """Of a CSV, all but one for nothing."""
    path, people = str(folder / "duchi.json"), folder / "people.csv"
    save_table(make_exact(duchi([0.0, 1.0], 1.0)).mechanism, path)
    people.write_text("\n".join(",".join(f"{start}{i}" for i in range(2**15)) for start in ("c", "1", "2")))
    return ["perturb", path, str(people), "--column", "c7", "--clip", "--out", str(folder / "out.csv")]


MADE: list[Make] = [
    most_outputs,
    most_entries,
    most_knots,
    all_pairs,
    floor_form,
    most_categories,
    most_pairs,
    most_values_at_levels,
    most_columns,
]


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="another system has no /proc to read a process's own memory from")
@pytest.mark.parametrize("make", MADE)
def test_the_largest_file_that_is_accepted_takes_no_more_memory_than_is_said(make, tmp_path):
    """Of each axis, by the command that was found to cost most there."""
    command = [sys.executable, "-c", CHILD, *make(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    resident = [line.split() for line in done.stderr.splitlines() if line.startswith("VmHWM:")]
    assert [1024 * int(kilobytes) <= MOST_MEMORY for _, kilobytes, _ in resident] == [True], resident
