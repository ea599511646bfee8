"""The least error of a mean: value and bound of any table, limits, evidence by brute force, and what is refused."""

from itertools import combinations

import numpy as np
import pytest
from optldp.designer import (
    BoxAmbiguity,
    Error,
    FactorAmbiguity,
    Guarantee,
    Prior,
    RelativeAmbiguity,
    TotalVariationAmbiguity,
    WassersteinAmbiguity,
    compare,
    design,
)
from optldp.designer.designs.judging import problem_for
from optldp.designer.objectives.clip_alone import clipped
from optldp.estimators import promised_error
from optldp.estimators.means.error import designed_for
from optldp.mechanisms import FAMILIES, InputError, load_table, save_table
from optldp.solvers.biased import ErrorProgram, solve_error, trusted
from optldp.solvers.biased.box import member

KNOTS = np.linspace(0, 100, 11)
PRIOR = Prior.on_knots(KNOTS, np.exp(-KNOTS / 12), source="public", units="EUR")
BETWEEN = Prior.from_data(np.random.default_rng(5).exponential(12, 400), knots=11, domain=(0, 100), source="public")
WITHIN_2 = Error(20_000, FactorAmbiguity(2.0))


@pytest.fixture(scope="module")
def made():
    return design(PRIOR, 1.0, objective=WITHIN_2)


@pytest.mark.nightly
def test_it_is_the_solvers_optimum_in_the_users_units(made):
    box = trusted(PRIOR.weights, 2.0, share=0.001)
    best = solve_error(ErrorProgram(np.linspace(-1, 1, 11), np.e, box, 20_000), tolerance=1e-6)
    assert made.value == pytest.approx(50 * best.value, rel=1e-4)
    assert made.bound == pytest.approx(50 * best.bound, rel=1e-4)
    assert made.status == "optimal"
    assert made.mechanism.exact


@pytest.mark.slow
@pytest.mark.parametrize("prior", [PRIOR, BETWEEN], ids=["on knots", "between knots"])
def test_its_gap_is_small_with_values_between_knots_too_and_no_closed_form_is_below_the_bound(prior):
    made = design(prior, 1.0, objective=WITHIN_2)
    assert 0 <= made.gap <= 1e-4
    for family in FAMILIES.values():
        assert WITHIN_2.value(family(KNOTS, 1.0), made.certificate.problem) >= made.bound
    assert made.value < made.evidence.rmse_clip < made.evidence.rmse_unbiased


@pytest.mark.nightly
def test_rounding_between_knots_is_allowed_for_in_value_and_bound():
    """The same weights, once with values on the knots and once anywhere."""
    anywhere = design(BETWEEN, 2.0, objective=WITHIN_2)
    on_knots = design(Prior.on_knots(KNOTS, BETWEEN.weights, source="public"), 2.0, objective=WITHIN_2)
    assert anywhere.value**2 - on_knots.value**2 == pytest.approx(25 / 20_000, rel=2e-2)
    assert anywhere.bound > on_knots.value


def test_every_prior_of_the_set_errs_within_it(made):
    table, rng = made.mechanism, np.random.default_rng(3)
    squares, box = table.knot_variances + table.knot_bias**2, FactorAmbiguity(2.0).around(PRIOR.mixed(0.001))
    errors = []
    for _ in range(300):
        q = member(box, np.where(rng.random(11) < rng.random(), box.low, box.high))
        errors.append(np.sqrt(q @ squares / 20_000 + (1 - 1 / 20_000) * (q @ table.knot_bias) ** 2))
    assert 0.8 * made.value < max(errors) <= made.value


@pytest.mark.nightly
def test_it_follows_units(made):
    moved = Prior.on_knots(10 * KNOTS - 300, PRIOR.weights, source="public")
    other = design(moved, 1.0, objective=WITHIN_2)
    assert other.value == pytest.approx(10 * made.value, rel=1e-5)
    assert other.evidence.clip_high == pytest.approx(10 * made.evidence.clip_high - 300, abs=0.05)
    assert other.evidence.shift == pytest.approx(10 * made.evidence.shift, rel=1e-2)


@pytest.mark.slow
def test_many_users_are_left_with_the_best_unbiased_table_for_the_worst_prior():
    many = design(PRIOR, 1.0, objective=Error(10**12, FactorAmbiguity(2.0)))
    robust = design(PRIOR.mixed(0.001), 1.0, objective=Guarantee(FactorAmbiguity(2.0)))
    assert many.value**2 * 1e12 == pytest.approx(robust.value, rel=5e-3)
    assert many.evidence.bias_bound < 0.1 * many.evidence.noise
    assert many.evidence.clip_high > 99


def test_the_file_says_what_the_promise_is_computed_from(made, tmp_path):
    save_table(made.mechanism, tmp_path / "m.json")
    read = load_table(tmp_path / "m.json")
    assert {"unbiased": False, "n": 20_000, "trust": 2.0, "uniform_share": 0.001}.items() <= (
        read.provenance.parameters.items()
    )
    assert not read.provenance.claims_unbiased
    assert read.provenance.is_for_error
    found = promised_error(read)
    assert (found.rmse, found.noise, found.bias_bound) == pytest.approx(
        (made.value, made.evidence.noise, made.evidence.bias_bound), rel=1e-12
    )


