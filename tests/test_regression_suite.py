"""The stochastic regression suite finds planted faults, passes what is sound, and repeats a case that it names."""

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from optldp.mechanisms.sampling import law as cell_law
from optldp.mechanisms.table import exact_sampling

ROOT = Path(__file__).parents[1]
CASES = range(1, 31)
SEED = 5


@pytest.fixture(scope="module")
def suite():
    """The suite's modules, loaded as its program loads them."""
    sys.path.insert(0, str(ROOT / ".ci" / "fuzz"))
    try:
        yield importlib.import_module("regression")
    finally:
        sys.path.remove(str(ROOT / ".ci" / "fuzz"))


def verdicts(suite, cases=CASES):
    """What the suite says of some cases: drawn, refused, or what failed."""
    return [suite.judged(SEED, case)[1] for case in cases]


def failed(said):
    return [one for one in said if one not in ("drawn", "refused")]


@pytest.mark.nightly
def test_sound_samplers_pass_and_most_kinds_are_drawn_from(suite):
    """Thirty cases; all kinds come up in the first hundred of any run."""
    said = verdicts(suite)
    assert not failed(said)
    assert said.count("drawn") >= 12
    kinds = {suite.kind_of(np.random.default_rng([SEED, case])) for case in range(1, 101)}
    assert kinds == set(suite.KINDS)


@pytest.mark.slow
def test_random_numbers_a_twentieth_too_small_fail(suite, monkeypatch):
    """The upper ends of rows come up too rarely."""
    draw53 = exact_sampling.draw53
    monkeypatch.setattr(exact_sampling, "draw53", lambda words, size: draw53(words, size) // 20 * 19)
    assert len(failed(verdicts(suite))) >= 5


@pytest.mark.slow
def test_reports_on_the_edge_of_the_next_cell_fail(suite, monkeypatch):
    """What reports did on cells of a few doubles before they were kept inside."""
    monkeypatch.setattr(cell_law, "kept_inside", lambda low, high, columns, reports: np.minimum(reports, high[columns]))
    assert any("found in the outputs" in said for said in failed(verdicts(suite)))


@pytest.mark.slow
def test_rounding_always_to_the_left_knot_fails(suite, monkeypatch):
    """Reports are as private as before, and their law between knots is off."""

    def left(law, values, words):
        words(values.size)
        return np.minimum(np.searchsorted(law.knots, values, side="right") - 1, law.knots.size - 2)

    monkeypatch.setattr(exact_sampling.ExactLaw, "rows", left)
    assert failed(verdicts(suite))


def test_a_traceback_is_a_failure_and_shows_where(suite, monkeypatch):
    """Whatever is no refusal in one line."""
    name = next(iter(suite.KINDS))

    def broken(rng):
        raise ZeroDivisionError

    monkeypatch.setattr(suite, "KINDS", {name: (broken, 1)})
    assert "ZeroDivisionError" in suite.judged(SEED, 1)[1]


@pytest.mark.nightly  # by day CI runs the program itself
def test_the_program_ends_in_time_and_repeats_a_case(tmp_path):
    """Exit code 0 and a seed to run it again with."""
    program = [sys.executable, str(ROOT / ".ci" / "fuzz" / "regression.py")]
    first = subprocess.run([*program, "--seconds", "2", "--seed", "3"], capture_output=True, text=True, cwd=tmp_path)
    assert (first.returncode, first.stderr) == (0, "")
    assert "seed 3; a false alarm in at most 1e-05 of runs" in first.stdout
    again = [subprocess.run([*program, "--seed", "3", "--case", "4"], capture_output=True, text=True) for _ in range(2)]
    assert again[0].stdout == again[1].stdout
    assert "--seed 3 --case 4" in again[0].stdout
