"""Exact tables: privacy and sums in whole numbers, means kept, variance kept, whatever the table was."""

from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.mechanisms import FAMILIES, Provenance, TableError, TabulatedMechanism, make_exact, piecewise, prove, verify
from optldp.mechanisms.budget import inner_epsilon
from optldp.mechanisms.exactness.make_exact import exact_if_possible
from optldp.mechanisms.integers.rounding import round_rows
from optldp.mechanisms.table.exact_rounding import MAX_EXACT_BIAS

from ..exact_documents import lattice

getcontext().prec = 60
D = 2**53

EXACT_LAWS = sorted(set(FAMILIES) - {"laplace", "ptt2"})
"""Families whose reports tell no more than their output."""


def ratios_allowed(numerators, epsilon):
    """Whether every pair of rows keeps the ratio at every output, pair by pair, with sixty digits."""
    limit = Decimal(epsilon).exp()
    columns = [[int(entry) for entry in column] for column in numerators.T]
    return all(Decimal(a) <= limit * Decimal(b) for column in columns for a in column for b in column)


def mean_of(table, row):
    """The mean of a row's reports by fractions: points, cells by their middles."""
    middles = [(Fraction(a) + Fraction(b)) / 2 for a, b in zip(table.low.tolist(), table.high.tolist(), strict=True)]
    return sum(int(entry) * middle for entry, middle in zip(table.numerators[row], middles, strict=True)) / D


@pytest.mark.parametrize("name", EXACT_LAWS)
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 4.0, 16.0])
def test_families_become_exact_and_keep_outputs_means_and_variances(name, epsilon):
    """Row sums, every pair's ratio, the bias as a fraction; at most 2e-9 of the variance is lost even at epsilon 16."""
    before = FAMILIES[name](np.linspace(-3.0, 5.0, 9), epsilon)
    made = make_exact(before)
    table = made.mechanism
    assert table.exact
    assert (table.numerators.sum(axis=1) == D).all()
    assert ratios_allowed(table.numerators, epsilon)
    assert np.array_equal(table.low, before.low)
    assert np.array_equal(table.high, before.high)
    if before.provenance.claims_unbiased:
        biases = [abs(mean_of(table, i) - Fraction(knot)) for i, knot in enumerate(table.knots.tolist())]
        assert made.proof.bias == made.mean_change == max(biases)
        assert made.proof.relative_bias <= Fraction(1, 10**12)
    assert float(made.mean_change) < (2e-15 if epsilon > 0.1 else 1e-12) * 8
    np.testing.assert_allclose(table.knot_variances, before.knot_variances, rtol=2e-9)
    assert abs(made.variance_change) < 2e-9
    assert made.proof.ok
    assert not verify(table).failures


@pytest.mark.slow
@given(
    data=st.data(),
    n=st.integers(2, 6),
    m=st.integers(2, 12),
    epsilon=st.one_of(st.floats(0.01, 1.0), st.floats(1.0, 16.0)),
)
@settings(max_examples=60)
def test_any_private_matrix_becomes_exact_within_its_limit_and_keeps_its_means(data, n, m, epsilon):
    """Random patterns between t and e^epsilon t, tight in every column, as solvers return them."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    pattern = np.where(rng.random((n, m)) < 0.5, np.exp(epsilon * (1 - 1e-12)), 1.0)
    pattern[:, -1] = 1.0  # one column free to take up the sums
    weights = 0.9 * rng.dirichlet(np.ones(m - 1)) / pattern[:, :-1].dot(np.ones(m - 1)).max()
    matrix = pattern[:, :-1] * weights
    rest = 1 - matrix.sum(axis=1)
    matrix = np.c_[matrix, rest]
    reach = rest.max() / rest.min()
    matrix /= matrix.sum(axis=1, keepdims=True)
    budget = float(max(epsilon, np.log(reach)) * (1 + 1e-9))
    if budget > 16:
        return
    places = np.sort(rng.normal(size=m)) * 3
    table = TabulatedMechanism.from_points(np.arange(n), places, matrix, budget)
    made = make_exact(table)
    assert (made.mechanism.numerators.sum(axis=1) == D).all()
    assert ratios_allowed(made.mechanism.numerators, budget)
    assert float(made.mean_change) <= 1e-12 * (n - 1)
    np.testing.assert_allclose(made.mechanism.knot_means, table.knot_means, atol=2e-12 * n)


def test_a_lattice_with_tails_becomes_exact_with_the_mean_of_its_digits():
    """The tails' mean is that of the binary digits that are really drawn, within 1e-14 of the geometric one."""
    before = lattice()
    made = make_exact(before)
    assert ratios_allowed(made.mechanism.numerators, before.epsilon)
    np.testing.assert_allclose(made.mechanism.knot_means, before.knot_means, atol=1e-14)
    assert made.proof.bias == made.proof.relative_bias * 2
    assert float(made.mean_change) < 1e-14


