"""What hangs together between columns, on the command line: designed, perturbed, estimated, planned."""

import json
from pathlib import Path

import numpy as np
import pytest

COLUMNS = ("--column", "x=0:20", "--column", "y=0:80")
CLIPPED = ("survey.csv", "--for", "correlation:clip=2", *COLUMNS, "--epsilon", 1, "--public")
ASKED = ("survey.csv", "--for", "correlation", *COLUMNS, "--epsilon", 1, "--public")


@pytest.fixture
def survey(optldp):
    rng = np.random.default_rng(1)
    x = rng.normal(size=3000)
    y = 0.5 * x + np.sqrt(0.75) * rng.normal(size=3000)
    rows = zip(np.clip(10 + 3 * x, 0, 20).tolist(), np.clip(40 + 12 * y, 0, 80).tolist(), strict=True)
    Path("survey.csv").write_text("x,y\n" + "".join(f"{a:.2f},{b:.2f}\n" for a, b in rows))


def test_a_correlation_is_designed_perturbed_and_estimated(optldp, survey):
    assert 0 < json.loads(optldp("design", *ASKED, "--n", 50_000, "--json").stdout)["error"] < 0.05
    assert optldp("design", *ASKED, "--out", "two.json").exit_code == 0
    assert optldp("perturb", "two.json", "survey.csv", "--seed", 1, "--out", "reports.csv").exit_code == 0
    told = json.loads(optldp("estimate", "two.json", "reports.csv", "--json").stdout)
    assert told["low"] < 0.5 < told["high"]
    assert told["method"] == "winsorised influence"
    assert 10 < told["worth_open_records"] < 60  # of 3,000: about 400 in 50,000
    assert json.loads(optldp("show", "two.json", "--json").stdout)["features"] == ["psi"]


@pytest.mark.nightly
def test_a_plan_says_how_many_people_an_error_takes(optldp, survey):
    told = json.loads(optldp("plan", *ASKED, "--error", 0.05, "--json").stdout)
    assert told["people"] == pytest.approx(told["variance_times_n"] / 0.05**2, abs=1)
    assert told["people_within"] == pytest.approx(told["people"] * 1.96**2, rel=1e-3)
    assert told["people_split"] > 50 * told["people"]
    assert json.loads(optldp("plan", *CLIPPED, "--n", told["people"], "--json").stdout)["error"] < 0.0501


@pytest.mark.slow
def test_slopes_are_a_list_of_coefficients(optldp, survey):
    asked = ("survey.csv", "--for", "regression", "--response", "y", *COLUMNS, "--epsilon", 4, "--public")
    assert optldp("design", *asked, "--out", "reg.json").exit_code == 0
    assert optldp("perturb", "reg.json", "survey.csv", "--seed", 1, "--out", "r.csv").exit_code == 0
    told = json.loads(optldp("estimate", "reg.json", "r.csv", "--json").stdout)
    (slope,) = told["coefficients"]
    assert slope["name"] == "x"
    assert slope["low"] < 2 < slope["high"]  # .5 times 12 / 3


@pytest.mark.nightly
def test_one_feature_is_compared_with_a_split_budget(optldp, survey):
    asked = ("compare", "survey.csv", *ASKED[1:-1], "--error", 0.05, "--public")
    rows = {row["method"]: row for row in json.loads(optldp(*asked, "--json").stdout)["rows"]}
    assert min(rows.values(), key=lambda row: row["people"]) == rows["one feature"]
    assert rows["budget split"]["ratio"] > 50
    assert rows["budget split"]["people"] == pytest.approx(rows["budget split"]["variance_times_n"] / 0.05**2, abs=1)
    assert "budget split" in optldp(*asked, "--out", "rows.tex").stdout
    assert Path("rows.tex").read_text().count(r"\\") == 5  # four rows and their header
    said = optldp("compare", "survey.csv", "--column", "x", "--range", 0, 20, "--epsilon", 1, "--error", 1).stderr
    assert "--error is for what one report of several columns is for" in said


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("asked", "methods", "best"),
    [
        (("covariance", *COLUMNS), 4, "one feature"),
        (("regression", "--response", "y", *COLUMNS), 4, "one feature"),
        (("group-means", "--group", "x", "--column", "y=0:80", "--clip"), 3, "random signs"),
    ],
)
def test_each_target_has_rivals(optldp, asked, methods, best):
    rng = np.random.default_rng(1)
    rows = (
        f"{x},{20 * x + 10 * e:.0f}\n" for x, e in zip(rng.integers(4, size=800), rng.uniform(size=800), strict=True)
    )
    Path("survey.csv").write_text("x,y\n" + "".join(rows))
    told = optldp("compare", "survey.csv", "--for", *asked, "--epsilon", 2, "--public", "--json").stdout
    ratios = {row["method"]: row["ratio"] for row in json.loads(told)["rows"]}
    assert len(ratios) == methods
    assert ratios[best] == 1
    assert ratios["budget split"] > 1


