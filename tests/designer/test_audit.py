"""The black-box audit: real samplers pass, broken ones are caught, and what it says of chance is so."""

import math

import numpy as np
import pytest
from optldp.designer import Prior, design
from optldp.designer.audit import audit, log_ratio_bound, worst_pairs
from optldp.mechanisms import FAMILIES, InputError, TabulatedMechanism, duchi, laplace, piecewise
from scipy import stats

KNOTS = np.linspace(-1.0, 1.0, 41)
PRIOR = Prior.on_knots(KNOTS, np.exp(-8 * KNOTS**2), source="public")


@pytest.fixture(scope="module")
def optimal():
    return design(PRIOR, 1.0).mechanism


def seeded(table, seed):
    """The table's sampler as a simulation."""
    rng = np.random.default_rng(seed)
    return lambda x: table.sample(x, rng)


@pytest.mark.parametrize("method", ["optimal", "aaa", "laplace", "piecewise"])
def test_the_real_sampler_passes_and_most_of_its_epsilon_is_seen(method):
    """By the operating system's generator; at least nine tenths of the budget is found to be spent."""
    table = design(PRIOR, 1.0, method=method).mechanism
    found = audit(table, confidence=0.999999)
    assert found.ok
    assert 0.9 < found.lower_bound <= 1.0
    assert found.foreign == 0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_tails_that_are_cut_are_caught(seed):
    """As in released code: noise beyond a distance is drawn again, so some reports betray what the value is not."""
    lattice = design(PRIOR, 1.0, method="laplace").mechanism
    assert lattice.within.kind == "geometric-tails"
    rng = np.random.default_rng(seed)
    reach = np.quantile(np.abs(lattice.sample(np.ones(10**5), rng) - 1), 0.98)

    def cut(x):
        reports = lattice.sample(x, rng)
        while (far := np.abs(reports - x) > reach).any():
            reports[far] = lattice.sample(x[far], rng)
        return reports

    assert 0.001 < np.mean(np.abs(lattice.sample(np.ones(10**5), rng) - 1) > reach) < 0.03
    found = audit(lattice, cut)
    assert not found.ok
    assert found.lower_bound > 2
    assert audit(lattice, seeded(lattice, seed)).ok


@pytest.mark.parametrize("method", ["optimal", "aaa", "piecewise"])
def test_an_epsilon_claimed_a_tenth_too_small_is_caught(method):
    """The sampler spends 1 and claims 0.9."""
    table = design(PRIOR, 1.0, method=method).mechanism
    assert not audit(table, seeded(table, 5), epsilon=0.9).ok
    assert audit(table, seeded(table, 5), epsilon=1.0).ok


def test_reports_that_are_no_outputs_betray_the_input_that_sends_them(optimal):
    """An offset of the input in the low bits of the report."""
    sampler = seeded(optimal, 6)
    found = audit(optimal, lambda x: sampler(x) + np.where(x > 0.9, 1e-9, 0.0), samples=100_000)
    assert not found.ok
    assert found.lower_bound > 5
    assert found.foreign == found.trials


def test_a_sampler_without_noise_is_caught_with_few_samples():
    """Whoever reports the truth is at an infinite epsilon."""
    found = audit(FAMILIES["grr"](KNOTS, 1.0), lambda x: x, samples=4000)
    assert not found.ok
    assert found.lower_bound > 5


def test_no_more_audits_fail_by_chance_than_the_confidence_allows():
    """Four hundred audits of a sampler exactly at its epsilon, at confidence 0.8: at most a fifth of them may fail."""
    table = duchi([0.0, 1.0], 0.5)
    failed = sum(not audit(table, seeded(table, k), samples=2000, confidence=0.8).ok for k in range(400))
    assert failed < stats.binom(400, 0.2).ppf(0.999)
    assert failed > 0


def test_the_bound_is_clopper_and_pearsons():
    """Against scipy's own exact interval."""
    for inside, other, trials in ((0, 3, 10), (10, 0, 10), (7, 2, 50), (50, 50, 50)):
        one = stats.binomtest(inside, trials).proportion_ci(0.98, method="exact").low
        two = stats.binomtest(other, trials).proportion_ci(0.98, method="exact").high
        with np.errstate(divide="ignore"):
            expected = np.log(one) - np.log(two)
        assert log_ratio_bound(np.array([inside]), np.array([other]), trials, 0.01)[0] == pytest.approx(expected)


def test_pairs_are_different_inputs_and_include_the_ends(optimal):
    """And the pair of largest ratio at an output that is likely enough."""
    for table in (optimal, laplace(np.linspace(0, 1, 200), 2.0), duchi([0.0, 1.0], 1.0)):
        pairs = worst_pairs(table, 10**6)
        assert pairs[0] == (0, table.knots.size - 1)
        assert len(set(pairs)) == len(pairs)
        assert all(a < b for a, b in pairs)


def test_the_pair_that_leaks_is_found_among_many():
    """Only knots 3 and 4 differ: by a factor of two at one output."""
    matrix = np.full((6, 3), 1 / 3)
    matrix[3], matrix[4] = [0.4, 0.2, 0.4], [0.2, 0.4, 0.4]
    table = TabulatedMechanism.from_points(np.arange(6.0), np.arange(3.0), matrix, 1.0)
    assert (3, 4) in worst_pairs(table, 10**5)
    found = audit(table, seeded(table, 7), samples=200_000)
    assert set(found.inputs) == {3.0, 4.0}
    assert found.lower_bound == pytest.approx(math.log(2), abs=0.1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": 999}, "at least 1000, got 999"),
        ({"samples": 1e6}, "whole number of at least 1000, got 1000000.0"),
        ({"confidence": 1.0}, "strictly between 0 and 1, got 1.0"),
        ({"epsilon": 0.0}, "epsilon must be positive"),
    ],
)
def test_options_that_are_not_usable_are_refused(options, message):
    """Before anything is drawn."""
    with pytest.raises(InputError, match=message):
        audit(piecewise([0.0, 1.0], 1.0), **options)
