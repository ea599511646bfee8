"""L as its jumps: as many as there are runs, and no more digits lost than the ratio of a row costs."""

import numpy as np
import pytest
from optldp.mechanisms import FAMILIES, InputError, square_wave
from optldp.solvers.likelihood import runs
from optldp.solvers.likelihood.runs import RunLikelihood, jumps_of, jumps_of_products


def test_there_is_one_jump_for_each_run():
    rows = np.array([[0.1, 0.1, 0.7, 0.7, 0.1], [0.2, 0.2, 0.2, 0.2, 0.2], [0.0, 0.0, 0.3, 0.2, 0.1]])
    jumps = jumps_of([rows])
    assert np.diff(jumps.indptr).tolist() == [3, 1, 4]
    np.testing.assert_allclose(np.cumsum(jumps.toarray(), axis=1), rows, atol=1e-16)


def test_last_digits_make_no_runs():
    """Equal probabilities that were computed in different ways differ by rounding only."""
    rng = np.random.default_rng(2)
    rows = np.repeat([[0.1, 0.7, 0.1]], 20, axis=1) * (1 + 1e-15 * rng.uniform(-1, 1, 60))
    assert jumps_of([rows]).nnz == 3


@pytest.mark.parametrize("name", ["piecewise", "square-wave", "grr", "pm-sub", "ptt"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 8.0])
def test_products_lose_no_more_digits_than_the_ratio_costs(name, epsilon):
    """The error, in units of the last place times e^epsilon, for weights that the windows must tell apart."""
    rows = np.ascontiguousarray(FAMILIES[name](np.linspace(-1, 1, 101), epsilon).probabilities.T)
    jumps = jumps_of([rows])
    assert jumps.nnz < 0.1 * rows.size
    likelihood = RunLikelihood(jumps, np.ones(len(rows)))
    weights = np.random.default_rng(0).dirichlet(np.full(101, 0.05))
    allowed = 16 * 2.0**-52 * np.exp(epsilon)
    np.testing.assert_allclose(likelihood.mix(weights), rows @ weights, rtol=allowed)


@pytest.mark.parametrize(("counts", "scale"), [([1], None), ([1, 1], [1.0]), ([1, 1], [[1.0, 1.0, 1.0]])])
def test_counts_or_scales_of_another_length_are_refused(counts, scale):
    with pytest.raises(InputError, match=r"counts must be 2, as many as rows, and a scale 3"):
        RunLikelihood(jumps_of([np.full((2, 3), 0.5)]), counts, scale)


def test_products_of_jumps_are_kept_where_there_is_room(monkeypatch):
    """And the curvature is the same without them, rows of no jumps among the others."""
    rows = square_wave(np.linspace(-1, 1, 33), 1.0).probabilities.T.copy()
    rows[3] = 0.0
    values = np.random.default_rng(0).random(len(rows))
    kept = RunLikelihood(jumps_of([rows]), np.ones(len(rows))).curvature(values)
    monkeypatch.setattr(runs, "MOST_PAIRS", 0)
    formed = RunLikelihood(jumps_of([rows]), np.ones(len(rows))).curvature(values)
    np.testing.assert_allclose(kept, formed, rtol=1e-12)
    np.testing.assert_allclose(kept, rows.T * values @ rows, rtol=1e-12)


@pytest.mark.parametrize("views", [1, 2, 3])
def test_products_of_views_jump_where_these_do(views, monkeypatch):
    """As the rows themselves do, zeros and blocks of rows among them, and mixes and curvature follow."""
    monkeypatch.setattr(runs, "BLOCK_ROWS", 7)
    rng = np.random.default_rng(views)
    tables = [np.repeat(rng.integers(0, 4, (6, 5)) / 4.0, rng.integers(1, 6, 6), axis=0) for _ in range(views)]
    size = min(len(table) for table in tables)
    tables = [table[:size] for table in tables]
    outcomes = rng.integers(0, 5, (40, views))
    rows = np.prod([table[:, own].T for table, own in zip(tables, outcomes.T, strict=True)], axis=0)
    jumps = jumps_of_products(tables, outcomes)
    np.testing.assert_allclose(np.cumsum(jumps.toarray(), axis=1), rows, atol=1e-15)
    assert jumps.nnz <= sum(jumps_of([table.T[own]]).nnz for table, own in zip(tables, outcomes.T, strict=True))
    values = rng.random(40)
    found = RunLikelihood(jumps, np.ones(40)).curvature(values)
    np.testing.assert_allclose(found, rows.T * values @ rows, atol=1e-12)
