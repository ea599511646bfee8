"""One vocabulary for how good an answer is: gap, status, tolerance and progress."""

import json
import math
import pickle
import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.mechanisms import InputError
from optldp.solvers import (
    Progress,
    RobustProgram,
    Status,
    solve_frequency,
    solve_information,
    solve_interval_fisher,
    solve_minimax,
    solve_on_outputs,
    solve_robust,
    solve_unbiased,
)
from optldp.solvers.certificate import check_tolerance, relative_gap
from optldp.solvers.robust import MovedSet

KNOTS, HALVES, RATIO = np.array([-1.0, 1.0]), np.array([0.5, 0.5]), math.e
SOLVERS = {
    "unbiased": lambda **to: solve_unbiased(KNOTS, HALVES, RATIO, **to),
    "on outputs": lambda **to: solve_on_outputs(KNOTS, HALVES, np.linspace(-4, 4, 17), RATIO, **to),
    "minimax": lambda **to: solve_minimax(KNOTS, RATIO, **to),
    "robust": lambda **to: solve_robust(RobustProgram(KNOTS, RATIO, MovedSet(HALVES, 0.1)), **to),
    "frequency": lambda **to: solve_frequency(HALVES, RATIO, **to),
    "information": lambda **to: solve_information(HALVES, RATIO, **to),
    "fisher": lambda **to: solve_interval_fisher(HALVES, RATIO, **to),
}
NUMBERS = st.floats(-1e100, 1e100)
SIZES = st.floats(1e-6, 1e6)


@given(SIZES, st.floats(0, 0.9))
def test_the_gap_is_the_share_of_the_value_by_which_the_bound_is_off_on_either_side(value, share):
    """A minimisation's bound lies below its value, a maximisation's above; signs make no difference."""
    below, above = value - share * value, value + share * value
    assert relative_gap(value, below) == pytest.approx(share, abs=1e-15)
    assert relative_gap(value, above) == relative_gap(-value, -above) == pytest.approx(share, abs=1e-15)


@given(NUMBERS, NUMBERS, st.floats(1e-3, 1e3))
def test_the_gap_is_never_negative_and_has_no_unit(value, bound, unit):
    gap = relative_gap(value, bound)
    assert gap >= 0
    assert (gap == 0) == (value == bound)
    if min(abs(value), abs(value - bound)) > 1e-290:  # smaller numbers lose digits when multiplied
        assert relative_gap(unit * value, unit * bound) == pytest.approx(gap, rel=1e-9, abs=1e-12)


def test_at_zero_the_gap_is_closed_or_infinite():
    assert relative_gap(0.0, 0.0) == relative_gap(-0.0, 0.0) == 0.0
    assert relative_gap(0.0, -1e-300) == relative_gap(0.0, 1e-300) == math.inf
    assert relative_gap(np.float64(0.0), np.float64(1.0)) == math.inf  # and no warning of numpy's


def test_nothing_is_certified_by_numbers_that_are_not_finite():
    """A value as infinite as its bound has no closed gap."""
    bad = (math.inf, -math.inf, math.nan)
    for value, bound in [*product(bad, (0.0, 1.0)), *product((0.0, 1.0), bad), *product(bad, bad)]:
        assert relative_gap(value, bound) == math.inf


def test_a_status_is_what_files_say_and_has_a_sentence_to_read():
    assert [str(one) for one in Status] == ["optimal", "gap-open"]
    assert json.dumps({"status": Status.GAP_OPEN}) == '{"status": "gap-open"}'
    for one in Status:
        assert one == Status(str(one)) is pickle.loads(pickle.dumps(one))
        assert re.fullmatch(r"the certificate[a-z'; ]+", one.sentence)
    assert "valid" in Status.GAP_OPEN.sentence
    assert Status.OPTIMAL.sentence != Status.GAP_OPEN.sentence


@pytest.mark.parametrize(
    ("gap", "status"), [(0.0, "optimal"), (1e-6, "optimal"), (1.1e-6, "gap-open"), (math.inf, "gap-open")]
)
def test_an_answer_is_optimal_when_its_gap_is_within_the_tolerance(gap, status):
    assert Status.of(gap, 1e-6) is Status(status)


def test_a_gap_that_is_no_number_is_open():
    assert Status.of(math.nan, 1e-6) is Status.GAP_OPEN


def test_progress_knows_its_gap():
    assert Progress(3, 5.0, 4.0, 16, 0.1).gap == 0.2
    assert Progress(0, 5.0, 0.0, 16, 0.1).gap == 1.0  # nothing certified yet


@pytest.mark.parametrize("tolerance", [5e-324, 1e-6, 0.5, 1 - 1e-15])
def test_a_tolerance_is_a_share(tolerance):
    assert check_tolerance(tolerance) == tolerance


@pytest.mark.parametrize("tolerance", [0.0, 1.0, -1e-6, 2, math.nan, math.inf])
def test_other_tolerances_are_refused(tolerance):
    with pytest.raises(InputError, match=re.escape(f"strictly between 0 and 1, got {tolerance!r}")):
        check_tolerance(tolerance)


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_refuses_what_no_gap_can_reach(solver):
    assert SOLVERS[solver](tolerance=1e-3).relative_gap <= 1e-3
    with pytest.raises(InputError, match="strictly between 0 and 1, got 0"):
        SOLVERS[solver](tolerance=0)


@pytest.mark.parametrize("solver", [name for name in SOLVERS if name != "on outputs"])
def test_every_solver_s_progress_ends_with_a_gap_that_its_status_agrees_with(solver):
    """Steps are counted one by one; up to 18 categories the frequency program has no bound before the end."""
    told: list[Progress] = []
    found = SOLVERS[solver](tolerance=1e-5, progress=told.append)
    assert found.status is Status.OPTIMAL
    assert [one.step for one in told] == list(range(told[0].step, told[0].step + len(told)))
    assert min(one.columns for one in told) >= 2
    assert told[-1].bound == 0.0 if solver == "frequency" else told[-1].gap <= 1e-5
