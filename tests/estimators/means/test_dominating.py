"""A decoder that errs no more than the reports themselves: against every decoder between the two that it is made of."""

import cvxpy as cp
import numpy as np
import pytest
from optldp.estimators import optimal_decoder, plain_decoder
from optldp.estimators.means.dominating import LEAST_GAIN, dominating_decoder
from optldp.estimators.means.unbiasing import affine_unbiasing
from optldp.mechanisms import FAMILIES, TabulatedMechanism
from optldp.mechanisms.sampling.within_cell import GeometricTails

from .test_unbiasing import random_table

KNOTS = np.linspace(-1, 1, 9)
CASES = [(name, epsilon) for name in sorted(FAMILIES) for epsilon in (0.1, 1.0, 3.0)]


def reported(table: TabulatedMechanism) -> np.ndarray:
    """Variance (n,) of a raw report at each knot, in the inputs' units."""
    affine = affine_unbiasing(table)
    assert affine is not None
    return table.knot_variances / affine[0] ** 2


def variances(table: TabulatedMechanism, values: np.ndarray) -> np.ndarray:
    """By the sum over outputs (n,)."""
    return np.array(
        [
            sum(p * (v - x) ** 2 for p, v in zip(row, values, strict=True))
            for row, x in zip(table.probabilities, table.knots, strict=True)
        ]
    )


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("name", "epsilon"), CASES)
@pytest.mark.parametrize("weights", [None, np.arange(1.0, 10.0)])
def test_it_is_unbiased_and_the_best_of_those_between_that_err_nowhere_more(name, epsilon, weights):
    """Against a fine grid of steps from the plain decoder to the optimal one."""
    table = FAMILIES[name](KNOTS, epsilon)
    importance = np.full(9, 1 / 9) if weights is None else weights / weights.sum()
    raw, near, far = reported(table), plain_decoder(table), optimal_decoder(table, weights)
    allowed = [
        importance @ found
        for found in (variances(table, near + t * (far - near)) for t in np.linspace(0, 1, 401))
        if (found <= raw * (1 + 1e-9)).all()
    ]
    values = dominating_decoder(table, weights)
    if values is None:
        assert min(allowed, default=np.inf) > (1 - LEAST_GAIN) * (importance @ raw) * (1 - 1e-6)
        return
    found = variances(table, values)
    np.testing.assert_allclose(table.probabilities @ values, KNOTS, atol=1e-8)
    assert (found <= raw * (1 + 1e-8)).all()
    assert importance @ found <= min(allowed) * (1 + 1e-8)
    assert importance @ found <= (1 - LEAST_GAIN) * (importance @ raw)


@pytest.mark.parametrize("name", ["laplace", "square-wave", "ptt2"])
def test_little_is_lost_to_the_best_of_all_decoders_that_err_nowhere_more(name):
    """The convex program over all unbiased values of outputs, with the raw variances as limits, wins nothing more."""
    table = FAMILIES[name](KNOTS, 1.0)
    d = cp.Variable(table.low.size)
    limits = [cp.sum(cp.multiply(row, (d - x) ** 2)) <= v for row, x, v in
              zip(table.probabilities, KNOTS, reported(table), strict=True)]  # fmt: skip
    average = table.probabilities.mean(axis=0)
    problem = cp.Problem(cp.Minimize(cp.sum(cp.multiply(average, d**2))), [table.probabilities @ d == KNOTS, *limits])
    problem.solve(solver=cp.CLARABEL)
    values = dominating_decoder(table)
    assert values is not None
    assert average @ values**2 == pytest.approx(problem.value, rel=1e-5)


def test_there_is_none_where_nothing_is_won():
    """Two outputs have one decoder; a mean that is not affine has no raw variance to compare with."""
    assert dominating_decoder(FAMILIES["duchi"](KNOTS, 1.0)) is None
    assert dominating_decoder(random_table(11, 4, 7)) is None


def test_tables_that_would_take_long_are_averaged_as_they_are():
    """Five hundred knots and a thousand outputs: 2^19 probabilities."""
    assert dominating_decoder(FAMILIES["piecewise"](np.linspace(-1, 1, 513), 0.1)) is None


def test_reports_that_are_too_wide_for_their_domain_are_left_alone():
    """Their variance in the units of the domain, 1e310, is no double: nothing to compare, and no warning."""
    p, tails = np.array([[0.3, 0.4, 0.3], [0.3, 0.4, 0.3]]), GeometricTails(1e82, 0.5)
    knots = np.array([0.0, 1e-73])
    low, high = np.array([-np.inf, 1e100, 1.001e100]), np.array([0.999e100, 1e100, np.inf])
    table = TabulatedMechanism(knots, low, high, p, 1.0, within=tails)
    with np.errstate(all="raise"):
        assert dominating_decoder(table) is None
