"""The report of the level itself: any protocol, its law, its decoder, and what of it is refused."""

import numpy as np
import pytest
from optldp.mechanisms import InputError
from optldp.mechanisms.categorical import CategoricalTable, basic_rappor, categorical_grr, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.subset_selection import subset_selection
from optldp.mechanisms.combinators.level_report import LevelReport
from optldp.mechanisms.sampling.random_words import random_words


@pytest.mark.parametrize("make", [categorical_grr, optimised_unary, basic_rappor, local_hashing, subset_selection])
def test_what_is_drawn_has_the_law_that_it_states(make):
    """20,000 draws of each of three levels; every report within five standard errors."""
    report, rng, n = LevelReport(3, make(range(3), 1.0)), np.random.default_rng(1), 20_000
    assert report.response.sum(axis=1) == pytest.approx(1.0)
    for level, law in enumerate(report.response):
        drawn = report.draw(np.full(n, level), random_words(rng))
        seen = np.bincount(drawn, minlength=report.n_reports) / n
        assert (np.abs(seen - law) <= 5 * np.sqrt(law * (1 - law) / n)).all()


@pytest.mark.parametrize("make", [categorical_grr, optimised_unary, local_hashing])
def test_the_decoder_is_unbiased_and_of_least_variance_for_even_levels(make):
    """Adding whatever keeps it unbiased only adds to the variance of a share."""
    report, rng = LevelReport(4, make(range(4), 0.7)), np.random.default_rng(2)
    assert report.response @ report.decoder == pytest.approx(np.eye(4), abs=1e-9)
    often = report.response.mean(axis=0)
    least = often @ report.decoder**2
    _, values, rows = np.linalg.svd(report.response)
    null = rows[len(values) :]
    for _ in range(5 if len(null) else 0):
        other = report.decoder + 0.1 * null.T @ rng.standard_normal((len(null), 4))
        assert report.response @ other == pytest.approx(np.eye(4), abs=1e-9)
        assert (often @ other**2 > least).all()


def test_randomised_response_is_decoded_by_its_inverse():
    """As published."""
    report = LevelReport(3, categorical_grr(range(3), 1.0))
    assert report.decoder == pytest.approx(np.linalg.inv(report.response))


def test_a_protocol_that_cannot_tell_two_levels_apart_has_no_decoder():
    """Two rows alike."""
    rows = [[0.5, 0.5], [0.5, 0.5], [0.4, 0.6]]
    blind = LevelReport(3, CategoricalTable.from_probabilities(range(3), np.array(rows), 1.0))
    with pytest.raises(InputError, match="must tell all levels apart"):
        _ = blind.decoder


def test_protocols_of_other_numbers_of_levels_are_refused():
    """One category for each level, and no more reports than can be looked at."""
    with pytest.raises(InputError, match="a category for each of 3 levels, got 2"):
        LevelReport(3, categorical_grr(range(2), 1.0))
    with pytest.raises(InputError, match="at most 4096 reports of a level, got 8192"):
        LevelReport(13, optimised_unary(range(13), 1.0))
    with pytest.raises(InputError, match="at most 4096 reports of a level, got more for 40 levels: use another"):
        LevelReport(40, optimised_unary(range(40), 1.0))
