"""A matrix of one's own becomes an exact table that is proved, or is refused in one line."""

import math

import numpy as np
import pytest
from optldp.mechanisms import InputError, TableError, own_table, piecewise, square_wave, verify

KNOTS = np.linspace(0, 50, 7)
TWO = [[0.75, 0.25], [0.25, 0.75]]


def test_the_matrix_is_kept_and_proved_at_the_budget_it_keeps():
    made = own_table([0, 10], [-10, 20], TWO)
    assert verify(made).ok
    assert math.log(3) <= made.epsilon < math.log(3) * (1 + 2e-9)
    assert made.probabilities == pytest.approx(np.array(TWO), abs=1e-15)


def test_a_budget_that_is_named_is_the_one_that_is_proved():
    assert own_table([0, 10], [-10, 20], TWO, 1.2).epsilon == 1.2


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 7.0])
def test_rounding_alone_breaks_no_budget_and_moves_no_mean(epsilon):
    p = 1 / (1 + math.exp(-epsilon) * (1 - 1e-13))  # above e^epsilon, whichever way the library's exp rounds
    t = 1 / (2 * p - 1)
    made = own_table([-1, 1], [-t, t], [[p, 1 - p], [1 - p, p]], epsilon)
    assert (verify(made).verdict, made.epsilon) == ("proved", epsilon)
    assert made.provenance.claims_unbiased
    assert made.knot_means == pytest.approx([-1, 1], abs=1e-12)
    assert made.knot_variances == pytest.approx(np.full(2, t**2 - 1), rel=1e-7, abs=1e-7)


def test_points_may_come_in_any_order():
    made = own_table([0, 10], [20, -10], [row[::-1] for row in TWO])
    assert made.low.tolist() == [-10, 20]
    assert made.probabilities.tolist() == own_table([0, 10], [-10, 20], TWO).probabilities.tolist()


@pytest.mark.parametrize(("family", "claims"), [(piecewise, True), (square_wave, False)])
def test_edges_make_cells_and_what_is_unbiased_says_so(family, claims):
    table = family(KNOTS, 1.0)
    made = own_table(KNOTS, np.r_[table.low, table.high[-1]], table.probabilities, 1.0, method="theirs", units="h")
    assert (made.provenance.claims_unbiased, made.provenance.method, made.units) == (claims, "theirs", "h")
    assert made.knot_variances == pytest.approx(table.knot_variances, rel=1e-9)


@pytest.mark.parametrize(
    ("reports", "matrix", "epsilon", "said"),
    [
        ([0, 1], TWO, 1.0, r"the log-ratio must be at most 1, got 1\.098"),
        ([0, 1, 2, 3], TWO, None, r"got shapes \(2, 2\) and \(4,\)"),
        ([0, 1], [[0.75, 0.2], [0.25, 0.75]], None, r"every row must sum to 1, got 0\.95 in row 0"),
        ([0, 1], [[1, 0], [0.5, 0.5]], None, "got a zero at output 1: no epsilon is kept"),
        ([0, 1], [[0.5, 0.5], [0.5, 0.5]], None, "likelier at one value than at another, got rows that are all alike"),
        ([0, 1], [[0.75 + 1e-10, 0.25], [0.25, 0.75]], 2.0, "rows must sum to 1 within"),
        ([0, 1], [[0.75, 0.25], [0.25]], None, "probabilities must be numbers, as many in each row"),
        (["a", "b"], TWO, None, "reports must be numbers"),
    ],
)
def test_what_is_no_private_law_is_refused_in_one_line(reports, matrix, epsilon, said):
    with pytest.raises((InputError, TableError), match=said) as refused:
        own_table([0, 1], reports, matrix, epsilon)
    assert "\n" not in str(refused.value)