@pytest.mark.nightly
def test_a_second_round_of_slopes_starts_where_the_first_ended(optldp, survey):
    asked = ("--for", "regression", "--response", "y", *COLUMNS, "--epsilon", 8)
    assert json.loads(optldp("plan", *asked, "--n", 6000, "--json").stdout)["two_rounds_pay"]
    assert optldp("design", *asked, "--out", "one.json").exit_code == 0
    assert optldp("perturb", "one.json", "survey.csv", "--seed", 1, "--out", "r1.csv").exit_code == 0
    assert optldp("design", *asked, "--after", "one.json", "r1.csv", "--out", "two.json").exit_code == 0
    assert optldp("perturb", "two.json", "survey.csv", "--seed", 2, "--out", "r2.csv").exit_code == 0
    (slope,) = json.loads(optldp("estimate", "two.json", "r2.csv", "--json").stdout)["coefficients"]
    assert slope["low"] < 2 < slope["high"]
    other = ("--for", "regression", "--response", "y", "--column", "z=0:1", "--column", "y=0:80", "--epsilon", 8)
    said = optldp("design", *other, "--after", "one.json", "r1.csv").stderr
    assert "both rounds must be of the same columns" in said


TABLE = ("survey.csv", "--for", "table", "--column", "a", "--column", "b", "--epsilon", 2, "--public")


@pytest.fixture
def labels(optldp):
    rng = np.random.default_rng(1)
    a, b = rng.integers(2, size=(2, 2000))
    rows = (f"{'FM'[i]},{['no', 'yes'][i & j]}\n" for i, j in zip(a, b, strict=True))
    Path("survey.csv").write_text("a,b\n" + "".join(rows))


def test_a_table_is_cells_and_a_test(optldp, labels):
    assert optldp("design", *TABLE, "--out", "two.json").exit_code == 0
    assert optldp("perturb", "two.json", "survey.csv", "--seed", 1, "--out", "reports.csv").exit_code == 0
    told = json.loads(optldp("estimate", "two.json", "reports.csv", "--json").stdout)
    assert [(cell["a"], cell["b"]) for cell in told["cells"]] == [("F", "no"), ("F", "yes"), ("M", "no"), ("M", "yes")]
    assert all(
        cell["low"] <= share < cell["high"] for cell, share in zip(told["cells"], [0.5, 0, 0.25, 0.25], strict=True)
    )
    assert told["test"]["p"] < 0.01
    assert told["odds_ratio"]["high"] is None or told["odds_ratio"]["high"] > 10
    assert 100 < told["worth_open_records"] < 2000
    planned = json.loads(optldp("plan", *TABLE, "--n", 2000, "--json").stdout)
    assert planned["error"] == pytest.approx(max(cell["std_error"] for cell in told["cells"]), rel=0.1)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (("--column", "a"), "is of two columns, got 1"),
        (("--column", "a", "--column", "b=0:1"), "have values and no range, got 'b=0:1'"),
        (("--column", "a", "--column", "c"), "column 'c' of 'survey.csv' must exist"),
    ],
)
def test_what_is_no_table_is_one_line(optldp, labels, asked, says):
    done = optldp("design", "survey.csv", "--for", "table", *asked, "--epsilon", 1, "--out", "two.json")
    assert done.exit_code == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.nightly
def test_groups_have_means(optldp):
    rng = np.random.default_rng(1)
    groups = rng.integers(3, size=4000)
    values = np.clip(np.round(30 + 10 * groups + rng.normal(size=4000) * 8, -1), 0, 80)
    rows = (f"town {'abc'[g]},{y:g}\n" for g, y in zip(groups, values, strict=True))
    Path("survey.csv").write_text("g,y\n" + "".join(rows))
    asked = ("survey.csv", "--for", "group-means", "--group", "g", "--column", "y=0:80", "--epsilon", 4, "--public")
    assert optldp("design", *asked, "--out", "two.json").exit_code == 0
    assert optldp("perturb", "two.json", "survey.csv", "--seed", 1, "--out", "reports.csv").exit_code == 0
    told = json.loads(optldp("estimate", "two.json", "reports.csv", "--json").stdout)
    assert [each["name"] for each in told["groups"]] == ["town a", "town b", "town c"]
    for place, each in enumerate(told["groups"]):
        assert each["low"] < values[groups == place].mean() < each["high"] < each["low"] + 6
    said = optldp("design", *asked[:-2], 0.1, "--n", 20, "--public").stderr
    assert "the share of group 'town a' must be told within 25% of itself" in said
    said = optldp("design", "survey.csv", "--for", "group-means", "--column", "y=0:80", "--epsilon", 1).stderr
    assert "means of groups need --group" in said


@pytest.mark.nightly
def test_both_spellings_of_a_column_are_one(optldp, survey):
    spelt = [word.replace("--column", "--attribute") if isinstance(word, str) else word for word in ASKED]
    one, other = (optldp("plan", *asked, "--error", 0.1, "--json").stdout for asked in (ASKED, spelt))
    assert one == other


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (("--for", "correlation", "--column", "x=0:20", "--column", "x=0:20", "--epsilon", 1), "must differ"),
        (("--for", "covariance", *COLUMNS, "--rank", "--epsilon", 1), "--rank is for --for correlation"),
        (("--for", "correlation:clip=2", *COLUMNS, "--epsilon", 0.1, "--n", 50), "must be told within 0.5"),
        (("--for", "regression", *COLUMNS, "--epsilon", 1), "a regression needs --response"),
        (("--for", "correlation", *COLUMNS, "--epsilon", 1, "--objective", "minimax"), "is of no use to features"),
    ],
)
def test_what_cannot_be_is_one_line(optldp, survey, asked, says):
    done = optldp("design", "survey.csv", *asked, "--out", "two.json")
    assert done.exit_code == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
