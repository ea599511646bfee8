"""The cheapest column against linear programs with all pairs written out, and what proves its price."""

import numpy as np
import pytest
from optldp.mechanisms import InputError
from optldp.solvers.cone import Cone, cheapest, flow_prices, pure
from optldp.solvers.linear_program import LinearProgram, solve_linear_program
from scipy import sparse


def price_of_all_pairs(cone: Cone, g: np.ndarray, w: np.ndarray) -> float:
    """The least g.s with w.s = 1 and every finite log-ratio a row, by HiGHS."""
    n = cone.values
    i, j = np.nonzero(np.isfinite(cone.closed) & ~np.eye(n, dtype=bool))
    pairs = np.zeros((len(i), n))
    pairs[np.arange(len(i)), j] += 1
    pairs[np.arange(len(i)), i] -= np.exp(-cone.closed[i, j])
    ends = np.r_[1.0, np.zeros(len(i))], np.r_[1.0, np.full(len(i), np.inf)]
    rows = sparse.csc_array(np.vstack([w, pairs]))
    return solve_linear_program(LinearProgram(g, rows, *ends, np.zeros(n), np.full(n, np.inf))).objective


def test_the_price_is_that_of_a_program_of_all_pairs(cone):
    """Twelve random costs; the column that is returned is in the cone and has that price."""
    rng = np.random.default_rng(4)
    g, w = rng.normal(size=(7, 12)), rng.uniform(0.1, 1, 7)
    prices, columns = cheapest(cone, g, w)
    assert prices == pytest.approx([price_of_all_pairs(cone, costs, w) for costs in g.T], abs=1e-8)
    assert cone.excess(columns) < 1e-9
    assert w @ columns == pytest.approx(np.ones(12))
    assert (g * columns).sum(0) == pytest.approx(prices, abs=1e-12)


def test_multipliers_prove_no_more_than_the_price(cone):
    """Any multipliers, disturbed ones too, are right; good ones prove nearly all of it."""
    rng = np.random.default_rng(5)
    g, w = rng.normal(size=(7, 6)), rng.uniform(0.1, 1, 7)
    prices, _ = cheapest(cone, g, w)
    at = np.r_[1.0, np.zeros(len(cone.logs))], np.r_[1.0, np.full(len(cone.logs), np.inf)]
    rows = sparse.csc_array(sparse.vstack([cone.on_nodes(w)[None], cone.rows]))
    ends = np.zeros(cone.nodes), np.full(cone.nodes, np.inf)
    best = [solve_linear_program(LinearProgram(cone.on_nodes(each), rows, *at, *ends)).row_duals[1:] for each in g.T]
    good = np.array(best).T
    assert flow_prices(cone, g, w, good) == pytest.approx(prices, abs=1e-7)
    for disturbed in (good + rng.normal(size=good.shape), 0.9 * good, -good, np.zeros_like(good)):
        assert (flow_prices(cone, g, w, disturbed) <= prices + 1e-12).all()


def test_a_cone_of_two_values_has_two_rays():
    """The cheapest column is (E, 1) or (1, E), scaled: by hand."""
    E = np.exp(1.5)
    prices, columns = cheapest(pure(2, 1.5), np.array([[1.0, -2.0], [3.0, -5.0]]), np.array([0.5, 0.5]))
    assert prices == pytest.approx([(E + 3) / (E + 1) * 2, -(2 + 5 * E) / (E + 1) * 2])
    assert columns == pytest.approx(2 / (E + 1) * np.array([[E, 1], [1, E]]))


def test_weights_that_are_not_positive_are_refused():
    """A column without weight has no price."""
    with pytest.raises(InputError, match="weights must all be positive"):
        cheapest(pure(2, 1.0), np.ones((2, 1)), np.array([1.0, 0.0]))
