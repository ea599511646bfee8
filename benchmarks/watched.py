"""This part measures some things that users wait for, by the quickest of some turns, in units of the calibration loop
that runs beside it. `python benchmarks/run.py --check` measures these again and says which take 1.3 times as many loops
as here.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from designs.many_knots import bell, to_floor, to_table
from measured import Table, calibration, timed
from optldp.designer import CategoricalPrior, design
from optldp.estimators import CategoryCounts, InputGrid, ReportCounts, Service, estimate_frequencies, likelihood_of
from optldp.mechanisms import Sampler, make_exact, piecewise, prove, square_wave
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.solvers import fit_mixture
from priors import at_knots
from threadpoolctl import threadpool_limits

TITLE = "What CI measures again"
TURNS = 5
COLUMNS = {"what": "", "s": ".3f", "calibration loops": ".1f"}


def run() -> list[Table]:
    rows = []
    with threadpool_limits(1, user_api="blas"):
        for what, work in _works().items():
            work()
            turns = [(calibration(), timed(work)[1]) for _ in range(TURNS)]
            loop, seconds = (min(column) for column in zip(*turns, strict=True))
            rows.append((what, seconds, seconds / loop))
    return [Table(COLUMNS, rows)]


def _works() -> dict[str, Callable[[], object]]:
    rng = np.random.default_rng(1)
    prior = at_knots("exponential", 101)
    knots, values = np.linspace(-1, 1, 101), rng.uniform(-1, 1, 1_000_000)
    exact = make_exact(piecewise(knots, 1.0)).mechanism
    sampler, hashing = Sampler(exact), local_hashing(range(64), 1.0)
    codes = rng.integers(0, 64, 200_000)
    services = [Service(made.provenance.method, made) for made in (piecewise(knots, 1.0), square_wave(knots, 1.0))]
    outputs = np.stack([one.mechanism.output_index(one.mechanism.sample(values, rng)) for one in services], axis=1)
    counts = ReportCounts.from_outputs(services, outputs.astype(np.int32))
    grid = InputGrid.equal_cells(-1.0, 1.0, 100)
    return {
        "optimum and table, 65 knots": lambda: to_table(bell(65)),
        "optimum and table, 101 knots": lambda: to_table(bell(101)),
        "optimum and table, 401 knots": lambda: to_table(bell(401)),
        "optimum and floor, 1001 knots": lambda: to_floor(bell(1001)),
        "design, exact, falling prior of 101 knots": lambda: design(prior, 1.0),
        "design of 32 categories": lambda: design(CategoricalPrior(range(32), np.ones(32)), 1.0),
        "making a table of 101 knots exact, and its proof": lambda: prove(make_exact(piecewise(knots, 1.0)).mechanism),
        "drawing 1e6 reports": lambda: sampler.sample(values),
        "counting 1e6 pairs of reports": lambda: ReportCounts.from_outputs(services, outputs.astype(np.int32)),
        "a distribution from two services, 100 cells": lambda: fit_mixture(likelihood_of(counts, grid)),
        "frequencies of 2e5 users by local hashing": lambda: estimate_frequencies(
            CategoryCounts.from_reports(hashing, hashing.sample_codes(codes))
        ),
        "`optldp --help`": _help,
    }


def _help() -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [str(Path(sys.executable).with_name("optldp")), "--help"]
        subprocess.run(command, check=True, capture_output=True, cwd=folder)
