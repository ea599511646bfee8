"""Robust designs: private, unbiased, below every family's guarantee and above the certified bound."""

from operator import attrgetter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.designer import (
    BoxAmbiguity,
    Design,
    Guarantee,
    Prior,
    RelativeAmbiguity,
    TotalVariationAmbiguity,
    WassersteinAmbiguity,
    WorstCase,
    design,
)
from optldp.designer.priors.ambiguity import AMBIGUITIES, Ambiguity
from optldp.mechanisms import FAMILIES, InputError, load_table, save_table, verify
from optldp.solvers import Status

ELEVEN = np.linspace(-1, 1, 11)
PEAK = Prior.on_knots(ELEVEN, [1, 2, 4, 8, 14, 20, 14, 8, 4, 2, 1], source="public")
RARE = Prior.on_knots(ELEVEN, np.eye(11)[5] + 1e-3, source="public")


def checked(made: Design, prior: Prior, ambiguity: Ambiguity) -> Design:
    """Recompute from the table what the design says of it."""
    table = made.mechanism
    found = verify(table)
    assert found.ok
    assert made.max_log_ratio == found.max_log_ratio <= made.epsilon
    assert made.max_abs_bias == found.max_abs_bias
    assert made.worst_case_variance == found.worst_case_variance
    assert made.expected_variance == table.expected_variance(prior.knot_prior)
    largest, worst = ambiguity.around(prior).largest(table.knot_variances)
    assert made.value == largest + prior.rounding_variance
    assert made.value == pytest.approx(worst @ table.knot_variances + prior.rounding_variance, rel=1e-8)
    assert made.bound <= made.value <= made.evidence.nominal_guarantee
    assert made.evidence.nominal_variance <= made.expected_variance * (1 + 2e-6)
    return made


def around(prior: Prior) -> list[Ambiguity]:
    return [RelativeAmbiguity(0.4), TotalVariationAmbiguity(0.1), WassersteinAmbiguity(0.05 * np.ptp(prior.knots))]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("prior", [PEAK, RARE])
def test_what_it_says_is_so_and_the_gap_is_closed(prior, epsilon):
    for ambiguity in around(prior):
        made = checked(design(prior, epsilon, objective=Guarantee(ambiguity)), prior, ambiguity)
        assert made.status is Status.OPTIMAL
        assert made.gap < 2e-6
        assert made.mechanism.exact
        assert not made.evidence.is_minimax


