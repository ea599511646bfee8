"""What several columns cannot be asked of is refused in one line, whatever the command, and nothing is written."""

from pathlib import Path

import numpy as np
import pytest
from optldp.designer.features import design_association, design_groups
from optldp.mechanisms import save_bundle

BOX = {"x": (0.0, 20.0), "y": (0.0, 80.0)}
X, Y = ("--column", "x=0:20"), ("--column", "y=0:80")
SLOPES = ("--for", "regression", "--response", "y", *X, *Y)
CORRELATION = ("--for", "correlation")


@pytest.fixture
def survey(optldp):
    x = np.arange(40) % 20
    rows = (f"{a},{a * a % 80},{2 * a},7\n" for a in x.tolist())
    Path("survey.csv").write_text("x,y,double,same\n" + "".join(rows))


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ((*CORRELATION, *X, "--column", "y=0:50"), "column 'y' must lie within 0 to 50, got 64: widen its range"),
        ((*CORRELATION, *X), "a correlation is of two columns, got 1: name two"),
        (("--for", "regression", "--response", "y", *Y), "a regression is on 1 to 8 other columns, got 0"),
        ((*CORRELATION, *X, "--column", "same=0:9"), "column 'same' must vary, got 7 alone"),
        ((*SLOPES, "--column", "double=0:40"), "covariates must not be collinear, got x, double with condition number"),
        ((*CORRELATION, *X, "--column", "z=0:9"), "column 'z' of 'survey.csv' must exist"),
    ],
)
def test_a_design_of_columns_that_cannot_be_is_one_line(optldp, survey, asked, says):
    done = optldp("design", "survey.csv", *asked, "--epsilon", 1, "--public", "--out", "two.json")
    assert (done.exit_code, done.stderr.count("\n"), Path("two.json").exists()) == (2, 1, False)
    assert says in done.stderr


@pytest.mark.slow
def test_a_group_nobody_is_in_is_one_line(optldp):
    groups, values = np.arange(60) % 3, np.arange(60) // 3 % 2
    made = design_groups("g", ("a", "b", "c"), "y", (0, 1), 8.0, groups, values).mechanism
    save_bundle(made, "two.json")
    # A share of nobody is estimated above or below zero: by these reports below.
    people = np.column_stack([np.arange(400) % 2, np.arange(400) // 2 % 2])
    reports = made.sample(people, np.random.default_rng(3))
    Path("r.csv").write_text(
        "feature,report\n" + "".join(f"{int(place)},{report!r}\n" for place, report in reports.tolist())
    )
    done = optldp("estimate", "two.json", "r.csv")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "the share of group 'c' must be told from zero, got -" in done.stderr


@pytest.mark.slow
def test_reports_of_one_round_given_as_two_are_one_line(optldp):
    save_bundle(design_association("covariance", BOX, 4.0).mechanism, "two.json")
    Path("r.csv").write_text("feature,report\n0,0\n")
    done = optldp("estimate", "two.json", "r.csv", "two.json", "r.csv")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "reports must be given once, got 'r.csv' twice" in done.stderr
