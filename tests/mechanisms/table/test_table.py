"""The tabulated mechanism: what it accepts, and its moments, at the knots and between them."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.mechanisms import (
    InputError,
    Provenance,
    TableError,
    TabulatedMechanism,
    hybrid,
    laplace,
    piecewise,
    ptt2,
    verify,
)
from optldp.mechanisms.sampling.within_cell import ExponentialDensity, GeometricTails, LinearDensity
from optldp.mechanisms.table.knot_prior import KnotPrior

KNOTS = np.array([0.0, 1.0, 4.0])
TWO_KNOTS = KnotPrior(np.array([0.5, 0.5]), np.zeros(1), "public")
MATRIX = np.array([[0.5, 0.3, 0.2], [0.25, 0.5, 0.25], [0.2, 0.3, 0.5]])


def some_table(**changes):
    """A biased table of three knots: a cell, a point, a cell."""
    fields = {
        "knots": KNOTS,
        "low": [-2.0, 1.0, 2.0],
        "high": [1.0, 1.0, 5.0],
        "probabilities": MATRIX,
        "epsilon": 1.0,
    }
    return TabulatedMechanism(**(fields | changes))


def random_tables():
    """Tables of points with random rows: neither unbiased nor smooth."""

    def build(case):
        n, m, seed = case
        rng = np.random.default_rng(seed)
        matrix = rng.dirichlet(np.ones(m), size=n)
        return TabulatedMechanism.from_points(
            np.cumsum(rng.uniform(0.1, 2, n)), np.cumsum(rng.uniform(0.1, 2, m)), matrix, 1.0
        )

    return st.tuples(st.integers(2, 6), st.integers(1, 6), st.integers(0, 10**6)).map(build)


@settings(max_examples=50, deadline=None)
@given(table=random_tables(), place=st.floats(0, 1))
def test_mean_and_variance_between_knots_are_those_of_the_mixed_row(table, place):
    """Brute force over the probabilities that `pmf` gives."""
    low, high = table.domain
    x = min(high, low + place * (high - low))  # rounding can pass the end
    law = table.pmf(x)[0]
    assert law.sum() == pytest.approx(1)
    mean = law @ table.low
    assert table.mean(x)[0] == pytest.approx(mean)
    assert table.var(x)[0] == pytest.approx(law @ (table.low - mean) ** 2, abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(table=random_tables())
def test_the_worst_case_is_the_largest_variance_of_all(table):
    """No grid point beats it, and it is attained where it says."""
    worst, place = table.worst_case_variance()
    low, high = table.domain
    grid = np.linspace(low, high, 999)
    assert table.var(np.r_[table.knots, grid]).max() <= worst * (1 + 1e-12)
    assert table.var(place)[0] == pytest.approx(worst)


@settings(max_examples=50, deadline=None)
@given(table=random_tables(), seed=st.integers(0, 1000))
def test_the_expected_variance_is_the_mean_over_the_data(table, seed):
    """The prior's weights and rounding terms stand for the data exactly, biased tables included."""
    low, high = table.domain
    data = np.random.default_rng(seed).uniform(low, high, 200)
    index, right = table.row_weights(data)
    n = table.knots.size
    weights = np.bincount(index, 1 - right, n) + np.bincount(index + 1, right, n)
    product = (data - table.knots[index]) * (table.knots[index + 1] - data)
    prior = KnotPrior(weights / 200, np.bincount(index, product, n - 1) / 200, "sensitive")
    assert table.expected_variance(prior) == pytest.approx(table.var(data).mean())


def test_moments_keep_their_digits_far_from_zero():
    """Shifting the units by 1e9 costs the variance no more than the shifted edges themselves lose."""
    near, far = piecewise([0.0, 0.5, 1.0], 1.0), piecewise([1e9, 1e9 + 0.5, 1e9 + 1], 1.0)
    np.testing.assert_allclose(far.knot_variances, near.knot_variances, rtol=1e-6)


def test_output_moments_include_the_spread_inside_cells():
    """Second moment = squared mean + width^2 / 12, points have none."""
    table = some_table()
    np.testing.assert_allclose(table.output_mean[0], [-0.5, 1.0, 3.5])
    np.testing.assert_allclose(table.output_second[2], [0.25 + 0.75, 1.0, 12.25 + 0.75])
    assert not table.is_discrete


