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
from optldp.designer.commands.streaming.windows import require_no_rows_before
from optldp.estimators.reading.columns import read_column
from optldp.estimators.reading.streams import value_blocks
from optldp.mechanisms import InputError, TabulatedMechanism, duchi, make_exact, save_bundle, save_table
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.pseudorandom import KeyedReports, new_secret
from typer.testing import CliRunner, Result

from ..conftest import INCOME, PEOPLE, found, instead

PERTURB = ("perturb", "mech.json", *INCOME)
KILL_AFTER = 2
"""Blocks drawn before the interruption."""


@pytest.fixture(autouse=True)
def small_blocks(here, monkeypatch):
    """Blocks of 100 rows, and no file so small that it is read whole."""
    monkeypatch.setattr("optldp.estimators.reading.streams.value_blocks.BLOCK_ROWS", 100)
    monkeypatch.setattr("optldp.estimators.reading.streams.value_blocks.LONG", 0)
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_what_an_interrupted_join_leaves_is_gone_on_with(optldp, monkeypatch, suffix):
    """All rows have reports, no more than there are; nothing lies beside the folder, and the next run clears it."""
    Path("few.csv").write_text("income\n" + "7\n" * 250)
    asked = ("perturb", "mech.json", "few.csv", *INCOME[1:], "--out", f"out.{suffix}", "--resume")
    with monkeypatch.context() as patch:

        def killed(*given):
            beside.extend(path.name for path in Path().glob(".optldp*"))
            Path(f"out.{suffix}.partial/.optldp-00.{suffix}").touch()
            raise KeyboardInterrupt

        beside: list[str] = []
        patch.setattr("optldp.estimators.reading.streams.output_parts._to_disk", lambda path: None)
        patch.setattr("optldp.estimators.reading.streams.output_parts.OutputParts._join_parquet", killed)
        patch.setattr("optldp.estimators.reading.streams.output_parts.shutil.copyfileobj", killed)
        assert "the reports of 250 of 250 rows are kept" in optldp(*asked).stderr
    assert beside == []
    assert "note: 250 of 250 rows have reports already" in optldp(*asked).stderr
    assert read_column(f"out.{suffix}", "report").size == 250
    assert sorted(path.name for path in Path().iterdir() if "out" in path.name or ".optldp" in path.name) == [
        f"out.{suffix}"
    ]


@pytest.mark.parametrize(
    "left",
    [
        {},
        {".optldp-00.json": ""},
        {"run.json": '{"format": "optldp-partial/1 joined"}', "00000001.csv": "report\n1\n"},
    ],
    ids=["before the journal", "within the journal", "after the join"],
)
@pytest.mark.parametrize("options", [(), ("--resume",)], ids=["anew", "resumed"])
def test_a_folder_that_a_killed_run_left_without_a_report_that_is_needed_stops_nobody(optldp, left, options):
    Path("out.csv.partial").mkdir()
    for name, text in left.items():
        Path("out.csv.partial", name).write_text(text)
    assert json.loads(optldp(*PERTURB, "--out", "out.csv", "--json", *options).stdout)["n"] == 300
    assert not Path("out.csv.partial").exists()


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
        (("--resume", "--secret", "secret"), "--secret needs --key"),
        (("--resume", "--secret", "secret", "--key", "name", "--seed", 1), "--seed is of a simulation"),
        (("--resume", "--period", "May"), "--period is for reports by a --secret"),
        (("--window", 5), "--window takes standard input, -, got"),
    ],
)
def test_what_does_not_go_together_is_refused(refusal, options, says):
    new_secret_file("secret")
    assert says in refusal(*PERTURB, "--out", "out.csv", *options)


def new_secret_file(path: str) -> None:
    Path(path).touch(mode=0o600)
    Path(path).write_bytes(new_secret())


