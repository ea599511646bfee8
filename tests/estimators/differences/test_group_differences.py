"""Differences of groups are those of each group alone; of means Welch's, which hold for few users, too."""

import numpy as np
import pytest
from optldp.estimators.differences import (
    MatchedTallies,
    estimate_difference,
    estimate_group_differences,
    estimate_quantile_differences,
    estimate_share_difference,
    tally_groups,
)
from optldp.mechanisms import InputError, duchi
from optldp.mechanisms.categorical import categorical_grr
from scipy.stats import ttest_ind

TABLE = duchi([0.0, 10.0], 2.0)


def sent(seed, many, table=TABLE):
    rng = np.random.default_rng(seed)
    shop = np.repeat(["a", "b"], many)
    return {"shop": shop, "report": table.sample(rng.uniform(0, 10, shop.size), rng)}


def test_intervals_of_means_are_welchs():
    now, then = sent(1, [40, 7]), sent(2, [5, 60])
    found = estimate_group_differences(*(tally_groups(TABLE, each, by="shop") for each in (now, then)))
    for place, shop in enumerate("ab"):
        sides = [each["report"][each["shop"] == shop] for each in (now, then)]
        ends = ttest_ind(*sides, equal_var=False).confidence_interval(0.95)
        assert found.value[place] == pytest.approx(sides[0].mean() - sides[1].mean())
        assert (found.low[place], found.high[place]) == pytest.approx(tuple(ends))
    assert found.n.tolist() == [45, 67]


def test_other_numbers_of_each_group_are_as_without_groups():
    now, then = (tally_groups(TABLE, sent(seed, [300, 500]), by="shop") for seed in (1, 2))
    pairs = list(zip(now.tallies, then.tallies, strict=True))
    found = estimate_group_differences(now, then, above=0.0)
    alone = [estimate_share_difference(*pair, above=0.0) for pair in pairs]
    assert found.low.tolist() == [one.low for one in alone]
    found = estimate_group_differences(now, then, shares=[0.25, 0.5], simultaneous=True)
    alone = [estimate_quantile_differences(*pair, shares=[0.25, 0.5]) for pair in pairs]
    each = 0.95 ** (1 / 4)
    assert found.high.tolist() == [end for one in alone for end in one.interval(each).high]
    jobs = categorical_grr("xyz", 2.0)
    rows = {"shop": np.repeat(["a", "b"], 60), "report": jobs.to_text(np.tile([0, 1, 2, 0], 30))}
    held = tally_groups(jobs, rows, by="shop")
    found = estimate_group_differences(held, held)
    assert found.labels == {"group": [*"aaabbb"], "category": [*"xyzxyz"]}
    alone = estimate_difference(MatchedTallies(held.tallies[0], held.tallies[0], None, 0, False, held.skipped))
    assert found.std_error[:3].tolist() == alone.std_error.tolist()


def test_groups_are_in_both_with_users_enough():
    both = tally_groups(TABLE, sent(1, [30, 30]), by="shop")
    for other, says in (([30, 0], "got 'b' of 'shop' in the first alone"), ([1, 30], "2 reports on each side, got 1")):
        with pytest.raises(InputError, match=says):
            estimate_group_differences(both, tally_groups(TABLE, sent(2, other), by="shop"))
    with pytest.raises(InputError, match="need a column that names them"):
        estimate_group_differences(both, tally_groups(TABLE, sent(2, [30, 30])))
