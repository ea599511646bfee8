"""Counts of several attributes: one for each, and of as many users as there were."""

import numpy as np
import pytest
from optldp.estimators import count, estimate_attribute_means
from optldp.mechanisms import AttributeSampling, InputError, duchi, make_exact

AGE, HOURS = (make_exact(duchi([0.0, most], 2.0)).mechanism for most in (100.0, 80.0))
MADE = AttributeSampling(["age", "hours", "more"], [AGE, HOURS, HOURS], 2, 4.0)
RNG = np.random.default_rng(1)
REPORTS = MADE.sample(RNG.uniform(0, 80, (300, 3)), RNG)
COUNTS = count(MADE, REPORTS)


def test_they_count_users_and_who_drew_what():
    assert COUNTS.n_users == 300
    for name in MADE.attributes:
        drawn = REPORTS[name][~np.isnan(REPORTS[name])]
        assert COUNTS[name].n_users == drawn.size
        table = COUNTS[name].mechanisms[0]
        assert COUNTS[name].reports_of(0).tolist() == np.bincount(table.output_index(drawn), minlength=2).tolist()


@pytest.mark.parametrize("target", ["users", "population"])
def test_shards_of_users_add_up(target):
    halves = [count(MADE, {name: column[part] for name, column in REPORTS.items()})
              for part in (slice(0, 120), slice(120, None))]  # fmt: skip
    whole, added = (estimate_attribute_means(each, target=target) for each in (COUNTS, halves[0] + halves[1]))
    np.testing.assert_array_equal(whole.value, added.value)
    np.testing.assert_array_equal(whole.std_error, added.std_error)


def test_what_does_not_fit_is_refused_in_one_line():
    other = AttributeSampling(["a", "b"], [HOURS, AGE], 1, 2.0)
    with pytest.raises(InputError, match="added for the same attributes"):
        _ = COUNTS + count(other, other.sample(RNG.uniform(0, 80, (5, 2)), RNG))
    with pytest.raises(InputError, match="attributes are age, hours, more, got 'wage'"):
        COUNTS["wage"]
    with pytest.raises(InputError, match=r"count\(mechanism, reports\), got dict"):
        estimate_attribute_means({})  # pyright: ignore[reportArgumentType] -- what is tested
