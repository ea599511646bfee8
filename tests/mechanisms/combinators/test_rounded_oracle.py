"""Values on knots' categories: rounding that is unbiased, an oracle's own reports, and refusals."""

import numpy as np
import pytest
from optldp.mechanisms import BudgetToken, InputError
from optldp.mechanisms.categorical import basic_rappor, categorical_grr, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.subset_selection import subset_selection
from optldp.mechanisms.combinators.rounded_oracle import RoundedOracle

KNOTS = np.array([0.0, 1.0, 4.0])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("make", [categorical_grr, local_hashing, optimised_unary, basic_rappor, subset_selection])
def test_reports_are_the_oracles_and_the_rounding_is_unbiased(make):
    """Unbiased frequencies of the knots give the values' mean: 2.5 lies half way between 1 and 4."""
    from optldp.estimators import CategoryCounts, estimate_frequencies

    oracle = make(range(3), 8.0)
    reports = RoundedOracle(KNOTS, oracle).sample(np.full(20_000, 2.5), np.random.default_rng(7))
    found = estimate_frequencies(CategoryCounts.from_reports(oracle, reports))
    assert found.value == pytest.approx([0.0, 0.5, 0.5], abs=0.03)
    assert np.all(np.abs(found.value - [0.0, 0.5, 0.5]) < 5 * found.std_error)


def test_values_at_knots_are_not_rounded():
    oracle = categorical_grr(range(3), 16.0)
    assert RoundedOracle(KNOTS, oracle).sample(KNOTS, np.random.default_rng(1)).tolist() == [0, 1, 2]


def test_a_budget_pays_for_it_once_and_for_no_more_than_it_holds():
    rounded = RoundedOracle(KNOTS, categorical_grr(range(3), 1.0))
    with pytest.raises(InputError, match=r"within the budget .* epsilon 0.5"):
        BudgetToken(0.5).spend(rounded)
    token = BudgetToken(1.0)
    token.spend(rounded)
    with pytest.raises(InputError, match="spent once only"):
        token.spend(rounded)


@pytest.mark.parametrize(
    ("knots", "size", "message"),
    [
        ([0.0, 1.0], 3, "a category for each knot"),
        ([1.0, 0.0, 2.0], 3, "that increase"),
        ([0.0, np.inf, 2.0], 3, "that increase"),
        ([0.0], 1, "at least two"),
    ],
)
def test_knots_that_make_no_sense_are_refused(knots, size, message):
    with pytest.raises(InputError, match=message):
        RoundedOracle(knots, local_hashing(range(max(size, 2)), 1.0))


def test_values_outside_the_knots_and_tables_of_numbers_are_refused():
    with pytest.raises(InputError, match=r"values must lie in \[0, 4\]"):
        RoundedOracle(KNOTS, categorical_grr(range(3), 1.0)).sample([5.0])
    with pytest.raises(InputError, match="a mechanism for categories"):
        RoundedOracle(KNOTS, "olh")  # pyright: ignore[reportArgumentType]
