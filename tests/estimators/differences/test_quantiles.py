"""Quantiles of groups and their differences hold the truth, and say who they are not for."""

import numpy as np
import pytest
from optldp.estimators import estimate_distribution
from optldp.estimators.differences import estimate_group_quantiles, estimate_quantile_differences, tally_groups
from optldp.estimators.differences.shares import counted
from optldp.mechanisms import InputError, grr

TABLE = grr(np.arange(5.0), 3.0)
SHARES = (0.25, 0.5, 0.75)


def sent(users=600):
    rng = np.random.default_rng(2)
    values = np.concatenate([rng.binomial(4, chance, users) for chance in (0.2, 0.7)]).astype(float)
    return values, {"shop": np.repeat(["a", "b"], users), "report": TABLE.sample(values, rng)}


@pytest.mark.slow
def test_each_groups_quantiles_are_those_of_its_own_reports():
    values, reports = sent()
    tallies = tally_groups(TABLE, reports, by="shop")
    found = estimate_group_quantiles(tallies, shares=SHARES)
    alone = [estimate_distribution(counted(tally)).quantile(share) for tally in tallies.tallies for share in SHARES]
    assert found.value == pytest.approx([one.value for one in alone])
    assert found.low == pytest.approx([one.interval().low for one in alone])
    truth = np.array([np.quantile(half, SHARES, method="inverted_cdf") for half in np.split(values, 2)]).ravel()
    assert ((found.low <= truth) & (truth <= found.high)).all()
    assert found.labels["group"] == ["a"] * 3 + ["b"] * 3
    at_once = estimate_group_quantiles(tallies, shares=SHARES, simultaneous=True)
    assert (at_once.low <= found.low).all()
    assert (at_once.high >= found.high).all()


@pytest.mark.slow
def test_a_difference_lies_between_the_ends_of_both_at_half_the_error():
    values, reports = sent()
    first, second = tally_groups(TABLE, reports, by="shop").tallies
    found = estimate_quantile_differences(first, second, shares=SHARES)
    ends = [one.interval(0.975) for one in (*found.first, *found.second)]
    assert found.low == pytest.approx([ends[i].low - ends[i + 3].high for i in range(3)])
    assert found.high == pytest.approx([ends[i].high - ends[i + 3].low for i in range(3)])
    a, b = (np.quantile(half, SHARES, method="inverted_cdf") for half in np.split(values, 2))
    assert ((found.low <= a - b) & (a - b <= found.high)).all()
    assert found.high[1] < 0


@pytest.mark.slow
def test_few_users_a_share_that_is_none_and_no_groups_are_one_line():
    _, reports = sent(10)
    with pytest.raises(InputError, match="quantiles of groups are of users who reported once each, 20 at least"):
        estimate_group_quantiles(tally_groups(TABLE, reports, by="shop"), shares=SHARES)
    whole = tally_groups(TABLE, {"report": sent()[1]["report"]})
    with pytest.raises(InputError, match="groups need a column that names them"):
        estimate_group_quantiles(whole, shares=SHARES)
    with pytest.raises(InputError, match="must lie strictly between 0 and 1, got 1"):
        estimate_quantile_differences(*whole.tallies * 2, shares=[1.0])
