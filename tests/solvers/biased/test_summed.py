"""Reports to several tables, whose numbers are added up: against cvxpy, enumeration and one table's program."""

from itertools import product

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.mechanisms import InputError
from optldp.solvers import Status
from optldp.solvers.biased import DecoderProgram, Multipliers, SummedProgram, UserSet, solve_decoder, trusted
from optldp.solvers.biased.box import member

from ..biased_oracle import largest_in_box, random_prior, solved


def random_sets(rng: np.random.Generator, n: int) -> list[UserSet]:
    """One to three sets, each with one to three tables of one to six reports, one of which nobody makes."""
    sets, shares = [], rng.dirichlet(np.full(int(rng.integers(1, 4)), 3.0))
    for share in shares:
        tables = [rng.dirichlet(np.ones(int(rng.integers(1, 7))), n) for _ in range(int(rng.integers(1, 4)))]
        tables[0] = np.hstack([tables[0], np.zeros((n, 1))])
        sets.append(UserSet(float(share), tables))
    return sets


def random_program(seed: int) -> SummedProgram:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    knots = np.linspace(-1, 1, n)
    box = trusted(random_prior(rng, knots), 1 + 10 ** rng.uniform(-1, 1))
    return SummedProgram(knots, random_sets(rng, n), box, int(10 ** rng.uniform(1, 6)))


def by_cvxpy(program: SummedProgram) -> float:
    """Return the least R, from the definition."""
    v, b, bias = [], [], cp.Variable()
    numbers = [[cp.Variable(P.shape[1]) for P in one.tables] for one in program.sets]
    for i, x in enumerate(program.knots):
        terms, means = [], []
        for one, mine in zip(program.sets, numbers, strict=True):
            off = sum(P[i] @ d for P, d in zip(one.tables, mine, strict=True)) - x
            spread = sum(
                cp.sum(cp.multiply(P[i], cp.square(d - P[i] @ d))) for P, d in zip(one.tables, mine, strict=True)
            )
            terms.append(one.share * (spread + cp.square(off)))
            means.append(one.share * off)
        v.append(sum(terms))
        b.append(sum(means))
    (noise, one), (up, two), (down, three) = (
        largest_in_box(program.priors, values) for values in (cp.hstack(v), cp.hstack(b), -cp.hstack(b))
    )
    size = float(np.sqrt(program.users))
    rows = [*one, *two, *three, size * up <= bias, size * down <= bias]
    return solved(noise + cp.square(bias), rows, program.users)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(16))