class TestBySecret:
    """Reports by a secret are those of the whole column, block by block; a run goes on with its own secret alone."""

    KEYED = ("--key", "name", "--secret", "secret", "--period", "May")

    @pytest.fixture(autouse=True)
    def secret(self, here):
        new_secret_file("secret")

    @pytest.mark.slow
    @pytest.mark.parametrize("form", [(), ("--as", "index")])
    @pytest.mark.parametrize("source", ["csv", "parquet"])
    def test_blocks_have_the_reports_of_the_whole(self, optldp, monkeypatch, source, form):
        """Of a column with values to clip and rows to leave out; the same again after an interruption."""
        cells = ", ".join(f"('u{i}', {'NULL' if i % 7 == 0 else 3 * i % 170})" for i in range(250))
        duckdb.sql(f"COPY (FROM (VALUES {cells}) AS t(name, income)) TO 'in.{source}'")
        asked = ("perturb", "mech.json", f"in.{source}", *INCOME[1:], *self.KEYED, "--clip", "--drop-missing", *form)
        blocks = optldp(*asked, "--out", "blocks.csv", "--json")
        with monkeypatch.context() as patch:
            patch.setattr("optldp.estimators.reading.streams.value_blocks.LONG", 2**22)
            patch.setattr("optldp.estimators.reading.streams.value_blocks.BLOCK_ROWS", 2**20)
            whole = optldp(*asked, "--out", "whole.csv", "--json")
        facts = {"out": "", "n": 214, "simulated": False}
        assert json.loads(blocks.stdout) | facts == json.loads(whole.stdout) | facts
        assert Path("blocks.csv").read_text() == Path("whole.csv").read_text()

    @pytest.mark.slow
    def test_labels_too(self, optldp, monkeypatch):
        Path("jobs.csv").write_text(
            "name,job\n" + "".join(f"u{i},{('c', chr(34) + 'a, b' + chr(34))[i % 2]}\n" for i in range(240))
        )
        asked = ("perturb", "jobs.json", "jobs.csv", "--column", "job", *self.KEYED)
        optldp(*asked, "--out", "blocks.csv")
        monkeypatch.setattr("optldp.estimators.reading.streams.value_blocks.LONG", 2**22)
        optldp(*asked, "--out", "whole.csv")
        assert Path("blocks.csv").read_text() == Path("whole.csv").read_text()

    @pytest.mark.nightly
    def test_a_run_goes_on_with_the_same_secret_and_no_other(self, optldp, refusal, monkeypatch):
        asked = (*PERTURB, *self.KEYED, "--out", "out.csv", "--resume")
        drawn, real = [], KeyedReports.sample

        def sample(self, users, values):
            if len(drawn) == KILL_AFTER:
                raise KeyboardInterrupt
            drawn.append(len(values))
            return real(self, users, values)

        with monkeypatch.context() as patch:
            patch.setattr(KeyedReports, "sample", sample)
            assert "the reports of 200 of 300 rows are kept" in optldp(*asked).stderr
        journal = Path("out.csv.partial/run.json").read_text()
        assert not any(Path("secret").read_bytes()[i : i + 4].hex() in journal for i in range(29))
        os.rename("secret", "kept")
        new_secret_file("secret")
        assert "got another --secret or --period" in refusal(*asked)
        os.rename("kept", "secret")
        assert "got another --secret or --period" in refusal(*instead(asked, "--period", "June"))
        assert "200 of 300 rows have reports already" in optldp(*asked).stderr
        optldp(*PERTURB, *self.KEYED, "--out", "again.csv")
        assert Path("out.csv").read_text() == Path("again.csv").read_text()

    @pytest.mark.slow
    @pytest.mark.parametrize("command", [("mech.json", "0.5", "7"), ("jobs.json", '"a, b"', "c")])
    def test_a_user_with_two_values_in_two_blocks_is_refused_before_anything_is_drawn(self, refusal, optldp, command):
        """By names in Unicode's normal form, as they are in one block; equal values are no two."""
        table, first, second = command
        rows = [f"u{i},{first}" for i in range(240)]
        asked = ("perturb", table, "in.csv", "--column", "v", *self.KEYED, "--out", "out.csv")
        for name, other in (("u7", "u7"), ("\u00e9va", "e\u0301va")):
            Path("in.csv").write_text(
                "\n".join(["name,v", f"{name},{first}", *rows, f"{other},{second}"]) + "\n", "utf-8"
            )
            assert "a user must have one value in a round, got another for 1 users" in refusal(*asked)
            assert not Path("out.csv").exists()
        Path("in.csv").write_text("\n".join(["name,v", *rows, rows[7]]) + "\n")
        assert optldp(*asked).exit_code == 0

    def test_keys_with_a_fraction_name_nobody(self, refusal):
        duckdb.sql("COPY (SELECT i + 0.5::DOUBLE AS name, 1.0 AS income FROM range(300) t(i)) TO 'in.parquet'")
        asked = ("perturb", "mech.json", "in.parquet", *INCOME[1:], *self.KEYED, "--out", "out.csv", "--resume")
        assert "must be text or integers, got type DOUBLE" in refusal(*asked)


@pytest.mark.nightly
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


