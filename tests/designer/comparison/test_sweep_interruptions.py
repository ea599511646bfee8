"""After an interruption only what is missing is computed, and the table is that of one go."""

# What stands in for a design in a test is found where it is used, in another module than its own.
# pyright: reportPrivateImportUsage=false

import os
import signal
import subprocess
import sys
import threading

import joblib
import pytest
from optldp.designer import sweep
from optldp.designer.comparison import judging
from threadpoolctl import threadpool_info

from ..sweep_cases import EPSILONS, FEW, PRIORS, watched_optima, whole_table


@pytest.fixture
def solved(monkeypatch):
    """The optima solved in this process, as they come."""
    return watched_optima(monkeypatch)


@pytest.fixture(scope="module")
def table():
    """Every case with every method."""
    return whole_table()


SCRIPT = """
import signal, sys, time
import numpy as np
from optldp.designer import Prior
from optldp.designer import sweep

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs begin with it ignored

def told(done, total, row):
    print(done, flush=True)
    if done >= 4:
        time.sleep(60)
        sys.exit("no signal came")

knots = np.linspace(0, 50, 7)
priors = {
    "skewed": Prior.on_knots(knots, [1, 4, 9, 4, 1, 0, 0], source="public"),
    "flat": Prior.on_knots(knots, np.ones(7), source="public"),
    "coarse": Prior.on_knots(knots[::2], np.ones(4), source="public"),
}
try:
    few, (file, n_jobs) = ["optimal", "duchi", "laplace"], sys.argv[1:]
    sweep(priors, [2.0, 0.5], few, results=file, n_jobs=int(n_jobs), progress=told)
except KeyboardInterrupt:
    sys.exit(7)
"""


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("sent", "code", "n_jobs"),
    [(signal.SIGKILL, -signal.SIGKILL, 1), (signal.SIGKILL, -signal.SIGKILL, 2), (signal.SIGINT, 7, 2)],
)
def test_a_sweep_killed_half_way_goes_on(table, tmp_path, solved, sent, code, n_jobs):
    file = tmp_path / "sweep.jsonl"
    command = [sys.executable, "-c", SCRIPT, str(file), str(n_jobs)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True) as run:
        assert run.stdout is not None
        for line in run.stdout:
            if int(line) == 4:
                os.killpg(run.pid, sent)
        assert run.wait() == code
    kept = len(file.read_text().splitlines()) - 1
    assert 4 <= kept < 18
    told = []
    again = sweep(PRIORS, EPSILONS, FEW, results=file, progress=lambda *event: told.append(event))
    assert again.rows == tuple(row for row in table.rows if row.method in FEW)
    assert [done for done, _, _ in told] == list(range(kept + 1, 19))
    assert len(solved) == (18 - kept) / len(FEW)


@pytest.mark.nightly
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_keeps_the_rows_that_are_there(table, tmp_path, n_jobs):
    file = tmp_path / "sweep.jsonl"

    def stop(done, total, row):
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(PRIORS, EPSILONS, FEW, results=file, n_jobs=n_jobs, progress=stop)
    assert len(file.read_text().splitlines()) == 1 + 6  # whole cases of three methods each
    assert sweep(PRIORS, EPSILONS, FEW, results=file).rows == tuple(r for r in table.rows if r.method in FEW)


def test_after_an_interruption_no_case_is_started_and_threads_are_given_back(solved):
    def stop(done, total, row):
        raise KeyboardInterrupt

    before = threadpool_info()
    with pytest.raises(KeyboardInterrupt) as caught:
        sweep(PRIORS, EPSILONS, FEW, progress=stop)
    assert threadpool_info() == before, caught  # whose traceback holds the sweep's frame
    assert len(solved) <= 2


@pytest.mark.nightly
def test_a_finished_sweep_computes_nothing(tmp_path, monkeypatch):
    file = tmp_path / "sweep.jsonl"
    first = sweep(PRIORS, EPSILONS, FEW, results=file)
    monkeypatch.setattr(judging, "solve_methods", None)
    assert sweep(PRIORS, EPSILONS, FEW, results=file) == first
    fewer = sweep(PRIORS, [0.5], ["duchi"], results=file)
    assert fewer.rows == tuple(row for row in first.rows if row.epsilon == 0.5 and row.method == "duchi")


@pytest.mark.nightly
def test_a_wider_sweep_adds_to_a_narrower_one(table, tmp_path):
    file = tmp_path / "sweep.jsonl"
    sweep(PRIORS, [0.5], ["duchi"], results=file)
    told = []
    assert sweep(PRIORS, EPSILONS, results=file, progress=lambda *event: told.append(event)) == table
    assert len(told) == len(table.rows) - len(PRIORS)


@pytest.mark.slow
def test_rows_are_kept_as_soon_as_they_are_there(tmp_path, monkeypatch):
    file, real, first_told = tmp_path / "sweep.jsonl", judging.solve_methods, threading.Event()
    lines = []

    def patient(prior, epsilon, methods, **options):
        if epsilon != min(EPSILONS):
            assert first_told.wait(timeout=60)
        return real(prior, epsilon, methods, **options)

    def told(done, total, row):
        lines.append(len(file.read_text().splitlines()))
        first_told.set()

    monkeypatch.setattr(judging, "solve_methods", patient)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        sweep({"flat": PRIORS["flat"]}, EPSILONS, ["duchi"], results=file, progress=told)
    assert lines == [2, 3]
