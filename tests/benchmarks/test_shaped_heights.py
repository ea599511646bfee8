"""OPTT's first question by linear programming: more heights than two, common or each value's own, gain nothing."""

import math

import numpy as np
import pytest
from designs.shaped_heights import cheapest_heights
from optldp.mechanisms import SolverError
from optldp.mechanisms.families.ptt import optimal_eta, ptt_variance, window_shape
from optldp.mechanisms.families.ptt2 import ptt2_variance

EPSILONS = (0.5, 1.0, 2.0, 4.0)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("cells", [20, 41])
def test_all_heights_of_a_common_shape_but_two_are_the_floor_or_the_ceiling(epsilon, cells):
    ratio = math.exp(epsilon)
    k, a = window_shape(ratio - 1, 2.5, kind=1)
    side = k + 1.7 * a
    heights, _ = cheapest_heights(
        np.linspace(-1.7 * a, 1.7 * a, cells + 1), (1 - 1 / k) / (2 * side), ratio, 1 / k, 0.0
    )
    between = (heights > 1 + 1e-7) & (heights < ratio * (1 - 1e-7))
    assert between.sum() <= 2
    raised = np.flatnonzero(heights > 1 + 1e-7)
    np.testing.assert_array_equal(raised, np.arange(raised[0], raised[-1] + 1))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("second_moment", [0.0, 0.3, 1.0])
def test_no_common_shape_beats_ptt_whatever_its_stretch_and_width(epsilon, second_moment):
    """And a tent does not come near."""
    ratio = math.exp(epsilon)
    eta = optimal_eta(epsilon, second_moment)
    x = math.sqrt(second_moment)
    best = float(ptt_variance(x, epsilon, eta))
    for other in (1.3, 0.8 * eta, eta, 1.2 * eta):
        if other <= 1:
            continue
        k, a = window_shape(ratio - 1, other, kind=1)
        for wider in (1.0, 1.2, 2.0):
            side = k + wider * a
            density = (1 - 1 / k) / (2 * side)
            edges = np.linspace(-wider * a, wider * a, 61)
            _, second = cheapest_heights(edges, density * (1 + 1e-12), ratio, 1 / k, 0.0)
            variance = (k - 1) * second_moment + 2 * density * side**3 / 3 + second
            assert variance >= best * (1 - 1e-9)
            if other == eta and wider == 1.0:
                assert variance == pytest.approx(best, rel=1e-9)
    assert ptt2_variance(x, epsilon, optimal_eta(epsilon, second_moment, kind=2)) > best


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("x", [-1.0, -0.6, 0.0, 0.35, 1.0])
def test_over_a_uniform_floor_every_value_wants_ptts_window(epsilon, x):
    """Heights of the value's own on 400 cells over the whole range, near its ends too."""
    ratio, eta = math.exp(epsilon), 2.2
    k, a = window_shape(ratio - 1, eta, kind=1)
    side = k + a
    density = (1 - 1 / k) / (2 * side)
    edges = np.unique(np.append(np.linspace(-side, side, 401), np.clip([k * x - a, k * x + a], -side, side)))
    heights, second = cheapest_heights(edges, density, ratio, 1 / k, x)
    variance = 2 * density * side**3 / 3 + second - x**2
    assert variance == pytest.approx(float(ptt_variance(x, epsilon, eta)), rel=1e-8)
    middle = (edges[1:] + edges[:-1]) / 2
    inside = np.abs(middle - k * x) < a
    wide = np.diff(edges) > 1e-9
    np.testing.assert_allclose(heights[wide], np.where(inside, ratio, 1.0)[wide], rtol=1e-5)


def test_without_room_there_are_no_heights():
    with pytest.raises(SolverError):
        cheapest_heights(np.linspace(-1, 1, 5), 0.1, 2.0, 0.3, 0.0)
