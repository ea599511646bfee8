"""Rows of L for the combinations seen: kept or formed again, in blocks that cover each row once."""

import numpy as np
import pytest
from optldp.mechanisms import InputError
from optldp.solvers.likelihood import tuples as tuple_likelihood
from optldp.solvers.likelihood.tuples import TupleLikelihood


@pytest.mark.parametrize("kept_bytes", [0, 2**30])
@pytest.mark.parametrize("rows_a_block", [1, 3, 7, 100])
def test_blocks_of_any_size_give_the_same_products(monkeypatch, kept_bytes, rows_a_block):
    """Seven rows, in blocks that divide them and blocks that do not."""
    rng = np.random.default_rng(1)
    views = [rng.dirichlet(np.ones(4), 5) for _ in range(3)]
    outcomes = rng.integers(0, 4, (7, 3))
    matrix = np.prod([view.T[column] for view, column in zip(views, outcomes.T, strict=True)], axis=0)
    monkeypatch.setattr(tuple_likelihood, "BLOCK_BYTES", rows_a_block * 8 * 5)
    likelihood = TupleLikelihood(views, outcomes, np.ones(7), kept_bytes=kept_bytes)
    weights, values = rng.dirichlet(np.ones(5)), rng.random(7)
    np.testing.assert_allclose(likelihood.mix(weights), matrix @ weights, rtol=1e-13)
    np.testing.assert_allclose(likelihood.gather(values), values @ matrix, rtol=1e-13)
    np.testing.assert_allclose(likelihood.curvature(values), (matrix.T * values) @ matrix, rtol=1e-13)
    assert max(len(rows) for _, rows in likelihood.blocks()) == min(7, rows_a_block)


def test_a_product_does_not_change_the_views():
    """Rows are multiplied in place, so they must be copies."""
    views = [np.full((2, 2), 0.5), np.full((2, 2), 0.25)]
    likelihood = TupleLikelihood(views, [[0, 1], [1, 1]], [1, 1], kept_bytes=0)
    first = likelihood.mix(np.array([0.5, 0.5]))
    np.testing.assert_array_equal(likelihood.mix(np.array([0.5, 0.5])), first)
    assert (views[0] == 0.5).all()


@pytest.mark.parametrize(
    ("outcomes", "message"),
    [
        ([[0, 2]], r"outcomes must lie below \[2, 2\]"),
        ([[-1, 0]], r"outcomes must lie below \[2, 2\]"),
        ([[0]], r"outcomes must be integers of shape \(1, 2\), got shape \(1, 1\)"),
        ([[0.0, 1.0]], "outcomes must be integers"),
        ([[0, 1], [1, 1]], r"of shape \(1, 2\), got shape \(2, 2\)"),
    ],
)
def test_outcomes_that_there_are_not_are_refused(outcomes, message):
    view = [[0.5, 0.5]]
    with pytest.raises(InputError, match=message):
        TupleLikelihood([view, view], outcomes, [1])
