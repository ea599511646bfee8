"""Tables of several levels made exact together, proved by fractions."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from optldp.mechanisms import InputError, Provenance, TableError, TabulatedMechanism, duchi, piecewise, prove
from optldp.mechanisms.exactness import make_levels_exact
from optldp.mechanisms.integers.exponential import exponential_below

KNOTS = np.linspace(10.0, 20.0, 5)


def mixed(share: float, epsilon: float, reach: float = 4.0, unbiased: bool = True) -> TabulatedMechanism:
    """Points +-reach half-widths and the middle; the share of reports in the middle changes no ratio of the others."""
    x = (KNOTS - 15) / 5
    up, down = (1 - share) * (0.5 + 0.5 * x / reach / (1 - share)), (1 - share) * (0.5 - 0.5 * x / reach / (1 - share))
    rows = np.stack([down, np.full(5, share), up], axis=1)
    points = 15 + 5 * reach * np.array([-1.0, 0.0, 1.0])
    origin = Provenance(parameters={"unbiased": unbiased})
    return TabulatedMechanism.from_points(KNOTS, points, rows, epsilon, provenance=origin)


def largest_ratio(tables: tuple[TabulatedMechanism, ...]) -> Fraction:
    return max(
        Fraction(a, b)
        for one, other in permutations(tables, 2)
        for a, b in zip(one.numerators.ravel().tolist(), other.numerators.ravel().tolist(), strict=True)
    )


@pytest.mark.parametrize("leakage", [0.41, 1.0, 3.0])
def test_what_a_report_tells_of_its_level_is_bounded_in_whole_numbers(leakage):
    """The log-ratio of the middle, log 1.5 of the design, is just within the first bound."""
    made = make_levels_exact([mixed(0.2, 1.0), mixed(0.3, 2.0)], leakage)
    assert all(table.exact and prove(table).ok for table in made)
    assert largest_ratio(made) <= exponential_below(leakage)
    assert [table.epsilon for table in made] == [1.0, 2.0]
    assert made[1].knot_variances == pytest.approx(mixed(0.3, 2.0).knot_variances, rel=1e-9)
    assert made[0].knot_means == pytest.approx(KNOTS, abs=1e-11)


def test_a_ratio_that_doubles_cannot_tell_from_its_bound_is_rounded_below_it():
    """Tables exactly at the limit of two, log 1.5 of doubles."""
    made = make_levels_exact([mixed(0.2, 1.0), mixed(0.3, 2.0)], math.log(1.5))
    assert largest_ratio(made) <= exponential_below(math.log(1.5))


def test_no_leakage_is_one_table_for_all():
    """Numerators alike, budgets their own; what the second table was does not matter if it is the same."""
    made = make_levels_exact([mixed(0.2, 1.0), mixed(0.2, 2.0)], 0.0)
    assert np.array_equal(made[0].numerators, made[1].numerators)
    assert [table.epsilon for table in made] == [1.0, 2.0]


def test_without_a_bound_outputs_are_still_the_same():
    """So that reports can be averaged without knowing their levels."""
    made = make_levels_exact([mixed(0.01, 1.0), mixed(0.6, 2.0)], math.inf)
    assert np.array_equal(made[0].low, made[1].low)
    assert all(prove(table).ok for table in made)


def test_an_output_too_rare_for_whole_numbers_is_lost_by_all_levels():
    """A thousandth of a unit in the middle."""
    made = make_levels_exact([mixed(1e-19, 1.0), mixed(1e-19, 2.0)], 1.0)
    assert [table.low.size for table in made] == [2, 2]
    assert largest_ratio(made) <= exponential_below(1.0)


@pytest.mark.parametrize(
    ("tables", "leakage", "error", "says"),
    [
        ([mixed(0.2, 1.0), mixed(0.5, 2.0)], 0.5, TableError, "must differ by at most e"),
        ([mixed(0.2, 1.0), mixed(0.2, 2.0, reach=5.0)], 1.0, InputError, "same knots and outputs"),
        ([mixed(0.2, 0.1), mixed(0.3, 2.0)], 1.0, TableError, "log-ratio"),
        ([mixed(0.2, 1.0), mixed(0.2, 2.0, unbiased=False)], 1.0, InputError, "must be unbiased"),
        ([mixed(0.2, 1.0)], -0.1, InputError, "leakage must be"),
        ([mixed(0.2, 1.0)], math.nan, InputError, "leakage must be"),
        ([piecewise(KNOTS, 1.0)], 1.0, InputError, "increasing points"),
    ],
    ids=str,
)
def test_what_cannot_be_made_exact_together_is_refused(tables, leakage, error, says):
    """Each in one line."""
    with pytest.raises(error, match=says):
        make_levels_exact(tables, leakage)


def test_small_budgets_are_stretched_together():
    """Duchi's two outputs at a small budget have no room to round in: all are mixed with one law."""
    first = replace(duchi(KNOTS, 0.003), provenance=Provenance(parameters={"unbiased": True}))
    made = make_levels_exact([first, replace(first, epsilon=0.5)], 0.25)
    assert np.array_equal(made[0].low, made[1].low)
    assert all(prove(table).ok for table in made)
    assert largest_ratio(made) <= exponential_below(0.25)
