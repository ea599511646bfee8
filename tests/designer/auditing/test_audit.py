"""The black-box audit: real samplers pass, most of what they spend is seen, and what it says of chance is so."""

import math

import numpy as np
import pytest
from optldp.designer import Prior, design
from optldp.designer.auditing.audit import audit
from optldp.designer.auditing.bounds import certain_bound
from optldp.mechanisms import (
    FAMILIES,
    Approximate,
    InputError,
    Metric,
    PersonalisedMechanism,
    TabulatedMechanism,
    duchi,
    gaussian,
    geometric,
    grr,
    make_exact,
    piecewise,
)
from optldp.mechanisms.categorical import basic_rappor, categorical_grr
from optldp.mechanisms.promise import Sensitive
from scipy import stats

from ...small_channels import OF_PAIRS

KNOTS = np.linspace(-1.0, 1.0, 41)
PRIOR = Prior.on_knots(KNOTS, np.exp(-8 * KNOTS**2), source="public")


def exact(table):
    return make_exact(table).mechanism


def seeded(table, seed):
    """The table's sampler as a simulation."""
    rng = np.random.default_rng(seed)
    return lambda x: table.sample(x, rng)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "method", ["optimal", "laplace", *(pytest.param(each, marks=pytest.mark.nightly) for each in ("aaa", "piecewise"))]
)
def test_the_real_sampler_passes_and_most_of_its_epsilon_is_seen(method):
    """By the operating system's generator, a million reports; nine tenths of the budget are seen to be spent."""
    table = design(PRIOR, 1.0, method=method).mechanism
    found = audit(table, confidence=0.999999)
    assert found.ok
    assert 0.9 < found.lower_bound <= 1.0
    assert found.foreign == 0


@pytest.mark.nightly
def test_a_sampler_without_noise_is_caught_with_few_samples():
    """Whoever reports the truth is at an infinite epsilon."""
    found = audit(exact(FAMILIES["grr"](KNOTS, 1.0)), lambda x: x, samples=4000)
    assert not found.ok
    assert found.lower_bound > 3


@pytest.mark.nightly
@pytest.mark.parametrize("audits", [4, pytest.param(20, marks=pytest.mark.nightly)])
def test_no_more_audits_fail_by_chance_than_the_confidence_allows(audits):
    """Audits of a sampler exactly at its epsilon, at confidence 0.8: at most a fifth of them may fail."""
    table = exact(duchi([0.0, 1.0], 0.5))
    failed = 0
    for seed in range(audits):
        rng = np.random.default_rng(seed)
        failed += not audit(table, seeded(table, seed), samples=2000, confidence=0.8, rng=rng).ok
    assert failed < stats.binom(audits, 0.2).ppf(0.999)


def test_the_bound_is_clopper_and_pearsons():
    """Against scipy's own exact interval of the share that the first input has."""
    for inside, other in ((0, 3), (10, 0), (7, 2), (50, 50), (5000, 1)):
        share = stats.binomtest(inside, inside + other).proportion_ci(0.98, method="exact").low
        expected = math.log(share / (1 - share)) if share else -math.inf
        assert certain_bound(inside, other, 0.01) == pytest.approx(expected)


def test_the_bound_fails_no_more_often_than_its_risk():
    """Probabilities 0.3 and 0.1 of an event: the bound exceeds log 3 in at most a tenth of the cases."""
    rng = np.random.default_rng(1)
    first = rng.binomial(1000, 0.5, 2000)
    counts = rng.binomial(first, 0.3), rng.binomial(1000 - first, 0.1)
    above = sum(certain_bound(one, other, 0.1) > math.log(3) for one, other in np.array(counts).T.tolist())
    assert 0.05 * 2000 < above < stats.binom(2000, 0.1).ppf(0.999)


@pytest.mark.nightly
def test_the_pair_that_differs_is_found_among_many():
    """Only knots 3 and 4 differ: by a factor of two at one output."""
    matrix = np.full((6, 3), 1 / 3)
    matrix[3], matrix[4] = [0.4, 0.2, 0.4], [0.2, 0.4, 0.4]
    table = exact(TabulatedMechanism.from_points(np.arange(6.0), np.arange(3.0), matrix, 1.0))
    found = audit(table, seeded(table, 7), samples=200_000, rng=np.random.default_rng(7))
    assert sorted(found.inputs) == pytest.approx([3.0, 4.0], abs=1e-9)
    assert found.lower_bound == pytest.approx(math.log(2), abs=0.1)