@pytest.mark.nightly
@settings(max_examples=15, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 2**32 - 1),
    epsilon=st.floats(0.05, 6.0),
    domain=st.sampled_from([(-1.0, 1.0), (0.0, 1e5), (2000.0, 2024.0)]),
)
def test_no_family_guarantees_less_at_any_budget(seed, epsilon, domain):
    """And none beats the bound."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 15))
    prior = Prior.on_knots(np.linspace(domain[0], domain[1], n), rng.dirichlet(np.ones(n)) + 1e-3, source="public")
    ambiguity = around(prior)[seed % 3]
    made = checked(design(prior, epsilon, objective=Guarantee(ambiguity)), prior, ambiguity)
    assert made.gap <= 2e-6
    for family in FAMILIES.values():
        rival = family(prior.knots, epsilon)
        if rival.provenance.claims_unbiased:
            guarantee = ambiguity.around(prior).largest(rival.knot_variances)[0]
            assert guarantee >= made.bound
            assert made.value <= guarantee * (1 + 2e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", AMBIGUITIES.values())
def test_a_radius_of_zero_is_the_design_for_the_prior(kind):
    made = checked(design(PEAK, 1.0, objective=Guarantee(kind(0.0))), PEAK, kind(0.0))
    known = design(PEAK, 1.0, uniform_share=0.0)
    np.testing.assert_array_equal(made.mechanism.probabilities, known.mechanism.probabilities)
    assert made.value == pytest.approx(known.expected_variance, rel=1e-13)
    assert made.bound == pytest.approx(known.bound, rel=1e-12)
    assert made.evidence.price_of_robustness == 1
    assert made.evidence.gain_of_robustness == 0
    np.testing.assert_array_equal(made.evidence.worst_prior, PEAK.weights)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", AMBIGUITIES.values())
def test_a_tiny_radius_hardly_differs_from_zero(kind):
    known = design(PEAK, 1.0, uniform_share=0.0)
    for radius in (1e-13, 1e-10, 1e-7):
        made = checked(design(PEAK, 1.0, objective=Guarantee(kind(radius))), PEAK, kind(radius))
        assert made.gap < 2e-6
        assert made.value == pytest.approx(known.expected_variance, rel=3e-6)


@pytest.mark.nightly
@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_just_short_of_every_prior_is_the_minimax(epsilon):
    minimax = design(Prior.even(ELEVEN), epsilon, objective=WorstCase())
    least = PEAK.weights.min()
    for ambiguity in (
        TotalVariationAmbiguity((1 - least) * (1 - 1e-9)),
        WassersteinAmbiguity(1 - 1e-9),
        RelativeAmbiguity((1 / least - 1) * (1 - 1e-9)),
        BoxAmbiguity(np.full(11, 1e-12), np.ones(11)),
    ):
        made = checked(design(PEAK, epsilon, objective=Guarantee(ambiguity)), PEAK, ambiguity)
        assert made.value == pytest.approx(minimax.evidence.worst_knot_variance, rel=3e-6)


@pytest.mark.parametrize(
    ("ambiguity", "says"),
    [
        (TotalVariationAmbiguity(1.0), "ambiguity radius 1 contains every prior on the knots"),
        (WassersteinAmbiguity(1.5), "ambiguity radius 1.5 contains every prior on the knots"),
        (RelativeAmbiguity(100.0), "ambiguity radius 100 contains every prior on the knots"),
        (BoxAmbiguity(np.zeros(11), np.ones(11)), "the ambiguity contains every prior on the knots"),
    ],
)
def test_every_prior_is_refused_in_one_line_that_names_the_minimax(ambiguity, says):
    with pytest.raises(InputError, match=says) as refusal:
        design(PEAK, 1.0, objective=Guarantee(ambiguity))
    assert str(refusal.value).endswith("the design is then minimax, use --objective minimax / WorstCase()")
    assert "\n" not in str(refusal.value)


@pytest.mark.slow
def test_a_box_around_another_prior_serves_that_one():
    """A box of one prior is the optimum for it, and what is expected is said under the prior as given."""
    only = np.roll(PEAK.weights, 3)
    box = BoxAmbiguity(only, only)
    made = checked(design(PEAK, 2.0, objective=Guarantee(box)), PEAK, box)
    known = design(Prior.on_knots(ELEVEN, only, source="public"), 2.0, uniform_share=0.0)
    assert made.value == pytest.approx(known.expected_variance, rel=2e-6)
    assert made.expected_variance > 1.01 * made.evidence.nominal_variance
    assert made.gap < 2e-6


@pytest.mark.slow
def test_the_guarantee_holds_for_members_and_the_nominal_optimum_breaks_it():
    """Members at random; the nominal optimum's own worst member costs more than the guarantee."""
    ambiguity = TotalVariationAmbiguity(0.2)
    made = checked(design(RARE, 3.0, objective=Guarantee(ambiguity)), RARE, ambiguity)
    rng = np.random.default_rng(1)
    for _ in range(100):
        far = rng.dirichlet(np.full(11, 0.2))
        member = RARE.weights + 0.2 * (far - RARE.weights)
        prior = Prior.on_knots(ELEVEN, member, source="public")
        assert made.mechanism.expected_variance(prior.knot_prior) <= made.value
    nominal = design(RARE, 3.0, uniform_share=0.0).mechanism
    worst = ambiguity.around(RARE).largest(nominal.knot_variances)[0]
    assert made.evidence.nominal_guarantee == pytest.approx(worst, rel=1e-9)
    assert made.value < 0.92 * worst
    assert made.evidence.gain_of_robustness == 1 - made.value / made.evidence.nominal_guarantee
    assert made.evidence.price_of_robustness == made.expected_variance / made.evidence.nominal_variance > 1.001


