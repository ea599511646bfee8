"""Files of reports and of counts name the table that made them, and are read with no other."""

import csv
import io
import json
import os
from pathlib import Path

import duckdb
import numpy as np
import pytest
from optldp.designer.command_line import app
from optldp.mechanisms import (
    AttributeSampling,
    PersonalisedMechanism,
    TabulatedMechanism,
    duchi,
    grr,
    make_exact,
)
from optldp.mechanisms.categorical import categorical_grr, optimised_unary
from optldp.mechanisms.compact_tables import form_over
from optldp.mechanisms.documents.bundle import Bundle
from optldp.mechanisms.files.identifier import identifier_of, table_identifier
from optldp.mechanisms.key_value import key_value_unary
from optldp.mechanisms.third_party import adopt
from typer.testing import CliRunner

from ...small_channels import JOBS, columns, write_people
from ...small_channels import save as write_file
from .test_estimates_in_json import KINDS

WIDE = make_exact(grr(np.linspace(0.0, 60.0, 5), 1.0)).mechanism
THREE = [make_exact(duchi([0.0, 60.0], epsilon)).mechanism for epsilon in (1.0, 3.0)]
OTHERS = {
    "numbers": WIDE,
    "floor": form_over(np.linspace(0.0, 60.0, 3), [-60.0, 30.0, 120.0], [0.2, 0.1, 0.2], 1.5),
    "categories": categorical_grr(JOBS, 1.0),
    "levels of numbers": PersonalisedMechanism(THREE),
    "protected levels of categories": PersonalisedMechanism([categorical_grr(JOBS, e) for e in (1.0, 2.0)], 0.5),
    "pairs": key_value_unary(JOBS, WIDE, 1.0),
    "attributes": AttributeSampling(["pay", "more"], [WIDE, WIDE], 1, 1.0),
    "levels of attributes": PersonalisedMechanism(
        [AttributeSampling(["pay", "more"], [t, t], 1, t.epsilon) for t in THREE]
    ),
    "protected levels of pairs": PersonalisedMechanism([key_value_unary(JOBS, t, t.epsilon) for t in THREE], 1.0),
}


def save(made: TabulatedMechanism | Bundle, path: str) -> str:
    """Write a mechanism's file, and return what names it, taken from the file itself."""
    write_file(made, Path(path))
    return identifier_of(json.loads(Path(path).read_text())["checksum"])


@pytest.fixture
def people(here) -> Path:
    write_people(Path("people.csv"))
    return here


def run(*words: object, given: str | None = None) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, [str(word) for word in words], given, catch_exceptions=False)
    return done.exit_code, done.stdout, done.stderr


def done(*words: object, given: str | None = None) -> str:
    code, out, err = run(*words, given=given)
    assert code == 0, err
    return out


def refused(mine: str, theirs: str, *words: object, given: str | None = None) -> None:
    """The command ends in one line that has the names of both tables."""
    code, _, err = run(*words, given=given)
    assert code == 2, words
    assert len(err.splitlines()) == 1, err
    assert mine in err, err
    assert theirs in err, err
    assert "give the file of that table" in err


def named(path: str) -> set[str]:
    with duckdb.connect() as connection:
        return {name for (name,) in connection.sql(f"SELECT DISTINCT \"table\" FROM '{path}'").fetchall()}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_reports_and_counts_of_every_kind_are_read_with_the_table_that_made_them_alone(people, kind):
    mine, theirs = save(KINDS[kind], "mech.json"), save(OTHERS[kind], "other.json")
    assert mine != theirs
    for reports in ("r.csv", "r.parquet"):
        done("perturb", "mech.json", "people.csv", *columns(kind), "--seed", 1, "--out", reports)
        assert named(reports) == {mine}
        done("estimate", "mech.json", reports)
        refused(theirs, mine, "estimate", "other.json", reports)
        counts = reports.replace("r.", "c.")
        code, _, err = run("count", "mech.json", reports, "--out", counts)
        if code:  # levels of attributes are not counted
            assert "count is not for" in err
            continue
        assert named(counts) == {mine}
        refused(theirs, mine, "count", "other.json", reports, "--out", "no.csv")
        if run("estimate", "mech.json", "--counts", counts)[0] == 0:
            refused(theirs, mine, "estimate", "other.json", "--counts", counts)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["report", "index"])
@pytest.mark.parametrize("way", ["beside", "secret", "ledger", "resume", "window"])
def test_every_form_of_perturb_names_the_table(people, way, form):
    mine, theirs = save(KINDS["numbers"], "mech.json"), save(OTHERS["numbers"], "other.json")
    Path("secret").write_bytes(bytes(range(32)))
    os.chmod("secret", 0o600)
    asked = {
        "beside": ("people.csv", "--key", "user", "--keep", "job", "--out", "r.csv"),
        "secret": ("people.csv", "--key", "user", "--secret", "secret", "--out", "r.csv"),
        "ledger": (
            *("people.csv", "--key", "user", "--ledger", "book", "--ledger-key", "secret", "--budget", 2),
            *("--out", "r.csv"),
        ),
        "resume": ("people.csv", "--key", "user", "--resume", "--out", "r.parquet"),
        "window": ("-", "--window", 100, "--out", "-"),
    }[way]
    streamed = Path("people.csv").read_text() if way == "window" else None
    out = done("perturb", "mech.json", *asked, "--column", "pay", "--as", form, given=streamed)
    file = "r.parquet" if way == "resume" else "r.csv"
    if way == "window":
        Path(file).write_text(out)
    assert named(file) == {mine}
    more = ("--key", "user") if way != "window" else ()
    done("estimate", "mech.json", file, *more, "--of", "distribution", "--method", "em")
    refused(theirs, mine, "estimate", "other.json", file, *more)
    if way == "beside":
        refused(theirs, mine, "estimate", "other.json", file, "--by", "job")
        refused(theirs, mine, "estimate", "mech.json", file, "--versus", "other.json", file)