class TestEvidence:
    @pytest.mark.nightly
    @pytest.mark.parametrize("weights", [np.exp(-2 * np.arange(6)), [1, 1, 30, 60, 1, 1], [1, 1, 1, 1, 20, 60]])
    def test_the_best_clip_alone_is_the_best_of_all_pairs_of_knots(self, weights):
        knots = np.arange(6.0)
        made = design(Prior.on_knots(knots, weights, source="public"), 1.0, objective=WITHIN_2)
        problem, found = made.certificate.problem, made.evidence
        every = {ends: WITHIN_2.value(clipped(problem, *ends), problem) for ends in combinations(range(6), 2)}
        low, high = min(every, key=lambda ends: every[ends])
        assert found.rmse_clip == pytest.approx(every[low, high], rel=1e-3)
        assert found.clip_alone == (knots[low], knots[high])
        assert found.rmse_unbiased == pytest.approx(every[0, 5], rel=1e-3)

    def test_its_parts_and_the_tails(self, made):
        found = made.evidence
        assert found.rmse == made.value == pytest.approx(np.hypot(found.noise, found.bias_bound))
        assert found.is_clip
        assert (found.clip_low, found.clip_high <= 60, found.shift > 0) == (0.0, True, True)
        assert found.share_outside == pytest.approx(PRIOR.weights[found.clip_high < KNOTS].sum())
        assert found.heavier == (2.0, 4.0, 8.0)
        assert np.all(np.diff([found.rmse, *found.rmse_heavier]) > 0)

    def test_it_says_in_words_what_bias_buys(self, made):
        assert f"unbiased {made.evidence.rmse_unbiased:.4g}" in made.summary()


@pytest.mark.slow
@pytest.mark.parametrize(
    "ambiguity",
    [
        FactorAmbiguity(1.0),
        FactorAmbiguity(50.0),
        RelativeAmbiguity(0.5),
        BoxAmbiguity(0.5 * PRIOR.weights, np.minimum(3 * PRIOR.weights, 1)),
    ],
    ids=["wholly trusted", "hardly trusted", "relative", "box"],
)
def test_all_sets_of_bounds_on_weights_are_designed_for(ambiguity):
    made = design(PRIOR, 1.0, objective=Error(2_000, ambiguity))
    assert made.gap <= 1e-4
    assert made.value <= made.evidence.rmse_unbiased
    assert ("trust" in made.mechanism.provenance.parameters) is isinstance(ambiguity, FactorAmbiguity)


@pytest.mark.nightly
def test_nobody_must_be_where_only_the_uniform_share_has_weight():
    """A truth like the prior, but with an empty tail, is in the set: its bias is within the bound."""
    knots = np.linspace(0, 100, 21)
    prior = Prior.on_knots(knots, np.where(knots < 40, np.exp(-knots / 8), 0.0), source="public")
    made = design(prior, 1.0, uniform_share=0.01, objective=Error(20_000, FactorAmbiguity(3.0)))
    told = designed_for(made.mechanism)
    assert (told.priors.low <= prior.weights).all()
    truths = [prior.weights, told.priors.largest(np.where(knots < 40, made.mechanism.knot_bias, -1e9))[1]]
    assert truths[1][knots >= 40].sum() == 0
    for truth in truths:
        assert abs(truth @ made.mechanism.knot_bias) <= made.evidence.bias_bound


@pytest.mark.parametrize("ambiguity", [TotalVariationAmbiguity(0.1), WassersteinAmbiguity(3.0)])
def test_sets_without_bounds_on_weights_are_one_line(ambiguity):
    with pytest.raises(InputError, match=f"needs bounds on the prior's weights.*got {ambiguity.label}") as refusal:
        design(PRIOR, 1.0, objective=Error(100, ambiguity))
    assert "\n" not in str(refusal.value)


def test_a_set_that_is_empty_is_one_line():
    with pytest.raises(InputError, match="must admit a sum of 1"):
        Error(100, BoxAmbiguity(np.full(11, 0.2), np.full(11, 0.3)))


@pytest.mark.parametrize("users", [0, -3, 2.5, np.nan, np.inf, True, "many", None, 10**16])
def test_a_number_of_users_that_is_none_is_one_line(users):
    with pytest.raises(InputError, match="number of users must be whole, from 1 to") as refusal:
        Error(users)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("trust", [0.99, 0.0, -2, np.nan, np.inf, "some", None, True])
def test_a_factor_below_one_is_one_line(trust):
    with pytest.raises(InputError, match="factor by which a prior may be off, at least 1") as refusal:
        FactorAmbiguity(trust)
    assert "\n" not in str(refusal.value)


def test_what_is_no_ambiguity_is_refused():
    with pytest.raises(InputError, match="must be one such as FactorAmbiguity"):
        Error(100, 2.0)  # pyright: ignore[reportArgumentType]


@pytest.mark.slow
def test_one_user_and_a_whole_number_that_is_a_double_are_fine():
    made = design(PRIOR, 1.0, objective=Error(1.0, FactorAmbiguity(2.0)))  # pyright: ignore[reportArgumentType]
    assert made.objective.n == 1
    assert made.gap <= 1e-4


@pytest.mark.nightly
def test_other_methods_are_judged_beside_it():
    rows = {row.method: row for row in compare(PRIOR, [1.0], methods=("optimal", "duchi"), objective=WITHIN_2)}
    problem = problem_for(PRIOR, 1.0, WITHIN_2)
    assert rows["duchi"].value is not None
    assert rows["optimal"].value is not None
    assert rows["optimal"].value < rows["duchi"].value < WITHIN_2.value(FAMILIES["duchi"](KNOTS, 1.0), problem)
