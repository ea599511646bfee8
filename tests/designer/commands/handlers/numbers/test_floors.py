"""The command line for a table in its floor form: everything that there is for the table, and from a shorter file."""

import json
from pathlib import Path

import numpy as np
import pytest
from optldp.estimators import count, estimate_mean, influence
from optldp.estimators.reading.columns import read_column
from optldp.mechanisms import load_mechanism, load_table, save_bundle, save_table, verify
from optldp.mechanisms.compact_tables import FloorForm, floor_form
from optldp.mechanisms.files.checksum import checksum

from ....conftest import INCOME, found

DESIGN = ("design", *INCOME, "--range", "0", "100", "--knots", "5", "--epsilon", "1")


@pytest.fixture(params=["floor.json", "floor.npz"])
def floor(request, table) -> Path:
    """The floor form of mech.json, in either kind of file."""
    save_bundle(floor_form(load_table(table)), request.param)
    return Path(request.param)


def loaded(path: Path) -> FloorForm:
    """The form in a file."""
    form = load_mechanism(path)
    assert isinstance(form, FloorForm)
    return form


@pytest.mark.nightly
@pytest.mark.parametrize("out", ["short.json", "short.npz"])
def test_design_writes_the_floor_form_of_what_it_makes(optldp, table, out):
    """The same design with the same facts, and the prior left out where that is asked for."""
    facts = found(optldp, *DESIGN, "--form", "floor", "--omit-prior", "--out", out)
    plain = found(optldp, *DESIGN, "--form", "table", "--out", "again.json")
    assert {**facts, "table": "", "seconds": 0} == {**plain, "table": "", "seconds": 0}
    form = loaded(Path(out))
    assert form.prior is None
    np.testing.assert_allclose(form.knot_variances, load_table("again.json").knot_variances, rtol=1e-7)


@pytest.mark.slow
def test_a_minimax_design_has_a_floor_form_too(optldp, here):
    """Its rows are windows over a floor as well."""
    words = ("design", "--range", 0, 10, "--knots", 9, "--epsilon", 1, "--objective", "minimax", "--form", "floor")
    worst = found(optldp, *words, "--out", "short.json")["worst_case_variance"]
    assert loaded(Path("short.json")).worst_case_variance()[0] == pytest.approx(worst, rel=1e-7)


def test_what_has_no_floor_form_is_refused_and_nothing_is_written(refusal, here):
    """A closed form of cells, a word that is none, and designs that are not one table of windows."""
    assert "of points" in refusal(*DESIGN, "--method", "piecewise", "--form", "floor", "--out", "short.json")
    assert "--form must be one of auto, table, floor, got 'short'" in refusal(*DESIGN, "--form", "short")
    noise = ("design", "--range", 0, 1, "--epsilon", 1, "--delta", 1e-6)
    assert "--form is of no use to noise of one shape" in refusal(*noise, "--form", "floor")


@pytest.mark.nightly
def test_a_table_that_would_be_large_is_written_as_its_floor(optldp, here, monkeypatch):
    """Said where nobody asked for it; the same design in either form, and a table where that is asked for."""
    words = ("design", "--range", 0, 10, "--knots", 9, "--epsilon", 1, "--objective", "minimax")
    monkeypatch.setattr("optldp.designer.commands.options.designs.design.LARGE_TABLE", 9 * 9 - 1)
    assert "the file is in floor form" in optldp(*words, "--out", "short.json").stderr
    optldp(*words, "--form", "table", "--out", "whole.json")
    assert "in floor form" not in optldp(*words, "--form", "floor", "--out", "again.json").stderr
    one, other = (json.loads(Path(name).read_text()) for name in ("short.json", "again.json"))
    assert all(one[name] == other[name] for name in ("knots", "places", "floor", "starts", "ratio"))
    np.testing.assert_allclose(loaded(Path("short.json")).knot_variances, load_table("whole.json").knot_variances)
    piecewise = ("design", *INCOME, "--range", 0, 100, "--knots", 9, "--epsilon", 1, "--method", "piecewise")
    assert "in floor form" not in optldp(*piecewise, "--out", "cells.json").stderr
    assert not load_table("cells.json").is_discrete


@pytest.mark.nightly
def test_many_knots_are_designed_and_written_as_a_floor(optldp, here):
    """With the facts that a table of so many has, and less than a hundred kilobytes."""
    words = ("design", *INCOME, "--range", 0, 100, "--epsilon", 1, "--knots", 301)
    facts = found(optldp, *words, "--omit-prior", "--out", "short.json")
    form, whole = loaded(Path("short.json")), found(optldp, *words, "--form", "table", "--out", "whole.npz")
    assert (form.knots.size, form.places.size) == (facts["knots"], facts["outputs"])
    assert facts.keys() == whole.keys()
    for name in ("expected_variance", "lower_bound", "worst_case_variance"):
        assert facts[name] == pytest.approx(whole[name], rel=2e-6), name
    assert (facts["knots"], facts["status"]) == (301, "optimal")
    assert Path("short.json").stat().st_size < 1e5
    assert found(optldp, "verify", "--exact", "short.json")["epsilon"] == 1


