"""Whether a table of coverages finds what covers too little, and next to nothing else."""

import numpy as np
import pytest
from accuracy.coverage import ALONE, LEAST, found_if_below, surely_below


@pytest.mark.slow
def test_intervals_that_hold_four_times_in_five_are_found_among_hundreds_and_those_at_the_limit_are_not():
    """200 repetitions, 700 cells: of one at the coverage that is said to be found, four in five are."""
    rng = np.random.default_rng(1)
    limit = found_if_below(200, 700)
    assert 0.79 < limit < 0.85
    for true, share in ((limit, 0.8), (0.7, 1.0), (LEAST, 0.0)):
        held = rng.binomial(200, true, 2000) / 200
        found = np.mean([surely_below(one, 0.0, 200, 700, yes_or_no=True) for one in held])
        assert abs(found - share) < 0.03


@pytest.mark.nightly
def test_averages_are_judged_by_their_scatter_and_no_more_often_wrongly_than_two_standard_errors_allow():
    rng = np.random.default_rng(2)
    drawn = rng.normal(LEAST, 0.1, (20_000, 12))
    means, errors = drawn.mean(axis=1), drawn.std(axis=1, ddof=1) / np.sqrt(12)
    wrong = [surely_below(mean, error, 12, 1, yes_or_no=False) for mean, error in zip(means, errors, strict=True)]
    assert abs(np.mean(wrong) - ALONE) < 0.004
    assert surely_below(0.5, 0.02, 12, 700, yes_or_no=False)
    assert not surely_below(0.5, 0.02, 2, 700, yes_or_no=False)


def test_few_repetitions_that_all_agree_prove_little():
    assert not surely_below(0.67, 0.0, 3, 700, yes_or_no=False)
    assert surely_below(0.2, 0.0, 100, 700, yes_or_no=False)
    assert found_if_below(2, 700) == 0.0
