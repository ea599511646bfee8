"""The linear program of AAA's learning phase against another solver, and what it must recover."""

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from optldp.estimators.distributions.least_absolute import least_absolute
from optldp.mechanisms import InputError, grr, square_wave

KNOTS = np.linspace(-1.0, 1.0, 9)


@pytest.mark.parametrize("make", [grr, square_wave])
def test_it_is_the_minimum_of_the_absolute_differences(make):
    rng = np.random.default_rng(3)
    rows = make(KNOTS, 1.0).probabilities
    shares = rng.multinomial(400, rng.dirichlet(np.ones(9)) @ rows) / 400
    w = cp.Variable(9, nonneg=True)
    total: Any = cp.sum(w) == 1
    best: Any = cp.Problem(cp.Minimize(cp.norm1(rows.T @ w - shares)), [total]).solve(solver=cp.CLARABEL)
    found = least_absolute(rows, shares)
    assert found.min() >= 0.0
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.abs(found @ rows - shares).sum() == pytest.approx(best, abs=1e-7)


@pytest.mark.parametrize("make", [grr, square_wave])
def test_shares_without_noise_give_the_distribution_back(make):
    rows, truth = make(KNOTS, 2.0).probabilities, np.arange(9) / 36
    assert least_absolute(rows, truth @ rows) == pytest.approx(truth, abs=1e-6)


@pytest.mark.parametrize(("rows", "shares"), [([[1.0]], [0.5, 0.5]), ([[np.nan]], [1.0]), ([1.0], [1.0])])
def test_shapes_and_numbers_are_looked_at(rows, shares):
    with pytest.raises(InputError, match=r"rows must be \(K, R\)"):
        least_absolute(rows, shares)