@pytest.mark.slow
def test_each_level_is_held_to_its_own_budget():
    """A level that spends what another one claims is above its claim; what is printed is that level's claim."""
    levels = [categorical_grr(list("abc"), epsilon) for epsilon in (0.5, 1.0)]
    sharp = PersonalisedMechanism([categorical_grr(list("abc"), 1.0), categorical_grr(list("abc"), 2.0)], 0.5)
    made = PersonalisedMechanism(levels, 0.5)
    found = audit(made, lambda v, i: sharp.sample(v, i, np.random.default_rng(1)), samples=50_000)
    assert not found.ok
    assert found.epsilon in (0.5, 1.0)
    assert all("at level" in words for words in found.inputs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": 1999}, "at least 2000, got 1999"),
        ({"samples": 1e6}, "whole number of at least 2000, got 1000000.0"),
        ({"confidence": 1.0}, "strictly between 0 and 1, got 1.0"),
        ({"epsilon": 0.0}, "epsilon must be positive"),
        ({"draw": lambda x: x[:-1]}, "must return one report for each of .* values, got shape"),
        ({"draw": lambda x: ["banana"] * len(x)}, "must return numbers, got list of something else"),
    ],
)
def test_options_that_are_not_usable_are_refused(options, message):
    """In one line."""
    with pytest.raises(InputError, match=message):
        audit(exact(piecewise([0.0, 1.0], 1.0)), **options)


def test_what_a_bundle_has_no_use_for_is_refused():
    oracle = basic_rappor(["a", "b"], 1.0)
    with pytest.raises(InputError, match="values outside the domain are for tables"):
        audit(oracle, outside=True)
    with pytest.raises(InputError, match="every level has a claim of its own"):
        audit(PersonalisedMechanism([oracle, basic_rappor(["a", "b"], 2.0)]), epsilon=1.0)
    with pytest.raises(InputError, match=r"must return \(.*, 1\) whole numbers"):
        audit(oracle, lambda labels: np.zeros(len(labels)))


class TestOtherPromises:
    """What is claimed per unit is held against the distance of two inputs; what has a delta is for `verify`."""

    @pytest.mark.nightly
    def test_privacy_per_unit_is_claimed_of_knots_by_their_distance(self):
        """The real sampler passes; one of twice the budget per unit does not, at any two neighbours."""
        counts = np.arange(5)
        table, steeper = (exact(geometric(counts, Metric(epsilon))) for epsilon in (0.5, 1.0))
        assert audit(table, seeded(table, 3), samples=20_000, rng=np.random.default_rng(4)).ok
        found = audit(table, seeded(steeper, 3), samples=20_000, rng=np.random.default_rng(4))
        assert not found.ok
        assert found.epsilon == 0.5 * abs(found.inputs[0] - found.inputs[1]) < found.lower_bound

    @pytest.mark.nightly
    @pytest.mark.parametrize("name", ["sensitive", "blocks"])
    def test_what_is_promised_of_pairs_is_claimed_of_each_by_itself(self, name):
        """A sampler that keeps what the others may be told passes; one of twice the budgets does not."""
        table = OF_PAIRS[name]
        steeper = make_exact(grr(table.knots, 4.0)).mechanism
        assert audit(table, seeded(table, 3), samples=20_000, rng=np.random.default_rng(4)).ok
        found = audit(table, seeded(steeper, 3), samples=20_000, rng=np.random.default_rng(4))
        assert not found.ok
        first, second = (int(np.flatnonzero(table.knots == value)[0]) for value in found.inputs)
        assert found.epsilon == table.promise.limits(table.knots)[first, second] < found.lower_bound

    @pytest.mark.nightly
    def test_a_report_that_only_other_values_have_is_no_breach_of_a_sensitive_ones_promise(self):
        """One of the two orders of a pair is promised, and the other is not."""
        promise = Sensitive(1.0, [True, True, False])
        told = [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.25, 0.25, 0.5]]
        points = np.arange(3.0)
        table = exact(TabulatedMechanism.from_points(points, points, told, 1.0, promise=promise))
        turned = TabulatedMechanism.from_points(points, points, told[::-1], 1.0)
        assert audit(table, seeded(table, 3), samples=20_000, rng=np.random.default_rng(4)).ok
        found = audit(table, seeded(turned, 3), samples=20_000, rng=np.random.default_rng(4))
        assert not found.ok
        assert found.inputs[0] == 0.0
        assert found.epsilon == 1.0

    def test_budgets_that_a_promise_carries_are_no_claim_to_choose(self):
        with pytest.raises(InputError, match="has claims of its own for each pair of values: leave epsilon out"):
            audit(OF_PAIRS["blocks"], epsilon=1.0, samples=2000)

    def test_a_promise_with_a_delta_bounds_no_ratio(self):
        """One line, and where to go."""
        with pytest.raises(InputError, match=r"promise of epsilon 1, delta 0\.001 does not bound: use verify"):
            audit(exact(gaussian([0, 1], Approximate(1.0, 1e-3))), samples=2000)