@pytest.mark.slow
def test_a_column_that_was_dropped_is_made_up_for_by_what_a_parquet_file_says_once(people):
    mine, theirs = save(KINDS["numbers"], "mech.json"), save(OTHERS["numbers"], "other.json")
    done("perturb", "mech.json", "people.csv", "--column", "pay", "--out", "r.parquet")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE r AS SELECT report FROM 'r.parquet'")
        connection.execute(f"COPY r TO 'dropped.parquet' (FORMAT parquet, KV_METADATA {{'optldp.table': '{mine}'}})")
    done("estimate", "mech.json", "dropped.parquet")
    refused(theirs, mine, "estimate", "other.json", "dropped.parquet")


@pytest.mark.nightly
def test_a_window_of_counts_names_the_table(people):
    mine, theirs = save(KINDS["numbers"], "mech.json"), save(OTHERS["numbers"], "other.json")
    done("perturb", "mech.json", "people.csv", "--column", "pay", "--out", "r.csv")
    stream = Path("r.csv").read_text()
    Path("c.csv").write_text(done("count", "mech.json", "-", "--window", 100, "--out", "-", given=stream))
    assert named("c.csv") == {mine}
    done("estimate", "mech.json", "--counts", "c.csv")
    refused(theirs, mine, "estimate", "other.json", "--counts", "c.csv")


@pytest.mark.slow
def test_rows_of_several_tables_are_refused_whatever_is_left_out(people):
    mine, theirs = save(KINDS["numbers"], "mech.json"), save(OTHERS["numbers"], "other.json")
    done("perturb", "mech.json", "people.csv", "--column", "pay", "--out", "r.csv")
    done("perturb", "other.json", "people.csv", "--column", "pay", "--out", "s.csv")
    Path("both.csv").write_text(Path("r.csv").read_text() + Path("s.csv").read_text().partition("\n")[2])
    refused(mine, theirs, "estimate", "mech.json", "both.csv")
    refused(mine, theirs, "estimate", "mech.json", "both.csv", "--skip-invalid")
    refused(theirs, mine, "estimate", "other.json", "both.csv", "--of", "quantiles")


@pytest.mark.slow
def test_rows_that_name_no_table_are_taken(people):
    save(KINDS["numbers"], "mech.json")
    done("perturb", "mech.json", "people.csv", "--column", "pay", "--out", "r.csv")
    rows = list(csv.DictReader(io.StringIO(Path("r.csv").read_text())))
    Path("old.csv").write_text("report\n" + "".join(f"{row['report']}\n" for row in rows))
    some = (f"{row['report']},{row['table'] * (i % 2)}\n" for i, row in enumerate(rows))
    Path("some.csv").write_text("report,table\n" + "".join(some))
    assert done("estimate", "mech.json", "old.csv") == done("estimate", "mech.json", "some.csv")


def test_a_column_of_ones_own_by_the_name_is_said_to_be_that_and_none_of_it_is_repeated(people):
    mine = save(KINDS["numbers"], "mech.json")
    Path("own.csv").write_text("report,table\n0,window seat\n15,secret\n")
    code, _, err = run("estimate", "mech.json", "own.csv")
    assert code == 2
    assert f"must name the table of the reports, {mine}, got no name: rename or drop it" in err
    assert "secret" not in err
    Path("people.csv").write_text("table,pay\n1,15\n2,30\n")
    code, _, err = run("perturb", "mech.json", "people.csv", "--column", "pay", "--key", "table", "--out", "r.csv")
    assert code == 2
    assert "the key must be another column than the values and 'report', 'table'" in err


@pytest.mark.slow
def test_an_attribute_by_the_name_keeps_its_column(people):
    made = AttributeSampling(["table", "pay"], [WIDE, WIDE], 1, 1.0)
    save(made, "mech.json")
    Path("people.csv").write_text("table,pay\n" + "15,30\n" * 50)
    done("perturb", "mech.json", "people.csv", "--out", "r.csv")
    done("estimate", "mech.json", "r.csv")
    done("count", "mech.json", "r.csv", "--out", "c.csv")
    done("estimate", "mech.json", "--counts", "c.csv")


@pytest.mark.nightly
def test_several_services_are_named_in_their_order(people):
    first, second = save(KINDS["numbers"], "a.json"), save(OTHERS["numbers"], "b.json")
    for table in "ab":
        done("perturb", f"{table}.json", "people.csv", "--column", "pay", "--key", "user", "--out", f"{table}.csv")
    services = ("a.json", "a.csv", "b.json", "b.csv", "--key", "user")
    done("count", *services, "--out", "c.csv")
    assert named("c.csv") == {f"{first}+{second}"}
    done("estimate", "a.json", "b.json", "--counts", "c.csv")
    refused(f"{second}+{first}", f"{first}+{second}", "estimate", "b.json", "a.json", "--counts", "c.csv")
    refused(first, second, "estimate", "a.json", "b.csv", "b.json", "a.csv", "--key", "user")


@pytest.mark.parametrize("made", [optimised_unary(JOBS, 1.0), adopt("grr", JOBS, 2.0), *KINDS.values()], ids=repr)
def test_a_name_is_the_start_of_the_checksum_in_the_file(here, made):
    assert save(made, "mech.json") == table_identifier(made)


def test_show_says_the_name(people):
    mine = save(KINDS["floor"], "mech.json")
    assert json.loads(done("show", "mech.json", "--json"))["table"] == mine
