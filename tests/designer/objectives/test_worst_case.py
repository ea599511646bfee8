"""Minimax designs: private, unbiased, below every family's worst case and above the certified bound."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.designer import Design, Prior, WorstCase, design
from optldp.designer.objectives.worst_case import minimax_knots
from optldp.mechanisms import FAMILIES, InputError, load_table, save_table, verify

ELEVEN = np.linspace(-1, 1, 11)


def unbiased_families() -> list[str]:
    """Those of the families whose own tables are unbiased; the worst case of others is no rival's."""
    made = {name: family(ELEVEN, 1.0) for name, family in FAMILIES.items()}
    return [name for name, table in made.items() if table.provenance.claims_unbiased]


def checked(made: Design) -> Design:
    """Recompute from the table what the design says of it."""
    table = made.mechanism
    found = verify(table)
    assert found.verdict == ("proved" if table.exact else "not proved")
    assert made.max_log_ratio == found.max_log_ratio <= made.epsilon
    assert made.max_abs_bias == found.max_abs_bias
    assert made.worst_case_variance == found.worst_case_variance
    assert made.worst_case_variance == pytest.approx(table.var([made.evidence.worst_value])[0], rel=1e-12)
    assert made.evidence.worst_knot_variance == table.var(table.knots).max()
    assert made.bound <= made.value
    return made


@pytest.mark.nightly
@settings(max_examples=20, deadline=None, derandomize=True)
@given(
    n=st.integers(2, 21),
    epsilon=st.floats(0.05, 6.0),
    domain=st.sampled_from([(-1.0, 1.0), (0.0, 1e5), (2000.0, 2024.0), (-3.0, -2.999)]),
)
def test_no_family_has_a_smaller_worst_case_at_any_budget(n, epsilon, domain):
    """At the knots; and none beats the bound, anywhere in the domain."""
    knots = np.linspace(domain[0], domain[1], n)
    made = checked(design(Prior.even(knots), epsilon, objective=WorstCase()))
    assert made.gap <= 2e-6
    for name in unbiased_families():
        rival = FAMILIES[name](knots, epsilon)
        assert rival.knot_variances.max() >= made.bound
        assert made.evidence.worst_knot_variance <= rival.knot_variances.max() * (1 + 2e-6)
        assert made.bound <= rival.worst_case_variance()[0]


@pytest.mark.slow
@pytest.mark.parametrize("weights", [np.ones(11), np.eye(11)[5] + 0.01, np.arange(11.0)])
def test_no_design_for_a_prior_has_a_smaller_worst_case(weights):
    made = checked(design(Prior.even(ELEVEN), 1.5, objective=WorstCase()))
    prior = Prior.on_knots(ELEVEN, weights, source="public")
    rival = design(prior, 1.5, uniform_share=0.0)
    assert made.bound <= rival.mechanism.knot_variances.max()
    assert rival.bound <= made.evidence.worst_knot_variance


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_the_least_favourable_prior_costs_as_much_when_known(epsilon):
    """A designer who knows it, and solves for it without a floor, does no better."""
    made = checked(design(Prior.even(ELEVEN), epsilon, objective=WorstCase()))
    prior = Prior.on_knots(ELEVEN, made.evidence.least_favourable, source="public")
    assert design(prior, epsilon, uniform_share=0.0).value == pytest.approx(made.evidence.worst_knot_variance, rel=3e-6)


@pytest.mark.slow
def test_between_knots_a_level_design_gains_a_quarter_of_the_squared_distance():
    """And never more: rounding adds w (1 - w) h^2."""
    for epsilon in (1.0, 4.0):
        made = checked(design(Prior.even(ELEVEN), epsilon, objective=WorstCase()))
        assert made.worst_case_variance == pytest.approx(made.evidence.worst_knot_variance + 0.2**2 / 4, rel=1e-5)
        assert made.evidence.between_knots == made.worst_case_variance / made.evidence.worst_knot_variance - 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_as_many_knots_as_advised_keep_rounding_below_the_share(epsilon):
    for excess in (1e-2, 1e-3):
        made = design(
            Prior.even(minimax_knots(-1, 1, epsilon, excess=excess)), epsilon, objective=WorstCase(), tolerance=1e-4
        )
        assert made.evidence.between_knots < excess
        if len(made.mechanism.knots) > 11:
            fewer = len(made.mechanism.knots) * 9 // 10
            assert (
                design(
                    Prior.even(np.linspace(-1, 1, fewer)), epsilon, objective=WorstCase(), tolerance=1e-4
                ).evidence.between_knots
                > excess
            )


