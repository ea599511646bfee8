"""One vocabulary for how good an answer is: gap, status, tolerance and progress."""

import inspect
import json
import math
import pickle
import re
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp import solvers
from optldp.mechanisms import InputError
from optldp.solvers import (
    MinimaxProgram,
    Optimum,
    Progress,
    RobustProgram,
    Status,
    UnbiasedProgram,
    biased,
    certified_bound,
    certified_frequency_bound,
    certified_information_bound,
    levels,
)
from optldp.solvers.biased import DecoderProgram, ErrorProgram, Multipliers, trusted
from optldp.solvers.certificate import check_tolerance, relative_gap
from optldp.solvers.information.fisher import certified_interval_error
from optldp.solvers.levels import LevelsProgram
from optldp.solvers.robust import MovedSet
from optldp.solvers.unbiased.optimal_mechanism import solve_floor

KNOTS, HALVES, RATIO = np.array([-1.0, 1.0]), np.array([0.5, 0.5]), math.e
MANY, EVEN = np.linspace(-1, 1, 33), np.full(33, 1 / 33)
OUTPUTS = np.linspace(-4, 4, 17)
PLAIN, ROBUST = UnbiasedProgram(KNOTS, HALVES, RATIO), RobustProgram(KNOTS, RATIO, MovedSet(HALVES, 0.1))
ERROR = ErrorProgram(KNOTS, RATIO, trusted(HALVES, 2.0), 1000)
DECODER = DecoderProgram(KNOTS, np.array([[0.75, 0.25], [0.25, 0.75]]), trusted(HALVES, 2.0), 1000)
LEVELS = LevelsProgram(KNOTS, HALVES, np.exp([0.5, 1.0]), HALVES, math.e, np.linspace(-7, 7, 29))


def of_certificate(program: ErrorProgram | DecoderProgram) -> Callable[..., float]:
    return lambda **proof: program.bound(Multipliers(**proof))


def on_outputs(lam: np.ndarray, nu: np.ndarray) -> float:
    """What multipliers prove of mechanisms on the outputs: a floor has a mass of at most one."""
    least = PLAIN.column_values(PLAIN.reduced_costs(PLAIN.offsets(OUTPUTS), lam, nu)).min()
    return float(lam.sum() + min(0.0, least))


SOLVERS: dict[str, tuple[tuple, Callable[..., float]]] = {
    "solve_unbiased": ((KNOTS, HALVES, RATIO), lambda **proof: certified_bound(PLAIN, **proof)),
    "solve_floor": ((MANY, EVEN, RATIO), lambda **proof: certified_bound(UnbiasedProgram(MANY, EVEN, RATIO), **proof)),
    "solve_on_outputs": ((KNOTS, HALVES, OUTPUTS, RATIO), on_outputs),
    "solve_with_highs": ((KNOTS, HALVES, OUTPUTS, 1.0), on_outputs),
    "solve_with_cvxpy": ((KNOTS, HALVES, OUTPUTS, 1.0), on_outputs),
    "solve_minimax": ((KNOTS, RATIO), MinimaxProgram(KNOTS, HALVES, RATIO).bound),
    "solve_robust": ((ROBUST,), ROBUST.bound),
    "solve_error": ((ERROR,), of_certificate(ERROR)),
    "solve_decoder": ((DECODER,), of_certificate(DECODER)),
    "solve_levels": ((LEVELS,), LEVELS.bound),
    "solve_levels_freely": ((KNOTS, HALVES, LEVELS.ratios, HALVES, math.e), LEVELS.bound),
    "solve_frequency": ((HALVES, RATIO), lambda **proof: certified_frequency_bound(HALVES, RATIO, **proof)),
    "solve_information": ((HALVES, RATIO), lambda **proof: certified_information_bound(HALVES, RATIO, **proof)),
    "solve_interval_fisher": ((HALVES, RATIO), lambda **proof: certified_interval_error(HALVES, RATIO, **proof)),
}
"""Of every solver what it is asked, and what proves its bound."""

ORACLES = {"solve_with_highs", "solve_with_cvxpy"}
"""Their tolerance is the other program's own, and what they leave is feasible to it alone."""

MORE_IS_BETTER = {"solve_information"}
PUBLIC = {name: getattr(room, name) for room in (solvers, biased, levels) for name in room.__all__ if "solve_" in name}
FUNCTIONS = {**PUBLIC, "solve_floor": solve_floor}
TELLING = [name for name, solve in PUBLIC.items() if "progress" in inspect.signature(solve).parameters]
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
    assert [str(one) for one in Status] == ["optimal", "gap-open", "local"]
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


def solved(name: str, **options: Any) -> tuple[Optimum[Any], Callable[..., float]]:
    """An optimum, and what proves its bound."""
    assert name in SOLVERS, f"{name} is a public solver: SOLVERS must say what it is asked, got nothing"
    asked, proves = SOLVERS[name]
    found = FUNCTIONS[name](*asked, **options)
    if name == "solve_levels_freely":
        program, found = found
        proves = program.bound
    return found, proves


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_solver_s_answer_is_an_optimum_with_its_evidence(name):
    """A value, a bound on its right side that the multipliers prove by themselves, what was asked and what it took."""
    found, proves = solved(name, **({} if name in ORACLES else {"tolerance": 1e-5}))
    sign, slack = -1 if name in MORE_IS_BETTER else 1, 1e-8 if name in ORACLES else 1e-13
    assert isinstance(found, Optimum)
    assert sign * (found.value - found.bound) >= -slack * abs(found.value)
    assert found.bound == pytest.approx(proves(**found.multipliers), rel=1e-12)
    assert found.gap == relative_gap(found.value, found.bound)
    assert name in ORACLES or found.tolerance == 1e-5
    assert found.status is Status.of(found.gap, found.tolerance)
    assert found.status is Status.OPTIMAL
    assert isinstance(found.steps, int)
    assert found.steps >= 0
    assert 0 < found.seconds < 60


def test_an_optimum_says_by_itself_whether_it_is_one():
    found = [Optimum(None, 2.0, 2.0 - gap, {}, 0.1, 0, 0.0) for gap in (0.0, 0.2, 0.21, math.nan)]
    assert [one.status.value for one in found] == ["optimal", "optimal", "gap-open", "gap-open"]


@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - ORACLES))
def test_every_solver_refuses_what_no_gap_can_reach(name):
    with pytest.raises(InputError, match="strictly between 0 and 1, got 0"):
        solved(name, tolerance=0)


@pytest.mark.parametrize("name", TELLING)
def test_every_solver_s_progress_ends_with_a_gap_that_its_status_agrees_with(name):
    """Steps are counted one by one; up to 18 categories the frequency program has no bound before the end."""
    told: list[Progress] = []
    found, _ = solved(name, tolerance=1e-5, progress=told.append)
    assert found.status is Status.OPTIMAL
    if name == "solve_levels_freely":  # one walk finds outputs, the other is on them
        told = told[-1 - told[-1].step + told[0].step :]
    assert [one.step for one in told] == list(range(told[0].step, told[0].step + len(told)))
    assert min(one.columns for one in told) >= 2
    assert told[-1].bound == 0.0 if name == "solve_frequency" else told[-1].gap <= 1e-5
