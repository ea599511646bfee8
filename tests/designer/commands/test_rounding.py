"""`optldp perturb --rounding nearest`: values between knots, and what is then promised of them, said and booked."""

import json
import os

import pytest
from optldp.mechanisms import load_table

ASKED = ("design", "--prior", "p.csv", "--public", "--biased", "--outputs", "0:4:1", "--out", "m.json")


@pytest.fixture
def people(here):
    (here / "p.csv").write_text("value,weight\n0,1\n1,2\n2,2\n4,1\n")
    (here / "s.csv").write_text("value\n4\n")
    path = here / "people.csv"
    path.write_text("user,x\n" + "".join(f"u{i},{i * 4 / 399!r}\n" for i in range(400)))
    return path


def perturbed(optldp, *more):
    return optldp("perturb", "m.json", "people.csv", "--column", "x", "--rounding", "nearest", "--out", "r.csv", *more)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "promised"),
    [
        (("--epsilon", 0.5, "--privacy", "metric"), "epsilon 0.5 per unit, of the distance of two values and 2 more"),
        (
            ("--epsilon", 1, "--privacy", "sensitive:s.csv"),
            "epsilon 1 of 1 sensitive values of 4; a value beside a sensitive one is rounded to it, and counts as "
            "sensitive",
        ),
    ],
)
def test_what_is_promised_is_said(optldp, people, more, promised):
    optldp(*ASKED, *more)
    made = perturbed(optldp, "--json")
    assert json.loads(made.stdout)["promised"] == promised
    assert f"what is promised of values is {promised}" in made.stderr
    assert json.loads(optldp("estimate", "m.json", "r.csv", "--of", "distribution", "--json").stdout)["n"] == 400


def test_values_beside_a_sensitive_knot_are_reported_as_it_is(optldp, people):
    """With so large a budget a value reports itself; all from 2 on count as 4."""
    (people.parent / "s.csv").write_text("value\n4\n")
    optldp(*ASKED, "--epsilon", 16, "--privacy", "sensitive:s.csv")
    perturbed(optldp, "--key", "user")
    rows = [line.split(",") for line in (people.parent / "r.csv").read_text().splitlines()[1:]]
    held = {user: float(x) for user, x in (line.split(",") for line in people.read_text().splitlines()[1:])}
    beside = [float(row[1]) for row in rows if held[row[0]] > 2]
    assert len(beside) > 190
    assert sum(report == 4 for report in beside) > 0.95 * len(beside)


@pytest.mark.slow
def test_a_ledger_books_the_largest_log_ratio_and_repeats_reports_of_a_knot(optldp, people, monkeypatch):
    """1.6 and 2.3 have the nearest knot 2: the second is the first's report again, and spends nothing."""
    optldp(*ASKED, "--epsilon", 0.5, "--privacy", "metric")
    key = people.parent / "key"
    key.write_bytes(os.urandom(32))
    key.chmod(0o600)
    asked = ("--key", "user", "--ledger", "people.ledger", "--ledger-key", key, "--json", "--force")
    reports = []
    for value, new in ((1.6, ("--budget", 3)), (2.3, ())):
        people.write_text(f"user,x\nann,{value}\n")
        done = perturbed(optldp, *asked, *new)
        assert done.exit_code == 0, done.stderr
        told = json.loads(done.stdout)
        reports.append((people.parent / "r.csv").read_text())
    assert reports[0] == reports[1]
    assert (told["new"], told["repeated"], told["spent"]) == (0, 1, load_table("m.json").promise.epsilon * 4)


@pytest.mark.slow
def test_where_nothing_is_promised_between_it_is_refused(optldp, refusal, people):
    (people.parent / "d.csv").write_text("0,1,1,1\n1,0,1,1\n1,1,0,1\n1,1,1,0\n")
    asked = ("perturb", "m.json", "people.csv", "--column", "x", "--rounding", "nearest", "--out", "r.csv")
    for more, says in (
        (("--epsilon", 1, "--privacy", "metric:distance=d.csv"), "by distances of a matrix, which are of knots alone"),
        (("--privacy", "ratios:d.csv"), "where these alone are promised of"),
        (("--epsilon", 1), "which holds for all values: leave it out"),
    ):
        optldp(*ASKED, *more, "--force")
        assert says in refusal(*asked)
    optldp(*ASKED, "--epsilon", 1, "--privacy", "metric", "--force")
    people.write_text("user,x\nann,9\n")
    assert "outside" in refusal(*asked)
    optldp("design", "--prior", "p.csv", "--categorical", "--epsilon", 1, "--out", "m.json", "--force")
    assert "--rounding is of no use to this mechanism" in refusal(*asked)
