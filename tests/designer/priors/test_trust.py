"""The trust that two years' values earn a prior: it covers the truth, small samples earn little, and bad input."""

from typing import Any

import numpy as np
import pytest
from optldp.designer.priors import measure_trust
from optldp.mechanisms import InputError

KNOTS = np.linspace(0, 100, 21)
RNG = np.random.default_rng(7)


def drawn(scale: float, n: int, rng: np.random.Generator = RNG) -> np.ndarray:
    return np.minimum(rng.exponential(scale, n), 100.0)


def test_nothing_changed_earns_almost_full_trust_with_many_values_and_little_with_few():
    found = [measure_trust(drawn(15, n), drawn(15, n), knots=KNOTS).factor for n in (10**3, 10**4, 10**6)]
    assert found[0] > found[1] > found[2]
    assert found[2] < 1.1
    assert 1.5 < found[0] < 4


def test_few_values_are_sure_of_a_smaller_share_and_say_of_which():
    few, many = (measure_trust(drawn(15, n), drawn(15, n), knots=KNOTS) for n in (400, 40_000))
    assert (few.thin, many.thin) == (0.1, 0.01)
    assert few.factor < 5


def test_a_share_that_doubled_needs_a_factor_of_two():
    older = np.repeat([10.0, 50.0], [95_000, 5_000])
    newer = np.repeat([10.0, 50.0], [90_000, 10_000])
    found = measure_trust(older, newer, knots=KNOTS, uniform_share=0.0)
    assert found.observed == pytest.approx(2)
    assert 2 < found.factor < 2.1
    assert found.decided_by[0] <= 50 <= found.decided_by[1]
    assert (found.expected, found.found, found.sure) == (pytest.approx(0.05), pytest.approx(0.1), True)
    other = measure_trust(newer, older, knots=KNOTS, uniform_share=0.0)
    assert 2 < other.factor < 2.15


@pytest.mark.nightly
def test_the_factor_covers_every_set_with_confidence():
    """The true ratio of both the last 1% and every run, over 400 pairs of samples of a population that changed."""
    missed = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        older = drawn(15, 20_000, rng)
        found = measure_trust(older, drawn(17, 3_000, rng), knots=KNOTS, confidence=0.9, uniform_share=0.0)
        for cut in KNOTS[:-1] + 2.5:
            p, q = np.mean(older > cut), np.exp(-cut / 17)
            if p >= 0.01:
                missed += max(p / q, q / p) > found.factor and max(p / q, q / p) > 1
    assert missed <= 0.1 * 400


def test_a_thin_tail_counts_only_where_it_contradicts_the_prior():
    body = np.repeat([10.0, 20.0], [50_000, 50_000])
    few = np.concatenate([body, np.full(5, 90.0)])
    many = np.concatenate([body, np.full(200, 90.0)])
    calm = measure_trust(few, few, knots=KNOTS, uniform_share=0.0)
    assert calm.factor < 1.1
    grown = measure_trust(few, many, knots=KNOTS, uniform_share=0.0)
    assert not grown.sure
    assert 25 < grown.factor < 40
    assert grown.decided_by[1] == 100


def test_where_the_older_prior_had_nobody_the_uniform_share_decides():
    older, newer = np.full(1000, 10.0), np.repeat([10.0, 90.0], [990, 10])
    assert measure_trust(older, newer, knots=KNOTS).factor > 3
    with pytest.raises(InputError, match="a trust needs"):
        measure_trust(np.repeat([10.0, 90.0], [950, 50]), older, knots=KNOTS)


def test_units_do_not_matter():
    older, newer = drawn(15, 5000), drawn(16, 5000)
    plain = measure_trust(older, newer, knots=KNOTS)
    other = measure_trust(1000 * older - 7, 1000 * newer - 7, knots=1000 * KNOTS - 7)
    assert (plain.factor, plain.expected, plain.found) == (other.factor, other.expected, other.found)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, "at least 200 newer values, got 1: give more"),
        ({"older": []}, "older values must be a non-empty"),
        ({"newer": [np.nan]}, "newer values must be finite"),
        ({"newer": [101.0]}, "values must lie in the range"),
        ({"confidence": 1.0}, "confidence must lie strictly between 0 and 1"),
        ({"uniform_share": 1.0}, "the uniform share must lie in"),
    ],
)
def test_bad_input_is_refused(change, message):
    given: Any = {"older": [1.0], "newer": [1.0], "knots": KNOTS} | change
    with pytest.raises(InputError, match=message):
        measure_trust(**given)