@pytest.mark.slow
def test_advice_does_not_depend_on_units():
    plain, moved = minimax_knots(-1, 1, 2.0), minimax_knots(5, 1005, 2.0)
    assert len(plain) == len(moved)
    assert (moved[0], moved[-1]) == (5, 1005)
    assert len(minimax_knots(-1, 1, 0.5, excess=10)) == 2


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "shift"), [(1000.0, 12345.0), (3e-5, -7.0)])
def test_another_unit_or_range_only_rescales(scale, shift):
    plain, moved = (
        design(Prior.even(ELEVEN), 1.3, objective=WorstCase()),
        checked(design(Prior.even(shift + scale * ELEVEN), 1.3, objective=WorstCase())),
    )
    for name in ("value", "bound", "worst_case_variance"):
        assert getattr(moved, name) == pytest.approx(scale**2 * getattr(plain, name), rel=3e-6)
    np.testing.assert_allclose(moved.evidence.least_favourable, plain.evidence.least_favourable, atol=1e-3)


@pytest.mark.nightly
def test_more_budget_never_hurts():
    made = [
        checked(design(Prior.even(ELEVEN), epsilon, objective=WorstCase())).worst_case_variance
        for epsilon in np.geomspace(0.05, 8, 10)
    ]
    assert np.all(np.diff(made) < 0)


@pytest.mark.slow
def test_the_bound_is_for_the_whole_budget(monkeypatch):
    """Were the table built with much less, the bound would still not pass what the whole budget allows."""
    whole = design(Prior.even(10 * ELEVEN), 1.0, objective=WorstCase())
    monkeypatch.setattr("optldp.designer.objectives.base.inner_epsilon", lambda epsilon: 0.9 * epsilon)
    made = checked(design(Prior.even(10 * ELEVEN), 1.0, objective=WorstCase()))
    assert made.evidence.worst_knot_variance > 1.1 * whole.evidence.worst_knot_variance
    assert made.max_log_ratio < 0.91
    assert made.bound <= whole.evidence.worst_knot_variance


def test_it_survives_a_narrow_domain_far_from_zero():
    """Where the middle is rounded, and the ends with it."""
    made = checked(design(Prior.even(1.7e9 + 0.3 * np.linspace(0, 1, 7)), 1.0, objective=WorstCase()))
    assert made.gap >= 0


def test_the_table_says_what_it_is_and_survives_its_file(tmp_path):
    made = checked(design(Prior.even(np.linspace(0, 10, 11), units="EUR"), 1.3, objective=WorstCase()))
    table = made.mechanism
    assert (table.provenance.method, table.epsilon, table.units, table.exact) == ("minimax", 1.3, "EUR", True)
    assert table.provenance.parameters == {"unbiased": True, "weight": 1.0, "tolerance": 1e-6}
    assert table.prior is None
    certificate = table.provenance.certificate
    assert certificate is not None
    assert certificate["objective"] == "minimax"
    for name in ("value", "bound", "gap"):
        assert certificate[name] == getattr(made, name)
    assert certificate["status"] == made.status == "optimal"
    save_table(table, tmp_path / "table.json")
    assert not verify(load_table(tmp_path / "table.json")).failures


def test_without_exactness_the_table_is_the_solvers():
    made = checked(design(Prior.even(ELEVEN), 1.0, objective=WorstCase(), exact=False))
    assert not made.mechanism.exact
    assert made.gap <= 1e-6


def test_progress_comes_through():
    told = []
    design(Prior.even(ELEVEN), 1.0, objective=WorstCase(), progress=told.append)
    assert told[-1].gap <= 1e-6


def test_what_makes_no_sense_is_refused():
    with pytest.raises(InputError, match="epsilon"):
        design(Prior.even(ELEVEN), 0.0, objective=WorstCase())
    with pytest.raises(InputError, match="knots"):
        design(Prior.even([1.0]), 1.0, objective=WorstCase())
    for tolerance in (0.0, 1.0, math.nan):
        with pytest.raises(InputError, match="tolerance"):
            design(Prior.even(ELEVEN), 1.0, objective=WorstCase(), tolerance=tolerance)
    with pytest.raises(InputError, match="excess"):
        minimax_knots(-1, 1, 1.0, excess=0.0)
