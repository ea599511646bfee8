"""Values sorted once: their sums on any knots are those of the values one by one, whichever blocks the knots divide."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.designer import Prior
from optldp.designer.priors import held_values
from optldp.designer.priors.held_values import HeldValues
from optldp.designer.priors.rounding import round_values


@pytest.mark.parametrize("weighted", [False, True])
@settings(max_examples=60, deadline=None)
@given(
    size=st.integers(1, 60),
    places=st.integers(1, 200),
    inner=st.lists(st.integers(1, 199), max_size=8, unique=True),
    seed=st.integers(0, 10**6),
    block=st.sampled_from([1, 2, 5, 1024]),
)
def test_any_knots_are_as_the_values_one_by_one(weighted, size, places, inner, seed, block):
    """Repeated values, values on knots and at both ends, gaps, blocks of one value and of all."""
    rng = np.random.default_rng(seed)
    values = np.append(rng.integers(0, places, size, endpoint=True) / places, [0.0, 1.0])
    weights = rng.integers(0, 4, values.size) + 1.0 * (np.arange(values.size) == 0) if weighted else None
    knots = np.array([0.0, *sorted(inner), 200.0]) / 200
    expected = round_values(values, np.ones(values.size) if weights is None else weights, knots)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(held_values, "BLOCK", block)
        held = HeldValues(values.copy(), weights)
        for found, wanted in zip(held.rounded(knots), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=0, atol=4e-16 * values.size)


def test_distinct_values_of_many_blocks_keep_their_digits():
    """A hundred thousand different values: weights to 1e-15, rounding to 1e-14 of an interval's own."""
    values = np.random.default_rng(1).normal(0.3, 0.1, 100_000).clip(-1, 1)
    knots = np.linspace(-1, 1, 101)
    weights, rounding = HeldValues(values.copy()).rounded(knots)
    one_by_one = round_values(values, np.ones(values.size), knots)
    np.testing.assert_allclose(weights, one_by_one[0], rtol=1e-12, atol=1e-16)
    np.testing.assert_allclose(rounding, one_by_one[1], rtol=1e-12, atol=1e-18)


def test_whole_numbers_on_their_knots_are_not_rounded():
    """Exactly nothing, with more of them than a block holds, so that a default design can take them as its knots."""
    values = np.arange(5001.0)
    prior = Prior.from_data(np.tile(values, 3), domain=(0, 5000))
    assert prior.on(5001).rounding_variance == 0.0
    assert prior.on(2501).rounding_variance > 0.0


def test_values_are_left_as_they_were_given():
    values = np.array([3.0, 1.0, 2.0])
    Prior.from_data(values)
    assert values.tolist() == [3.0, 1.0, 2.0]
