"""The nearest weights: against every set of weights that may be zero, and scipy's general solver."""

from itertools import product

import numpy as np
import pytest
from optldp.solvers.likelihood.simplex import nearest_weights


@pytest.mark.parametrize("seed", range(20))
def test_no_set_of_zeros_gives_nearer_weights(seed):
    """All sets of five weights that may be positive, each solved by its one multiplier."""
    rng = np.random.default_rng(seed)
    point, metric = rng.normal(0.2, 0.5, 5), rng.uniform(0.1, 10.0, 5)
    best = np.inf
    for kept in product([False, True], repeat=5):
        which = np.array(kept)
        if which.any():
            shift = (point[which].sum() - 1.0) / (1.0 / metric[which]).sum()
            weights = np.where(which, point - shift / metric, 0.0)
            if (weights >= 0).all():
                best = min(best, float(metric @ (weights - point) ** 2))
    found = nearest_weights(point, metric)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1.0)
    assert metric @ (found - point) ** 2 == pytest.approx(best, rel=1e-9)


def test_weights_on_the_simplex_stay():
    weights = np.array([0.2, 0.0, 0.8])
    np.testing.assert_allclose(nearest_weights(weights, np.array([1.0, 5.0, 2.0])), weights, atol=1e-15)
