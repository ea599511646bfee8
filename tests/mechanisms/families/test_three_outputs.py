"""The share of zeros in the three-outputs mechanism, and the switch of the hybrid mechanism."""

import math

import numpy as np
import pytest
from optldp.mechanisms import hybrid, three_outputs
from optldp.mechanisms.families.duchi import duchi_variance
from optldp.mechanisms.families.hybrid import SWITCH, hybrid_variance
from optldp.mechanisms.families.three_outputs import three_outputs_variance


def worst_case(zero, epsilon):
    """The largest variance over a fine grid, straight from the formula."""
    ratio, x = math.exp(epsilon), np.linspace(0, 1, 20001)
    bound = (ratio + 1) / ((ratio - 1) * (1 - zero / ratio))
    return np.max(bound**2 * (1 - zero) + bound**2 * zero * (1 - 1 / ratio) * x - x**2)


@pytest.mark.parametrize("epsilon", [0.3, 0.69, 0.7, 0.9, 1.2, 1.5, 1.7, 1.72, 2.5, 6.0])
def test_the_share_of_zeros_is_the_best_that_privacy_allows(epsilon):
    """Against a brute-force search over P0 in [0, E / (E + 2)] and x in [0, 1]."""
    zero = three_outputs([-1, 1], epsilon).provenance.parameters["zero_share"]
    top = math.exp(epsilon) / (math.exp(epsilon) + 2)
    shares = np.linspace(0, top, 401)
    best = min(worst_case(share, epsilon) for share in shares)
    assert worst_case(zero, epsilon) <= best * (1 + 1e-7)
    assert np.max(three_outputs_variance(np.linspace(-1, 1, 4001), epsilon)) == pytest.approx(best, rel=1e-4)


def test_the_share_has_its_three_regimes():
    """Zero up to ln 2, E / (E + 2) from ln((3 + sqrt 65) / 2), continuous in between. Zhao et al. (2021)."""

    def share(epsilon):
        return three_outputs([-1, 1], epsilon).provenance.parameters["zero_share"]

    low, high = math.log(2), math.log((3 + math.sqrt(65)) / 2)
    assert share(low - 1e-6) == 0
    assert 0 < share(low + 1e-4) < 1e-3
    assert share(high + 1e-6) == pytest.approx(math.exp(high) / (math.exp(high) + 2), rel=1e-6)
    assert share(high - 1e-4) == pytest.approx(share(high), abs=1e-3)
    assert share(high - 1e-2) < math.exp(high - 1e-2) / (math.exp(high - 1e-2) + 2)


def test_without_zeros_it_is_duchis_mechanism():
    """Two outputs remain; a column of zero probability is not written."""
    table = three_outputs([-1, 0, 1], 0.5)
    assert table.low.size == 2
    np.testing.assert_allclose(table.knot_variances, duchi_variance([-1, 0, 1], 0.5), rtol=1e-10)


def test_the_hybrid_switches_where_its_two_worst_cases_meet():
    """At the switch, about 0.61, the mixture's flat variance equals Duchi's worst case."""
    assert pytest.approx(0.61, abs=0.005) == SWITCH
    at, above = hybrid_variance(0.0, SWITCH), hybrid_variance(0.0, SWITCH + 1e-9)
    assert above == pytest.approx(at, rel=1e-6)
    assert hybrid([-1, 1], 0.6).is_discrete
    assert not hybrid([-1, 1], 0.62).is_discrete


def test_the_hybrids_points_lie_inside_its_cells():
    """A report equal to Duchi's output is that point; any other belongs to a cell."""
    table = hybrid([-1, 0, 1], 1.5)
    points = np.flatnonzero(table.low == table.high)
    assert points.size == 2
    assert table.output_index(table.low[points]).tolist() == points.tolist()
    assert not np.isin(table.output_index(table.low[points] + 1e-9), points).any()
