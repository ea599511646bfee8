"""The difference of the shares above a value, with an honest interval."""

import numpy as np
import pytest
from optldp.estimators import ReportCounts
from optldp.estimators.affine_pairs.difference import DifferenceAbove
from optldp.estimators.affine_pairs.intervals import AffinePairs
from optldp.estimators.affine_pairs.outcomes import Outcomes
from optldp.estimators.assumptions.base import Assumed
from optldp.estimators.differences import estimate_share_difference
from optldp.mechanisms import InputError, grr

KNOTS = np.arange(3.0)
LAW = np.where(np.eye(3, dtype=bool), 0.6, 0.2)


def said(counts):
    return AffinePairs(Outcomes(KNOTS, LAW, np.array(counts), False), Assumed.of([], KNOTS), np.full(3, 1 / 3))


def test_a_difference_is_told_more_exactly_than_by_both_intervals():
    first, second = said([300, 300, 400]), said([450, 300, 250])
    between = DifferenceAbove(first, second, 1.0)
    low, high = between.ends(0.95)
    apart = [one.share_above(1.0, 0.95) for one in (first, second)]
    assert apart[0][0] - apart[1][1] < low < (0.40 - 0.25) / 0.4 < high < apart[0][1] - apart[1][0]
    shortest = between.shortest(0.95)
    assert shortest is not None
    assert 1.1 < (high - low) / shortest < 1.3  # 1.18 where all is normal
    back = DifferenceAbove(second, first, 1.0).ends(0.95)
    assert (-back[1], -back[0]) == pytest.approx((low, high))


@pytest.mark.nightly
def test_the_interval_of_a_difference_holds():
    rng, truth = np.random.default_rng(4), np.array([[0.3, 0.3, 0.4], [0.9, 0.1, 0.0]])
    missed = 0
    for _ in range(40):
        one, other = (said(rng.multinomial(800, p @ LAW)) for p in truth)
        low, high = DifferenceAbove(one, other, 1.0).ends(0.8)
        missed += not low <= 0.4 <= high
    assert 1 <= missed <= 16  # 8 are expected


@pytest.mark.nightly
def test_a_difference_of_shares_needs_people_and_a_value_within():
    table = grr([0.0, 1.0], 3.0)
    now, few = (ReportCounts.from_reports(table, np.repeat([0.0, 1.0], many)) for many in (30, 5))
    with pytest.raises(InputError, match="20 at least in each group, got 10 of the second"):
        estimate_share_difference(now, few, above=0.0)
    with pytest.raises(InputError, match="needs one from 0 to below 1, got 1"):
        estimate_share_difference(now, now, above=1.0)
