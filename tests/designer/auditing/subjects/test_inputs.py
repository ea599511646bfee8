"""Which inputs an audit tries, and which pairs of them first."""

import numpy as np
from optldp.designer.auditing.subjects.inputs import (
    END_WEIGHT,
    PAIRS,
    positions_to_try,
    stated_codes,
    values_to_try,
    weights_of,
    worst_pairs,
)
from optldp.mechanisms import Metric, duchi, geometric, laplace, piecewise


def test_all_knots_and_values_between_and_beside_them_are_tried():
    table = piecewise(np.linspace(-1.0, 1.0, 101), 1.0)
    values = values_to_try(table, np.random.default_rng(1))
    assert np.isin(table.knots, values).all()
    assert np.isin((table.knots[:-1] + table.knots[1:]) / 2, values).all()
    assert np.nextafter(1.0, 0) in values
    assert np.signbit(values[values == 0]).tolist() == [False, True]
    assert (values >= -1).all()
    assert (values <= 1).all()
    outside = values_to_try(table, np.random.default_rng(1), outside=True)
    assert set(outside[(outside < -1) | (outside > 1)]) == {-3.0, np.nextafter(-1, -2), np.nextafter(1, 2), 3.0}


def test_a_table_of_more_knots_than_are_tried_keeps_its_ends():
    table = duchi(np.linspace(0.0, 1.0, 1001), 1.0)
    values = values_to_try(table, np.random.default_rng(1))
    assert values.size < 700
    assert (values[0], values[-1]) == (0.0, 1.0)


def test_pairs_are_different_inputs_and_include_the_ends():
    for table in (piecewise(np.linspace(-1, 1, 41), 1.0), laplace(np.linspace(0, 1, 200), 2.0), duchi([0.0, 1.0], 1.0)):
        size = table.knots.size
        pairs = worst_pairs(table.probabilities, np.ones((size, size)), 10**6)
        assert pairs[0] == (0, size - 1)
        assert len(set(pairs)) == len(pairs)
        assert all(a < b for a, b in pairs)


def test_a_promise_per_unit_is_tried_on_knots_alone():
    """Between them the table rounds at random, which no such promise covers."""
    table = geometric(np.arange(-2.0, 3.0), Metric(0.5))
    assert np.unique(values_to_try(table, np.random.default_rng(1))).tolist() == table.knots.tolist()


def test_the_ends_and_what_lies_beyond_are_tried_more_often():
    table = duchi([0.0, 1.0, 2.0], 1.0)
    weights = weights_of(np.array([-1.0, 0.0, 1.0, 2.0, 3.0]), table)
    assert weights.tolist() == [END_WEIGHT, END_WEIGHT, 1.0, END_WEIGHT, END_WEIGHT]


def test_positions_are_all_or_spread_from_the_first_to_the_last():
    few = positions_to_try(1000)
    assert positions_to_try(20).tolist() == list(range(20))
    assert (few[0], few[-1]) == (0, 999)
    assert few.size < 1000
    assert np.ptp(np.diff(few)) <= 1


def test_pairs_of_which_nothing_is_claimed_are_left_out_and_claims_count_against_the_others():
    """Rows 0 and 3 differ most, but nothing is claimed of them; first is what exceeds its claim by most."""
    laws = np.array([[0.9, 0.1], [0.5, 0.5], [0.6, 0.4], [0.1, 0.9]])
    claims = np.zeros((4, 4))
    claims[0, 3] = claims[3, 0] = np.nan
    claims[1, 3] = claims[3, 1] = 10.0
    pairs = worst_pairs(laws, claims, 10**6)
    assert len(pairs) == PAIRS
    assert pairs[0] == (2, 3)
    assert not {(0, 3), (1, 3)} & set(pairs)


def test_stated_codes_rise_with_the_log_ratio_and_impossible_outputs_are_far_out():
    one, other = np.array([0.5, 0.25, 1e-3, 0.0]), np.array([0.25, 0.5, 0.0, 1e-3])
    codes = stated_codes(one, other)
    assert codes[:2].tolist() == [693, -693]
    assert codes[2] == -codes[3] > 600_000