@pytest.mark.parametrize("name", ["laplace", "ptt2"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_densities_that_differ_between_rows_become_points_of_the_same_mean_at_a_millionth(name, epsilon):
    """Laplace's tails become geometric ones; the variance grows by less than 1e-6."""
    before = FAMILIES[name]([-1.0, -0.2, 0.5, 1.0], epsilon)
    made = make_exact(before)
    assert made.mechanism.within.kind == ("geometric-tails" if name == "laplace" else "uniform")
    assert made.proof.ok
    assert ratios_allowed(made.mechanism.numerators[:, ::40], epsilon)
    assert 0 < made.variance_change < 1e-6
    assert made.proof.relative_bias <= MAX_EXACT_BIAS
    np.testing.assert_allclose(made.mechanism.knot_variances, before.knot_variances, rtol=1e-6)


@pytest.mark.slow
def test_a_tight_table_is_stretched_by_a_hair_and_keeps_its_means():
    """Two hundred outputs at epsilon 0.001 leave no room in the boxes; 4e-9 of the variance buys it."""
    before = FAMILIES["ptt"](np.linspace(0.0, 1.0, 101), 0.001)
    made = make_exact(before)
    share = made.mechanism.provenance.parameters["stretched"]
    assert 0 < share < 1e-8
    assert made.proof.ok
    assert made.proof.relative_bias <= MAX_EXACT_BIAS
    assert made.mechanism.provenance.claims_unbiased
    assert 0 < made.variance_change < 3 * share
    np.testing.assert_allclose(made.mechanism.low, before.low, rtol=2 * share)
    assert made.mechanism.low[0] < before.low[0]


def test_what_is_exact_stays_as_it_is():
    """Making it exact twice moves nothing."""
    once = make_exact(piecewise([0.0, 0.5, 1.0], 1.0)).mechanism
    assert make_exact(once).mechanism is once


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("knots", [np.linspace(0, 1, 2), np.linspace(-1, 1, 11), np.linspace(1e6, 1e6 + 1, 5)], ids=len)
def test_every_family_can_be_exact_at_the_smallest_budgets(name, knots):
    """At epsilon 1e-6 reports are 1e6 domains apart, and one unit moves a mean by 1e-10 of the domain."""
    for epsilon in (1e-6, 1e-5, 1e-4):
        made = make_exact(FAMILIES[name](knots, epsilon))
        assert made.proof.ok
        assert made.mean_change < 1e-9 * (knots[-1] - knots[0])


def test_a_mean_off_by_more_than_the_limit_is_an_error_and_the_table_stays_in_doubles():
    """A claim to be unbiased that a hair of bias breaks, where the ratio leaves no room for repair."""
    q = np.exp(inner_epsilon(1.0)) / (1 + np.exp(inner_epsilon(1.0)))
    end = 0.5 + 0.5 / (2 * q - 1) * (1 - 1e-10)
    origin = Provenance("x", {"unbiased": True})
    table = TabulatedMechanism.from_points([0, 1], [1 - end, end], [[q, 1 - q], [1 - q, q]], 1.0, provenance=origin)
    with pytest.raises(TableError, match=r"keep means within 1.0e-12 of the domain, got 5.*e-11: raise epsilon"):
        make_exact(table)
    assert exact_if_possible(table) is table


def test_a_table_that_is_not_private_is_refused():
    """Rounding must not be taken for a repair."""
    table = TabulatedMechanism.from_points([0, 1], [0, 1], [[0.8, 0.2], [0.2, 0.8]], 1.0)
    with pytest.raises(TableError, match="log-ratio must be at most 1"):
        make_exact(table)
    with pytest.raises(TableError, match="must be exact, got"):
        _ = table.numerators


@pytest.mark.parametrize("shift", [0.0, 3e-12, 1e-9, 1e-3])
def test_the_mean_that_is_wanted_is_reached_within_a_few_units_where_the_boxes_have_room(shift):
    """Also where the probabilities have another one; sums and boxes hold all the same."""
    matrix = np.array([[0.4, 0.3, 0.2, 0.1], [0.3, 0.3, 0.2, 0.2]])
    places = [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(5)]
    targets = [Fraction(4, 5) + Fraction(shift), Fraction(13, 10) - Fraction(shift)]
    made = round_rows(matrix, Fraction(9, 4), places, targets)
    for row, target in zip(made.tolist(), targets, strict=True):
        assert sum(row) == D
        mean = sum(n * place for n, place in zip(row, places, strict=True)) / D
        assert abs(mean - target) <= Fraction(5, D)
    assert all(4 * max(column) <= 9 * min(column) for column in made.T.tolist())


def test_an_impossible_sum_is_an_error():
    """Two equal rows of two outputs with numerators that cannot reach 2^53."""
    with pytest.raises(TableError, match="must sum to 2\\^53"):
        round_rows(np.array([[0.25, 0.25]]), Fraction(3, 2), [Fraction(0), Fraction(1)], [Fraction(1, 2)])


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.5, 0.5], [0.1, 0.9]], r"must be multiples of 2\^-53, got 0\.1 at row 1, output 0"),
        ([[0.5, 0.5], [0.5, 0.5 + 2**-50]], r"row 1 must sum to 2\^53 exactly, got 8 more"),
    ],
)
def test_a_matrix_cannot_just_say_that_it_is_exact(matrix, message):
    """Multiples of 2^-53 and sums of one are checked."""
    ends = np.array([0.0, 1.0])
    with pytest.raises(TableError, match=message):
        TabulatedMechanism(ends, ends, ends, np.array(matrix), 16.0, exact=True)