@pytest.mark.nightly
def test_a_mean_needs_no_table_and_what_does_says_so(optldp, refusal, table, floor, monkeypatch):
    """The estimate is that of the table, for a form that is taken to be too large for one."""
    optldp("perturb", floor, *INCOME, "--out", "r.csv")
    plain = found(optldp, "estimate", floor, "r.csv")
    monkeypatch.setattr("optldp.mechanisms.cost.ENTRY_BYTES", 2**31)
    again = found(optldp, "estimate", floor, "r.csv")
    assert again.keys() == plain.keys()
    for name in ("value", "std_error", "low", "high", "one_report"):
        assert again[name] == pytest.approx(plain[name], rel=1e-12), name
    for more in (("--of", "distribution"), ("--winsorise", 0.01), ("--method", "em")):
        assert "means of one service need no table" in refusal("estimate", floor, "r.csv", *more)
    assert "means of one service need no table" in refusal("show", floor, "--plot", "map.png")


@pytest.mark.nightly
def test_perturb_draws_reports_of_it_and_estimate_reads_them(optldp, table, floor):
    """The mean is what the table that it expands to makes of the reports in the file."""
    assert found(optldp, "perturb", floor, *INCOME, "--out", "r.csv") == {
        "n": 300, "clipped": 0, "out": "r.csv", "simulated": False,
    }  # fmt: skip
    reports = read_column("r.csv", "report")
    mean = estimate_mean(count(loaded(floor).expand(), reports))
    said = found(optldp, "estimate", floor, "r.csv")
    assert (said["value"], said["std_error"], said["method"]) == (mean.value, mean.std_error, "average")
    assert set(found(optldp, "estimate", floor, "r.csv", "--of", "distribution")) >= {"variance", "mean"}


@pytest.mark.slow
def test_a_simulation_makes_the_reports_of_the_table(optldp, floor):
    """Of the same seed, through the table that it expands to."""
    save_table(loaded(floor).expand(), "whole.json")
    for name in ("whole.json", floor):
        found(optldp, "perturb", name, *INCOME, "--seed", 3, "--out", f"{name}.csv")
    whole, mine = (Path(f"{name}.csv").read_text().split() for name in ("whole.json", floor))
    assert [row.split(",")[0] for row in whole] == [row.split(",")[0] for row in mine]  # each names its own file


@pytest.mark.nightly
def test_services_of_a_table_and_of_a_floor_form_are_estimated_together(optldp, table, floor):
    """In either order."""
    people = Path("people.csv").read_text().replace("name,", "user,")
    Path("keyed.csv").write_text(people)
    for number, mechanism in enumerate((table, floor)):
        optldp("perturb", mechanism, "keyed.csv", "--column", "income", "--key", "user", "--out", f"{number}.csv")
    there = found(optldp, "estimate", table, "0.csv", floor, "1.csv", "--key", "user")
    back = found(optldp, "estimate", floor, "1.csv", table, "0.csv", "--key", "user")
    assert there["n"] == back["n"] == 300
    assert there["value"] == pytest.approx(back["value"], rel=1e-9)


@pytest.mark.slow
def test_show_and_verify_say_of_it_what_they_say_of_the_table(optldp, table, floor):
    """Facts, proof, note and picture; without any row being made but for the picture."""
    form = loaded(floor)
    save_table(form.expand(), "whole.json")
    mine, whole = (found(optldp, "show", name) for name in (floor, "whole.json"))
    assert mine.pop("form") == "floor"
    assert whole.pop("exact") is True
    assert whole.pop("table") != mine.pop("table")  # of another file
    near = {"expected_variance", "worst_case_variance", "max_abs_bias", "max_log_ratio", "one_report_times_n"}
    assert {k: v for k, v in mine.items() if k not in near} == {k: v for k, v in whole.items() if k not in near}
    assert [mine[k] for k in near] == pytest.approx([whole[k] for k in near], rel=1e-9, abs=1e-12)
    assert mine["one_report_times_n"] == pytest.approx(float(influence(form).times_n[0]))
    assert "sensitive prior" in optldp("show", floor).stderr
    facts, proved = (found(optldp, "verify", "--exact", name) for name in (floor, "whole.json"))
    assert facts == proved
    assert found(optldp, "verify", floor)["max_log_ratio"] == pytest.approx(verify(form.expand()).max_log_ratio)
    assert optldp("show", floor, "--plot", "map.png").exit_code == 0
    assert Path("map.png").stat().st_size > 1000


def test_one_that_breaks_its_promise_is_exit_code_1_and_good_for_nothing_else(optldp, refusal, table):
    """The failure is named."""
    save_bundle(floor_form(load_table(table)), "floor.json")
    made = {**json.loads(Path("floor.json").read_text()), "epsilon": 0.5}
    Path("floor.json").write_text(json.dumps({**made, "checksum": checksum(made)}))
    done = optldp("verify", "floor.json")
    assert done.exit_code == 1
    assert "the log-ratio must be at most 0.5, got 0.99" in done.stdout
    assert "the log-ratio must be at most 0.5" in refusal("perturb", "floor.json", *INCOME, "--out", "r.csv")


@pytest.mark.nightly
def test_an_audit_finds_its_draws_within_the_claim(optldp, floor):
    """The sampler is the form's own."""
    done = optldp("audit", floor, "--samples", 4000, "--seed", 1)
    assert done.exit_code == 0, done.output
    assert "within its claim" in done.stdout
