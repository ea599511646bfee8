"""The error of a table, and the bound that any multipliers prove."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.mechanisms import InputError
from optldp.solvers import solve_unbiased
from optldp.solvers.biased import ErrorProgram, Multipliers, trusted
from optldp.solvers.biased.box import member
from optldp.solvers.robust import BoxSet

from ..biased_oracle import error_by_definition, random_prior
from ..robust_oracle import KINDS, random_set

KNOTS = np.linspace(-1, 1, 9)


def random_table(rng: np.random.Generator, n: int, ratio: float) -> tuple[np.ndarray, np.ndarray]:
    """Outputs, and rows within the ratio, biased any way."""
    m = int(rng.integers(1, 12))
    P = rng.uniform(1, ratio ** rng.uniform(0, 0.5), (n, m)) * rng.dirichlet(np.ones(m))
    return np.sort(rng.uniform(-5, 5, m)), P / P.sum(1, keepdims=True)


@pytest.mark.parametrize("kind", KINDS)
def test_the_error_of_a_table_is_that_of_the_definition_for_every_set(kind):
    rng = np.random.default_rng(3)
    for users in (1, 1000):
        priors = random_set(KNOTS, np.arange(1.0, 10) / 45, kind, rng)
        outputs, P = random_table(rng, 9, 4.0)
        found = ErrorProgram(KNOTS, 4.0, priors, users).error(outputs, P)
        expected = error_by_definition(KNOTS, priors, users, outputs, P)
        np.testing.assert_allclose((found.rmse, found.noise, found.bias_bound), expected, rtol=1e-7)
        assert found.rmse == pytest.approx(np.hypot(found.noise, found.bias_bound), rel=1e-12)


def test_the_promise_holds_for_simulated_users_whose_prior_is_the_worst_for_both():
    """A mean of N draws: its exact mean squared error is q.v/N + (1 - 1/N) (q.b)^2, and at most R^2."""
    rng = np.random.default_rng(0)
    box = trusted(random_prior(rng, KNOTS), 3.0)
    outputs, P = random_table(rng, 9, 3.0)
    program, users = ErrorProgram(KNOTS, 3.0, box, 25), 25
    b = program.moments(outputs, P)[1]
    q = box.largest(np.abs(b))[1]
    values = rng.choice(9, (20_000, users), p=q)
    reports = (rng.random((20_000, users, 1)) > np.cumsum(P, 1)[values][..., :-1]).sum(-1)
    square = ((outputs[reports].mean(1) - KNOTS[values].mean(1)) ** 2).mean()
    v = program.moments(outputs, P)[0]
    assert square == pytest.approx(q @ v / users + (1 - 1 / users) * (q @ b) ** 2, rel=0.05)
    assert square < program.error(outputs, P).rmse ** 2 * 1.05


@pytest.mark.nightly
@settings(max_examples=25, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_multipliers_prove_more_than_a_table_promises(seed):
    """Any members of the set, any weights, lambda near and far from good ones."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 10))
    knots, ratio = np.linspace(-1, 1, n), float(np.exp(rng.uniform(0.05, 5)))
    box = trusted(random_prior(rng, knots), 1 + float(rng.exponential(2)))
    program = ErrorProgram(knots, ratio, box, int(10 ** rng.uniform(0, 8)))
    worst, up, down = (member(box, rng.dirichlet(np.ones(n))) for _ in range(3))
    r, s = rng.exponential(3, 2) * np.sqrt(program.users) * rng.choice([0, 1e-3, 1], 2)
    known = solve_unbiased(knots, worst / worst.sum(), ratio, tolerance=1e-2)
    for lam in (known.multipliers["lam"] * rng.uniform(0.5, 1), rng.normal(size=n), worst * rng.uniform(0, 1)):
        bound = program.bound(Multipliers(worst, up, down, float(r), float(s), lam))
        for outputs, P in (random_table(rng, n, ratio), (np.array([rng.uniform(-1, 1)]), np.ones((n, 1)))):
            assert bound <= program.error(outputs, P).rmse


def test_without_bias_the_bound_is_that_of_the_unbiased_program():
    """But for the price of nu, which a million million users make small."""
    p = np.full(9, 1 / 9)
    known = solve_unbiased(KNOTS, p, np.e)
    box, users = BoxSet(0.1 * p, np.minimum(9 * p, 1)), 10**12
    up, down = (np.clip(side * known.multipliers["nu"], 0, None) for side in (-1, 1))
    weight = 1.01 * max((side / box.high).max() + side.sum() for side in (up, down))
    # nu = s down - r up with both in the box and r = s: nu / s is a difference of two members.
    even = member(box, p)
    up, down = even + (up - down) / weight / 2, even - (up - down) / weight / 2
    proved = ErrorProgram(KNOTS, np.e, box, users).bound(
        Multipliers(p, up, down, weight, weight, known.multipliers["lam"])
    )
    assert proved * np.sqrt(users) == pytest.approx(np.sqrt(known.bound), rel=1e-6)


def test_negative_weights_prove_nothing():
    p = np.full(9, 1 / 9)
    program = ErrorProgram(KNOTS, np.e, trusted(p, 2.0), 10)
    assert program.bound(Multipliers(p, p, p, -1.0, 0.0, p)) == 0


@pytest.mark.parametrize("users", [0, -1, 1.5, 1e16, float("nan"), float("inf")])
def test_numbers_of_users_that_make_no_sense_are_refused(users):
    with pytest.raises(InputError, match="number of users must be whole"):
        ErrorProgram(KNOTS, 3.0, trusted(np.full(9, 1 / 9), 2.0), users)


@pytest.mark.parametrize("trust", [0.5, 0.0, -2.0, float("nan"), float("inf")])
def test_a_trust_below_one_is_refused(trust):
    with pytest.raises(InputError, match="at least 1"):
        trusted(np.full(9, 1 / 9), trust)