@pytest.mark.nightly
def test_counts_of_further_streams_go_on_in_the_same_file(optldp):
    """One header, numbers that go on, and the estimate of all; other columns and other files are refused."""
    words = ("count", "mech.json", "-", "--column", "output", "--window", 120, "--out", "counts.csv")
    for many in (300, 200):
        piped("output\n" + "0\n1\n" * (many // 2), *words)
    head, *rows = Path("counts.csv").read_text().split()
    assert head == "window,first_row,rows,output,n,table"
    places = ["0,1,120", "1,121,120", "2,241,60", "3,301,120", "4,421,80"]
    assert [row.rsplit(",", 3)[0] for row in rows] == [place for place in places for _ in range(2)]
    assert found(optldp, "estimate", "mech.json", "--counts", "counts.csv")["n"] == 500
    before = Path("counts.csv").read_text()
    assert "must go on with the columns that it has" in piped("simulated_output\n0\n1\n", *words).stderr
    assert "--force is of no use to windows" in piped("output\n0\n", *words, "--force").stderr
    save_table(make_exact(duchi([0.0, 100.0], 2.0)).mechanism, "other.json")
    assert "must go on with t" in piped("output\n0\n", "count", "other.json", *words[2:]).stderr
    assert Path("counts.csv").read_text() == before
    for text in ("x\n1\n", before[:-1], before + "a,b,c\n"):
        Path("counts.csv").write_text(text)
        assert "which ends otherwise" in piped("output\n0\n", *words).stderr
        assert Path("counts.csv").read_text() == text


def test_standard_output_with_rows_in_it_is_seen(monkeypatch):
    with Path("all.csv").open("a") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        require_no_rows_before("do else")
        stream.write("output,n\n")
        stream.flush()
        with pytest.raises(InputError, match="with rows in it: do else"):
            require_no_rows_before("do else")


@pytest.mark.nightly
@pytest.mark.parametrize("command", ["count", "perturb"])
def test_no_second_header_goes_to_a_file_with_rows(command):
    """Standard output may be appended to an empty file, and to a pipe."""
    words = {"count": ("--column", "output"), "perturb": ("--column", "x", "--as", "index")}[command]
    program = [sys.executable, "-m", "optldp", command, "mech.json", "-", *words, "--window", "2", "--out", "-"]
    runs = []
    for _ in range(2):
        with Path("all.csv").open("ab") as stream:
            text = b"output\n0\n1\n" if command == "count" else b"x\n0\n1\n"
            runs.append(subprocess.run(program, input=text, stdout=stream, stderr=subprocess.PIPE))
    assert [run.returncode for run in runs] == [0, 2]
    assert b"got standard output with rows in it" in runs[1].stderr
    assert len(Path("all.csv").read_text().split()) == 3


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


@pytest.mark.slow
def test_equal_reports_of_a_long_file_are_read_once(optldp, refusal, monkeypatch):
    """With the numbers and rows of those that are none."""
    Path("r.csv").write_text("report\n" + "0\n1\n1\n" * 40 + "7\n01\n7\n")
    monkeypatch.setattr("optldp.estimators.reading.streams.value_blocks.LONG", 2**22)
    short = found(optldp, "estimate", "jobs.json", "r.csv", "--skip-invalid")
    refused = refusal("count", "jobs.json", "r.csv", "--out", "c.csv")
    monkeypatch.setattr("optldp.estimators.reading.streams.value_blocks.LONG", 0)
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


DIES = """
import os, sys
from optldp.designer.command_line import main
from optldp.estimators.reading.streams import output_parts
from optldp.mechanisms.files import atomic_write
moment, names = sys.argv.pop(1), {"journal": ".json", "join": "out.csv"}
real, clear = os.replace, output_parts._clear
def replace(source, target):
    if str(target).endswith(names.get(moment, "?")):
        os._exit(9)
    real(source, target)
def removed(path, real=os.unlink):
    if moment == "clearing" and str(path).endswith("0.csv") and "partial" in str(path):
        os._exit(9)
    real(path)
atomic_write.os.replace = replace
output_parts.Path.unlink = lambda self, missing_ok=False: removed(self)
main()
"""
"""A run that dies, without cleaning up, at a moment that is named."""


@pytest.mark.nightly
@pytest.mark.parametrize("moment", ["journal", "join", "clearing"])
def test_a_run_that_dies_at_the_worst_moment_is_gone_on_with(here, moment):
    """Nothing of it stays beside the output."""
    asked = ["perturb", "mech.json", *INCOME, "--as", "index", "--out", "out.csv", "--resume"]
    assert subprocess.run([sys.executable, "-c", DIES, moment, *asked], capture_output=True).returncode == 9
    assert Path("out.csv.partial").exists()
    again = [sys.executable, "-m", "optldp", *asked, *(("--force",) if moment == "clearing" else ())]
    subprocess.run(again, check=True, capture_output=True)
    assert read_column("out.csv", "output").size == 300
    assert not [path for path in Path().iterdir() if "partial" in path.name or path.name.startswith(".optldp")]


def test_a_block_of_dates_is_counted_in_the_units_of_all(tmp_path):
    """A column is judged whole: a later block does not change how the first is read."""
    path = tmp_path / "d.csv"
    path.write_text("d\n" + "01/02/2020\n" * 150 + "25/02/2020\n")
    with value_blocks.value_blocks(path, "d") as blocks:
        assert (blocks.many, blocks.units) == (2, "days since 1970-01-01")
        assert np.unique(blocks.values(0)).tolist() == [18293.0]  # 1 February
