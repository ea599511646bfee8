"""Columns as people have them, from the command line: other files, dates, pipes, people without a value."""

import io
import json
import re
import sys
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest
from optldp.estimators.reading.columns import read_column
from optldp.mechanisms import load_mechanism, load_table
from optldp.mechanisms.key_value import KeyValueMechanism

from ..conftest import found

BORN = [date(1950, 1, 1) + timedelta(days=int(day)) for day in np.random.default_rng(5).beta(3, 2, 400) * 20_000]
RANGE = ("--range", "1950-01-01", "2004-12-31")


@pytest.fixture
def leute(here) -> Path:
    """A file as a German spreadsheet writes it."""
    rows = "".join(f"p{i};{day:%d.%m.%Y};{i % 90 + 0.5:.2f}\r\n" for i, day in enumerate(BORN))
    Path("leute.csv").write_bytes(f"name;geboren;größe\r\n{rows}".replace(".5", ",5").encode("latin-1"))
    return Path("leute.csv")


@pytest.mark.nightly
def test_dates_go_in_and_dates_come_out(optldp, leute):
    """Through describe, design, show, perturb and estimate; the table keeps what its axis is."""
    shown = optldp("describe", leute, "--column", "geboren")
    assert "optldp: note: leute.csv is read as latin-1, semicolon separated" in shown.stderr
    assert "column 'geboren' is read as days since 1970-01-01" in shown.stderr
    assert re.search(r"next: .* --range 19\d\d-01-01 20\d\d-12-31 ", shown.stdout)
    design = ("design", leute, "--column", "geboren", *RANGE, "--epsilon", 4, "--knots", 5, "--out", "mech.json")
    assert optldp(*design).exit_code == 0
    assert load_table("mech.json").units == "days since 1970-01-01"
    assert "domain" in (text := optldp("show", "mech.json").stdout)
    assert "1950-01-01, 2004-12-31" in text
    assert optldp("perturb", "mech.json", leute, "--column", "geboren", "--seed", 1, "--out", "r.csv").exit_code == 0
    text = optldp("estimate", "mech.json", "r.csv").stdout
    (day,) = re.findall(r"value +(\d{4}-\d\d-\d\d) \d\d:\d\d\n", text)
    (error,) = re.findall(r"std_error +([\d.]+) days", text)
    mean = date(1970, 1, 1) + timedelta(days=float(read_column(leute, "geboren").mean()))
    assert abs(date.fromisoformat(day) - mean) < timedelta(days=5 * float(error))
    rows = optldp("estimate", "mech.json", "r.csv", "--of", "quantiles").stdout
    assert re.search(r"0.5 +19\d\d-\d\d-\d\d", rows)
    refused = optldp("perturb", "mech.json", leute, "--column", "größe", "--out", "no.csv")
    assert "must hold dates or times, as the units say (days since 1970-01-01), got numbers" in refused.stderr
    refused = optldp("design", leute, "--column", "größe", *RANGE, "--epsilon", 1)
    assert "a range must be in plain numbers, got days since 1970-01-01" in refused.stderr


def test_what_is_said_of_a_file_overrules_and_is_in_the_next_command(optldp, here):
    Path("x.csv").write_text("y,x\n" + 'a,"1,234"\n' * 9)
    assert "say --format csv:decimal=. or --format csv:decimal=," in optldp("describe", "x.csv", "--column", "x").stderr
    told = found(optldp, "describe", "x.csv", "--column", "x", "--format", "csv:decimal=,")
    assert told["smallest"] == 1.234
    assert "--format csv:decimal=, --range" in told["next"]
    refused = optldp("describe", "x.csv", "--column", "x", "--delimiter", "ab")
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)


@pytest.mark.slow
def test_values_come_and_reports_go_through_pipes(optldp, leute, monkeypatch):
    """Nothing but reports is on standard output, keys that are read again included."""
    design = ("design", leute, "--column", "größe", "--range", 0, 100, "--epsilon", 1, "--knots", 5)
    optldp(*design, "--out", "mech.json")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(leute.read_bytes())))
    out = io.TextIOWrapper(io.BytesIO())
    with monkeypatch.context() as patch:
        from optldp.designer.commands.perturb import perturb_command

        patch.setattr(sys, "stdout", out)
        perturb_command(table=Path("mech.json"), data=Path("-"), out=Path("-"), columns=["größe"], key="name", seed=1)
    lines = out.buffer.getvalue().decode().splitlines()
    assert (lines[0], len(lines)) == ("name,simulated_report,table", 401)
    assert lines[1].startswith("p0,")


