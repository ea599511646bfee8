"""Tables over categories: randomised response to the last unit, other tables rounded towards privacy."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.mechanisms import Categories, InputError, Provenance, TableError
from optldp.mechanisms.categorical import CategoricalTable, categorical_grr
from optldp.mechanisms.categorical.table import randomised_response_numerators
from optldp.mechanisms.integers.exponential import exponential_below
from scipy import stats

from ..table.test_exact_sampling import Scripted

D = 2**53
EPSILONS = [1e-6, 1e-3, 0.1, 1.0, 5.0, 16.0]
SKEW = [[0.5, 0.3, 0.2], [0.25, 0.35, 0.4]]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("size", [2, 3, 100, 2**20])
def test_randomised_response_uses_its_budget_to_the_last_unit(size, epsilon):
    """Rows sum to 2^53, and others smaller by one unit would break e^epsilon."""
    own, other = randomised_response_numerators(size, epsilon)
    limit = exponential_below(epsilon)
    assert own + (size - 1) * other == D
    assert Fraction(own, other) <= limit < Fraction(own + size - 1, other - 1)
    assert own >= other


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_it_is_randomised_response(epsilon):
    """e^epsilon / (e^epsilon + K - 1) for the category itself, and private by whole numbers."""
    made, e = categorical_grr(list("abcdef"), epsilon), np.exp(epsilon)
    expected = np.where(np.eye(6), e, 1.0) / (e + 5)
    np.testing.assert_allclose(made.probabilities, expected, rtol=1e-9)
    assert made.failures() == ()
    assert made.max_log_ratio <= epsilon * (1 + 1e-15)


def tables():
    """Random rows mixed with an even one, so that no ratio is infinite."""
    shapes = st.tuples(st.integers(2, 6), st.integers(2, 8), st.integers(0, 2**32), st.floats(0.01, 0.99))

    def build(drawn):
        size, outputs, seed, share = drawn
        rows = np.random.default_rng(seed).dirichlet(np.ones(outputs), size)
        matrix = share * rows + (1 - share) / outputs
        return matrix / matrix.sum(axis=1, keepdims=True)

    return shapes.map(build)


@pytest.mark.slow
@given(tables())
def test_rounding_errs_towards_privacy(matrix):
    """At the very log-ratio that the doubles have, whichever way that was rounded."""
    epsilon = float(np.log(matrix.max(axis=0) / matrix.min(axis=0)).max())
    made = CategoricalTable.from_probabilities(range(len(matrix)), matrix, epsilon)
    assert made.failures() == ()
    assert made.largest_ratio is not None
    assert made.largest_ratio <= exponential_below(epsilon)
    assert (made.numerators.sum(axis=1) == D).all()
    np.testing.assert_allclose(made.probabilities, matrix, atol=1e-14)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.5, 0.5]], r"one row for each of 2 categories, got \(1, 2\)"),
        ([0.5, 0.5], r"got \(2,\)"),
        ([[0.5, 0.6], [0.5, 0.5]], "rows that sum to 1 within 1e-12"),
        ([[1.5, -0.5], [0.5, 0.5]], "must be non-negative"),
        ([[np.nan, 0.5], [0.5, 0.5]], "must be non-negative"),
        ([[1.0, 0.0], [0.0, 1.0]], "every ratio must be at most e"),
        ([[0.74, 0.26], [0.26, 0.74]], "every ratio must be at most e.*output 0"),
    ],
)
def test_probabilities_that_are_none_or_not_private_are_refused(matrix, message):
    with pytest.raises(TableError, match=message):
        CategoricalTable.from_probabilities("ab", matrix, 1.0)


def test_an_output_that_nobody_gives_stays_so():
    """Zero in all rows is private, zero in one is not."""
    made = CategoricalTable.from_probabilities("ab", [[0.6, 0.0, 0.4], [0.4, 0.0, 0.6]], 1.0)
    assert made.numerators[:, 1].tolist() == [0, 0]
    assert made.failures() == ()
    leaky = CategoricalTable(Categories("ab"), 16.0, Provenance(), np.array([[D, 0], [D - 1, 1]]))
    assert leaky.largest_ratio is None
    assert leaky.failures() == ("the log-ratio must be at most 16, got inf",)


@pytest.mark.parametrize(
    ("numerators", "message"),
    [
        ([[D, 0]], r"one row for each category, got shape \(1, 2\)"),
        ([[0.5, 0.5], [0.5, 0.5]], "must be integers"),
        ([[D, 1], [1, D - 1]], r"row 0 must sum to 2\^53 exactly, got 1 more"),
        ([[D + 1, -1], [1, D - 1]], r"lie in 0..2\^53"),
    ],
)
def test_numerators_that_are_no_probabilities_are_refused(numerators, message):
    with pytest.raises(TableError, match=message):
        CategoricalTable(Categories("ab"), 1.0, Provenance(), np.array(numerators))


@pytest.mark.parametrize("rng", [None, np.random.default_rng(7)], ids=["system", "simulated"])
@pytest.mark.parametrize("code", [0, 1])
def test_outputs_come_out_as_often_as_the_table_says(code, rng):
    """A chi-square test at one in ten million, with labels in and numbers out."""
    made = CategoricalTable.from_probabilities(["no", "yes"], SKEW, 1.0)
    reports = made.sample(np.full(60_000, ["no", "yes"][code]), rng)
    expected = 60_000 * made.pmf(made.all_reports())[:, code]
    assert stats.chisquare(np.bincount(reports, minlength=3), expected).pvalue > 1e-7


def test_words_decide_by_running_sums():
    """The first output while the number is below its numerator, and so on to the last."""
    made = CategoricalTable.from_probabilities(["no", "yes"], SKEW, 1.0)
    first, second, _ = made.numerators[1].tolist()
    numbers = [0, first - 1, first, first + second - 1, first + second, D - 1]
    assert made.draw(np.ones(6, dtype=int), Scripted([u << 11 for u in numbers])).tolist() == [0, 0, 1, 1, 2, 2]


def test_the_law_is_read_only_and_its_own():
    """Neither the caller's array nor the mechanism's can change it later."""
    mine = np.array([[D // 2, D // 2], [D // 2, D // 2]])
    made = CategoricalTable(Categories("ab"), 1.0, Provenance(), mine)
    mine[0] = D, 0
    assert made.numerators[0, 0] == D // 2
    with pytest.raises(ValueError, match="read-only"):
        made.numerators[0, 0] = 1


def test_text_and_back_and_what_is_no_report():
    made = CategoricalTable.from_probabilities("ab", SKEW, 1.0)
    reports = np.array([2, 0, 1])
    assert made.to_text(reports) == ["2", "0", "1"]
    assert made.from_text(["2", "0", "1"]).tolist() == [2, 0, 1]
    with pytest.raises(InputError, match=r"reports must lie in 0..2, got 3 in row 1"):
        made.pmf([3])


@pytest.mark.parametrize("epsilon", [0.0, -1.0, 17.0, float("nan"), "one", None])
def test_budgets_that_are_none_are_refused(epsilon):
    with pytest.raises(InputError, match="epsilon must be"):
        categorical_grr("ab", epsilon)
    with pytest.raises(InputError, match="epsilon must be"):
        CategoricalTable.from_probabilities("ab", SKEW, epsilon)
