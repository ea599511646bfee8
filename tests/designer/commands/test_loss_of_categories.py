"""`optldp design --categorical --loss`: the categories are the reports, and what does not go with them is refused."""

import json

import numpy as np
import pytest
from optldp import CategoricalPrior, load_mechanism
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.categorical.table import CategoricalTable

JOBS = "value,weight\ncook,5\nnurse,3\npilot,2\n"
COSTS = np.array([[0, 1, 9], [2, 0, 1], [1, 4, 0.0]])


@pytest.fixture
def asked(tmp_path):
    (tmp_path / "jobs.csv").write_text(JOBS)
    np.savetxt(tmp_path / "costs.csv", COSTS, delimiter=",")
    return ("design", "--categorical", "--prior", tmp_path / "jobs.csv", "--public")


def test_without_knowledge_the_zero_one_loss_is_randomised_response(optldp, asked, tmp_path):
    """Kairouz, Oh and Viswanath (2016): nothing is more often right of equally likely categories."""
    (tmp_path / "jobs.csv").write_text("value,weight\ncook,1\nnurse,1\npilot,1\n")
    told = json.loads(optldp(*asked, "--epsilon", 2, "--loss", "zero-one", "--json").stdout)
    known = 1 - np.trace(categorical_grr("abc", 2.0).probabilities) / 3
    assert told["expected_loss"] == pytest.approx(known, rel=1e-6)
    assert told["lower_bound"] <= told["expected_loss"]


@pytest.mark.parametrize(("objective", "fact"), [("expected", "expected_loss"), ("minimax", "worst_loss")])
def test_losses_of_a_file_from_design_to_reports(optldp, asked, tmp_path, objective, fact):
    out, people, reports = tmp_path / "m.json", tmp_path / "people.csv", tmp_path / "r.csv"
    more = ("--epsilon", 1, "--loss", tmp_path / "costs.csv", "--objective", objective, "--out", out, "--json")
    told = json.loads(optldp(*asked, *more).stdout)
    made = load_mechanism(out)
    assert isinstance(made, CategoricalTable)
    assert told["lower_bound"] <= told[fact]
    assert told["relative_gap"] < 1e-3
    losses = (made.probabilities * COSTS).sum(1)
    weights = CategoricalPrior.from_pairs_file(tmp_path / "jobs.csv").weights
    again = losses.max() if objective == "minimax" else weights @ losses
    assert again == pytest.approx(told[fact], rel=1e-9)
    assert "verdict" in optldp("verify", out).stdout
    people.write_text("job\n" + "cook\nnurse\npilot\n" * 50)
    optldp("perturb", out, people, "--column", "job", "--seed", 1, "--out", reports)
    assert json.loads(optldp("estimate", out, reports, "--method", "mle", "--json").stdout)["n"] == 150


@pytest.mark.slow
def test_shares_are_those_of_the_law_inverted_or_refused(optldp, refusal, asked, tmp_path):
    out, people, reports = tmp_path / "m.json", tmp_path / "people.csv", tmp_path / "r.csv"
    people.write_text("job\n" + "cook\n" * 2000 + "pilot\n" * 2000)
    for epsilon, told_apart in ((3, True), (0.5, False)):
        optldp(*asked, "--epsilon", epsilon, "--loss", "zero-one", "--out", out, "--force")
        optldp("perturb", out, people, "--column", "job", "--seed", 2, "--out", reports, "--force")
        if told_apart:
            found = json.loads(optldp("estimate", out, reports, "--json").stdout)
            errors = (np.array(found["value"]) - [0.5, 0, 0.5]) / found["std_error"]
            assert np.abs(errors).max() < 4
            raw = np.bincount(np.loadtxt(reports, skiprows=1, dtype=int, delimiter=",", usecols=0), minlength=3) / 4000
            assert np.abs((raw - [0.5, 0, 0.5]) / found["std_error"]).max() > 6
        else:
            said = refusal("estimate", out, reports)
            assert "outputs do not tell 3 categories apart: use method mle" in said


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--epsilon", 1, "--objective", "minimax"), "--objective is for a --loss, where values are categories"),
        (("--epsilon", 1, "--loss", "absolute"), "a loss must be zero-one"),
        (
            ("--epsilon", 1, "--loss", "zero-one", "--method", "grr"),
            "a --loss or --privacy has a table of its own, got --method grr",
        ),
        (("--epsilon", 1, "--loss", "zero-one", "--objective", "error"), "needs --objective expected, minimax"),
        (("--epsilon", 1, "--privacy", "metric"), "categories have no distance but one by a matrix"),
        (("--privacy", "approximate:1e-6", "--epsilon", 1), "noise of one shape is for numbers, got categories"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(refusal, asked, more, says):
    assert says in refusal(*asked, *more)
