"""`optldp estimate --of reports`: each report by itself, read as what costs least by a prior and a loss."""

import json
import re
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from optldp import CategoricalPrior, Prior, design, load_mechanism, load_table
from optldp.designer.commands.streaming import single_reports
from optldp.designer.objectives import Loss
from optldp.estimators.reading.streams import value_blocks
from optldp.mechanisms import Metric, save_table
from optldp.mechanisms.categorical.mechanism import CategoricalMechanism

KNOTS, WEIGHTS = np.arange(6.0), np.array([1.0, 2, 3, 4, 2, 1])
PRIOR = "value,weight\n" + "".join(f"{x:g},{w:g}\n" for x, w in zip(KNOTS, WEIGHTS, strict=True))
JOBS = "value,weight\ncook,5\nnurse,3\npilot,2\n"


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    rows = (f"u{i},{int(x)},{job}" for i, x in enumerate(KNOTS.tolist() * 40) for job in [("cook", "pilot")[i % 2]])
    path.write_text("user,x,job\n" + "\n".join(rows) + "\n")
    (tmp_path / "p.csv").write_text(PRIOR)
    (tmp_path / "jobs.csv").write_text(JOBS)
    return path


@pytest.fixture
def made(tmp_path):
    prior = Prior.on_knots(KNOTS, WEIGHTS, source="public")
    found = design(prior, Metric(1.0), objective=Loss("squared"), outputs=np.arange(0, 5.5, 0.5))
    save_table(found.mechanism.without_prior(), tmp_path / "m.json")
    return found


def read(path):
    relation = duckdb.read_csv(str(path)) if path.suffix == ".csv" else duckdb.read_parquet(str(path))
    return relation.columns, relation.fetchnumpy()


@pytest.mark.slow
def test_numbers_are_read_as_the_design_reads_them(optldp, made, people, tmp_path):
    """`LossEvidence` has the remap of a design's outputs; the command computes it of the file and the prior alone."""
    reports, out, table = tmp_path / "r.csv", tmp_path / "read.csv", tmp_path / "m.json"
    optldp("perturb", table, people, "--column", "x", "--key", "user", "--out", reports)
    asked = ("estimate", table, reports, "--of", "reports:squared,outputs=0:5:0.5", "--prior", tmp_path / "p.csv")
    found = optldp(*asked, "--key", "user", "--out", out, "--json")
    told, (columns, rows) = json.loads(found.stdout), read(out)
    assert columns == ["user", "report", "reading", "posterior_risk"]
    outputs = np.arange(0, 5.5, 0.5)
    assert rows["reading"].tolist() == made.evidence.remap[np.searchsorted(outputs, rows["report"])].tolist()
    assert rows["user"].tolist() == [f"u{i}" for i in range(240)]
    assert told["expected_risk"] == pytest.approx(made.evidence.posterior_risk, rel=1e-9)
    assert told["posterior_risk"] == pytest.approx(rows["posterior_risk"].mean(), rel=1e-12)
    assert (told["n"], sum(told["n_read"])) == (240, 240)
    assert "nobody should average readings" in found.stderr
    plain = json.loads(optldp("estimate", table, reports, "--of", "reports", *asked[-2:], "--json").stdout)
    assert plain["loss"] == "squared"  # as it was designed
    assert set(plain["reading"]) <= set(made.mechanism.low.tolist())


def posterior_by_loops(mechanism, weights, report):
    joint = [w * mechanism.pmf(mechanism.from_text([report]))[0][k] for k, w in enumerate(weights)]
    return [each / sum(joint) for each in joint]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["optimal", "grr", "oue", "olh"])
