"""Values on a circle, from `optldp design --circle` to reports and their circular mean."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from optldp import InputError, Prior, design, load_table
from optldp.designer import WorstCase
from optldp.designer.objectives import Loss
from optldp.mechanisms import Metric
from optldp.solvers.channel import ChannelProgram, solve_channel
from optldp.solvers.cone import circle, pure

AUDITOR = Path(__file__).parents[3] / "examples" / "verify_table.py"
HOURS = np.arange(24.0)
WAY = np.minimum(abs(HOURS - HOURS[:, None]), 24 - abs(HOURS - HOURS[:, None]))


@pytest.fixture
def hours(tmp_path):
    path = tmp_path / "hours.csv"
    path.write_text("value,weight\n" + "".join(f"{hour},{2 + hour % 5}\n" for hour in range(24)))
    return path


@pytest.mark.nightly
@pytest.mark.parametrize("loss", ["circular", "squared"])
def test_a_circle_from_design_to_its_mean(optldp, hours, tmp_path, loss):
    """Designed as the program on the circle says, proved twice, perturbed; people about midnight have it as mean."""
    out, people, reports = (tmp_path / name for name in ("m.json", "people.csv", "reports.csv"))
    asked = ("--prior", hours, "--public", "--circle", 24, "--privacy", "metric", "--epsilon", 2, "--loss", loss)
    told = json.loads(optldp("design", *asked, "--out", out, "--json").stdout)
    weights = 2 + HOURS % 5
    losses = WAY if loss == "circular" else WAY**2
    program = ChannelProgram(circle(HOURS, 24.0, 2.0), weights / weights.sum(), losses)
    assert told["value"] == pytest.approx(solve_channel(program).value, rel=1e-6)
    assert told["lower_bound"] <= told["value"]
    assert told["period"] == 24
    assert load_table(out).promise == Metric(2.0, period=24)
    assert subprocess.run([sys.executable, "-I", "-S", str(AUDITOR), str(out)], capture_output=True).returncode == 0
    people.write_text("hour\n" + "22\n23\n0\n1\n2\n" * 200)
    optldp("perturb", out, people, "--column", "hour", "--out", reports)
    found = json.loads(optldp("estimate", out, reports, "--of", "distribution", "--method", "em", "--json").stdout)
    assert (found["circular_mean"] + 12) % 24 == pytest.approx(12, abs=0.5)
    assert found["resultant_length"] == pytest.approx(abs(np.exp(2j * np.pi * np.arange(-2, 3) / 24).mean()), abs=0.1)


@pytest.mark.slow
def test_a_pure_table_says_in_its_record_that_its_values_are_on_a_circle(optldp, hours, tmp_path):
    out = tmp_path / "m.json"
    told = json.loads(optldp("design", "--prior", hours, "--circle", 24, "--epsilon", 1, "--out", out, "--json").stdout)
    assert load_table(out).provenance.period == 24
    weights = 2 + HOURS % 5
    program = ChannelProgram(pure(24, 1.0), weights / weights.sum(), WAY**2)
    assert told["value"] == pytest.approx(solve_channel(program).value, rel=1e-6)


def test_tables_on_a_line_say_nothing_of_circles():
    made = design(Prior.even([0.0, 1.0]), 1.0, objective=Loss("absolute"), outputs=[0.0, 1.0])
    assert "period" not in made.mechanism.provenance.parameters


def test_a_prior_stays_on_its_circle():
    prior = Prior.from_pairs([0, 3, 6], [1, 2, 1], source="public").with_period(24)
    assert prior.mixed(0.5).period == prior.on(7).period == prior.coarsened([0, 6]).period == 24


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--circle", 23, "--epsilon", 1), "must span less than 23, got 0 to 23"),
        (("--circle", -1, "--epsilon", 1), "period must be a positive number"),
        (
            ("--circle", 24, "--epsilon", 1, "--privacy", "metric:period=25"),
            "round the circle of the values, 24, got 25",
        ),
        (
            ("--circle", 24, "--epsilon", 1, "--objective", "error", "--n", 9),
            "--biased or --privacy, needs --objective",
        ),
        (("--circle", 24, "--levels", "1,2"), "--circle is of no use to levels of numbers"),
        (("--loss", "circular", "--biased", "--outputs", "0:23:1", "--epsilon", 1), "give --circle PERIOD"),
    ],
)
def test_what_a_circle_does_not_go_with_is_refused(optldp, hours, more, said):
    done = optldp("design", "--prior", hours, "--public", *more)
    assert done.exit_code == 2
    assert said in done.stderr


@pytest.mark.parametrize("objective", [WorstCase(), Loss("squared", unbiased=True)])
def test_means_are_refused_on_a_circle(objective):
    with pytest.raises(InputError, match="circle"):
        design(Prior.even(HOURS).with_period(24), 1.0, objective=objective)


@pytest.mark.nightly
@pytest.mark.parametrize("asked", ["reports", "reports:squared"])
def test_single_reports_are_read_the_shorter_way_round(optldp, hours, tmp_path, asked):
    """As they were designed for: by the way round, not by the distance on the line, whichever loss is named."""
    out, people, reports, read = (tmp_path / name for name in ("m.json", "people.csv", "reports.csv", "read.csv"))
    circle_of = ("--public", "--circle", 24, "--privacy", "metric", "--epsilon", 2, "--loss", "circular")
    optldp("design", "--prior", hours, *circle_of, "--out", out)
    people.write_text("hour\n" + "0\n23\n1\n12\n" * 50)
    optldp("perturb", out, people, "--column", "hour", "--seed", 1, "--out", reports)
    optldp("estimate", out, reports, "--of", asked, "--prior", hours, "--out", read)
    table, weights = load_table(out), 2 + HOURS % 5
    costs = (weights[:, None] * table.probabilities).T @ (WAY if asked == "reports" else WAY**2)
    rows = np.loadtxt(read, delimiter=",", skiprows=1)
    each = costs[table.output_index(rows[:, 0])]
    found = each[np.arange(len(rows)), rows[:, 1].astype(int)]
    assert found == pytest.approx(each[:, table.low.astype(int)].min(1), rel=1e-9)
