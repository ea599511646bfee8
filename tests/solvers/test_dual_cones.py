"""Vectors moved into dual cones: what comes out has no negative product with any point of the cone."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from optldp.solvers.dual_cones import into_dual_cone

DIMS = SimpleNamespace(zero=2, nonneg=3, soc=[3, 2], exp=2)
SIZE = 16
RNG = np.random.default_rng(3)


def points_of_the_cone(number):
    """Drawn from the definitions: zeros; x >= 0; |x| <= t; y exp(x / y) <= z, y > 0."""
    for _ in range(number):
        parts = [np.zeros(2), RNG.exponential(size=3)]
        for size in DIMS.soc:
            x = RNG.normal(size=size - 1)
            parts += [[np.linalg.norm(x) * (1 + RNG.choice([0, 1]) * RNG.exponential())], x]
        for _ in range(DIMS.exp):
            x, y = RNG.normal(scale=3), RNG.exponential() + 1e-3
            power = min(x / y, 50.0)
            parts.append([y * power, y, y * math.exp(power) * (1 + RNG.choice([0, 1]))])
        yield np.concatenate(parts)


POINTS = list(points_of_the_cone(200))
WIDE = st.floats(-1e3, 1e3) | st.floats(-1e-6, 1e-6)


@pytest.mark.slow
@given(arrays(np.float64, SIZE, elements=WIDE), arrays(np.bool_, SIZE))
def test_what_comes_out_lies_in_the_dual_cone(vector, held):
    made = into_dual_cone(vector, DIMS, held)
    assert np.isfinite(made).all()
    for point in POINTS:
        assert made @ point >= -1e-12 * (np.abs(made) @ np.abs(point))


@pytest.mark.nightly
@given(arrays(np.float64, SIZE, elements=WIDE))
def test_what_lies_in_it_stays(vector):
    none = np.zeros(SIZE, dtype=bool)
    made = into_dual_cone(vector, DIMS, none)
    assert into_dual_cone(made, DIMS, none) == pytest.approx(made, rel=1e-13, abs=1e-300)
    assert np.array_equal(made[:2], vector[:2])


def test_entries_to_leave_alone_are_left_where_others_can_move():
    """A norm's bound or what is under it; of an exponential the second entry instead of the third."""
    second = np.array([0, 0, 0, 0, 0, 1.0, 3, 4, 0, 0, -1, 0, 0.01, 0, 0, 0])
    held = np.zeros(SIZE, dtype=bool)
    loose = into_dual_cone(second, DIMS, held)
    assert loose[5] == 1
    assert loose[6:8] == pytest.approx([0.6, 0.8])
    assert loose[10:13] == pytest.approx([-1, 0, math.exp(-1)])
    held[[6, 7, 12]] = True
    made = into_dual_cone(second, DIMS, held)
    assert made[6:8].tolist() == [3, 4]
    assert made[5] == pytest.approx(5)
    assert made[12] == 0.01
    assert made[11] == pytest.approx(-(1 + math.log(0.01)))
