"""Second moments over a floor of pieces and their derivatives, against the rows themselves and finite differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.solvers import PieceFloor
from optldp.solvers.shaped.floor import piece_rows, reach
from optldp.solvers.shaped.gradient import second_moments, upper_reach

SEEDS = st.integers(0, 2**32 - 1)
STEP = 1e-6


def wide_floor(seed: int) -> tuple[PieceFloor, float]:
    """Pieces and gaps of some width: derivatives jump where they vanish."""
    rng = np.random.default_rng(seed)
    m, ratio = int(rng.integers(1, 6)), float(np.exp(rng.uniform(0.3, 4)))
    ends = np.cumsum(rng.uniform(0.2, 1.5, 2 * m))
    ends -= rng.uniform(0.3, 0.7) * ends[-1]
    return PieceFloor.of_windows(ends[::2], ends[1::2], rng.uniform(0.3, 2, m) + 1 / m, ratio), ratio


@pytest.mark.slow
@given(seed=SEEDS)
def test_second_moments_are_those_of_the_rows(seed):
    floor, ratio = wide_floor(seed)
    knots = np.linspace(*reach(floor, ratio), 9)
    low, high, rows = piece_rows(floor, knots, ratio)
    direct = rows @ (((low + high) / 2) ** 2 + (high - low) ** 2 / 12)
    np.testing.assert_allclose(second_moments(floor, knots, ratio).value, direct, rtol=1e-10)


@pytest.mark.nightly
@given(seed=SEEDS)
def test_derivatives_are_finite_differences(seed):
    floor, ratio = wide_floor(seed)
    knots = np.linspace(*reach(floor, ratio), 9)[1:-1]
    exact, top = second_moments(floor, knots, ratio), upper_reach(floor, ratio)
    for j in range(floor.low.size):
        for name in ("mass", "low", "high"):
            size = STEP * (floor.mass[j] if name == "mass" else 1.0)
            sides = []
            for sign in (1, -1):
                parts = {field: np.array(getattr(floor, field)) for field in ("low", "high", "mass")}
                parts[name][j] += sign * size
                sides.append(PieceFloor(**parts))
            moved = [second_moments(side, knots, ratio).value for side in sides]
            found = (moved[0] - moved[1]) / (2 * size)
            wanted = getattr(exact, name)[:, j]
            np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4 * (1 + np.abs(wanted).max()))
            ends = [reach(side, ratio)[1] for side in sides]
            one = getattr(top, name)[0, j]
            np.testing.assert_allclose((ends[0] - ends[1]) / (2 * size), one, rtol=1e-3, atol=1e-4 * (1 + abs(one)))


@pytest.mark.slow
@given(seed=SEEDS, share=st.floats(0.1, 0.9))
def test_second_moments_are_convex_in_the_masses(seed, share):
    floor, ratio = wide_floor(seed)
    rng = np.random.default_rng(seed)
    other = PieceFloor.of_windows(floor.low, floor.high, rng.uniform(0.3, 2, floor.low.size) + 1, ratio)
    between = PieceFloor(floor.low, floor.high, share * floor.mass + (1 - share) * other.mass)
    low, high = (pick(reach(one, ratio)[side] for one in (floor, other)) for side, pick in ((0, max), (1, min)))
    knots = np.linspace(low, high, 7)
    at = [second_moments(one, knots, ratio).value for one in (floor, between, other)]
    chord = share * at[0] + (1 - share) * at[2]
    assert (at[1] <= chord + 1e-9 * np.abs(chord)).all()


@given(seed=SEEDS)
def test_the_topmost_mean_is_the_reach(seed):
    floor, ratio = wide_floor(seed)
    np.testing.assert_allclose(upper_reach(floor, ratio).value[0], reach(floor, ratio)[1], rtol=1e-9, atol=1e-9)