def test_a_law_that_differs_between_rows_is_not_exact_and_the_flag_is_true_or_false():
    """Whole numbers are no proof where reports tell more than their output."""
    table = FAMILIES["laplace"]([0.0, 1.0], 1.0)
    matrix = np.array([[0.25, 0.5, 0.25]] * 2)
    with pytest.raises(TableError, match="must be the same for all rows, got exponential"):
        TabulatedMechanism(table.knots, table.low, table.high, matrix, 1.0, table.within, exact=True)
    with pytest.raises(TableError, match="exact must be true or false, got 1"):
        TabulatedMechanism(table.knots, table.low, table.high, matrix, 1.0, table.within, exact=1)  # pyright: ignore[reportArgumentType] -- the fault


class TestProof:
    def test_the_facts_are_those_of_the_tightest_output(self):
        """Recomputed by brute force over all outputs and pairs of rows."""
        table = make_exact(FAMILIES["hybrid"]([-1.0, 0.0, 0.25, 1.0], 2.0)).mechanism
        proof = prove(table)
        columns = table.numerators.T.tolist()
        ratios = [max(Fraction(a, b) for a in column for b in column) for column in columns]
        assert proof.ratio == max(ratios) == ratios[proof.output]
        assert (proof.largest, proof.smallest) == (max(columns[proof.output]), min(columns[proof.output]))
        assert proof.slack == proof.limit - max(ratios) >= 0
        assert proof.epsilon == 2.0

    def test_a_smaller_budget_is_not_proved(self):
        """The message has the two numerators, to check by hand."""
        proof = prove(make_exact(piecewise([0.0, 1.0], 1.0)).mechanism, epsilon=0.9)
        assert not proof.ok
        assert proof.slack is not None
        assert proof.slack < 0
        assert proof.failures[0].endswith(f"{proof.largest} / {proof.smallest}")

    def test_an_output_that_one_row_cannot_produce_has_an_infinite_ratio(self):
        """Also beside outputs of very large finite ratios."""
        ends = np.arange(3.0)
        matrix = np.array([[2.0**-53, 0.5, 0.5 - 2.0**-53], [0.5, 0.0, 0.5]])
        proof = prove(TabulatedMechanism(np.array([0.0, 1.0]), ends, ends, matrix, 16.0, exact=True))
        assert (proof.ok, proof.output, proof.ratio, proof.slack) == (False, 1, None, None)