def test_categories_are_read_as_the_likeliest_or_by_any_losses(optldp, people, tmp_path, method):
    table, reports, out, losses = (tmp_path / name for name in ("j.json", "r.csv", "read.csv", "loss.csv"))
    asked = ("--categorical", "--prior", tmp_path / "jobs.csv", "--public", "--epsilon", 1, "--method", method)
    optldp("design", *asked, "--out", table)
    optldp("perturb", table, people, "--column", "job", "--seed", 5, "--out", reports)
    costs = np.array([[0, 1, 9], [2, 0, 1], [1, 4, 0.0]])
    np.savetxt(losses, costs, delimiter=",")
    mechanism, weights = load_mechanism(table), CategoricalPrior.from_pairs_file(tmp_path / "jobs.csv").weights
    assert isinstance(mechanism, CategoricalMechanism)
    for asked, cost in (("reports", 1 - np.eye(3)), (f"reports:{losses}", costs)):
        optldp("estimate", table, reports, "--of", asked, "--prior", tmp_path / "jobs.csv", "--out", out, "--force")
        lines = out.read_text().split()
        assert lines[0] == "simulated_report,simulated_reading,posterior_risk"
        for report, reading, risk in (line.rsplit(",", 2) for line in lines[1:40]):
            posterior = posterior_by_loops(mechanism, weights, report.strip('"'))
            least = [sum(posterior[k] * cost[k, r] for k in range(3)) for r in range(3)]
            assert float(risk) == pytest.approx(min(least), rel=1e-12)
            assert least[mechanism.categories.labels.index(reading)] == pytest.approx(min(least), rel=1e-12)


@pytest.mark.nightly
def test_many_blocks_and_numbers_of_outputs_are_read_alike(optldp, made, people, tmp_path, monkeypatch):
    table, reports, numbers = tmp_path / "m.json", tmp_path / "r.csv", tmp_path / "i.parquet"
    optldp("perturb", table, people, "--column", "x", "--out", reports)
    _, rows = read(reports)
    index = made.mechanism.output_index(rows["report"])
    connection = duckdb.connect()
    connection.register("numbered", {"output": index})
    connection.sql("SELECT * FROM numbered").write_parquet(str(numbers))
    asked = ("--of", "reports", "--prior", tmp_path / "p.csv", "--out")
    optldp("estimate", table, reports, *asked, tmp_path / "one.csv")
    monkeypatch.setattr(value_blocks, "BLOCK_ROWS", 100)
    told = []
    monkeypatch.setattr(single_reports, "rows_progress", progress_into(told))
    optldp("estimate", table, reports, *asked, tmp_path / "many.csv")
    assert told == [0, 100, 200, 240]
    optldp("estimate", table, numbers, *asked, tmp_path / "numbers.csv")
    one, many, numbered = (read(tmp_path / f"{name}.csv") for name in ("one", "many", "numbers"))
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "many.csv").read_bytes()
    assert numbered[0] == ["output", "reading", "posterior_risk"]
    for name in ("reading", "posterior_risk"):
        assert many[1][name].tolist() == one[1][name].tolist() == numbered[1][name].tolist()


def progress_into(told):
    class Bar:
        def __init__(self, what, total):
            assert (what, total) == ("reading reports", 240)

        def __enter__(self):
            return told.append

        def __exit__(self, *_):
            pass

    return Bar


@pytest.mark.nightly
@pytest.mark.parametrize("extension", ["csv", "parquet"])
def test_rows_that_hold_no_report_are_left_out_with_their_keys(optldp, refusal, made, tmp_path, extension):
    """The others are read as they are in a file of them alone."""
    good = [f"u{i},{y:g}" for i, y in enumerate(made.mechanism.low[::2])]
    bad = ["v0,banana", "v1,77", "v2,", ",0.5"]
    for name, rows in (("good", good), ("all", [*bad, *good])):
        (tmp_path / f"{name}.csv").write_text("\n".join(["user,report", *rows]) + "\n")
    asked = ("--of", "reports", "--prior", tmp_path / "p.csv", "--key", "user", "--json", "--out")
    (tmp_path / "p.csv").write_text(PRIOR)
    table, outs = tmp_path / "m.json", [tmp_path / f"{name}.{extension}" for name in ("one", "other")]
    optldp("estimate", table, tmp_path / "good.csv", *asked, outs[0])
    assert "banana" in refusal("estimate", table, tmp_path / "all.csv", *asked, outs[1])
    found = optldp("estimate", table, tmp_path / "all.csv", *asked, outs[1], "--skip-invalid")
    told = json.loads(found.stdout)
    assert (told["n"], told["skipped"]) == (len(good), len(bad))
    assert "'banana' is no number" in told["skipped_first"][0]
    (names, one), (others, other) = map(read, outs)
    assert names == others == ["user", "report", "reading", "posterior_risk"]
    assert all(one[name].tolist() == other[name].tolist() for name in names)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["absolute", "squared", "zero-one"])
