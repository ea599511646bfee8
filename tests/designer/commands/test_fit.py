"""Every estimate says whether the reports fit the table: in JSON always, in a line where they do not."""

import json
from pathlib import Path

import numpy as np
import pytest
from optldp.designer.command_line import app
from optldp.estimators.reading.columns.number_cells import write_columns
from optldp.mechanisms import duchi, make_exact, piecewise, save_table
from typer.testing import CliRunner

from ...small_channels import columns, save, write_people
from .test_estimates_in_json import ESTIMATES, KINDS

KNOTS = np.linspace(0.0, 60.0, 5)
RIGHT, WRONG = (make_exact(piecewise(KNOTS, epsilon)).mechanism for epsilon in (1.0, 3.0))


@pytest.fixture
def indices(here) -> Path:
    """Numbers of outputs that name no table, in files of reports and of counts."""
    rng = np.random.default_rng(1)
    outputs = RIGHT.sample_index(rng.choice(KNOTS, 3_000), rng)
    users = {"user": np.arange(3_000), "shop": np.where(np.arange(3_000) % 2, "a", "b"), "weight": np.ones(3_000)}
    write_columns("idx.csv", {**users, "output": outputs})
    write_columns("counts.csv", dict(zip(("output", "n"), np.unique(outputs, return_counts=True), strict=True)))
    for name, made in {"right": RIGHT, "wrong": WRONG}.items():
        save_table(made, f"{name}.json")
    return here


def run(*words: object):
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


ASKED = {
    "mean": (),
    "distribution": ("--of", "distribution", "--method", "em"),
    "counts": ("--counts", "counts.csv"),
    "groups": ("--by", "shop"),
    "weights": ("--weights", "weight"),
    "difference": ("--versus", "right.json", "idx.csv"),
}


@pytest.mark.slow
@pytest.mark.parametrize("asked", ASKED)
def test_reports_of_another_table_are_answered_with_a_line(indices, asked):
    files = () if asked == "counts" else ("idx.csv",)
    for table, fails in (("right.json", False), ("wrong.json", True)):
        done = run("estimate", table, *files, *ASKED[asked], "--json")
        assert (json.loads(done.stdout)["fit_p_value"] < 1e-4) == fails
        lines = [line for line in done.stderr.splitlines() if "do not fit the table" in line]
        assert len(lines) == fails
        if fails:
            assert "they may be another table's" in lines[0]


def test_several_services_say_which_does_not_fit(indices):
    """As rounds: as services of one value, which reports of a wrong table are not, they are not even joined."""
    done = run("estimate", "right.json", "idx.csv", "wrong.json", "idx.csv", "--key", "user", "--rounds", "--json")
    assert "the reports of 'idx#2' do not fit the table" in done.stderr


@pytest.mark.slow
def test_what_cannot_be_tested_is_said_in_both(here):
    table = make_exact(duchi([0.0, 60.0], 1.0)).mechanism
    save_table(table, "mech.json")
    write_columns("r.csv", {"report": table.sample(np.full(500, 20.0), np.random.default_rng(1))})
    assert "fit              cannot be tested" in run("estimate", "mech.json", "r.csv").stdout
    assert json.loads(run("estimate", "mech.json", "r.csv", "--json").stdout)["fit_p_value"] is None


@pytest.mark.parametrize("kind", KINDS)
def test_every_estimate_of_every_kind_has_the_fact_and_fits_its_own_table(here, kind):
    save(KINDS[kind], Path("mech.json"))
    write_people(Path("people.csv"), 600)
    run("perturb", "mech.json", "people.csv", *columns(kind), "--out", "r.csv", "--seed", 1)
    done = run("estimate", "mech.json", "r.csv", "--json")
    found = json.loads(done.stdout)["fit_p_value"]
    assert found is None or found > 1e-4
    assert "do not fit" not in done.stderr


def test_there_are_estimates_of_every_kind():
    assert {kind for kind, _ in ESTIMATES} >= set(KINDS) - {"floor"}
