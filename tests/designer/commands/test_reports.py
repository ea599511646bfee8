"""The command line and files that somebody else wrote: rows left out, marks of simulations, text that is only shown."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from optldp.designer.command_line import app
from optldp.estimators.reading.columns.number_cells import write_columns
from optldp.estimators.reading.columns.texts import read_texts
from optldp.mechanisms import (
    AttributeSampling,
    Categories,
    PersonalisedMechanism,
    duchi,
    load_mechanism,
    make_exact,
    save_bundle,
    save_table,
)
from optldp.mechanisms.categorical import categorical_grr, optimised_unary
from optldp.mechanisms.key_value import key_value_unary
from typer.testing import CliRunner

TABLE = make_exact(duchi([0.0, 1.0], 1.0)).mechanism
LOW, HIGH = TABLE.high.tolist()
NASTY = "\x1b[2J\u202ered"
"""Commands a terminal to clear its screen and to write backwards."""

MADE = {
    "numbers": TABLE,
    "categories": categorical_grr(["a", "b"], 1.0),
    "bits": optimised_unary(["a", "b"], 1.0),
    "levels": PersonalisedMechanism([categorical_grr(["a", "b"], epsilon) for epsilon in (0.5, 1.0)], 0.3),
    "pairs": key_value_unary(["a", "b"], TABLE, 1.5),
    "attributes": AttributeSampling(["x", "y"], [TABLE, TABLE], 1, 1.0),
}
HEADERS = {"levels": "report,level", "attributes": "x,y"}


@pytest.fixture
def made(here) -> Path:
    """One file of each kind of mechanism, made.KIND.json."""
    for name, mechanism in MADE.items():
        (save_table if name == "numbers" else save_bundle)(mechanism, here / f"{name}.json")  # type: ignore[operator]
    return here


class TestSkipping:
    @pytest.mark.slow
    @pytest.mark.usefixtures("made")
    @pytest.mark.parametrize("options", [(), ("--of", "distribution"), ("--of", "quantiles"), ("--method", "em")])
    def test_bad_rows_are_left_out_counted_and_named(self, optldp, refusal, options):
        """In JSON, in text, and in a note; without the option the error offers it."""
        good = [f"{LOW!r}", f"{HIGH!r}"] * 30
        Path("r.csv").write_text("\n".join(["report", *good[:16], "banana", *good[16:18], "1e999", *good[18:], ""]))
        assert "--skip-invalid" in refusal("estimate", "numbers.json", "r.csv", *options)
        done = optldp("estimate", "numbers.json", "r.csv", *options, "--skip-invalid", "--json")
        found = json.loads(done.stdout)
        assert (found["n"], found["skipped"], found["simulated"]) == (60, 2, False)
        assert found["skipped_first"] == ["row 17: 'banana' is no number", "row 20: 1e999 is no finite number"]
        assert done.stderr == (
            "optldp: note: 2 rows hold no report and were left out, the first of them row 17: 'banana' is no number; "
            "row 20: 1e999 is no finite number\n"
        )
        assert "  skipped" in optldp("estimate", "numbers.json", "r.csv", *options, "--skip-invalid").stdout

    @pytest.mark.slow
    @pytest.mark.usefixtures("made")
    def test_several_services_are_told_apart(self, optldp):
        for name, bad in (("one", "banana"), ("two", "0.5")):
            rows = [f"u{i},{(LOW, HIGH)[i % 2]!r}" for i in range(40)]
            Path(f"{name}.csv").write_text("\n".join(["user,report", *rows, f"bad,{bad}", ""]))
        done = optldp("estimate", "numbers.json", "one.csv", "numbers.json", "two.csv", "--key", "user",
                      "--skip-invalid", "--json")  # fmt: skip
        assert json.loads(done.stdout)["skipped_first"] == [
            "service 'numbers#1' ('one.csv'), row 41: 'banana' is no number",
            "service 'numbers#2' ('two.csv'), row 41: 0.5 is no output of its table",
        ]


@pytest.mark.usefixtures("made")
class TestSimulations:
    @pytest.mark.sampled(3)
    @pytest.mark.parametrize(
        ("kind", "options", "columns"),
        [
            ("numbers", ("--column", "v"), ["simulated_report"]),
            ("categories", ("--column", "c"), ["simulated_report"]),
            ("levels", ("--column", "c", "--level-column", "budget"), ["simulated_report", "simulated_level"]),
            ("pairs", ("--column", "c", "--value-column", "v"), ["simulated_report"]),
            ("attributes", (), ["simulated_x", "simulated_y"]),
        ],
    )
    @pytest.mark.parametrize("suffix", ["csv", "parquet"])
    def test_reports_of_a_seed_are_marked_and_told_of(self, optldp, refusal, kind, options, columns, suffix):
        """In the file, in a note, in JSON; in earnest there is no mark."""
        rows = [f"{'ab'[i % 2]},{i % 5 / 4},{(0.5, 1.0)[i % 2]},{i % 3 / 2},0.5" for i in range(60)]
        Path("data.csv").write_text("\n".join(["c,v,budget,x,y", *rows, ""]))
        for seed in ((), ("--seed", 3)):
            optldp("perturb", f"{kind}.json", "data.csv", *options, "--out", f"r.{suffix}", "--force", *seed)
            done = optldp("estimate", f"{kind}.json", f"r.{suffix}", "--json")
            assert done.exit_code == 0, done.output
            assert json.loads(done.stdout)["simulated"] is bool(seed)
            assert ("these reports are simulated" in done.stderr) is bool(seed)
        assert read_texts(f"r.{suffix}", columns)[0].size == 60
        assert "simulated" in optldp("estimate", f"{kind}.json", f"r.{suffix}").stdout
        both = {column.removeprefix("simulated_"): [1.0] for column in columns} | {column: [1.0] for column in columns}
        write_columns("both.csv", both)
        assert "reports in earnest or of a simulation" in refusal("estimate", f"{kind}.json", "both.csv")

    @pytest.mark.slow
    def test_a_service_that_is_simulated_makes_all_of_it_simulated(self, optldp):
        Path("data.csv").write_text("user,v\n" + "".join(f"u{i},0.5\n" for i in range(60)))
        for name, seed in (("one", ()), ("two", ("--seed", 1))):
            optldp(
                "perturb", "numbers.json", "data.csv", "--column", "v", "--key", "user", "--out", f"{name}.csv", *seed
            )
        pair = ("numbers.json", "one.csv", "numbers.json", "two.csv", "--key", "user")
        assert json.loads(optldp("estimate", *pair, "--json").stdout)["simulated"] is True


class TestText:
    @pytest.mark.slow
    def test_columns_cells_and_names_are_shown_and_not_obeyed(self, optldp, made):
        """Escaped on stderr and in JSON, whatever names them."""
        name = f"{NASTY}.csv"
        (made / name).write_text(f"{NASTY}\n1\n")
        (made / "cells.csv").write_text(f"report\n{NASTY}\n")
        for arguments in (("numbers.json", name), ("numbers.json", "cells.csv"), ("numbers.json", f"no{NASTY}.csv"),
                          ("categories.json", "cells.csv"), (f"no{NASTY}.json", "cells.csv"),
                          ("numbers.json", name, "--column", NASTY)):  # fmt: skip
            done = optldp("estimate", *arguments)
            assert done.exit_code == 2
            assert len(done.stderr.splitlines()) == 1
            assert done.stderr.strip("\n").isprintable()

    @pytest.mark.parametrize("as_json", [False, True])
    def test_labels_units_and_methods_of_a_file_are_shown_and_not_obeyed(self, optldp, made, as_json):
        """Control characters that whoever made the table has put into it."""
        save_bundle(categorical_grr(Categories([NASTY, "b"]), 1.0), made / "labels.json")
        (made / "r.csv").write_text("report\n0\n1\n1\n")
        options = ("--json",) if as_json else ()
        for arguments in (("estimate", "labels.json", "r.csv"), ("show", "labels.json"), ("verify", "labels.json")):
            done = optldp(*arguments, *options)
            assert done.exit_code == 0, done.output
            assert all(line.isprintable() for line in done.output.split("\n"))
        assert (r"\u001b" if as_json else r"\x1b[2J\u202ered") in optldp(
            "estimate", "labels.json", "r.csv", *options
        ).stdout

    @pytest.mark.slow
    def test_labels_that_a_spreadsheet_would_run_get_an_apostrophe_in_a_csv_alone(self, optldp, made):
        """A note says so; Parquet and JSON have the label."""
        label = '=HYPERLINK("http://example.com")'
        save_bundle(categorical_grr([label, "-5", "b"], 1.0), made / "labels.json")
        (made / "r.csv").write_text("report\n0\n1\n2\n")
        done = optldp("estimate", "labels.json", "r.csv", "--out", "f.csv", "--json")
        assert "have an apostrophe before them" in done.stderr
        assert json.loads(done.stdout)["category"] == [label, "-5", "b"]
        assert read_texts("f.csv", ["category"])[0].tolist() == [f"'{label}", "-5", "b"]
        assert (
            optldp("estimate", "labels.json", "r.csv", "--out", "f.parquet").stderr
            == "optldp: wrote f.parquet (3 rows)\n"
        )
        assert read_texts("f.parquet", ["category"])[0].tolist() == [label, "-5", "b"]


CELLS = st.one_of(
    st.sampled_from(
        ["0", "1", f"{LOW!r}", f"{HIGH!r}", "0:1", "-", "40", "0.5", "1.0", "", "NA", "nan", "inf", "1e999"]
    ),
    st.sampled_from(['"', '""', '"1', "1_0", "0x1", "\u0661", "\0", "\r", "\n", "\x1b[2J", "\ud800", "=1", ",", "'"]),
    st.text(st.characters(exclude_categories=[]), max_size=6),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("fuzz")
    for name, mechanism in MADE.items():
        (save_table if name == "numbers" else save_bundle)(mechanism, place / f"{name}.json")  # type: ignore[operator]
    return place


@pytest.mark.nightly
@pytest.mark.parametrize("kind", list(MADE))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=25)
@given(
    rows=st.lists(st.lists(CELLS, min_size=1, max_size=3), max_size=8), skip=st.booleans(), ends=st.sampled_from("\n\r")
)
def test_whatever_is_in_a_file_of_reports_is_estimated_from_or_refused_in_one_line(folder, kind, rows, skip, ends):
    """Never a traceback, and never a character that a terminal would obey."""
    lines = [HEADERS.get(kind, "report"), *(",".join(row) for row in rows)]
    (folder / "reports.csv").write_bytes(ends.join(lines).encode(errors="surrogatepass"))
    options = ["--skip-invalid"] if skip else []
    done = CliRunner().invoke(
        app, ["estimate", str(folder / f"{kind}.json"), str(folder / "reports.csv"), *options], catch_exceptions=False
    )
    assert done.exit_code in (0, 2), done.output
    assert all(line.isprintable() for line in done.output.split("\n"))
    if done.exit_code == 2:
        said = done.stderr.strip("\n").split("\n")
        assert sum(line.startswith("optldp: error: ") for line in said) == 1
        assert all(line.startswith("optldp: note: ") for line in said[:-1])  # how the file was read, before


def test_the_kinds_tried_are_all_that_a_file_can_hold(folder):
    assert {type(load_mechanism(folder / f"{name}.json")) for name in MADE} == {type(one) for one in MADE.values()}
    assert np.unique([type(one).__name__ for one in MADE.values()]).size == len(MADE)


@pytest.mark.nightly
def test_what_was_left_out_is_said_even_where_too_little_is_left(optldp, refusal):
    """One report is too few for a standard error; nobody should wonder where the others went."""
    Path("people.csv").write_text("x\n0\n1\n4\n")
    column = ["people.csv", "--column", "x"]
    optldp("design", *column, "--range", 0, 4, "--epsilon", 1, "--knots", 3, "--out", "few.json")
    optldp("perturb", "few.json", *column, "--out", "few.csv")
    good = Path("few.csv").read_text().split()[1].partition(",")[0]
    Path("bad.csv").write_text("report\n" + good + "\n" + "".join(f"{i}.5e100\n" for i in range(50_000)))
    said = refusal("estimate", "few.json", "bad.csv", "--skip-invalid")
    assert "at least 2" in said
    assert "50000 rows hold no report and were left out: row 2: " in said
