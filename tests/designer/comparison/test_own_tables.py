"""A table of one's own stands beside the known methods, judged as they are."""

import json

import numpy as np
import pytest
from optldp.designer import Error, Information, Prior, WorstCase, compare
from optldp.mechanisms import (
    Approximate,
    InputError,
    TableError,
    TabulatedMechanism,
    duchi,
    gaussian,
    make_exact,
    own_table,
    piecewise,
    save_table,
    square_wave,
)

KNOTS = np.linspace(0, 50, 7)
PRIOR = Prior.on_knots(KNOTS, [1, 4, 9, 4, 1, 0, 0], source="public")
TWO = [[0.75, 0.25], [0.25, 0.75]]


def matrix_of(family, epsilon: float) -> TabulatedMechanism:
    """The exact table of a closed form's own matrix, which says nothing of where it is from."""
    table = family(KNOTS, epsilon)
    return own_table(KNOTS, np.r_[table.low, table.high[-1]], table.probabilities, epsilon)


def number(value: float | None) -> float:
    assert value is not None
    return value


@pytest.mark.nightly
@pytest.mark.parametrize("family", [piecewise, square_wave])
def test_the_matrix_of_a_closed_form_has_the_row_of_the_closed_form(family):
    name, asked = family.__name__.replace("_", "-"), [WorstCase(), Information(), Error(1000)]
    rows = compare(PRIOR, [1.0], methods=[name], tables={"mine": matrix_of(family, 1.0)}, objectives=asked)
    by = {(row.objective, row.method): row for row in rows}
    for objective in ("expected", "minimax", "information"):
        mine, theirs = by[objective, "mine"], by[objective, name]
        assert mine.value is not None
        for field in (
            "value",
            "bound",
            "expected_variance",
            "worst_case_variance",
            "ratio_to_optimal",
            "max_log_ratio",
        ):
            assert getattr(mine, field) == pytest.approx(getattr(theirs, field), rel=1e-8), field
    clipped = by["error", name]
    assert number(clipped.value) <= number(
        by["error", "mine"].value
    )  # as it stands, where a closed form is clipped as is best


def test_its_variance_is_the_closed_form():
    """Duchi's: ((e + 1) / (e - 1))^2 - x^2 on [-1, 1]."""
    prior, t = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public"), (np.e + 1) / (np.e - 1)
    p = 0.5 + np.array([-1, 0, 1]) / (2 * t)
    mine = own_table([-1, 0, 1], [-t, t], np.stack([1 - p, p], axis=1), 1.0)
    (row,) = compare(prior, [1.0], methods=[], tables={"mine": mine})
    assert row.expected_variance == pytest.approx(
        t**2 - 0.5, rel=1e-8
    )  # the doubles are a hair above e, and the rows are moved that much
    assert number(row.bound) <= number(row.value)


@pytest.mark.slow
def test_at_budgets_that_it_does_not_keep_the_row_says_so():
    rows = compare(PRIOR, [0.5, 1.0, 2.0], methods=["duchi"], tables={"mine": matrix_of(piecewise, 1.0)})
    mine = [row for row in rows if row.method == "mine"]
    assert [row.status for row in mine] == ["failed", "gap-open", "gap-open"]
    assert mine[0].error == "the budget must be at least its epsilon 1, got 0.5"
    assert mine[1].value == mine[2].value
    assert "mine" in {line.get_label() for line in rows.plot().get_lines()}


@pytest.mark.slow
def test_a_bias_that_no_relabelling_mends_has_no_variance_and_has_an_error():
    steps = own_table([0, 1, 2], [-1, 3], [[0.7, 0.3], [0.6, 0.4], [0.3, 0.7]], 1.0)
    prior = Prior.on_knots([0, 1, 2], [1, 2, 1], source="public")
    (row,) = compare(prior, [1.0], methods=[], tables={"steps": steps})
    assert row.status == "failed"
    assert "compare by the error of a mean" in row.error
    (row,) = compare(prior, [1.0], methods=[], tables={"steps": steps}, objective=Error(1000))
    assert number(row.value) >= number(row.bound) > 0


@pytest.mark.parametrize(
    ("tables", "kind", "said"),
    [
        ({"piecewise": make_exact(duchi(KNOTS, 1.0)).mechanism}, InputError, "a name of its own, got 'piecewise'"),
        ({"expected": make_exact(duchi(KNOTS, 1.0)).mechanism}, InputError, "a name of its own, got 'expected'"),
        ({"mine": duchi(KNOTS, 1.0)}, TableError, "make it exact with make_exact"),
        ({"mine": TWO}, InputError, "mine must be a table of numbers, got list"),
        (
            {"mine": make_exact(gaussian(KNOTS, Approximate(1.0, 1e-6))).mechanism},
            InputError,
            "must promise pure privacy",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused_in_one_line(tables, kind, said):
    with pytest.raises(kind, match=said) as refused:
        compare(PRIOR, [1.0], tables=tables)
    assert "\n" not in str(refused.value)


def test_other_knots_are_a_row_that_says_so():
    (row,) = compare(PRIOR, [2.0], methods=[], tables={"mine": own_table([0, 10], [-5, 15], TWO)})
    assert row.status == "failed"
    assert row.error.startswith("coarse knots must be some of the prior's 7 knots")


class TestTheCommand:
    @pytest.mark.slow
    def test_a_file_is_a_row_named_after_it_on_its_own_knots(self, optldp):
        save_table(own_table([-1, 0, 1], [-2.2, 2.2], [[0.73, 0.27], [0.5, 0.5], [0.27, 0.73]], 1.0), "mine.json")
        asked = ("compare", "--prior", "prior.csv", "--epsilon", 1, "--method", "duchi", "--table", "mine.json")
        rows = json.loads(optldp(*asked, "--json").stdout)["rows"]
        assert [row["method"] for row in rows] == ["duchi", "mine"]
        assert 1 < rows[0]["ratio_to_optimal"] < rows[1]["ratio_to_optimal"]
        prior = Prior.from_pairs([-1, -0.5, 0, 0.5, 1], [1, 2, 3, 2, 1], knots=[-1, 0, 1], source="public")
        assert rows[0]["value"] == pytest.approx(compare(prior, [1.0], methods=["duchi"])[0].value, rel=1e-12)

    def test_what_cannot_be_read_is_one_line(self, optldp):
        save_table(duchi([-1, 0, 1], 1.0), "mine.json", allow_unproved=True)
        asked = ("compare", "--prior", "prior.csv", "--epsilon", 1, "--table", "mine.json")
        for more, said in (((), "must be exact to be proved"), (("--table", "mine.json"), "got 'mine' twice")):
            done = optldp(*asked, *more)
            assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1)
            assert said in done.stderr
