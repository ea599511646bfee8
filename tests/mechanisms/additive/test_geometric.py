"""Geometric noise against its formula, and its promise against fractions of all pairs of counts and all reports."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from optldp.designer import Pure
from optldp.mechanisms import (
    Approximate,
    InputError,
    Metric,
    TableError,
    geometric,
    load_table,
    make_exact,
    save_table,
    verify,
)
from optldp.mechanisms.exactness import require_proved
from optldp.mechanisms.integers.exponential import exponential_below

CASES = [(1.0, 20), (0.1, 100), (3.0, 40), (16.0, 3), (1e-6, 50), (0.5, 1)]


@pytest.mark.parametrize(("epsilon", "most"), CASES)
def test_the_promise_is_proved_and_the_noise_is_hardly_wider(epsilon, most):
    """What is kept back for rounding costs less than 1.5% of the budget and of the variance; mostly far less."""
    made = make_exact(geometric(np.arange(most + 1), Metric(epsilon)))
    assert verify(made.mechanism).ok
    assert 0.985 < verify(made.mechanism).kept / epsilon <= 1
    ratio = np.exp(-epsilon)
    np.testing.assert_allclose(made.mechanism.knot_variances, 2 * ratio / (1 - ratio) ** 2, rtol=0.015)
    assert float(made.mean_change) <= max(1e-12 * most, 2.0**-50 * 8 / epsilon)


def test_all_pairs_of_counts_are_within_their_distance():
    """By brute force, with fractions; the law within tails is the same for all."""
    table = make_exact(geometric(np.arange(31), Metric(2.0))).mechanism
    rows = [list(map(int, row)) for row in table.numerators]
    assert min(map(min, rows)) > 0
    for i, k in permutations(range(31), 2):
        limit = exponential_below(min(Fraction(2) * abs(i - k), Fraction(40)))
        assert all(a <= limit * b for a, b in zip(rows[i], rows[k], strict=True))


def test_near_the_count_the_law_is_the_formula():
    """(1 - q) / (1 + q) q^|y - x|, and the tails what is beyond."""
    table = geometric([0, 1, 2, 3, 4], Metric(0.7))
    q = np.exp(-0.7)
    for x in range(5):
        law = (1 - q) / (1 + q) * q ** np.abs(np.arange(5) - x)
        tails = q ** (x + 1) / (1 + q), q ** (5 - x) / (1 + q)
        np.testing.assert_allclose(table.probabilities[x], np.r_[tails[0], law, tails[1]], rtol=1e-5)
    assert table.within.parameters()["ratio"] == pytest.approx(q, rel=1e-5)


def test_the_step_may_be_another_than_one():
    """The budget is per unit of the knots, not per step."""
    wide, narrow = geometric([0, 5, 10], Metric(0.2)), geometric([0, 1, 2], Metric(1.0))
    np.testing.assert_allclose(wide.probabilities, narrow.probabilities, rtol=1e-9)
    np.testing.assert_allclose(wide.knot_variances, 25 * narrow.knot_variances, rtol=1e-9)


def test_counts_between_two_are_refused_without_being_named():
    """A mixture of two rows would be steeper than the promise."""
    table = make_exact(geometric(np.arange(6), Metric(1.0))).mechanism
    assert set(table.sample(np.repeat([0.0, 5.0], 50)) % 1) == {0.0}
    with pytest.raises(
        InputError, match=r"^values must be knots where privacy is promised of these alone, got 1 of 2 between"
    ):
        table.sample([2.0, 2.5])
    with pytest.raises(InputError, match="values must be knots"):
        table.sample([2.0, 2.5], np.random.default_rng(1))


def test_reports_reach_beyond_the_domain_with_the_right_law():
    """Simulated at the lowest count: half of all noise is below it, geometrically."""
    table = make_exact(geometric([0, 1, 2], Metric(0.5))).mechanism
    reports = table.sample(np.zeros(200_000), np.random.default_rng(5))
    q = np.exp(-0.5)
    for y in (-7, -3, -1, 0, 2, 5):
        expected = (1 - q) / (1 + q) * q ** abs(y)
        assert abs((reports == y).mean() - expected) < 5 * np.sqrt(expected / 200_000)


def test_a_saved_table_says_what_it_promises_and_a_forged_one_is_refused(tmp_path):
    """Both forms of a file."""
    table = make_exact(geometric(np.arange(6), Metric(1.0))).mechanism
    for name in ("counts.json", "counts.npz"):
        save_table(table, tmp_path / name)
        assert load_table(tmp_path / name).promise == Metric(1.0)
    with pytest.raises(TableError, match="the log-ratio must be at most 0"):
        require_proved(table, epsilon=Metric(0.9))


@pytest.mark.parametrize(
    ("knots", "promise", "says"),
    [
        ([0, 1, 3], Metric(1.0), "needs equally spaced knots"),
        ([0, 1, 2], Metric(1.0, period=3.0), "is for distances on a line, got epsilon 1 per unit, round a circle of 3"),
        ([0, 1], Pure(1.0), "keeps a promise per unit, got epsilon 1"),
        ([0, 1], Approximate(1.0, 0.1), "keeps a promise per unit, got epsilon 1, delta 0.1"),
        (np.linspace(0, 1e-3, 2001), Metric(1e-6), "the domain must have fewer steps"),
    ],
)
def test_what_it_cannot_keep_is_refused_in_one_line(knots, promise, says):
    """Knots, promises, and domains that whole numbers over 2^53 are too coarse for."""
    with pytest.raises(InputError, match=says):
        geometric(knots, promise)
