"""Lengths of intervals: proved by departures, equal to another solver's, and short by the tables made for them."""

# pyright: reportReturnType=false, reportArgumentType=false

import cvxpy as cp
import numpy as np
import pytest
from optldp.mechanisms.errors import InputError
from optldp.mechanisms.families.square_wave import square_wave
from optldp.solvers.lengths.length_bound import LengthCertificate, certified_length_bound, length_certificate
from optldp.solvers.lengths.length_program import RADIUS, LengthProgram
from optldp.solvers.lengths.shortest_table import solve_lengths

SIZE, E, USERS = 13, np.e, 20_000
FALLING = np.exp(-np.arange(SIZE) / 3.0) / np.exp(-np.arange(SIZE) / 3.0).sum()
CUTS = np.tri(SIZE)[:-1]


def program(**changed) -> LengthProgram:
    told = {"prior": FALLING, "ratio": E, "numbers": CUTS, "weights": np.full(SIZE - 1, 1 / (SIZE - 1)), "users": USERS}
    return LengthProgram(**(told | changed))


def longest(asked: LengthProgram, number: np.ndarray, columns: np.ndarray) -> float:
    """The modulus of one number, by cvxpy."""
    p = cp.Variable(asked.size, nonneg=True)
    scaled = (columns / np.sqrt(asked.prior @ columns)).T
    ball = cp.norm(scaled @ (p - asked.prior)) <= RADIUS / np.sqrt(asked.users)
    return cp.Problem(cp.Maximize(number @ (p - asked.prior)), [cp.sum(p) == 1, ball]).solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("users", [300, 20_000, 10_000_000])
def test_lengths_are_those_of_another_solver_and_no_less(users):
    asked, table = program(users=users), square_wave(np.linspace(0, 1, SIZE), 1.0).probabilities
    mine = asked.lengths(table)
    for at in (0, 5, SIZE - 2):
        theirs = longest(asked, CUTS[at], table) + longest(asked, -CUTS[at], table)
        assert theirs - 1e-7 <= mine[at] <= 1.003 * theirs + 1e-7


def test_a_table_made_for_the_cuts_is_far_shorter_than_the_square_wave():
    asked = program()
    found = solve_lengths(asked)
    assert found.solution.sum(1) == pytest.approx(np.ones(SIZE), abs=1e-12)
    assert found.solution.max(0) == pytest.approx(E * found.solution.min(0), rel=1e-9)
    assert found.value < 0.8 * asked.value(square_wave(np.linspace(0, 1, SIZE), 1.0).probabilities)
    assert asked.alone() < found.bound <= found.value


@pytest.mark.slow
def test_any_departures_prove_a_bound_for_intervals_of_values():
    asked, rng = program(), np.random.default_rng(1)
    tables = [square_wave(np.linspace(0, 1, SIZE), 1.0).probabilities, solve_lengths(asked).solution]
    least = min(map(asked.value, tables))
    for _ in range(20):
        random = LengthCertificate(rng.normal(0, 0.05, (2 * (SIZE - 1), SIZE)), np.ones(SIZE - 1))
        assert certified_length_bound(asked, random) <= least
    assert certified_length_bound(asked, length_certificate(asked, tables[1], np.ones(SIZE - 1))) > 0.5 * least


@pytest.mark.slow
def test_the_largest_length_is_made_smaller_than_by_the_mean_of_all():
    even = solve_lengths(program())
    worst = program(weights=np.ones(SIZE - 1), worst=True)
    found = solve_lengths(worst)
    assert found.value < worst.value(even.solution)
    assert found.bound <= found.value


def test_randomised_response_on_a_cut_attains_the_bound_of_one_number():
    asked = program(numbers=CUTS[4:5], weights=np.ones(1))
    response = np.where(np.column_stack([CUTS[4], 1 - CUTS[4]]) == 1, E, 1.0) / (1 + E)
    assert asked.value(response) == pytest.approx(asked.alone(), rel=2e-3)
    assert asked.alone() < asked.value(square_wave(np.linspace(0, 1, SIZE), 1.0).probabilities)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"prior": np.ones(SIZE)}, "sum to 1"),
        ({"numbers": np.ones((1, SIZE))}, "tell 13 values apart"),
        ({"ratio": 1.0}, "above 1"),
    ],
)
def test_what_is_no_program_is_refused(changed, said):
    with pytest.raises(InputError, match=said):
        program(**changed)
