"""The full table of combinations: cut where it is smallest, refused in another shape."""

import numpy as np
import pytest
from optldp.mechanisms import InputError
from optldp.solvers.likelihood.dense import DenseLikelihood


@pytest.mark.parametrize("sizes", [(2, 5, 5), (5, 5, 2), (3, 1, 4), (7,), (2, 2, 2, 2, 2)])
def test_combinations_are_in_the_order_of_the_counts_axes(sizes):
    """Each outcome's probability is its number in the table, so a wrong order shows."""
    rng = np.random.default_rng(0)
    views = [rng.dirichlet(np.ones(size), 3) for size in sizes]
    likelihood = DenseLikelihood(views, np.ones(sizes))
    for k in range(3):
        expected = np.ones(())
        for view in views:
            expected = np.multiply.outer(expected, view[k])
        np.testing.assert_allclose(likelihood.mix(np.eye(3)[k]), expected.reshape(-1), rtol=1e-14)


def test_only_the_square_root_of_the_combinations_is_stored():
    """Views of 2, 64 and 64 outcomes: sides of 128 and 64 rows, not one of 8192."""
    views = [np.full((4, size), 1 / size) for size in (2, 64, 64)]
    likelihood = DenseLikelihood(views, np.ones((2, 64, 64)))
    stored = sum(value.size for value in vars(likelihood).values() if isinstance(value, np.ndarray) and value.ndim == 2)
    assert stored == 4 * (128 + 64)


def test_counts_of_another_shape_are_refused():
    view = [[0.5, 0.5]]
    with pytest.raises(InputError, match=r"counts must have shape \(2, 2\), one axis for each view, got \(4,\)"):
        DenseLikelihood([view, view], [1, 1, 1, 1])
