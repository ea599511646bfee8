"""Designs: every method private, unbiased and no better than the certified bound, in the user's units."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.designer import METHODS, Frequencies, Lattice, Prior, design
from optldp.designer.methods import ClosedForm
from optldp.designer.priors.prior import DEFAULT_UNIFORM_SHARE
from optldp.mechanisms import FAMILIES, InputError, TableError, duchi, load_table, save_table, verify
from optldp.mechanisms.families.ptt import ptt_variance
from optldp.solvers import Status

SEVEN = np.linspace(-1.0, 1.0, 7)
SLOPE = np.arange(1.0, 8.0)

WORST_CASE_PTT = {  # theory: eta and variance of the best type I for the worst case, four digits
    0.5: (2.1337, 21.0582),
    1.0: (2.2888, 5.0657),
    2.0: (2.6906, 1.0922),
    4.0: (4.0918, 0.1618),
}


def sloping(knots: np.ndarray = SEVEN) -> Prior:
    return Prior.on_knots(knots, SLOPE, source="public")


@st.composite
def priors(draw: st.DrawFn) -> Prior:
    """Two to seven equally spaced knots anywhere, with any weights, zeros among them."""
    n = draw(st.integers(2, 7))
    weights = draw(st.lists(st.sampled_from([0.0, 1e-4, 0.1, 1.0]), min_size=n, max_size=n).filter(any))
    low, width = draw(st.sampled_from([(-1.0, 2.0), (0.0, 1e5), (2000.0, 24.0), (-3.0, 1e-3)]))
    return Prior.on_knots(low + width * np.linspace(0, 1, n), weights, source="public")


@pytest.mark.sampled(3)
class TestEveryMethod:
    @pytest.mark.sampled(3)
    @pytest.mark.parametrize("method", METHODS)
    @settings(max_examples=8, deadline=None, derandomize=True)
    @given(
        prior=priors(), epsilon=st.floats(0.05, 8.0), uniform_share=st.sampled_from([0.0, DEFAULT_UNIFORM_SHARE, 0.3])
    )
    def test_it_verifies_is_unbiased_and_never_beats_the_bound(self, method, prior, epsilon, uniform_share):
        made = design(prior, epsilon, method=method, uniform_share=uniform_share)
        checked = verify(made.mechanism)
        if made.mechanism.exact:
            assert checked.ok
        else:  # relabelled on a narrow domain far from zero, its doubles can be too coarse for an exact mean
            assert method in ("square-wave", "grr")
            assert checked.verdict == "not proved"
        assert made.max_log_ratio == checked.max_log_ratio <= epsilon
        assert made.max_abs_bias == checked.max_abs_bias
        assert made.max_abs_bias <= 1e-9 * np.ptp(prior.knots) + 1e-13 * made.worst_case_variance**0.5
        assert made.mechanism.provenance.parameters["unbiased"] is True
        assert made.worst_case_variance == checked.worst_case_variance >= 0.999999 * made.expected_variance
        assert made.bound <= made.value * (1 + 1e-12)
        assert made.gap == (made.value - made.bound) / made.value
        if method == "optimal":
            assert made.status == "optimal"
            assert made.gap <= 1e-6

    @pytest.mark.parametrize("method", METHODS)
    def test_it_says_what_it_is(self, method):
        prior = Prior.on_knots(SEVEN, SLOPE, source="private-report", units="EUR")
        made = design(prior, 1.3, method=method)
        assert (made.method, made.epsilon) == (method, 1.3)
        table = made.mechanism
        assert (table.provenance.method, table.epsilon, table.units) == (method, 1.3, "EUR")
        assert table.prior is not None
        assert table.prior.source == "private-report"
        certificate = table.provenance.certificate
        assert certificate is not None
        for name in ("value", "bound", "gap"):
            assert certificate[name] == getattr(made, name)
        assert certificate["uniform_share"] == DEFAULT_UNIFORM_SHARE
        assert certificate["status"] == made.status == Status.of(made.gap, 1e-6)

    @pytest.mark.parametrize("method", METHODS)
    def test_the_expected_variance_is_the_mean_over_the_data_rounding_included(self, method):
        values = np.random.default_rng(1).gamma(2.0, 3.0, 500).clip(0, 30)
        made = design(Prior.from_data(values, knots=7, domain=(0, 30)), 1.0, method=method)
        assert made.mechanism.var(values).mean() == pytest.approx(made.expected_variance, rel=1e-12)
        assert made.mechanism.mean(values) == pytest.approx(values, abs=1e-7)

    @pytest.mark.parametrize("method", METHODS)
    def test_the_worst_case_is_the_largest_variance_in_the_domain(self, method):
        made = design(sloping(), 2.0, method=method)
        highest = made.mechanism.var(np.linspace(-1, 1, 2001)).max()
        assert highest <= made.worst_case_variance * (1 + 1e-12)
        assert made.worst_case_variance == pytest.approx(highest, rel=1e-3)

    @pytest.mark.sampled(5)
    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize(("scale", "shift"), [(1000.0, 12345.0), (3e-5, -7.0)])
    def test_another_unit_or_range_only_rescales_the_variances(self, method, scale, shift):
        plain = design(sloping(), 1.3, method=method)
        moved = design(sloping(shift + scale * SEVEN), 1.3, method=method)
        for name in ("expected_variance", "value", "bound", "worst_case_variance"):
            assert getattr(moved, name) == pytest.approx(scale**2 * getattr(plain, name), rel=1e-9)

    @pytest.mark.sampled(3)
    @pytest.mark.parametrize("method", METHODS)
    def test_a_unit_of_a_power_of_two_changes_not_one_bit(self, method):
        plain, moved = design(sloping(), 1.3, method=method), design(sloping(1024 * SEVEN), 1.3, method=method)
        assert np.array_equal(plain.mechanism.probabilities, moved.mechanism.probabilities)
        assert np.array_equal(1024 * plain.mechanism.low, moved.mechanism.low)
        assert moved.expected_variance == 1024**2 * plain.expected_variance
        assert moved.bound == 1024**2 * plain.bound

    @pytest.mark.parametrize("method", METHODS)
    def test_it_survives_a_domain_far_from_zero(self, method):
        made = design(Prior.on_knots(1.7e9 + 3600 * np.arange(7), SLOPE, source="public"), 1.0, method=method)
        assert not verify(made.mechanism).failures
        assert made.gap >= 0

    @pytest.mark.sampled(3)
    @pytest.mark.parametrize("method", METHODS)
    def test_its_saved_table_verifies_to_the_same_numbers(self, method, tmp_path):
        made = design(sloping(), 1.0, method=method)
        for name in ("table.json", "table.npz"):
            save_table(made.mechanism, tmp_path / name)
            found = verify(load_table(tmp_path / name))
            assert found.ok
            assert found.max_log_ratio == made.max_log_ratio
            for number in ("expected_variance", "worst_case_variance", "max_abs_bias"):  # sums, in any order
                assert getattr(found, number) == pytest.approx(getattr(made, number), rel=1e-12, abs=1e-14)


class TestFloor:
    POINT_MASS = Prior.on_knots(np.linspace(-1, 1, 11), [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0], source="public")

    def test_variances_are_under_the_priors_own_weights_and_the_bound_under_the_floored(self):
        made = design(self.POINT_MASS, 2.0, uniform_share=0.2)
        own, floored = self.POINT_MASS.knot_prior, self.POINT_MASS.mixed(0.2).knot_prior
        assert made.expected_variance == made.mechanism.expected_variance(own)
        assert made.value == made.mechanism.expected_variance(floored)
        assert made.value > 1.01 * made.expected_variance
        assert 0 <= made.gap <= 1e-6
        assert made.mechanism.prior is not None
        assert np.array_equal(made.mechanism.prior.weights, self.POINT_MASS.weights)

    def test_no_floor_means_no_difference(self):
        made = design(self.POINT_MASS, 2.0, uniform_share=0.0)
        assert made.expected_variance == made.value

    @pytest.mark.slow
    def test_a_larger_uniform_share_buys_a_better_worst_case_with_expected_variance(self):
        none, default, much = (
            design(self.POINT_MASS, 4.0, uniform_share=share) for share in (0.0, DEFAULT_UNIFORM_SHARE, 0.1)
        )
        assert none.worst_case_variance > default.worst_case_variance > 2 * much.worst_case_variance
        assert none.expected_variance < default.expected_variance < much.expected_variance
        assert default.expected_variance < none.expected_variance * (1 + DEFAULT_UNIFORM_SHARE)

    @pytest.mark.slow
    def test_the_uniform_share_reaches_the_lattice_too(self):
        none, much = (design(self.POINT_MASS, 4.0, method="aaa", uniform_share=share) for share in (0.0, 0.3))
        assert none.expected_variance < much.expected_variance
        assert none.worst_case_variance > much.worst_case_variance

    @pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
    def test_a_uniform_share_is_a_share(self, share):
        with pytest.raises(InputError, match="uniform share"):
            design(self.POINT_MASS, 1.0, uniform_share=share)


class TestPiecewiseTransformation:
    @pytest.mark.parametrize("epsilon", list(WORST_CASE_PTT))
    def test_the_worst_case_optimum_is_that_of_theory(self, epsilon):
        eta, variance = WORST_CASE_PTT[epsilon]
        made = design(sloping(), epsilon, method=ClosedForm("ptt", worst_case=True))
        assert made.mechanism.provenance.parameters["eta"] == pytest.approx(eta, abs=5.1e-5)
        assert made.mechanism.var([1.0])[0] == pytest.approx(variance, abs=5.1e-5)

    @pytest.mark.parametrize("method", ["ptt", "ptt2"])
    def test_its_parameter_is_best_for_the_priors_second_moment_about_the_middle(self, method):
        prior = Prior.on_knots([1, 2, 3, 4, 5], [0, 1, 5, 1, 0], source="public")
        made = design(prior, 1.0, method=method, uniform_share=0.0)
        assert made.mechanism.provenance.parameters["second_moment"] == pytest.approx(2 / 7 / 4)
        worst = design(prior, 1.0, method=ClosedForm(method, worst_case=True), uniform_share=0.0)
        assert worst.expected_variance > made.expected_variance
        assert worst.worst_case_variance < made.worst_case_variance

    def test_its_variance_at_the_knots_is_the_closed_form(self):
        made = design(sloping(), 1.0, method="ptt")
        eta = made.mechanism.provenance.parameters["eta"]
        assert isinstance(eta, float)
        expected = ptt_variance(SEVEN, 1.0, eta=eta)
        np.testing.assert_allclose(made.mechanism.knot_variances, expected, rtol=1e-10)


def test_the_worst_case_is_an_option_of_ptt():
    with pytest.raises(InputError, match="worst_case is an option of ptt and ptt2, got method 'duchi'"):
        ClosedForm("duchi", worst_case=True)


class TestLattice:
    def test_its_options_reach_the_program(self):
        prior = Prior.on_knots(np.linspace(-1, 1, 9), np.ones(9), source="public")
        made = design(prior, 1.0, method=Lattice(intervals=4, window=9, ratio=0.9))
        parameters = made.mechanism.provenance.parameters
        assert (parameters["intervals"], parameters["window"], parameters["ratio"]) == (4, 9, 0.9)
        assert len(made.mechanism.knots) == 5
        assert made.mechanism.prior is not None
        np.testing.assert_allclose(made.mechanism.prior.weights, prior.coarsened(prior.knots[::2]).weights)

    def test_knots_far_from_zero_are_equally_spaced_up_to_their_rounding(self):
        prior = Prior.on_knots(1e6 + 0.04 * np.linspace(0, 1, 11), np.ones(11), source="public")
        made = design(prior, 1.0, method="aaa")
        assert len(made.mechanism.knots) == 11
        assert not verify(made.mechanism).failures


class TestMethods:
    def test_every_family_is_one(self):
        assert set(FAMILIES) < set(METHODS)

    def test_one_that_breaks_its_promise_never_becomes_a_design(self, monkeypatch):
        monkeypatch.setitem(FAMILIES, "duchi", lambda knots, epsilon: replace(duchi(knots, 1.01), epsilon=epsilon))
        with pytest.raises(TableError, match=r"the log-ratio must be at most 1, got 1\.0"):
            design(sloping(), 1.0, method="duchi")

    @pytest.mark.nightly
    def test_more_budget_never_hurts(self):
        variances = [design(sloping(), epsilon).expected_variance for epsilon in (0.1, 0.5, 1.0, 1.01, 3.0)]
        assert variances == sorted(variances, reverse=True)

    def test_seconds_are_counted_and_progress_is_told(self):
        steps = []
        made = design(sloping(), 1.0, progress=steps.append)
        assert made.seconds > 0
        assert steps
        assert steps[-1].gap < steps[0].gap

    @pytest.mark.nightly
    def test_an_unreachable_tolerance_is_admitted_and_the_table_is_valid(self):
        made = design(Prior.on_knots([0, 1, 2], [1, 1, 1], source="public"), 1.0, tolerance=1e-15)
        assert made.status == "gap-open"
        assert 1e-15 < made.gap < 1e-9
        assert not verify(made.mechanism).failures

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ({"method": "magic"}, "method must be one of optimal, aaa, .*got 'magic'"),
            ({"method": Lattice(intervals=4)}, "intervals must divide the prior's 6, got 4: try 1, 2, 3, 6"),
            ({"objective": Frequencies()}, "the objective must be one for numbers"),
            ({"tolerance": 0.0}, "tolerance must lie strictly between 0 and 1, got 0.0"),
            ({"tolerance": float("nan")}, "tolerance must lie strictly between 0 and 1, got nan"),
        ],
    )
    def test_a_wrong_option_is_named(self, options, says):
        with pytest.raises(InputError, match=says):
            design(sloping(), 1.0, **options)

    @pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan"), float("inf"), 17.0, 1e-7])
    def test_an_unusable_epsilon_is_refused(self, epsilon):
        with pytest.raises(InputError, match="epsilon"):
            design(sloping(), epsilon)

    def test_a_domain_too_far_from_zero_is_refused_rather_than_biased(self):
        prior = Prior.on_knots(1e6 + 1e-5 * np.arange(7), np.ones(7), source="public")
        with pytest.raises(InputError, match=r"square-wave cannot be unbiased.*subtract an offset"):
            design(prior, 1.0, method="square-wave")
