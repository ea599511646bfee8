"""Priors: exact rounding weights from every kind of input, and what their numbers must obey."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.designer import KnotChoice, Prior
from optldp.designer.priors.prior import DEFAULT_UNIFORM_SHARE
from optldp.mechanisms import InputError
from scipy import stats
from scipy.integrate import quad


def by_loop(values, weights, knots):
    """Weights and rounding, one value at a time, from the definition."""
    mean_weights, rounding = np.zeros(len(knots)), np.zeros(len(knots) - 1)
    for value, weight in zip(values, weights, strict=True):
        for k in range(len(knots) - 1):
            low, high = knots[k], knots[k + 1]
            if low <= value < high or (value == high and k == len(knots) - 2):
                share = (value - low) / (high - low)
                mean_weights[k] += weight * (1 - share)
                mean_weights[k + 1] += weight * share
                rounding[k] += weight * (value - low) * (high - value)
    return mean_weights / sum(weights), rounding / sum(weights)


knot_lists = st.lists(st.integers(-20, 20), min_size=2, max_size=7, unique=True).map(sorted)


@st.composite
def weighted_data(draw):
    knots = np.array(draw(knot_lists), dtype=float)
    positions = draw(st.lists(st.floats(0, 1), min_size=1, max_size=12))
    values = np.clip(knots[0] + np.array(positions) * (knots[-1] - knots[0]), knots[0], knots[-1])
    weights = np.array(draw(st.lists(st.integers(0, 5), min_size=len(values), max_size=len(values))), dtype=float)
    weights[0] += 1
    return knots, values, weights


class TestFromValues:
    @pytest.mark.nightly
    @settings(deadline=None)
    @given(weighted_data())
    def test_pairs_equal_the_definition(self, case):
        knots, values, weights = case
        prior = Prior.from_pairs(values, weights, knots=knots)
        expected_weights, expected_rounding = by_loop(values, weights, knots)
        np.testing.assert_allclose(prior.weights, expected_weights, atol=1e-14)
        np.testing.assert_allclose(prior.rounding, expected_rounding, atol=1e-12)

    @pytest.mark.nightly
    @settings(deadline=None)
    @given(weighted_data())
    def test_data_are_pairs_of_equal_weight(self, case):
        knots, values, weights = case
        repeated = np.repeat(values, weights.astype(int))
        data, pairs = Prior.from_data(repeated, knots=knots), Prior.from_pairs(values, weights, knots=knots)
        np.testing.assert_allclose(data.weights, pairs.weights, atol=1e-14)
        np.testing.assert_allclose(data.rounding, pairs.rounding, atol=1e-12)
        assert data.count == repeated.size

    @pytest.mark.nightly
    @settings(deadline=None)
    @given(weighted_data())
    def test_mean_and_second_moment_are_the_datas_own(self, case):
        knots, values, weights = case
        prior = Prior.from_pairs(values, weights, knots=knots)
        assert prior.mean == pytest.approx(np.average(values, weights=weights), abs=1e-12)
        assert prior.second_moment == pytest.approx(np.average(values**2, weights=weights), abs=1e-11)
        assert prior.weights.sum() == pytest.approx(1.0, abs=1e-15)

    @pytest.mark.nightly
    @settings(deadline=None)
    @given(weighted_data(), st.floats(0.01, 100), st.floats(-50, 50))
    def test_another_unit_changes_no_weight(self, case, scale, shift):
        knots, values, weights = case
        prior = Prior.from_pairs(values, weights, knots=knots)
        grid = scale * knots + shift
        moved = Prior.from_pairs(np.clip(scale * values + shift, grid[0], grid[-1]), weights, knots=grid)
        np.testing.assert_allclose(moved.weights, prior.weights, atol=1e-10)
        np.testing.assert_allclose(moved.rounding, scale**2 * prior.rounding, atol=1e-9 * scale**2)

    def test_a_value_on_a_knot_is_not_rounded(self):
        prior = Prior.from_data([0.0, 1.0, 3.0], knots=[0.0, 1.0, 3.0])
        np.testing.assert_array_equal(prior.weights, np.full(3, 1 / 3))
        assert prior.rounding_variance == 0.0

    def test_default_knots_span_the_data(self):
        prior = Prior.from_data([2.0, 7.0, 3.0])
        assert prior.knots.size == 101
        assert prior.domain == (2.0, 7.0)

    def test_equal_values_are_fine_within_a_range(self):
        prior = Prior.from_data([2.0, 2.0], knots=3, domain=(0.0, 4.0))
        np.testing.assert_array_equal(prior.weights, [0.0, 1.0, 0.0])

    def test_a_million_values_keep_their_moments(self):
        values = np.random.default_rng(0).uniform(0, 1, 1_000_000)
        prior = Prior.from_data(values, knots=401, domain=(0.0, 1.0))
        assert prior.count == 1_000_000
        assert prior.mean == pytest.approx(values.mean(), rel=1e-12)
        assert prior.second_moment == pytest.approx((values**2).mean(), rel=1e-12)


class TestFromHistogram:
    def test_it_is_the_limit_of_many_values_spread_in_the_bins(self):
        edges, counts = np.array([-1.0, 0.5, 0.7, 4.0]), np.array([3, 0, 5])
        knots = np.array([-2.0, 0.0, 0.6, 1.0, 5.0])
        prior = Prior.from_histogram(edges, counts, knots=knots)
        fine = (np.arange(20_000) + 0.5) / 20_000
        values = np.concatenate([-1.0 + 1.5 * fine, 0.7 + 3.3 * fine])
        spread = Prior.from_pairs(values, np.repeat([3.0, 5.0], 20_000), knots=knots)
        np.testing.assert_allclose(prior.weights, spread.weights, atol=1e-8)
        np.testing.assert_allclose(prior.rounding, spread.rounding, atol=1e-7)
        assert prior.count == 8

    def test_its_mean_and_second_moment_are_the_bins(self):
        edges, counts = np.linspace(0, 10, 8), np.array([1, 4, 0, 2, 9, 1, 3])
        prior = Prior.from_histogram(edges, counts, knots=4)
        low, high, share = edges[:-1], edges[1:], counts / counts.sum()
        assert prior.mean == pytest.approx(share @ (low + high) / 2)
        assert prior.second_moment == pytest.approx(share @ (low**2 + low * high + high**2) / 3)

    def test_empty_bins_may_lie_outside_the_range(self):
        prior = Prior.from_histogram([0, 1, 2, 3], [0, 2, 0], knots=2, domain=(1, 2))
        np.testing.assert_allclose(prior.weights, [0.5, 0.5])
        assert prior.rounding[0] == pytest.approx(1 / 6)

    def test_filled_bins_must_lie_inside(self):
        with pytest.raises(InputError, match="bins from 0 to 2"):
            Prior.from_histogram([0, 1, 2], [1, 1], knots=2, domain=(0, 1.5))


class TestFromDistribution:
    CASES = (
        (stats.norm(0, 0.1), (-1.0, 1.0)),
        (stats.norm(0, 1e-4), (-1.0, 1.0)),
        (stats.expon(-1, 1 / 6), (-1.0, 1.0)),
        (stats.beta(0.5, 0.5, loc=-1, scale=2), None),
        (stats.beta(2, 5), None),
        (stats.uniform(3, 2), None),
    )

    @pytest.mark.slow
    @pytest.mark.parametrize("knots", [2, 6, 101])
    @pytest.mark.parametrize(("distribution", "domain"), CASES)
    def test_mean_and_second_moment_are_the_distributions(self, distribution, domain, knots):
        prior = Prior.from_distribution(distribution, knots=knots, domain=domain)
        tail = distribution.sf(prior.knots[-1]) + distribution.cdf(prior.knots[0])
        slack = 1e-10 + 20 * tail
        assert prior.mean == pytest.approx(distribution.mean(), abs=slack)
        assert prior.second_moment == pytest.approx(distribution.moment(2), abs=slack)

    @pytest.mark.parametrize(("distribution", "domain"), [CASES[0], CASES[2], CASES[4]])
    def test_weights_are_integrals_of_hat_functions(self, distribution, domain):
        prior = Prior.from_distribution(distribution, knots=9, domain=domain)
        knots, step = prior.knots, prior.knots[1] - prior.knots[0]
        total = distribution.cdf(knots[-1]) - distribution.cdf(knots[0])
        for k in range(9):
            hat = sum(
                quad(lambda x, c=knots[k]: (1 - abs(x - c) / step) * distribution.pdf(x), a, b, epsabs=1e-13)[0]
                for a, b in ((knots[k] - step, knots[k]), (knots[k], knots[k] + step))
                if a >= knots[0] - 1e-9 and b <= knots[-1] + 1e-9
            )
            assert prior.weights[k] == pytest.approx(hat / total, abs=1e-10)

    def test_far_tails_keep_their_digits(self):
        """Ten standard deviations out, a weight of 1e-20 is still right to six digits, on both sides."""
        prior = Prior.from_distribution(stats.norm(0, 0.1), knots=41, domain=(-1.0, 1.0))
        np.testing.assert_allclose(prior.weights, prior.weights[::-1], rtol=1e-2, atol=1e-15)
        assert prior.weights[0] < 1e-20

    def test_a_discrete_distribution_is_its_pairs(self):
        got = Prior.from_distribution(stats.binom(10, 0.3), knots=4)
        mass = [math.comb(10, k) * 0.3**k * 0.7 ** (10 - k) for k in range(11)]
        expected = Prior.from_pairs(np.arange(11), mass, knots=4)
        np.testing.assert_allclose(got.weights, expected.weights, atol=1e-15)
        np.testing.assert_allclose(got.rounding, expected.rounding, atol=1e-15)

    def test_an_unbounded_support_needs_a_range(self):
        with pytest.raises(InputError, match="needs a range"):
            Prior.from_distribution(stats.norm())

    @pytest.mark.parametrize("distribution", [stats.norm(0, 1), stats.poisson(3)])
    def test_a_range_that_misses_the_distribution_is_refused(self, distribution):
        with pytest.raises(InputError, match="lies outside"):
            Prior.from_distribution(distribution, domain=(-1.0, 1.0))


class TestDerived:
    @pytest.mark.nightly
    @settings(deadline=None)
    @given(weighted_data(), st.data())
    def test_rounding_in_two_steps_is_rounding_in_one(self, case, data):
        knots, values, weights = case
        inner = [k for k in knots[1:-1] if data.draw(st.booleans())]
        coarse = np.array([knots[0], *inner, knots[-1]])
        two = Prior.from_pairs(values, weights, knots=knots, units="m").coarsened(coarse)
        one = Prior.from_pairs(values, weights, knots=coarse, units="m")
        np.testing.assert_allclose(two.weights, one.weights, atol=1e-13)
        np.testing.assert_allclose(two.rounding, one.rounding, atol=1e-11)
        assert (two.units, two.source) == ("m", "sensitive")

    @pytest.mark.parametrize("coarse", [[0, 0.5, 2], [0, 1], [1, 2], [0, 1, 1 + 1e-12, 2]])
    def test_coarse_knots_must_be_some_of_the_fine_ones(self, coarse):
        with pytest.raises(InputError, match="coarse knots"):
            Prior.on_knots([0, 1, 2], [1, 1, 1]).coarsened(coarse)

    def test_coarse_knots_snap_to_the_fine_ones(self):
        fine = Prior.on_knots(np.linspace(0, 1, 101), np.ones(101))
        coarse = fine.coarsened(np.linspace(0, 1, 11))
        assert np.isin(coarse.knots, fine.knots).all()

    @settings(max_examples=30, deadline=None)
    @given(weighted_data(), st.floats(0, 1))
    def test_a_floor_mixes_the_values_with_even_knots(self, case, share):
        knots, values, weights = case
        prior = Prior.from_pairs(values, weights, knots=knots)
        floored = prior.mixed(share)
        assert floored.weights.min() >= share / knots.size * (1 - 1e-12)
        mixed = (1 - share) * prior.second_moment + share * np.mean(knots**2)
        assert floored.second_moment == pytest.approx(mixed, abs=1e-11)
        assert floored.mean == pytest.approx((1 - share) * prior.mean + share * knots.mean(), abs=1e-12)

    def test_the_default_floor_is_one_in_a_thousand_and_zero_changes_nothing(self):
        prior = Prior.on_knots([0, 1], [1, 0])
        assert DEFAULT_UNIFORM_SHARE == 1e-3
        np.testing.assert_allclose(prior.mixed().weights, [0.9995, 0.0005])
        assert prior.mixed(0.0) is prior

    @pytest.mark.parametrize("share", [-0.1, 1.1, math.nan])
    def test_a_floor_outside_zero_to_one_is_refused(self, share):
        with pytest.raises(InputError, match="uniform share"):
            Prior.on_knots([0, 1], [1, 0]).mixed(share)

    def test_the_tables_part_carries_weights_rounding_and_source(self):
        prior = Prior.from_data([0.0, 0.3], knots=2, domain=(0, 1), source="private-report")
        part = prior.knot_prior
        np.testing.assert_array_equal(part.weights, prior.weights)
        np.testing.assert_array_equal(part.rounding, prior.rounding)
        assert part.source == "private-report"

    def test_arrays_are_copies_and_read_only(self):
        knots = np.array([0.0, 1.0])
        prior = Prior.on_knots(knots, [1, 1])
        knots[0] = 5.0
        assert prior.knots[0] == 0.0
        for array in (prior.knots, prior.weights, prior.rounding):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1.0


class TestRefusals:
    @pytest.mark.parametrize(
        ("values", "options", "says"),
        [
            ([], {}, "non-empty"),
            ([[1.0]], {}, "one-dimensional"),
            (["a"], {}, "must be numbers"),
            ([1.0, math.nan], {}, "nan in row 2"),
            ([1.0, math.inf], {}, "inf in row 2"),
            ([3.0, 3.0], {}, "all be equal"),
            ([0.0, 1.0], {"knots": 1}, "at least 2"),
            ([0.0, 1.0], {"knots": [0.0]}, "at least 2"),
            ([0.0, 1.0], {"knots": True}, "whole number"),
            ([0.0, 1.0], {"knots": 2.5}, "whole number"),
            ([0.0, 1.0], {"knots": [0.0, 2.0, 1.0]}, "strictly increasing"),
            ([0.0, 1.0], {"domain": (1.0, 0.0)}, "low < high"),
            ([0.0, 1.0], {"domain": (0.0, 0.0)}, "low < high"),
            ([0.0, 1.0], {"domain": (0.0, math.inf)}, "finite"),
            ([0.0, 1.0], {"domain": (0.0,)}, "two numbers"),
            ([0.0, 1.0], {"domain": (0.0, 2.0), "knots": [0.0, 1.0]}, "begin and end"),
            ([-5.0, 0.5, 9.0, 1.5], {"domain": (0.0, 1.0)}, "got 3 outside it .smallest -5, largest 9"),
            ([0.0, 1e120], {}, "another unit"),
            ([0.0, 1e-120], {}, "another unit"),
            ([1.0, 1.0 + 2e-16], {}, "strictly increasing"),
            ([0.0, 1.0], {"source": "rumour"}, "source"),
        ],
    )
    def test_unusable_data_are_named(self, values, options, says):
        with pytest.raises(InputError, match=says) as caught:
            Prior.from_data(values, **options)
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize(
        ("weights", "says"),
        [
            ([1.0], "one weight"),
            ([1.0, -1.0], "-1 in row 2"),
            ([0.0, 0.0], "positive"),
            ([1.0, math.nan], "nan in row 2"),
            ([1e308, 1e308], "finite sum"),
        ],
    )
    @pytest.mark.parametrize("make", [Prior.from_pairs, Prior.on_knots])
    def test_unusable_weights_are_named(self, make, weights, says):
        with pytest.raises(InputError, match=says):
            make([0.0, 1.0], weights)

    @pytest.mark.parametrize(
        ("weights", "rounding", "says"),
        [
            ([0.5, 0.6], [0.0], "sum to 1"),
            ([0.5, 0.5], [-1.0], "rounding"),
            ([0.5, 0.5], [0.0, 0.0], "rounding"),
        ],
    )
    def test_a_prior_checks_its_own_numbers(self, weights, rounding, says):
        with pytest.raises(InputError, match=says):
            Prior(np.array([0.0, 1.0]), weights, rounding, "public")


class TestOtherKnots:
    """`on` rounds the values themselves anew, wherever they are known."""

    MAKERS = (
        lambda knots: Prior.from_data([0.1, 0.4, 0.45, 0.9], knots=knots, domain=(0, 1), source="public", units="h"),
        lambda knots: Prior.from_pairs([0.2, 0.7], [1, 3], knots=knots, domain=(0, 1), source="public", units="h"),
        lambda knots: Prior.from_histogram([0, 0.3, 1], [3, 1], knots=knots, source="public", units="h"),
        lambda knots: Prior.from_distribution(stats.uniform(0, 1), knots=knots, source="public", units="h"),
    )

    @pytest.mark.parametrize("make", MAKERS)
    @pytest.mark.parametrize("knots", [7, [0, 0.45, 0.5, 1]])
    def test_it_is_the_prior_made_on_those_knots(self, make, knots):
        direct, found = make(knots), make(4).on(13).on(knots)
        for name in ("knots", "weights", "rounding"):
            assert np.array_equal(getattr(found, name), getattr(direct, name))
        assert (found.source, found.units, found.count) == (direct.source, direct.units, direct.count)
        assert np.array_equal(make(4).mixed(0.2).on(knots).weights, direct.mixed(0.2).weights)
        assert np.array_equal(make(4).mixed(0.2).on(knots).rounding, direct.mixed(0.2).rounding)

    def test_values_on_knots_stay_where_they_are(self):
        found = Prior.on_knots([0, 1, 4], [1, 1, 2], source="public").on(5)
        assert np.array_equal(found.weights, [0.25, 0.25, 0, 0, 0.5])
        assert not found.rounding.any()

    @pytest.mark.parametrize("kept", [copy.copy, copy.deepcopy, lambda prior: pickle.loads(pickle.dumps(prior))])
    def test_values_leave_no_process_and_go_into_no_copy(self, kept):
        values = np.array([0.123456789, 0.6])
        prior = Prior.from_data(values, knots=3, domain=(0, 1))
        assert values.tobytes() not in pickle.dumps(prior)
        assert np.array_equal(kept(prior).weights, prior.weights)
        with pytest.raises(InputError, match="where its values are known, got one of weights and rounding alone"):
            kept(prior).on(5)

    def test_another_domain_is_refused(self):
        with pytest.raises(InputError, match=r"the ends of the domain, \[0.0, 1.0\], got \[0.0, 2.0\]"):
            self.MAKERS[0](3).on([0, 1, 2])

    def test_it_is_what_a_choice_of_knots_asks_for(self):
        choice = KnotChoice(self.MAKERS[3](5), gap=1e-3)
        assert choice.on(33).knots.size == 33