def test_cvxpy_finds_the_same_error(seed):
    program = random_program(seed)
    best = solve_decoder(program)
    assert best.status is Status.OPTIMAL
    assert best.value == program.error(best.solution).rmse
    assert best.bound == program.bound(Multipliers(**best.multipliers)) <= best.value
    assert by_cvxpy(program) == pytest.approx(best.value, rel=5e-6, abs=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_moments_are_those_of_all_reports_one_by_one(seed):
    program = random_program(seed)
    rng = np.random.default_rng(seed)
    values = rng.normal(size=sum(P.shape[1] for one in program.sets for P in one.tables))
    v, b = np.zeros((2, len(program.knots)))
    for one, parts in zip(program.sets, program.split(values), strict=True):
        for reports in product(*(range(len(d)) for d in parts)):
            chance = one.share * np.prod([P[:, j] for P, j in zip(one.tables, reports, strict=True)], axis=0)
            off = sum(d[j] for d, j in zip(parts, reports, strict=True)) - program.knots
            v, b = v + chance * off**2, b + chance * off
    found = program.moments(values)
    np.testing.assert_allclose(found[0], v, rtol=1e-12)
    np.testing.assert_allclose(found[1], b, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_slopes_and_curvature_are_those_of_differences(seed):
    """The moments are quadratic, so that central differences of any step are exact."""
    program = random_program(seed)
    rng = np.random.default_rng(seed)
    size = sum(P.shape[1] for one in program.sets for P in one.tables)
    values, move, worst = rng.normal(size=size), rng.normal(size=size), program.priors.some_prior
    (v, _), (low, low_b), (high, high_b) = (program.moments(values + k * move) for k in (0, -1, 1))
    slopes = program.slopes(values) @ move
    np.testing.assert_allclose(slopes, 0.5 * np.concatenate([high_b - low_b, high - low]), atol=1e-10)
    curved = worst @ (high - 2 * v + low)
    curvature = program.curvature(worst)
    assert 2 * move @ curvature.times(move) == pytest.approx(curved, rel=1e-9)
    right = curvature.times(values)
    np.testing.assert_allclose(curvature.times(curvature.solve(right)), right, atol=1e-10)


def test_one_table_has_the_decoder_that_it_has_by_itself():
    knots = np.linspace(-1, 1, 7)
    P, box = np.full((7, 7), 0.1) + 0.3 * np.eye(7), trusted(np.arange(1.0, 8.0) / 28, 2.0)
    alone = solve_decoder(DecoderProgram(knots, P, box, 500))
    split = solve_decoder(SummedProgram(knots, [UserSet(0.25, [P]), UserSet(0.75, [P])], box, 500))
    assert split.value == pytest.approx(alone.value, rel=1e-6)
    np.testing.assert_allclose(split.solution.reshape(2, 7), [alone.solution] * 2, atol=1e-4)


def test_a_table_that_tells_nothing_changes_nothing():
    """Beside another; to users who report to it alone it is worth the mean of the others'."""
    knots, empty = np.linspace(-1, 1, 5), np.full((5, 3), 1 / 3)
    P, box = np.full((5, 5), 0.1) + 0.5 * np.eye(5), trusted(np.arange(1.0, 6.0) / 15, 2.0)
    alone, beside = (
        solve_decoder(SummedProgram(knots, [UserSet(1.0, tables)], box, 500)) for tables in ([P], [P, empty])
    )
    assert beside.value == pytest.approx(alone.value, rel=1e-6)
    few = SummedProgram(knots, [UserSet(0.5, [P]), UserSet(0.5, [empty])], box, 500)
    best = solve_decoder(few)
    told, constant = few.split(best.solution)
    assert np.ptp(constant[0]) == pytest.approx(0, abs=1e-9)
    # Half of the users' reports count nearly double: half the users, at most, are lost.
    assert np.ptp(told[0]) > 1.5 * np.ptp(alone.solution)
    assert alone.value < best.value < 2 * alone.value


@pytest.mark.nightly
@settings(max_examples=40, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_multipliers_prove_more_than_a_decoder_promises(seed):
    program, rng = random_program(seed), np.random.default_rng(seed)
    n = len(program.knots)
    worst, up, down = (member(program.priors, rng.dirichlet(np.ones(n))) for _ in range(3))
    r, s = rng.exponential(3, 2) * np.sqrt(program.users) * rng.choice([0, 1e-3, 1], 2)
    found = Multipliers(worst, up, down, float(r), float(s), np.zeros(n))
    bound = program.bound(found)
    best = program.values(worst, found.nu)
    for values in (best, solve_decoder(program).solution, best + 0.1 * rng.normal(size=best.shape)):
        assert bound <= program.error(values).rmse


@pytest.mark.parametrize(
    ("sets", "says"),
    [
        ([], "shares of users must be positive and sum to one"),
        ([UserSet(0.5, [np.eye(3)])], "sum to one"),
        ([UserSet(1.5, [np.eye(3)]), UserSet(-0.5, [np.eye(3)])], "must be positive"),
        ([UserSet(1.0, [])], "got a set of none"),
        ([UserSet(1.0, [np.eye(3), np.eye(2)])], "a row and bounds for each of 3 knots"),
        ([UserSet(1.0, [np.full((3, 2), 0.4)])], "non-negative and sum to one"),
    ],
)
def test_sets_that_are_none_are_refused(sets, says):
    with pytest.raises(InputError, match=says):
        SummedProgram(np.linspace(-1, 1, 3), sets, trusted(np.full(3, 1 / 3), 2.0), 10)
