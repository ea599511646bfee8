"""Tables of two columns: cells cost what was derived, and what is said of them has the cells' covariance."""

# Each case knows which kind of mechanism it made; the types say only that it is one of two.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportCallIssue=false

import numpy as np
import pytest
from optldp.designer.features import design_table
from optldp.estimators import count, estimate_frequencies
from optldp.estimators.features import independence, odds_ratio
from optldp.mechanisms import Categories, InputError
from optldp.mechanisms.spaces.cells import Cells


@pytest.mark.parametrize(("epsilon", "expected"), [(1, 66.63), (2, 13.20), (4, 1.79)])
def test_cells_of_4_x_5_cost_what_was_derived(epsilon, expected):
    made = design_table({"a": range(4), "b": range(5)}, epsilon)
    assert made.variances.sum() == pytest.approx(expected, rel=1e-3)


def test_cells_are_categories_that_say_their_columns_whatever_these_are_called():
    cells = Cells({"a&b": ["1=2", "+"], "ü": ["x y", "%", "z"]})
    again = Cells.of(Categories(cells.categories.labels))
    assert again is not None
    assert again.columns == cells.columns
    assert Cells.of(Categories(cells.categories.labels[::-1])) == Cells({"a&b": ["+", "1=2"], "ü": ["z", "%", "x y"]})
    assert Cells.of(Categories(cells.categories.labels[:-1])) is None


def test_a_test_of_open_counts_is_pearsons():
    held = np.array([[0.2, 0.1, 0.1], [0.15, 0.25, 0.2]])
    even = np.outer(held.sum(axis=1), held.sum(axis=0))
    near = even + 1e-3 * np.array([[1, -1, 0], [-1, 1, 0]])  # Wald's and Pearson's agree where both are small
    spread = (np.diag(near.ravel()) - np.outer(near, near)) / 5000
    pearson = 5000 * ((near - even) ** 2 / even).sum()
    assert independence(near, spread).statistic == pytest.approx(pearson, rel=0.02)


def test_independence_is_kept_and_dependence_found():
    made = design_table({"a": range(2), "b": range(3)}, 1.0)
    rng = np.random.default_rng(1)

    def rejected(law, runs):
        many = 0
        for _ in range(runs):
            codes = rng.choice(6, 20_000, p=np.ravel(law))
            found = estimate_frequencies(count(made.mechanism, made.mechanism.sample_codes(codes, rng)))
            many += independence(found.value.reshape(2, 3), found.covariance).p < 0.05
        return many

    assert rejected(np.full((2, 3), 1 / 6), 20) <= 4
    assert rejected([[0.3, 0.1, 0.1], [0.1, 0.1, 0.3]], 3) == 3


def test_an_odds_ratio_by_inversion_has_no_end_where_cells_are_not_told_from_zero():
    held, few = np.array([[0.4, 0.1], [0.01, 0.49]]), np.eye(4) * 0.02**2
    value, low, high = odds_ratio(held, few)
    assert (value, high) == (pytest.approx(0.4 * 0.49 / (0.1 * 0.01)), np.inf)
    assert low >= 0
    narrow = odds_ratio(held, few / 400)
    assert 0 < narrow[1] < narrow[0] < narrow[2] < np.inf


@pytest.mark.parametrize(
    ("columns", "shares", "says"),
    [
        ({"a": range(4)}, None, "is of two columns, got 1"),
        ({"a": range(40), "b": range(40)}, None, "at most 1024 cells, got 1600"),
        ({"a": range(2), "b": range(2)}, [0.5, 0.5], "2 x 2 numbers of sum 1"),
    ],
)
def test_bad_input_is_one_line(columns, shares, says):
    with pytest.raises(InputError, match=says):
        design_table(columns, 1.0, shares)


def test_an_odds_ratio_is_of_four_cells():
    with pytest.raises(InputError, match="of a 2 x 2 table, got 2 x 3"):
        odds_ratio(np.ones((2, 3)) / 6, np.eye(6))
