"""Verification: what it finds in honest tables, and what it does not let pass."""

from fractions import Fraction

import numpy as np
import pytest
from optldp.mechanisms import (
    ExponentialDensity,
    InputError,
    KnotPrior,
    LinearDensity,
    Provenance,
    TableError,
    TabulatedMechanism,
    require_private,
    verify,
)


def two_by_two(a, b, epsilon=1.0, **options):
    """Randomised response with rows (a, 1 - a) and (1 - b, b)."""
    return TabulatedMechanism.from_points([0, 1], [0, 1], [[a, 1 - a], [1 - b, b]], epsilon, **options)


def test_the_largest_log_ratio_is_over_all_outputs_and_pairs_of_rows():
    """Rows 0 and 2 at output 1: log(0.6 / 0.1)."""
    matrix = [[0.3, 0.6, 0.1], [0.3, 0.3, 0.4], [0.5, 0.1, 0.4]]
    table = TabulatedMechanism.from_points([0, 1, 2], [0, 1, 2], matrix, 2.0)
    result = verify(table)
    assert result.max_log_ratio == pytest.approx(np.log(6), rel=1e-14)
    assert result.ok


def test_the_ratio_has_no_tolerance():
    """One bit above the budget fails, the budget itself passes."""
    table = two_by_two(0.75, 0.75)
    kept = verify(table).max_log_ratio
    assert verify(table, epsilon=kept).ok
    result = verify(table, epsilon=np.nextafter(kept, 0))
    assert not result.ok
    assert "log-ratio must be at most" in result.failures[0]


def test_ratios_close_to_one_are_measured_accurately():
    """A log-ratio of 1e-9 to twelve digits, against rational arithmetic; log(a / b) would keep seven."""
    share = 0.5 * (1 + 5e-10)
    excess = Fraction(share) / Fraction(1 - share) - 1
    assert verify(two_by_two(share, share)).max_log_ratio == pytest.approx(np.log1p(float(excess)), rel=1e-12, abs=0)


def test_an_output_that_only_some_rows_can_produce_is_an_infinite_ratio():
    """An output that no row can produce is none."""
    assert verify(two_by_two(1.0, 0.9)).max_log_ratio == np.inf
    matrix = [[0.6, 0.0, 0.4], [0.4, 0.0, 0.6]]
    assert verify(TabulatedMechanism.from_points([0, 1], [0, 1, 2], matrix, 1.0)).ok


@pytest.mark.parametrize(
    ("within", "log_ratio"),
    [
        (LinearDensity(np.array([[0.5], [-0.5]])), np.log(3)),
        (ExponentialDensity(np.array([[1.0], [-1.0]])), 1.0),
    ],
)
def test_densities_inside_a_cell_count_not_only_its_mass(within, log_ratio):
    """Equal masses, but the ends of the cell tell the rows apart."""
    table = TabulatedMechanism.from_edges([0, 1], [0, 1], [[1.0], [1.0]], 0.5, within=within)
    result = verify(table)
    assert result.max_log_ratio == pytest.approx(log_ratio, rel=1e-12)
    assert not result.ok


def test_rows_that_do_not_sum_to_one_fail():
    """The table accepts 1e-9, verification 1e-12."""
    matrix = np.array([[0.75, 0.25], [0.25, 0.75 + 1e-11]])
    result = verify(TabulatedMechanism.from_points([0, 1], [0, 1], matrix, 1.2))
    assert result.max_row_sum_error == pytest.approx(1e-11, rel=1e-3)
    assert "rows must sum to 1" in result.failures[0]
    assert "in row 1" in result.failures[0]


def test_bias_is_reported_and_fails_only_where_unbiasedness_is_claimed():
    """Randomised response shrinks towards the middle."""
    assert verify(two_by_two(0.7, 0.7)).max_abs_bias == pytest.approx(0.3)
    assert verify(two_by_two(0.7, 0.7)).ok
    claimed = verify(two_by_two(0.7, 0.6, provenance=Provenance("x", {"unbiased": True})))
    assert "claims to be unbiased" in claimed.failures[0]
    assert "knot 1" in claimed.failures[0]


def test_variances_are_recomputed_under_the_tables_own_prior():
    """None where it carries none; the worst case lies between the knots."""
    table = two_by_two(0.75, 0.75, 1.2)
    assert verify(table).expected_variance is None
    assert verify(table).worst_case_variance == pytest.approx(0.25)
    with_prior = table.with_prior(KnotPrior(np.array([0.5, 0.5]), np.array([0.25]), "public"))
    assert verify(with_prior).expected_variance == pytest.approx(0.25)


def test_several_failures_are_all_listed():
    """Each one with its place."""
    table = TabulatedMechanism.from_points(
        [0, 1], [0, 1], [[0.9, 0.1], [0.1, 0.9 + 1e-10]], 1.0, provenance=Provenance("x", {"unbiased": True})
    )
    assert len(verify(table).failures) == 3


def test_requiring_privacy_raises_the_first_failure():
    """And returns the evidence otherwise."""
    assert require_private(two_by_two(0.7, 0.7)).ok
    with pytest.raises(TableError, match="log-ratio must be at most 1, got inf at output 0"):
        require_private(two_by_two(1.0, 1.0))


@pytest.mark.parametrize("epsilon", [0.0, np.nan, 99.0])
def test_a_useless_budget_to_verify_is_refused(epsilon):
    """As everywhere."""
    with pytest.raises(InputError, match="epsilon must be"):
        verify(two_by_two(0.7, 0.7), epsilon=epsilon)