@pytest.mark.nightly
@settings(max_examples=20, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_guarantee_anywhere_holds_for_data_that_moved(seed):
    """Values that travel no more than the radius on average, to wherever between the knots."""
    rng = np.random.default_rng(seed)
    values = rng.normal(40, 8, 300).clip(0, 100)
    prior = Prior.from_data(values, knots=9, domain=(0, 100), source="public")
    made = design(prior, 2.0, objective=Guarantee(WassersteinAmbiguity(5.0)), tolerance=1e-3)
    steps = rng.uniform(-1, 1, 300)
    moved = (values + 5.0 * steps / np.abs(steps).mean()).clip(0, 100)
    now = Prior.from_data(moved, knots=9, domain=(0, 100), source="public")
    assert made.mechanism.expected_variance(now.knot_prior) <= made.evidence.guaranteed_anywhere
    extra = 12.5**2 / 4 - prior.rounding_variance
    assert made.evidence.guaranteed_anywhere == pytest.approx(made.value + extra, rel=1e-12)


@pytest.mark.slow
def test_known_rounding_is_part_of_guarantee_and_bound():
    values = np.linspace(-0.9, 0.9, 40)
    between = Prior.from_data(values, knots=ELEVEN, source="public")
    on = Prior.on_knots(ELEVEN, between.weights, source="public")
    ambiguity = TotalVariationAmbiguity(0.1)
    one, two = (checked(design(p, 1.0, objective=Guarantee(ambiguity)), p, ambiguity) for p in (between, on))
    names = ("value", "bound", "expected_variance", "evidence.nominal_variance", "evidence.nominal_guarantee")
    for name in names:
        difference = attrgetter(name)(one) - attrgetter(name)(two)
        assert difference == pytest.approx(between.rounding_variance, rel=1e-6)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", [RelativeAmbiguity, TotalVariationAmbiguity, WassersteinAmbiguity])
def test_more_room_costs_more_and_never_expects_less(kind):
    made = [checked(design(PEAK, 2.0, objective=Guarantee(kind(r))), PEAK, kind(r)) for r in (0.01, 0.1, 0.3, 0.6)]
    assert np.all(np.diff([one.value for one in made]) > 0)
    assert np.all(np.diff([one.expected_variance for one in made]) > -1e-5)


@pytest.mark.nightly
@pytest.mark.parametrize(("scale", "shift"), [(1000.0, 12345.0), (3e-5, -7.0)])
def test_another_unit_or_range_only_rescales(scale, shift):
    moved = Prior.on_knots(shift + scale * ELEVEN, PEAK.weights, source="public")
    for one, two in zip(around(PEAK), around(moved), strict=True):
        plain, other = (
            design(PEAK, 1.3, objective=Guarantee(one)),
            checked(design(moved, 1.3, objective=Guarantee(two)), moved, two),
        )
        for name in ("value", "bound", "expected_variance"):
            assert getattr(other, name) == pytest.approx(scale**2 * getattr(plain, name), rel=1e-5)
        nominal = plain.evidence.nominal_guarantee
        assert other.evidence.nominal_guarantee == pytest.approx(scale**2 * nominal, rel=1e-5)


@pytest.mark.slow
def test_the_bound_is_for_the_whole_budget(monkeypatch):
    """Were the table built with much less, the bound would still not pass what the whole budget allows."""
    ambiguity = TotalVariationAmbiguity(0.1)
    whole = design(PEAK, 1.0, objective=Guarantee(ambiguity))
    monkeypatch.setattr("optldp.designer.objectives.base.inner_epsilon", lambda epsilon: 0.9 * epsilon)
    made = checked(design(PEAK, 1.0, objective=Guarantee(ambiguity)), PEAK, ambiguity)
    assert made.value > 1.1 * whole.value
    assert made.max_log_ratio < 0.91
    assert made.bound <= whole.value


@pytest.mark.slow
def test_the_file_keeps_the_certificate(tmp_path):
    made = design(PEAK, 1.0, objective=Guarantee(WassersteinAmbiguity(0.1)))
    save_table(made.mechanism, tmp_path / "robust.json")
    back = load_table(tmp_path / "robust.json")
    assert back.provenance.method == "robust"
    assert back.provenance.parameters["ambiguity"] == "Wasserstein-1 distance 0.1"
    assert back.provenance.certificate is not None
    assert back.provenance.certificate["value"] == made.value
    assert back.provenance.certificate["bound"] == made.bound
    assert back.prior is not None
    np.testing.assert_array_equal(back.prior.weights, PEAK.weights)


@pytest.mark.slow
def test_without_exactness_the_table_is_as_solved():
    made = design(PEAK, 1.0, objective=Guarantee(TotalVariationAmbiguity(0.1)), exact=False)
    assert not made.mechanism.exact
    assert not verify(made.mechanism).failures


@pytest.mark.parametrize(
    ("epsilon", "tolerance", "says"), [(0.0, 1e-6, "epsilon"), (1.0, 0.0, "tolerance"), (1.0, 1.0, "tolerance")]
)
def test_bad_numbers_are_one_line(epsilon, tolerance, says):
    with pytest.raises(InputError, match=says):
        design(PEAK, epsilon, objective=Guarantee(TotalVariationAmbiguity(0.1)), tolerance=tolerance)