def test_places_are_read_as_the_nearest_in_expectation(optldp, refusal, tmp_path, loss):
    points = np.array([[0, 0], [0, 1], [2, 0], [2, 3]])
    weights = np.array([4, 1, 2, 3])
    prior, table, reports, out = (tmp_path / name for name in ("p.csv", "m.json", "r.csv", "read.csv"))
    rows = (f"{x},{y},{w}" for (x, y), w in zip(points, weights, strict=True))
    prior.write_text("x,y,weight\n" + "\n".join(rows) + "\n")
    optldp(
        *("design", "--prior", prior, "--public", "--epsilon", 0.7, "--privacy", "metric"),
        *("--loss", "absolute", "--objective", "minimax", "--out", table),
    )
    reports.write_text("x,y\n0,0\n2,3\n9,9\n")
    asked = ("estimate", table, reports, "--of", f"reports:{loss}", "--prior", prior, "--out", out)
    assert "no place that this mechanism reports" in refusal(*asked)
    told = json.loads(optldp(*asked, "--skip-invalid", "--json").stdout)
    assert (told["n"], told["skipped"]) == (2, 1)
    mechanism: Any = load_mechanism(table)
    columns = read(out)[1]
    apart = np.hypot(*np.moveaxis(points[:, None] - points, -1, 0))
    costs = {"absolute": apart, "squared": apart**2, "zero-one": (apart > 0) * 1.0}[loss]
    for k, report in enumerate(([0.0, 0.0], [2.0, 3.0])):
        law = mechanism.pmf(mechanism.checked_reports(mechanism.outputs.codes([report])))[0]
        expected = (weights * law / (weights @ law)) @ costs
        assert columns["posterior_risk"][k] == pytest.approx(expected.min(), rel=1e-9)
        x, y = map(float, columns["reading"][k].split(","))
        assert [x, y] in points[np.isclose(expected, expected.min())].tolist()


@pytest.mark.parametrize(
    ("of", "more", "says"),
    [
        ("reports", (), "needs the prior that reports are read by, got none: give --prior FILE"),
        (
            "reports:cubic",
            ("--prior", "p.csv"),
            "a loss must be one of absolute, squared, zero-one, circular, or a file",
        ),
        ("reports:squared,outputs=16", ("--prior", "p.csv"), "outputs of --of reports must be LO:HI:STEP or a file"),
        ("reports", ("--prior", "p.csv", "--by", "user"), "and --of reports reads each by itself"),
        ("reports", ("--prior", "p.csv", "--method", "em"), "and --of reports reads each by itself"),
        ("reports", ("--prior", "far.csv"), "the prior of 'far.csv'"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(optldp, refusal, made, people, of, more, says):
    Path("p.csv").write_text(PRIOR)
    Path("far.csv").write_text("value,weight\n0,1\n50,1\n")
    table, reports = people.parent / "m.json", people.parent / "r.csv"
    optldp("perturb", table, people, "--column", "x", "--out", reports)
    assert says in refusal("estimate", table, reports, "--of", of, *more)


@pytest.mark.slow
def test_reports_that_are_none_and_impossible_ones_are_refused(optldp, refusal, tmp_path):
    table, reports, prior = (tmp_path / name for name in ("m.json", "r.csv", "p.csv"))
    prior.write_text("value,weight\n0,1\n1,1\n2,0\n")
    (tmp_path / "s.csv").write_text("value\n0\n1\n")
    optldp(
        *("design", "--prior", prior, "--public", "--epsilon", 1, "--privacy", f"sensitive:{tmp_path / 's.csv'}"),
        *("--biased", "--outputs", "0:2:1", "--objective", "minimax", "--out", table),
    )
    assert load_table(table).probabilities[:2, -1].tolist() == [0, 0]  # 2 alone reports 2
    asked = ("estimate", table, reports, "--of", "reports", "--prior", prior)
    reports.write_text("report\n0\n2\n")
    assert "give each value that somebody may hold a weight" in refusal(*asked)
    reports.write_text("report\n0\n7\n")
    assert re.search("rows 1 to 2, counted anew from 1: .*7", refusal(*asked))
    reports.write_text("report,table\n0,t0123456789ab\n")
    assert "must hold reports of table" in refusal(*asked)
    reports.write_text("output\n0\n3\n")
    assert "must be numbers of outputs, from 0 to 2, got 1 that are not, the first 3 in row 2" in refusal(*asked)
    assert "for reports as they are sent, got column 'output' of numbers" in refusal(*asked, "--skip-invalid")