@settings(max_examples=30, deadline=None)
@given(scale=st.floats(0.01, 100), sign=st.sampled_from([-1, 1]), shift=st.floats(-50, 50))
@pytest.mark.parametrize(
    "table",
    [
        some_table(),
        hybrid(KNOTS, 1.5),
        laplace(KNOTS, 1.0),
        ptt2(KNOTS, 1.0),
        some_table(low=[-np.inf, 1, 2], high=[0, 1, np.inf], within=GeometricTails(0.5, 0.3)),
    ],
    ids=["mixed", "hybrid", "laplace", "ptt2", "lattice"],
)
def test_relabelling_reports_relabels_the_moments_and_nothing_else(table, scale, sign, shift):
    """Mean and variance follow; ratios, row sums and sampling stay what they are."""
    scale *= sign
    other = table.affine(scale, shift)
    x = np.linspace(0, 4, 9)
    size = abs(scale) + abs(shift)
    np.testing.assert_allclose(other.mean(x), scale * table.mean(x) + shift, atol=1e-10 * size)
    np.testing.assert_allclose(other.var(x), scale**2 * table.var(x), rtol=1e-8)
    assert verify(other).max_log_ratio == pytest.approx(verify(table).max_log_ratio, rel=1e-9)
    reports = other.sample(np.repeat(x, 20), np.random.default_rng(1))
    np.testing.assert_array_equal(np.sort(np.unique(other.output_index(reports)))[[0]], [0])


def test_relabelling_drops_the_claim_of_unbiasedness():
    """The claim is about the reports as they were."""
    table = laplace(KNOTS, 1.0).affine(2.0, 1.0)
    assert "unbiased" not in table.provenance.parameters
    assert table.provenance.parameters["relabelled"] == [2.0, 1.0]
    assert not verify(table).failures


@pytest.mark.parametrize(("scale", "shift"), [(0.0, 1.0), (np.nan, 0.0), (1.0, np.inf)])
def test_relabelling_that_loses_the_report_is_refused(scale, shift):
    """A scale of zero maps every report to one."""
    with pytest.raises(InputError, match="scale and shift must be finite"):
        some_table().affine(scale, shift)


def test_reports_find_their_outputs():
    """Points by equality, edges upwards, the last edge downwards, tails to infinity."""
    assert some_table().output_index([-2.0, 0.99, 1.0, 2.0, 5.0]).tolist() == [0, 0, 1, 2, 2]
    assert piecewise([0, 1], np.log(4)).output_index([-1e-9, 0.5, 1.4]).tolist() == [0, 1, 2]
    assert laplace([0, 1], 1.0).output_index([-64.0, 0.0, 0.5, 1.0, 7.0]).tolist() == [0, 1, 1, 2, 2]


@pytest.mark.parametrize("report", [-2.1, 1.5, 5.1, np.inf, -np.inf])
def test_reports_that_cannot_be_are_refused_by_row(report):
    """They come from another table."""
    with pytest.raises(InputError, match=r"1 of 3 that cannot be.* in row 2"):
        some_table().output_index([0.0, report, 1.0])


def test_lattice_reports_must_lie_on_the_lattice():
    """Between its points the table has no reports."""
    table = some_table(low=[-np.inf, 1, 2], high=[0, 1, np.inf], within=GeometricTails(0.5, 0.3))
    assert table.output_index([-3.5, 1.0, 2.0, 7.5]).tolist() == [0, 1, 2, 2]
    with pytest.raises(InputError, match="cannot be"):
        table.output_index([2.25])


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([0.0, 4.5, -1.0], r"values must lie in \[0, 4\], got 2 of 3 outside, from -1.0 to 4.5"),
        ([0.0, 4.5], "1 of 2 outside, from 0.0 to 4.5"),
        ([0.0, np.nan], "1 NaN, the first in row 2"),
        ([np.inf, -np.inf], "2 of 2 outside"),
        (["low"], "values must be numbers"),
        ([[1.0]], "one-dimensional"),
    ],
)
@pytest.mark.parametrize("method", ["mean", "var", "pmf", "row_weights"])
def test_values_outside_the_domain_are_refused_with_count_and_extremes(method, x, message):
    """So are missing values and text."""
    with pytest.raises(InputError, match=message):
        getattr(some_table(), method)(x)


def test_no_values_give_no_results():
    """An empty column is not an error here."""
    table = some_table()
    assert table.mean([]).size == 0
    assert table.pmf([]).shape == (0, 3)
    assert table.sample([], np.random.default_rng(0)).size == 0
    assert table.output_index([]).size == 0


def test_a_table_is_a_read_only_copy():
    """Later changes to the arrays that it was made from do not reach it."""
    matrix = MATRIX.copy()
    table = some_table(probabilities=matrix)
    matrix[0, 0] = 9.0
    assert table.probabilities[0, 0] == 0.5
    for array in (table.knots, table.low, table.high, table.probabilities):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_a_table_survives_pickling():
    """Worker processes can be handed one."""
    table = laplace(KNOTS, 1.0)
    again = pickle.loads(pickle.dumps(table))
    np.testing.assert_array_equal(
        again.sample([2.0], np.random.default_rng(0)), table.sample([2.0], np.random.default_rng(0))
    )


def test_copies_with_another_prior_or_record_keep_the_rest():
    """`with_prior`, `without_prior`, `with_provenance`."""
    prior = KnotPrior(np.array([0.2, 0.3, 0.5]), np.zeros(2), "public")
    table = some_table().with_prior(prior).with_provenance(Provenance("mine"))
    assert table.prior is prior
    assert table.without_prior().prior is None
    assert table.without_prior().provenance.method == "mine"
    assert repr(table) == "TabulatedMechanism('mine', epsilon=1, knots=3, outputs=3)"
    np.testing.assert_array_equal(table.probabilities, MATRIX)


