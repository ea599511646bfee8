"""Values and reports of any length: block by block, gone on with after an interruption, in windows of a stream."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import numpy as np
import pytest
from optldp.designer.command_line import app
from optldp.estimators.data import read_column
from optldp.estimators.streams import value_blocks
from optldp.mechanisms import TabulatedMechanism, duchi, make_exact, save_bundle, save_table
from optldp.mechanisms.categorical.table import categorical_grr
from typer.testing import CliRunner, Result

from ..conftest import INCOME, PEOPLE, found

PERTURB = ("perturb", "mech.json", *INCOME)
KILL_AFTER = 2
"""Blocks drawn before the interruption."""


@pytest.fixture(autouse=True)
def small_blocks(here, monkeypatch):
    """Blocks of 100 rows, and no file so small that it is read whole."""
    monkeypatch.setattr("optldp.estimators.streams.value_blocks.BLOCK_ROWS", 100)
    monkeypatch.setattr("optldp.estimators.streams.value_blocks.LONG", 0)
    save_table(make_exact(duchi([0.0, 100.0], 1.0)).mechanism, "mech.json")
    save_bundle(categorical_grr(["a, b", "c"], 1.0), "jobs.json")


@pytest.fixture
def interrupted(monkeypatch):
    """The run ends, as by Ctrl-C, when the third block is to be drawn."""
    drawn, real = [], TabulatedMechanism.sample_index

    def sample_index(self, values, rng=None, *, clip=False):
        if len(drawn) == KILL_AFTER:
            raise KeyboardInterrupt
        drawn.append(len(values))
        return real(self, values, rng, clip=clip)

    monkeypatch.setattr(TabulatedMechanism, "sample_index", sample_index)
    return drawn


def piped(text: str, *words: object) -> Result:
    """Run a command with a text on its standard input."""
    return CliRunner().invoke(app, [str(word) for word in words], input=text, catch_exceptions=False)


@pytest.mark.parametrize("source", ["csv", "parquet"])
@pytest.mark.parametrize("target", ["csv", "parquet"])
def test_every_value_of_every_block_has_its_report(optldp, source, target):
    """Keys and kept columns stay beside their reports, missing values have none."""
    rows = [("NULL" if i % 7 == 0 else repr(float(x)), f"'u,{i}'", f"'r{i % 3}'") for i, x in enumerate(PEOPLE)]
    values = ", ".join(f"({x}, {user}, {region})" for x, user, region in rows)
    duckdb.sql(f"COPY (FROM (VALUES {values}) AS t(x, user, region)) TO 'in.{source}'")
    options = ("--column", "x", "--key", "user", "--keep", "region", "--drop-missing", "--as", "index")
    optldp("perturb", "mech.json", f"in.{source}", *options, "--out", f"out.{target}")
    found_rows = duckdb.execute(f"SELECT user, region, output FROM 'out.{target}'").fetchall()
    assert [beside for *beside, _ in found_rows] == [[f"u,{i}", f"r{i % 3}"] for i in range(300) if i % 7]
    assert {int(output) for *_, output in found_rows} == {0, 1}
    assert not list(Path().glob(".optldp*"))


def test_labels_too_and_to_a_pipe(optldp):
    Path("jobs.csv").write_text("job\n" + '"a, b"\nc\n' * 120)
    done = optldp("perturb", "jobs.json", "jobs.csv", "--column", "job", "--out", "-")
    assert done.stdout.splitlines()[0] == "report,table"
    assert sorted({line.partition(",")[0] for line in done.stdout.splitlines()[1:]}) == ["0", "1"]
    assert len(done.stdout.splitlines()) == 241


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1\n" * 250 + "banana\n", "must hold numbers, got the text 'banana' in row 251"),
        ("1\n" * 250 + "NA\n", "got 1 missing, the first in row 251"),
        ("1\n" * 250 + "inf\n", "the first (inf) in row 251"),
        (
            "1\n" * 250 + "101\n",
            "rows 201 to 251, counted anew from 1: values must lie in [0, 100], got 1 of 51 outside",
        ),
        ("", "must hold at least one value"),
    ],
)
def test_bad_rows_beyond_the_first_block_are_named_and_nothing_is_left(refusal, text, says):
    Path("bad.csv").write_text("x\n" + text)
    assert says in refusal("perturb", "mech.json", "bad.csv", "--column", "x", "--out", "out.parquet")


def test_an_interrupted_run_leaves_nothing_unless_it_may_be_gone_on_with(optldp, interrupted):
    assert optldp(*PERTURB, "--as", "index", "--out", "out.csv").exit_code == 130
    assert interrupted == [100, 100]
    assert not list(Path().glob("*out.csv*")) + list(Path().glob(".optldp*"))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_run_that_goes_on_draws_no_row_twice(optldp, refusal, interrupted, suffix):
    """What was written stays, bit for bit; without --resume nothing is drawn beside it; the folder goes at the end."""
    asked = (*PERTURB, "--as", "index", "--out", f"out.{suffix}")
    stopped = optldp(*asked, "--resume")
    assert "the reports of 200 of 300 rows are kept in" in stopped.stderr
    assert stopped.exit_code == 130
    parts = sorted(Path(f"out.{suffix}.partial").glob("0*"))
    kept = (
        np.concatenate(
            [duckdb.execute(f"SELECT output FROM read_{suffix}('{part}')").fetchnumpy()["output"] for part in parts]
        )
        if suffix == "parquet"
        else np.array(
            [
                int(line.partition(",")[0])
                for part in parts
                for line in part.read_text().split()
                if line != "output,table"
            ]
        )
    )
    assert kept.size == 200
    assert os.stat(f"out.{suffix}.partial").st_mode & 0o077 == 0
    assert "--resume goes on with them" in refusal(*asked)
    interrupted.clear()
    interrupted.extend([0] * 5)
    said = json.loads(optldp(*asked, "--resume", "--json").stdout)
    assert said["n"] == 300
    assert interrupted[5:] == [100]
    assert np.array_equal(read_column(f"out.{suffix}", "output")[:200], kept)
    assert read_column(f"out.{suffix}", "output").size == 300
    assert not Path(f"out.{suffix}.partial").exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda: Path("people.csv").write_text(Path("people.csv").read_text().replace("p7,", "p8,")), "another data"),
        (lambda: os.utime("people.csv", (1, 1)), "another data"),
        (lambda: save_table(make_exact(duchi([0.0, 100.0], 2.0)).mechanism, "mech.json"), "another mechanism"),
        (lambda: Path("out.csv.partial/run.json").write_text("{"), "which is none"),
        (lambda: Path("out.csv.partial/00000000.csv").unlink(), "with gaps"),
    ],
)
def test_another_run_is_not_gone_on_with(optldp, refusal, interrupted, change, says):
    asked = (*PERTURB, "--as", "index", "--out", "out.csv", "--resume")
    optldp(*asked)
    change()
    assert says in refusal(*asked)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--resume", "--seed", 1), "--seed is of a simulation, which can be run again"),
        (
            ("--resume", "--secret", "s", "--key", "name"),
            "--secret is of no use where reports are drawn block by block",
        ),
        (("--window", 5), "--window takes standard input to standard output"),
    ],
)
def test_what_does_not_go_together_is_refused(refusal, options, says):
    assert says in refusal(*PERTURB, "--out", "out.csv", *options)


def test_a_stream_flows_in_windows_and_their_counts_add_up(optldp):
    """Counts of windows have the published columns, and are taken as they are, in one file or several."""
    people = "user,x\n" + "".join(f'"u\n{i}",{x!r}\n' for i, x in enumerate(PEOPLE.tolist()))
    words = ("perturb", "mech.json", "-", "--column", "x", "--as", "index", "--key", "user", "--out", "-")
    reports = piped(people, *words, "--window", 70).stdout
    counts = piped(reports, "count", "mech.json", "-", "--window", 120, "--out", "-").stdout
    head, *rows = counts.split()
    assert head == "window,first_row,rows,output,n,table"
    assert [row.split(",")[:3] for row in rows[::2]] == [["0", "1", "120"], ["1", "121", "120"], ["2", "241", "60"]]
    Path("all.csv").write_text(counts)
    Path("one.csv").write_text("\n".join([head, *rows[:2]]))
    Path("more.csv").write_text("\n".join([head, *rows[2:]]))
    Path("reports.csv").write_text(reports)
    whole = found(optldp, "estimate", "mech.json", "reports.csv")
    for files in (("all.csv",), ("one.csv", "more.csv")):
        said = found(optldp, "estimate", "mech.json", *(word for file in files for word in ("--counts", file)))
        assert (said["value"], said["n"]) == (whole["value"], 300)


def test_a_bad_window_is_not_let_go_and_those_before_are():
    done = piped("x\n1\n2\n3\nbanana\n", "perturb", "mech.json", "-", "--column", "x", "--window", 2, "--out", "-")
    assert done.exit_code == 2
    assert len(done.stdout.splitlines()) == 3
    assert "rows 3 to 4 of the stream, counted anew from 1: column 'x' of '-'" in done.stderr
    assert "'banana' in row 2" in done.stderr


def test_simulated_counts_are_not_added_to_those_in_earnest(refusal):
    Path("a.csv").write_text("output,n\n0,5\n1,5\n")
    Path("b.csv").write_text("simulated_output,n\n0,5\n1,5\n")
    assert "'b.csv' of a simulation" in refusal("estimate", "mech.json", "--counts", "a.csv", "--counts", "b.csv")


def test_equal_reports_of_a_long_file_are_read_once(optldp, refusal, monkeypatch):
    """With the numbers and rows of those that are none."""
    Path("r.csv").write_text("report\n" + "0\n1\n1\n" * 40 + "7\n01\n7\n")
    monkeypatch.setattr("optldp.estimators.streams.value_blocks.LONG", 2**22)
    short = found(optldp, "estimate", "jobs.json", "r.csv", "--skip-invalid")
    refused = refusal("count", "jobs.json", "r.csv", "--out", "c.csv")
    monkeypatch.setattr("optldp.estimators.streams.value_blocks.LONG", 0)
    assert refusal("count", "jobs.json", "r.csv", "--out", "c.csv") == refused
    long = found(optldp, "estimate", "jobs.json", "r.csv", "--skip-invalid")
    assert (long["n"], long["value"], long["skipped"]) == (121, short["value"], 2)
    assert long["skipped_first"][0] == short["skipped_first"][0]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="kills as POSIX has it")
def test_a_killed_process_leaves_whole_parts_that_the_next_one_keeps(here):
    """SIGKILL at some moment: no cleaning up is run."""
    duckdb.sql("COPY (SELECT 100 * random() AS x FROM range(3000000)) TO 'many.parquet'")
    program = [sys.executable, "-m", "optldp", "perturb", "mech.json", "many.parquet", "--column", "x", "--as", "index"]
    program += ["--out", "out.csv", "--resume"]
    run = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    part = Path("out.csv.partial/00000000.csv")
    while not part.exists():
        assert run.poll() is None
        time.sleep(0.01)
    run.send_signal(signal.SIGKILL)
    run.wait()
    kept = part.read_bytes()
    subprocess.run(program, check=True, capture_output=True)
    whole = Path("out.csv").read_bytes()
    assert whole.startswith(kept)
    assert whole.count(b"\n") == 3_000_001


def test_a_block_of_dates_is_counted_in_the_units_of_all(tmp_path):
    """A column is judged whole: a later block does not change how the first is read."""
    path = tmp_path / "d.csv"
    path.write_text("d\n" + "01/02/2020\n" * 150 + "25/02/2020\n")
    with value_blocks.value_blocks(path, "d") as blocks:
        assert (blocks.many, blocks.units) == (2, "days since 1970-01-01")
        assert np.unique(blocks.values(0)).tolist() == [18293.0]  # 1 February
