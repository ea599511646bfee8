"""The joint decoder: unbiased in sum, of least expected variance, and more forgiving than one decoder per table."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.estimators import InputGrid, joint_decoder, optimal_decoder, plain_decoder
from optldp.estimators.means.decoding import decoded_variances
from optldp.estimators.means.service_weights import population_weights
from optldp.mechanisms import InputError, TabulatedMechanism, duchi, laplace, piecewise, square_wave

from .test_decoding import deficient

KNOTS = np.linspace(-1, 1, 9)
TABLES = [duchi(KNOTS, 1.0), laplace(KNOTS, 0.7), piecewise(np.linspace(-1, 1, 7), 1.5), square_wave(KNOTS, 0.5)]


def random_on(knots: np.ndarray, m: int, seed: int) -> TabulatedMechanism:
    rows = np.random.default_rng(seed).uniform(1.0, np.e, (knots.size, m))
    rows /= rows.sum(axis=1, keepdims=True)
    return TabulatedMechanism.from_points(knots, np.arange(m), rows, 3.0)


def expected_variance(tables, decoders, points, prior) -> float:
    """Variance of the sum given the input, averaged over the prior."""
    rows = [table.pmf(points) for table in tables]
    each = [P @ d**2 - (P @ d) ** 2 for P, d in zip(rows, decoders, strict=True)]
    return float(prior @ sum(each))


def bias(tables, decoders) -> np.ndarray:
    x = np.linspace(-1, 1, 101)
    return sum(table.pmf(x) @ d for table, d in zip(tables, decoders, strict=True)) - x


@pytest.mark.parametrize("seed", range(3))
def test_it_solves_the_quadratic_program(seed):
    """Against Clarabel, for tables with different knots; constants may move between tables, so only the least
    variance and each table's differences are unique."""
    rng = np.random.default_rng(seed)
    tables = [random_on(np.array([-1.0, 0.2, 1.0]), 5, seed), random_on(np.array([-1.0, -0.5, 1.0]), 4, seed + 9)]
    points, prior = np.linspace(-1, 1, 6), rng.dirichlet(np.ones(6))
    union = np.array([-1.0, -0.5, 0.2, 1.0])
    variables = [cp.Variable(5), cp.Variable(4)]
    terms = []
    for table, values in zip(tables, variables, strict=True):
        rows = table.pmf(points)
        average = prior @ rows
        form = np.diag(average) - rows.T @ (prior[:, None] * rows)
        terms.append(cp.quad_form(values, cp.psd_wrap(form)))
    together = np.concatenate([table.pmf(union) for table in tables], axis=1)
    problem = cp.Problem(cp.Minimize(sum(terms)), [together @ cp.hstack(variables) == union])
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    got = joint_decoder(tables, points, prior)
    assert expected_variance(tables, got, points, prior) == pytest.approx(problem.value, rel=1e-6)
    for mine, other in zip(got, variables, strict=True):
        theirs = np.asarray(other.value)
        np.testing.assert_allclose(mine - mine[0], theirs - theirs[0], atol=1e-4 * np.abs(theirs - theirs[0]).max())


@pytest.mark.slow
@settings(max_examples=40)
@given(st.integers(0, 10_000), st.sets(st.integers(0, 3), min_size=1))
def test_it_is_unbiased_and_never_worse_than_constant_weights(seed, chosen):
    """Fixed weights of plain decoders are among its competitors."""
    tables, prior = [TABLES[j] for j in sorted(chosen)], np.random.default_rng(seed).dirichlet(np.full(9, 0.3))
    got = joint_decoder(tables, KNOTS, prior)
    np.testing.assert_allclose(bias(tables, got), 0, atol=1e-8)
    plain = [plain_decoder(table) for table in tables]
    variances = [decoded_variances(t, d, InputGrid.knots(KNOTS)) for t, d in zip(tables, plain, strict=True)]
    weights = population_weights(np.array(variances), prior)
    weighted = [w * d for w, d in zip(weights, plain, strict=True)]
    best, other = (expected_variance(tables, values, KNOTS, prior) for values in (got, weighted))
    assert best <= other * (1 + 1e-9)


def test_it_is_better_than_constant_weights_where_tables_are_good_at_different_inputs():
    prior = np.eye(9)[4]
    tables = [TABLES[2], TABLES[3]]
    plain = [plain_decoder(table) for table in tables]
    variances = [decoded_variances(t, d, InputGrid.knots(KNOTS)) for t, d in zip(tables, plain, strict=True)]
    weights = population_weights(np.array(variances), prior)
    constant = [w * d for w, d in zip(weights, plain, strict=True)]
    best = expected_variance(tables, joint_decoder(tables, KNOTS, prior), KNOTS, prior)
    assert best < 0.99 * expected_variance(tables, constant, KNOTS, prior)


