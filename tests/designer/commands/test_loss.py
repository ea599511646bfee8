"""`optldp design` for what one report is worth: --loss, --biased, --outputs and --privacy metric."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from optldp import load_table
from optldp.designer.commands.output.prior import read_prior
from optldp.designer.privacies import carries_budgets
from optldp.mechanisms import Metric, verify
from optldp.mechanisms.promise.members import written

AUDITOR = Path(__file__).parents[3] / "examples" / "verify_table.py"

PRIOR = "value,weight\n0,1\n0.25,2\n0.5,2\n0.75,1\n1,1\n"


@pytest.fixture
def prior(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text(PRIOR)
    return path


def asked(prior, *more):
    return ("design", "--prior", prior, "--public", "--epsilon", 1, *more)


def test_a_biased_table_of_a_loss(optldp, prior, tmp_path):
    out = tmp_path / "m.json"
    found = optldp(*asked(prior, "--loss", "absolute", "--biased", "--outputs", "0:1:0.025", "--out", out, "--json"))
    told = json.loads(found.stdout)
    assert told["lower_bound"] <= told["value"] == told["expected_loss"]
    assert told["relative_gap"] < 1e-6
    assert told["biased"]
    assert "nobody should average" in found.stderr
    table = load_table(out)
    weights = np.array([1, 2, 2, 1, 1]) / 7
    again = weights @ (table.probabilities * np.abs(table.low - table.knots[:, None])).sum(1)
    assert again == pytest.approx(told["value"], rel=1e-9)


@pytest.mark.parametrize(("objective", "fact"), [("minimax", "worst_loss"), ("trade-off:0.5", "mixed_loss")])
def test_by_distance(optldp, prior, tmp_path, objective, fact):
    out = tmp_path / "m.json"
    more = "--privacy", "metric", "--objective", objective, "--biased", "--outputs", "0:1:0.25", "--out", out, "--json"
    told = json.loads(optldp(*asked(prior, *more)).stdout)
    table = load_table(out)
    assert table.promise == Metric(1.0)
    assert verify(table).ok
    assert told["lower_bound"] <= told[fact] == told["value"]
    assert told["promise"] == "epsilon 1 per unit"


@pytest.mark.nightly
@pytest.mark.parametrize(("objective", "fact"), [("expected", "expected_loss"), ("minimax", "worst_loss")])
def test_by_distance_outputs_are_found(optldp, prior, tmp_path, objective, fact):
    out = tmp_path / "m.json"
    told = json.loads(
        optldp(*asked(prior, "--privacy", "metric", "--objective", objective, "--out", out, "--json")).stdout
    )
    table = load_table(out)
    assert verify(table).ok
    assert table.probabilities @ table.low == pytest.approx(table.knots, abs=1e-9)
    assert told["lower_bound"] <= told[fact] == told["value"]
    assert told["relative_gap"] < 1e-6
    assert told["solver"] == "tree"


FILES = {
    "by-value:FILE,rule=min": "value,epsilon\n1,4\n0,0.5\n0.25,1\n0.5,2\n0.75,3\n",
    "by-value:FILE": "value,epsilon\n1,4\n0,0.5\n0.25,1\n0.5,2\n0.75,3\n",
    "blocks:FILE,within=1,across=3": "value,block\n0,a\n0.25,a\n0.5,b\n0.75,b\n1,c\n",
    "ratios:FILE": "0,1,5,inf,2\n1,0,1,1,1\n1,1,0,1,1\n2,2,2,0,2\n1,1,1,1,0\n",
    "sensitive:FILE": "value\n0\n0.25\n",
    "metric:distance=FILE": "0,1,2,1.5,1\n1,0,1,1,1\n2,1,0,1,1\n1.5,1,1,0,1\n1,1,1,1,0\n",
    "metric:period=2": "",
}


@pytest.mark.slow
@pytest.mark.parametrize("privacy", FILES)
def test_by_any_promise_of_pairs_from_design_to_reports(optldp, prior, tmp_path, privacy):
    """Designed within 1e-6, proved here and by the second verifier, perturbed, and estimated of."""
    said, out = tmp_path / "said.csv", tmp_path / "m.json"
    said.write_text(FILES[privacy])
    asked = ("--prior", prior, "--public", "--privacy", privacy.replace("FILE", str(said)))
    budget = () if carries_budgets(privacy) else ("--epsilon", 1)
    more = "--loss", "absolute", "--biased", "--outputs", "0:1:0.025", "--out", out, "--json"
    found = optldp("design", *asked, *budget, *more)
    told = json.loads(found.stdout)
    assert told["relative_gap"] < 1e-6
    assert told["lower_bound"] <= told["value"]
    table = load_table(out)
    assert table.promise.kind == privacy.partition(":")[0]
    assert told["epsilon"] == table.epsilon
    assert told["log_ratios"] == written(tuple(map(tuple, table.promise.limits(table.knots).tolist())))
    assert ("promise more than they say" in found.stderr) == (privacy in ("ratios:FILE", "by-value:FILE,rule=min"))
    assert subprocess.run([sys.executable, "-I", "-S", str(AUDITOR), str(out)], capture_output=True).returncode == 0
    assert json.loads(optldp("verify", out, "--json").stdout)["verdict"] == "proved"
    people, reports = tmp_path / "people.csv", tmp_path / "reports.csv"
    people.write_text("x\n" + "\n".join(str(value) for value in table.knots.tolist() * 40) + "\n")
    assert table.promise.caution in optldp("perturb", out, people, "--column", "x", "--out", reports).stderr
    assert json.loads(optldp("estimate", out, reports, "--of", "distribution", "--json").stdout)["n"] == 200


def test_values_between_knots_are_refused(optldp, prior, tmp_path):
    said, out = tmp_path / "said.csv", tmp_path / "m.json"
    said.write_text(FILES["sensitive:FILE"])
    more = "--privacy", f"sensitive:{said}", "--biased", "--outputs", "0:1:0.25", "--out", out
    optldp(*asked(prior, *more))
    people = tmp_path / "people.csv"
    people.write_text("x\n0.5\n0.6\n")
    done = optldp("perturb", out, people, "--column", "x", "--out", tmp_path / "r.csv")
    assert done.exit_code == 2
    assert "values must be knots where privacy is promised of these alone, got 1 of 2 between two" in done.stderr


def test_losses_and_outputs_of_files(optldp, prior, tmp_path):
    losses, outputs = tmp_path / "loss.csv", tmp_path / "out.csv"
    values, reports = np.linspace(0, 1, 5), np.array([0.0, 0.5, 1.0])
    np.savetxt(losses, np.abs(reports - values[:, None]), delimiter=",")
    outputs.write_text("output\n0\n0.5\n1\n")
    own, named = (
        json.loads(optldp(*asked(prior, "--biased", "--loss", loss, "--outputs", where, "--json")).stdout)
        for loss, where in ((losses, outputs), ("absolute", "0:1:0.5"))
    )
    assert own["value"] == named["value"]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--loss", "absolute", "--biased"), "give --outputs LO:HI:STEP"),
        (("--privacy", "metric", "--biased"), "give --outputs LO:HI:STEP"),
        (("--privacy", "metric", "--loss", "absolute"), "give --outputs LO:HI:STEP"),
        (("--loss", "cubic", "--biased", "--outputs", "0:1:0.5"), "a loss must be one of absolute, squared, zero-one"),
        (("--biased", "--outputs", "0:1:0.3"), "steps from LO to HI"),
        (("--biased", "--outputs", "few"), "must be LO:HI:STEP such as 0:1:0.025, a file, or how many"),
        (("--biased", "--outputs", "16"), "give --outputs LO:HI:STEP"),
        (("--biased", "--outputs", "0:1e9:1e-3"), "at most 10,000"),
        (("--outputs", "0:1:0.5"), "add outputs farther out, or allow bias"),
        (("--biased", "--outputs", "0:1:0.5", "--objective", "robust:tv,radius=0.1"), "needs --objective expected"),
        (("--biased", "--outputs", "0:1:0.5", "--privacy", "approximate:1e-6"), "promise pure or pairwise privacy"),
        (("--biased", "--outputs", "0:1:0.5", "--method", "grr"), "--method is of no use to a table for a loss"),
        (("--outputs", "0:1:0.5", "--privacy", "ratios:r.csv"), "--privacy ratios carries its budgets, got others"),
        (
            ("--outputs", "0:1:0.5", "--privacy", "metric:distance=none.csv"),
            "none.csv must have numbers with commas",
        ),
        (("--outputs", "0:1:0.5", "--privacy", "metric:period=1"), "round a circle must span less than 1, got 0 to 1"),
        (("--privacy", "sensitive:s.csv"), "a data file must exist, got 's.csv'"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(refusal, prior, more, says):
    assert says in refusal(*asked(prior, *more))


@pytest.mark.nightly
@pytest.mark.parametrize("limit", ["3", pytest.param("bits:2", marks=pytest.mark.nightly)])
def test_at_most_so_many_outputs(optldp, prior, tmp_path, limit):
    out = tmp_path / "m.json"
    told = json.loads(optldp(*asked(prior, "--outputs", limit, "--out", out, "--json")).stdout)
    table = load_table(out)
    assert table.n_outputs == told["outputs"] == {"3": 3, "bits:2": 4}[limit]
    assert verify(table).ok
    assert told["lower_bound"] < told["expected_variance"] < 1.1 * told["lower_bound"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--outputs", "1"), "at least two outputs"),
        (("--outputs", "4", "--loss", "absolute"), "give --outputs LO:HI:STEP"),
        (("--outputs", "4", "--method", "piecewise"), "leave --method, --form and --knots auto out"),
        (("--outputs", "bits:x"), "or how many: 16 or bits:4"),
    ],
)
def test_limits_that_make_no_sense_are_refused(refusal, prior, more, said):
    assert said in refusal(*asked(prior, *more))


@pytest.mark.parametrize(("count", "notes", "knots"), [(401, 0, 401), (402, 1, 101)])
def test_a_prior_of_more_values_than_knots_says_that_it_is_rounded(tmp_path, count, notes, knots):
    """A table for the loss of 100,000 values is one for fewer knots, and nobody should have to guess."""
    (tmp_path / "p.csv").write_text("value,weight\n" + "".join(f"{i},1\n" for i in range(count)))
    prior, told = read_prior(None, None, None, tmp_path / "p.csv", None, True, False, "")
    assert (prior.knots.size, len(told)) == (knots, notes)
    assert all("p.csv has 402 values, and knots are at most 401 of them" in each for each in told)