@pytest.mark.slow
def test_who_has_no_value_is_protected(optldp, here):
    """Every row reports, with its key; the share of those who have a value comes with the mean of theirs."""
    rng = np.random.default_rng(2)
    cells = [f"{i},{'' if rng.random() < 0.3 else round(40 + 10 * rng.random(), 2)}\n" for i in range(4000)]
    Path("some.csv").write_text("id,hours\n" + "".join(cells))
    asked = ("some.csv", "--column", "hours", "--range", 0, 80, "--epsilon", 3, "--knots", 5)
    assert "which shows who has none" in optldp("design", *asked).stderr
    made = found(optldp, "design", *asked, "--missing", "protect", "--out", "mech.json")
    assert (made["missing"], made["keys"]) == ("protected", 2)
    mechanism = load_mechanism("mech.json")
    assert isinstance(mechanism, KeyValueMechanism)
    assert mechanism.failures() == ()
    assert mechanism.max_log_ratio <= 3
    optldp("perturb", "mech.json", "some.csv", "--column", "hours", "--key", "id", "--seed", 3, "--out", "r.csv")
    assert len(Path("r.csv").read_text().splitlines()) == 4001
    told = found(optldp, "estimate", "mech.json", "r.csv")
    assert told["key"] == ["hours"]
    held = [float(cell.partition(",")[2]) for cell in cells if cell.strip()[-1] != ","]
    assert abs(told["frequency"][0] - len(held) / 4000) < 4 * told["frequency_std_error"][0]
    assert abs(told["value"][0] - np.mean(held)) < 4 * told["std_error"][0]
    plain = ("design", *asked, "--drop-missing", "--out", "plain.json")
    assert optldp(*plain).exit_code == 0
    noted = optldp("perturb", "plain.json", "some.csv", "--column", "hours", "--drop-missing", "--out", "r2.csv")
    assert "which shows who has none: design --missing protect" in noted.stderr


@pytest.mark.nightly
def test_whole_numbers_of_few_values_are_their_own_knots(optldp, here):
    """In designs of any method and in plans, not only where knots are chosen; 101 equal steps would round them."""
    ages = np.random.default_rng(4).integers(18, 91, 300)
    Path("ages.csv").write_text("age\n" + "\n".join(map(str, ages)) + "\n")
    asked = ("ages.csv", "--column", "age", "--range", 18, 90, "--epsilon", 1)
    assert found(optldp, "design", *asked, "--method", "duchi")["knots"] == 73
    assert found(optldp, "design", *asked, "--method", "duchi", "--knots", 5)["knots"] == 5


@pytest.mark.nightly
def test_attributes_may_be_dates_and_times_and_come_back_as_such(optldp, refusal, here):
    rows = (f"19{50 + i % 40}-0{1 + i % 9}-1{i % 10},{7 + i % 3}:{10 + i % 50},{i % 7}" for i in range(400))
    (here / "some.csv").write_text("born,came,more\n" + "\n".join(rows) + "\n")
    words = ("--attribute", "born=1950-01-01:1990-01-01", "--attribute", "came=7:00:10:00", "--attribute", "more=0:6")
    done = optldp("design", "some.csv", *words, "--epsilon", 9, "--method", "duchi", "--knots", 3, "--out", "two.json")
    assert done.exit_code == 0, done.output
    optldp("perturb", "two.json", "some.csv", "--seed", 1, "--out", "reports.csv")
    _, _, born, came, more, *_ = optldp("estimate", "two.json", "reports.csv").stdout.splitlines()
    assert re.match(r"  born +19[67]\d-\d\d-\d\d \d\d:\d\d +[\d.]+ days +19", born)
    assert re.match(r"  came +8:\d\d:\d\d +0:\d\d:\d\d +8:", came)
    assert re.match(r"  more +[23]\.\d+ ", more)
    alone = optldp("estimate", "two.json", "reports.csv", "--attribute", "born").stdout
    assert re.search(r"value +19[67]\d-", alone)
    assert re.search(r"std_error +[\d.]+ days", alone)
    assert abs(json.loads(optldp("estimate", "two.json", "reports.csv", "--json").stdout)["value"][0]) < 4000  # of 1970
    assert "must be in plain numbers" in refusal(
        "design", "some.csv", "--attribute", "more=1950-01-01:1990-01-01", "--epsilon", 1
    )
    assert "NAME=LO:HI" in refusal("design", "some.csv", "--attribute", "came=7:00:10", "--epsilon", 1)