@pytest.mark.parametrize("table", TABLES)
def test_one_table_gets_its_optimal_decoder(table):
    prior = np.random.default_rng(1).dirichlet(np.ones(table.knots.size))
    (got,) = joint_decoder([table], table.knots, prior)
    np.testing.assert_allclose(got, optimal_decoder(table, prior), atol=1e-7 * np.abs(got).max())


def mirrored() -> TabulatedMechanism:
    """The deficient table for the opposite of the input: their curved means cancel in the sum."""
    poor = deficient()
    return TabulatedMechanism.from_points(-poor.knots[::-1], poor.low, poor.probabilities[::-1, ::-1], 1.0)


def test_tables_that_cannot_be_unbiased_alone_can_be_together():
    tables, prior = [deficient(), mirrored()], np.full(3, 1 / 3)
    for table in tables:
        with pytest.raises(InputError, match="1 tables at 3 knots"):
            joint_decoder([table], table.knots, prior)
    np.testing.assert_allclose(bias(tables, joint_decoder(tables, tables[0].knots, prior)), 0, atol=1e-12)


def test_a_table_that_cannot_be_unbiased_alone_still_helps():
    points, prior = np.array([-1.0, 0.0, 1.0]), np.array([0.3, 0.5, 0.2])
    other = random_on(points, 3, 1)
    both = joint_decoder([deficient(), other], points, prior)
    np.testing.assert_allclose(bias([deficient(), other], both), 0, atol=1e-9)
    alone = expected_variance([other], joint_decoder([other], points, prior), points, prior)
    assert expected_variance([deficient(), other], both, points, prior) < 0.9 * alone


def test_the_order_of_tables_does_not_matter():
    prior = np.random.default_rng(2).dirichlet(np.ones(9))
    forward, backward = joint_decoder(TABLES, KNOTS, prior), joint_decoder(TABLES[::-1], KNOTS, prior)
    for one, other in zip(forward, reversed(backward), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-8)


def test_another_unit_of_the_inputs_only_rescales():
    """Per table up to a constant; the sum exactly."""
    scale, shift = 1e3, 5e4
    moved = [f(shift + scale * KNOTS, 1.0) for f in (duchi, piecewise)]
    plain = [f(KNOTS, 1.0) for f in (duchi, piecewise)]
    prior = np.random.default_rng(3).dirichlet(np.ones(9))
    got = joint_decoder(moved, shift + scale * KNOTS, prior)
    expected = joint_decoder(plain, KNOTS, prior)
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one, shift / 2 + scale * other, atol=1e-6)


def test_knots_that_differ_in_their_last_digits_are_the_same():
    """Otherwise the kinks of one table would have to be made up for by the other's within 1e-11."""
    wobbly = KNOTS + 1e-11 * np.sin(np.arange(9))
    wobbly[[0, -1]] = -1, 1
    prior = np.full(9, 1 / 9)
    expected = joint_decoder([random_on(KNOTS, 12, 1), random_on(KNOTS, 12, 2)], KNOTS, prior)
    got = joint_decoder([random_on(KNOTS, 12, 1), random_on(wobbly, 12, 2)], KNOTS, prior)
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6 * np.abs(other).max())


def test_outputs_that_never_occur_are_no_obstacle():
    base = duchi(KNOTS, 1.0)
    rows = np.insert(base.probabilities, 1, 0.0, axis=1)
    padded = TabulatedMechanism.from_points(KNOTS, [-2, 0, 2], rows, 1.0)
    prior = np.full(9, 1 / 9)
    expected = joint_decoder([base, TABLES[2]], KNOTS, prior)
    got = joint_decoder([padded, TABLES[2]], KNOTS, prior)
    np.testing.assert_allclose(np.delete(got[0], 1), expected[0])
    np.testing.assert_allclose(got[1], expected[1])


def test_tables_that_together_lack_rank_are_refused_by_name_of_the_rank():
    with pytest.raises(InputError, match=r"2 tables at 3 knots have rank 2 .* input .* at least 1 linear") as refused:
        joint_decoder([deficient(), deficient()], np.array([-1.0, 0.0, 1.0]), np.full(3, 1 / 3))
    assert "\n" not in str(refused.value)
