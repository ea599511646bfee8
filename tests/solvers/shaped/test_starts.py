"""Where descents start: the same law in more pieces, and floors of points gathered into few."""

# Lists stand for the arrays of a floor.
# pyright: reportArgumentType=false

from itertools import combinations, pairwise

import numpy as np
import pytest
from optldp.solvers import PieceFloor
from optldp.solvers.shaped.gradient import second_moments
from optldp.solvers.shaped.starts import gathered, grown, shrunk

KNOTS, RATIO = np.linspace(-1, 1, 9), np.e


@pytest.mark.parametrize("symmetric", [True, False])
def test_cutting_a_piece_leaves_the_law_as_it_is(symmetric):
    for floor in (PieceFloor([-4.0], [4.0], [0.5]), PieceFloor([-4.0, -1.0, 2.0], [-2.0, 1.0, 4.0], [0.2, 0.2, 0.2])):
        for more in grown(floor, symmetric, RATIO):
            assert more.low.size > floor.low.size
            np.testing.assert_allclose(
                second_moments(more, KNOTS, RATIO).value, second_moments(floor, KNOTS, RATIO).value, rtol=1e-12
            )


def test_symmetric_floors_stay_symmetric_and_reach_every_number_of_pieces():
    for m in range(1, 7):
        half = np.arange(1, m + 1)
        ends = np.concatenate([-half[::-1], half]).astype(float)
        floor = PieceFloor.of_windows(ends[::2], ends[1::2], np.ones(m), RATIO)
        made = grown(floor, True, RATIO)
        assert m + 1 in {more.low.size for more in made}
        for more in made:
            np.testing.assert_allclose(more.low, -more.high[::-1], atol=1e-12)
            np.testing.assert_allclose(more.mass, more.mass[::-1], rtol=1e-12)


def test_a_new_centre_piece_is_small():
    made = grown(PieceFloor([-3.0, 2.0], [-2.0, 3.0], [0.25, 0.25]), True, RATIO)[-1]
    assert made.low.size == 3
    assert made.mass[1] < 0.05 * made.total
    assert -2.0 < made.low[1] < 0 < made.high[1] < 2.0


def spread(outputs: np.ndarray, floor: np.ndarray) -> float:
    """Least sum of t (y - line)^2, lines in the cumulative mass."""
    u = np.cumsum(floor) - floor / 2
    if outputs.size == 1:
        return 0.0
    design = np.column_stack([np.ones_like(u), u]) * np.sqrt(floor)[:, None]
    rest = np.linalg.lstsq(design, np.sqrt(floor) * outputs, rcond=None)[0]
    return float(((np.sqrt(floor) * outputs - design @ rest) ** 2).sum())


@pytest.mark.parametrize("seed", range(6))
def test_groups_are_those_nearest_to_even_pieces(seed):
    rng = np.random.default_rng(seed)
    outputs, floor = np.cumsum(rng.exponential(1, 8) ** 2), rng.uniform(0.02, 0.1, 8)
    for made in gathered(outputs, floor, 4):
        m = made.low.size
        best = min(
            (sum(spread(outputs[i:j], floor[i:j]) for i, j in pairwise([0, *cut, 8])), [0, *cut, 8])
            for cut in combinations(range(1, 8), m - 1)
        )[1]
        np.testing.assert_allclose(made.mass, [floor[i:j].sum() for i, j in pairwise(best)])


def test_gathering_stops_at_the_number_of_points():
    made = gathered(np.array([-1.0, 1.0]), np.array([0.3, 0.3]), 5)
    assert [floor.low.size for floor in made] == [1, 2]
    assert made[1].low.tolist() == made[1].high.tolist() == [-1.0, 1.0]


@pytest.mark.parametrize(("symmetric", "sizes"), [(False, [2, 2, 2, 2, 2]), (True, [1, 1, 2])])
def test_shrinking_joins_neighbours_or_leaves_a_piece_out(symmetric, sizes):
    """Three pieces: two joins and three left out, or, in mirrored pairs, all joined, both outer ones or the middle."""
    floor = PieceFloor([-4.0, -1.0, 2.0], [-2.0, 1.0, 4.0], [0.2, 0.1, 0.2])
    made = shrunk(floor, symmetric, RATIO)
    assert [less.low.size for less in made] == sizes
    assert made[0].total == pytest.approx(floor.total)
    assert made[0].low[0] == -4.0
    for less in made:
        assert less.in_windows(RATIO).sum() >= 1.01
        if symmetric:
            np.testing.assert_allclose(less.low, -less.high[::-1], atol=1e-12)


def test_of_one_piece_nothing_is_left_out():
    assert shrunk(PieceFloor([-4.0], [4.0], [0.5]), True, RATIO) == []
    assert shrunk(PieceFloor([-4.0], [4.0], [0.5]), False, RATIO) == []
