"""The one free parameter of the piecewise transformation technique, and its optimum."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.mechanisms import InputError, piecewise, pm_sub, ptt, ptt2
from optldp.mechanisms.families.duchi import duchi_variance
from optldp.mechanisms.families.ptt import optimal_eta, ptt_variance, shape_told
from optldp.mechanisms.families.ptt2 import ptt2_variance


@pytest.mark.parametrize(
    ("epsilon", "eta", "variance", "piecewise_worst", "duchi_worst"),
    [
        (0.5, 2.1337, 21.0582, 21.2226, 16.6708),
        (1.0, 2.2888, 5.0657, 5.2236, 4.6827),
        (2.0, 2.6906, 1.0922, 1.2276, 1.7241),
        (4.0, 4.0918, 0.1618, 0.2414, 1.0760),
    ],
)
def test_the_worst_case_optimum_is_the_published_table(epsilon, eta, variance, piecewise_worst, duchi_worst):
    """Golden numbers recomputed for the OPTT paper (its own constants break normalisation); four digits."""
    knots = np.linspace(-1, 1, 101)
    table = ptt(knots, epsilon)
    assert table.provenance.parameters["eta"] == pytest.approx(eta, abs=5.1e-5)
    assert table.var(1.0)[0] == pytest.approx(variance, abs=5.1e-5)
    assert piecewise(knots, epsilon).var(1.0)[0] == pytest.approx(piecewise_worst, abs=5.1e-5)
    assert duchi_variance(0.0, epsilon) == pytest.approx(duchi_worst, abs=5.1e-5)


@given(
    epsilon=st.floats(1e-3, 16),
    moment=st.floats(0, 1),
    kind=st.sampled_from([1, 2]),
    factor=st.floats(0.2, 5).filter(lambda f: abs(f - 1) > 1e-3),
)
def test_no_other_eta_has_a_smaller_expected_variance(epsilon, moment, kind, factor):
    """The expected variance is the variance at x = sqrt(second moment)."""
    variance = ptt_variance if kind == 1 else ptt2_variance
    best = optimal_eta(epsilon, moment, kind=kind)
    x = np.sqrt(moment)
    assert variance(x, epsilon, best) <= variance(x, epsilon, 1 + factor * (best - 1)) * (1 + 1e-13)


@pytest.mark.parametrize("family", [ptt, ptt2])
def test_the_default_is_the_worst_case_and_a_prior_does_better_on_its_own_data(family):
    """For data near zero a smaller second moment pays."""
    knots = np.linspace(-1, 1, 9)
    worst, fitted = family(knots, 3.0), family(knots, 3.0, second_moment=0.04)
    assert fitted.var(0.2)[0] - worst.var(0.2)[0] < -1e-3
    assert worst.worst_case_variance()[0] < fitted.worst_case_variance()[0]


@pytest.mark.parametrize(("family", "share"), [(piecewise, 2), (pm_sub, 3)])
def test_the_piecewise_mechanisms_are_members(family, share):
    """PM is eta = 1 + e^(eps/2), PM-SUB eta = 1 + e^(eps/3)."""
    knots = np.linspace(0, 8, 9)
    member = ptt(knots, 1.4, eta=1 + np.exp(1.4 / share))
    np.testing.assert_allclose(family(knots, 1.4).probabilities, member.probabilities, atol=1e-11)


@pytest.mark.parametrize("eta", [1.0, 0.5, np.nan, np.inf, "wide"])
def test_an_eta_that_is_no_width_is_refused(eta):
    """It must exceed one: the output range is wider than the window."""
    with pytest.raises(InputError, match="eta must be"):
        ptt([0, 1], 1.0, eta=eta)


@pytest.mark.parametrize("moment", [-0.1, 1.1, np.nan])
def test_a_second_moment_outside_the_domain_is_refused(moment):
    """Values scaled to [-1, 1] have a mean square between 0 and 1."""
    with pytest.raises(InputError, match="second_moment must be"):
        ptt([0, 1], 1.0, second_moment=moment)


def test_an_unknown_kind_is_refused():
    """There are windows and tents."""
    with pytest.raises(InputError, match="kind must be"):
        optimal_eta(1.0, kind=3)


@pytest.mark.parametrize(("family", "kind"), [(ptt, 1), (ptt2, 2)])
def test_the_shape_told_is_where_reports_end(family, kind):
    """B = k + a = eta a is the last report's end; another method's table has no such shape."""
    table = family([-1, 0, 1], 1.5, eta=2.5)
    told = shape_told(table.provenance.method, 1.5, table.provenance.parameters)
    assert told["k"] == pytest.approx(1 + kind * 2.5 / math.expm1(1.5))
    assert told["k"] + told["a"] == pytest.approx(2.5 * told["a"]) == pytest.approx(table.high[-1])
    assert shape_told("duchi", 1.5, {"eta": 2.5}) == {}
