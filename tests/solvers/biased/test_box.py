"""Centres of boxes, and members near any weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.mechanisms import InputError
from optldp.solvers.biased import trusted
from optldp.solvers.biased.box import analytic_centre, member, widened
from optldp.solvers.robust import BoxSet


@settings(max_examples=50, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_centre_and_members_lie_in_the_box(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    p = rng.dirichlet(np.full(n, rng.choice([0.1, 1, 10])))
    box = widened(trusted(p, 1 + float(10 ** rng.uniform(-3, 3))))
    centre = analytic_centre(box)
    assert centre.sum() == pytest.approx(1, abs=1e-9)
    assert np.all((centre > box.low) & (centre < box.high))
    slope = 1 / (box.high - centre) - 1 / (centre - box.low)
    np.testing.assert_allclose(slope * (box.high - centre), slope.mean() * (box.high - centre), atol=1e-3)
    near = member(box, centre + 0.01 * rng.normal(size=n))
    assert near.sum() == pytest.approx(1, abs=1e-12)
    assert np.all((near >= box.low) & (near <= box.high))


def test_a_box_of_one_prior_has_no_centre():
    with pytest.raises(InputError, match="room for more than one prior"):
        analytic_centre(BoxSet(np.full(4, 0.25), np.full(4, 0.25)))
