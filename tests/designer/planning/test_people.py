"""How far a mean may be off: as often as it says, for unbiased and for biased tables, and in words."""

import numpy as np
import pytest
from optldp.designer import Error, Prior, design
from optldp.designer.planning.people import ANY, MeanWithin, sentence, table_mean_within
from optldp.mechanisms import InputError, Provenance, TabulatedMechanism, duchi, square_wave

REPEATED = 4000


@pytest.fixture(scope="module")
def prior():
    return Prior.on_knots([0, 1, 2, 8], [50, 20, 10, 1], source="public", units="km")


def coverage(table, weights, people, within, rng):
    """Share of collections whose mean is within so much of the people's own mean."""
    held = rng.multinomial(people, weights, REPEATED)
    laws = zip(held.T, table.probabilities, table.output_mean, strict=True)
    sums = sum(rng.multinomial(many, law) @ outputs for many, law, outputs in laws)
    return np.mean(np.abs(sums - held @ table.knots) / people <= within)


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_an_unbiased_mean_is_as_near_as_often_as_is_said(prior, confidence):
    table = design(prior, 1.0).mechanism
    found = table_mean_within(table, 2000, confidence=confidence)
    covered = coverage(table, prior.weights, 2000, found.within, np.random.default_rng(1))
    assert covered == pytest.approx(confidence, abs=4 * np.sqrt(confidence * (1 - confidence) / REPEATED))
    worst = np.eye(4)[np.argmax(table.knot_variances)]
    anyway = coverage(table, worst, 2000, found.any_values, np.random.default_rng(2))
    assert anyway == pytest.approx(confidence, abs=4 * np.sqrt(confidence * (1 - confidence) / REPEATED))


@pytest.mark.slow
def test_a_biased_mean_is_as_near_under_every_prior_within_the_factor(prior):
    table = design(prior, 1.0, objective=Error(400)).mechanism
    found = table_mean_within(table, 400)
    rare = prior.weights * [1, 1, 1, 3]  # the factor is 3; those who are cut are as many as it allows
    for weights in (prior.weights, rare / rare.sum()):
        assert coverage(table, weights, 400, found.within, np.random.default_rng(3)) >= 0.945
    alone = np.sqrt(table.expected_variance(prior.knot_prior) / 400) * 1.96
    assert found.within > alone
    assert found.under == "the prior is right within a factor of 3"
    assert found.any_values is None
    with pytest.raises(InputError, match="must say the prior"):
        table_mean_within(table.without_prior(), 400)


def test_of_a_sample_of_the_people_it_counts_those_who_are_left_out(prior):
    table = design(prior, 4.0).mechanism
    whole, half = (table_mean_within(table, 1000, share=share) for share in (1.0, 0.5))
    spread = prior.second_moment - prior.mean**2
    assert half.within**2 == pytest.approx(2 * whole.within**2 + 1.96**2 * spread / 1000, rel=1e-4)


def test_reports_that_are_not_unbiased_are_judged_as_they_are_averaged():
    table = square_wave(np.linspace(0, 1, 5), 1.0)
    biased = table.with_provenance(Provenance("square-wave", {"unbiased": False}))
    found = table_mean_within(biased, 1000)
    assert found.under == ANY
    assert found.within == found.any_values
    assert found.within >= table_mean_within(duchi(np.linspace(0, 1, 5), 1.0), 1000).within / 2


def test_a_file_that_calls_biased_reports_unbiased_is_told_its_bias():
    table = TabulatedMechanism.from_points(
        [0, 1], [0, 1], [[0.75, 0.25], [0.25, 0.75]], 1.1, provenance=Provenance("mine", {"unbiased": True})
    )
    assert table_mean_within(table, 10**9).within > 0.25


def test_it_is_said_in_a_sentence_that_rounds_up():
    one = MeanWithin(1, 0.9, 1240.01, ANY, 1240.01)
    assert sentence({"": one}, "EUR") == "with 1 person: mean within 1,241 EUR (90%) whatever their values are"
    with pytest.raises(InputError, match="number of users must be whole"):
        table_mean_within(duchi([0, 1], 1.0), 0)