def test_constructors_for_points_and_edges_agree_with_the_general_one():
    """Points have equal ends, cells are between neighbouring edges."""
    points = TabulatedMechanism.from_points(KNOTS, [1, 2, 3], MATRIX, 1.0, units="km")
    assert points.is_discrete
    assert points.units == "km"
    cells = TabulatedMechanism.from_edges(KNOTS, [0, 1, 2, 3], MATRIX, 1.0, within=LinearDensity(np.zeros((3, 3))))
    assert (cells.low.tolist(), cells.high.tolist()) == ([0, 1, 2], [1, 2, 3])


def broken(i, j, value):
    matrix = MATRIX.copy()
    matrix[i, j] = value
    return matrix


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"knots": [0.0]}, "knots must be a list of at least 2"),
        ({"knots": [0.0, 4.0, 1.0]}, "knots must be strictly increasing, got 4.0 then 1.0 in row 3"),
        ({"low": [], "high": []}, "outputs need"),
        ({"low": [0.0, 1.0]}, "outputs need as many"),
        ({"low": ["a", "b", "c"]}, "low must be numbers"),
        ({"low": [[0, 1, 2]]}, "low must have 1 dimension"),
        ({"low": [-2.0, 1.5, 2.0]}, r"low <= high, finite where equal, got \[1.5, 1.0\] at output 1"),
        ({"low": [-2.0, 1.0, np.nan]}, "low <= high"),
        ({"high": [1.0, 1.0, 1e200]}, "finite ends must be within 1e"),
        ({"low": [np.inf] * 3, "high": [np.inf] * 3}, "finite where equal"),
        ({"low": [2.0, 1.0, -2.0], "high": [5.0, 1.0, 1.0]}, "sorted by low end.* at output 1"),
        ({"low": [1.0, 1.0, 2.0], "high": [1.0, 1.0, 5.0]}, "without repeats"),
        ({"low": [-2.0, 0.5, 2.0], "high": [1.0, 1.5, 5.0]}, "cells must not overlap.* at output 1"),
        ({"high": [1.0, 1.0, np.inf]}, "needs finite ends"),
        ({"probabilities": MATRIX[:2]}, r"probabilities must have shape \(3, 3\)"),
        ({"probabilities": [[1.0], [1.0, 2.0]]}, "rows of equal length"),
        ({"probabilities": broken(1, 2, np.nan)}, "finite and non-negative, got nan at row 1, output 2"),
        ({"probabilities": broken(2, 0, -0.1)}, "finite and non-negative, got -0.1 at row 2, output 0"),
        ({"probabilities": broken(2, 0, 0.3)}, "sum to 1, got 1.1 in row 2"),
        ({"within": "uniform"}, "within must be a WithinCell"),
        ({"within": ExponentialDensity(np.ones((1, 1)))}, "rate must have shape"),
        ({"provenance": "me"}, "provenance must be a Provenance"),
        ({"units": 3}, "units must be a str"),
        ({"prior": [0.5, 0.5]}, "prior must be a KnotPrior"),
        ({"prior": TWO_KNOTS}, "one weight per knot, got 2 for 3 knots"),
    ],
)
def test_what_is_not_a_table_is_refused_by_name_row_and_output(changes, message):
    """Validation happens once, when the table is made."""
    with pytest.raises(TableError, match=message):
        some_table(**changes)


def test_a_prior_on_other_knots_has_no_expected_variance():
    """The weights would be applied to the wrong rows."""
    with pytest.raises(TableError, match="one weight per knot"):
        some_table().expected_variance(TWO_KNOTS)


def test_other_labels_are_checked_and_change_no_number():
    """Prior, provenance and units; what was computed of the law stays, and a copy is checked anew."""
    table = some_table(probabilities=np.round(MATRIX * 2**53) / 2**53, units="m")
    prior = KnotPrior(np.array([0.5, 0.25, 0.25]), np.zeros(2), "public")
    variances = table.knot_variances
    made = table.with_prior(prior).with_units("km").with_provenance(Provenance("mine"))
    assert (made.prior, made.units, made.provenance.method) == (prior, "km", "mine")
    assert (table.prior, table.units, table.provenance.method) == (None, "m", "unspecified")
    assert made.knot_variances is variances
    assert np.array_equal(pickle.loads(pickle.dumps(made)).probabilities, table.probabilities)
    for wrong in (
        lambda: table.with_prior(TWO_KNOTS),
        lambda: table.with_units(3),  # pyright: ignore[reportArgumentType] -- refused
        lambda: table.with_provenance("mine"),  # pyright: ignore[reportArgumentType] -- refused
    ):
        with pytest.raises(TableError):
            wrong()
