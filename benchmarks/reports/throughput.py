"""The tables show how fast reports are drawn and how fast the command line starts."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from measured import Table, timed
from optldp.designer import design
from optldp.estimators.reading.columns.number_cells import write_column
from optldp.mechanisms import TabulatedMechanism, laplace, piecewise, save_table
from priors import at_knots

TITLE = "Throughput"
USERS = 1_000_000


def run() -> list[Table]:
    rng = np.random.default_rng(1)
    values = rng.uniform(-1, 1, USERS)
    optimal = design(at_knots("gaussian", 101), 1.0).mechanism
    rows = []
    for name, made in (
        ("optimal, 101 knots", optimal),
        ("piecewise, 101 knots", piecewise(optimal.knots, 1.0)),
        ("Laplace, 101 knots", laplace(optimal.knots, 1.0)),
    ):
        made.sample(values[:10], rng)
        _, seconds = timed(lambda made=made: made.sample(values, rng))
        rows.append((f"`sample` of 1e6 values: {name}", seconds))
    with tempfile.TemporaryDirectory() as folder:
        rows += _command_line(Path(folder), optimal, values)
    return [Table({"what": "", "s": ".2f"}, rows)]


def _command_line(folder: Path, mechanism: TabulatedMechanism, values: np.ndarray) -> list[tuple[str, float]]:
    save_table(mechanism, folder / "mech.json")
    write_column(folder / "people.csv", "x", values)
    optldp = str(Path(sys.executable).with_name("optldp"))
    perturb = ["perturb", "mech.json", "people.csv", "--column", "x", "--out", "reports.csv", "--force"]
    rows = []
    for label, arguments in (
        ("`optldp perturb` of 1e6 values, CSV to CSV", perturb),
        ("`optldp --help`", ["--help"]),
    ):
        turns = [
            timed(lambda given=arguments: subprocess.run([optldp, *given], check=True, capture_output=True, cwd=folder))
            for _ in range(2)
        ]
        rows.append((label, min(seconds for _, seconds in turns)))
    return rows
