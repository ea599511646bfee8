"""`optldp perturb` and `optldp estimate`: values to reports, reports to a mean."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from optldp.designer import read_column, write_column
from optldp.estimators import estimate_mean
from optldp.mechanisms import load_table

from .conftest import INCOME, PEOPLE

PERTURB = ("perturb", "mech.json", *INCOME)


@pytest.mark.usefixtures("table")
class TestPerturb:
    def test_every_value_becomes_one_report_of_the_table(self, optldp):
        found = json.loads(optldp(*PERTURB, "--out", "reports.csv", "--json").stdout)
        assert found == {"n": 300, "clipped": 0, "out": "reports.csv"}
        assert Path("reports.csv").read_text().startswith("report\n")
        reports = read_column("reports.csv", "report")
        assert len(load_table("mech.json").output_index(reports)) == 300

    def test_a_seed_makes_it_the_librarys_sample(self, optldp):
        optldp(*PERTURB, "--out", "reports.csv", "--seed", 7)
        expected = load_table("mech.json").sample(PEOPLE, np.random.default_rng(7))
        assert np.array_equal(read_column("reports.csv", "report"), expected)

    def test_seeds_decide_and_no_seed_is_fresh(self, optldp):
        def reports(*options: object) -> str:
            optldp(*PERTURB, "--out", "reports.csv", *options)
            return Path("reports.csv").read_text()

        assert reports("--seed", 1) == reports("--seed", 1) != reports("--seed", 2)
        assert reports() != reports()

    @pytest.mark.parametrize("source", ["csv", "parquet"])
    @pytest.mark.parametrize("target", ["csv", "parquet"])
    def test_both_kinds_of_files_are_read_and_written(self, optldp, source, target):
        write_column(f"data.{source}", "x", PEOPLE)
        for name in (f"data.{source}", "people.csv"):
            column = "x" if name.startswith("data") else "income"
            optldp("perturb", "mech.json", name, "--column", column, "--out", f"{column}.{target}", "--seed", 3)
        assert np.array_equal(read_column(f"x.{target}", "report"), read_column(f"income.{target}", "report"))

    def test_clipping_is_asked_for_and_counted(self, optldp, refusal):
        Path("wild.csv").write_text("x\n-5\n20\n101\n1e9\n100\n")
        arguments = ["perturb", "mech.json", "wild.csv", "--column", "x", "--out", "reports.csv", "--seed", 1]
        message = refusal(*arguments)
        assert "values must lie in [0, 100], got 3 of 5 outside, from -5.0 to 1000000000.0" in message
        done = optldp(*arguments, "--clip", "--json")
        assert json.loads(done.stdout) == {"n": 5, "clipped": 3, "out": "reports.csv"}
        assert done.stderr == "optldp: note: 3 of 5 values were outside the domain and clipped\n"
        expected = load_table("mech.json").sample([0, 20, 100, 100, 100], np.random.default_rng(1))
        assert np.array_equal(read_column("reports.csv", "report"), expected)

    def test_clipping_nothing_is_not_mentioned(self, optldp):
        assert optldp(*PERTURB, "--out", "reports.csv", "--clip").stderr == ""

    def test_missing_values_are_refused_with_their_row_or_left_out(self, optldp, refusal):
        Path("gaps.csv").write_text("x\n1\n\nNA\n4\n")
        arguments = ["perturb", "mech.json", "gaps.csv", "--column", "x", "--out", "reports.csv"]
        message = refusal(*arguments)
        assert "got 2 missing, the first in row 2: fill them in, or leave them out with --drop-missing" in message
        assert json.loads(optldp(*arguments, "--drop-missing", "--json").stdout)["n"] == 2

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("x\n", "must hold at least one value"),
            ("y\n1\n", "column 'x' of 'bad.csv' must exist: the file has 'y'"),
            ("x\n1\n2\nthree\n", "must hold numbers, got the text 'three' in row 3"),
            ("x\n1\ninf\n", "must hold finite values, got 1 NaN or infinite, the first (inf) in row 2"),
        ],
        ids=["empty", "no-column", "text", "infinite"],
    )
    def test_bad_data(self, refusal, text, says):
        Path("bad.csv").write_text(text)
        assert says in refusal("perturb", "mech.json", "bad.csv", "--column", "x", "--out", "reports.csv", "--clip")

    @pytest.mark.parametrize(
        ("place", "says"),
        [
            ("none/reports.csv", "the output's folder must exist"),
            ("people.csv/reports.csv", "the output's folder must exist"),
            ("folder.csv", "the output must be a file, got the folder 'folder.csv'"),
            ("reports.txt", "the output must end in .csv or .parquet, got 'reports.txt'"),
            ("x" * 300 + ".csv", "File name too long"),
            ("people.csv", "the reports must not replace the values"),
            ("./people.csv", "the reports must not replace the values"),
        ],
        ids=["missing-folder", "file-as-folder", "folder", "suffix", "name-too-long", "same", "same-again"],
    )
    def test_an_output_that_cannot_be_written(self, refusal, place, says):
        os.mkdir("folder.csv")
        assert says in refusal(*PERTURB, "--out", place)

    def test_a_negative_seed_is_wrong_usage(self, optldp):
        assert optldp(*PERTURB, "--out", "reports.csv", "--seed", -1).exit_code == 2
        assert not Path("reports.csv").exists()


@pytest.mark.usefixtures("table")
class TestEstimate:
    @pytest.fixture(autouse=True)
    def reports(self, table, optldp):
        optldp(*PERTURB, "--out", "reports.csv", "--seed", 7)

    def test_it_is_the_librarys_estimate(self, optldp):
        found = json.loads(optldp("estimate", "mech.json", "reports.csv", "--level", 0.8, "--json").stdout)
        reports = read_column("reports.csv", "report")
        assert found == vars(estimate_mean(load_table("mech.json"), reports, level=0.8))
        assert found["mean"] == pytest.approx(reports.mean())

    def test_the_level_is_95_percent_and_text_shows_all(self, optldp):
        shown = optldp("estimate", "mech.json", "reports.csv").stdout
        assert dict(line.split() for line in shown.splitlines()[1:])["level"] == "0.95"
        for name in ("method", "n", "mean", "std_error", "ci_low", "ci_high"):
            assert f"  {name} " in shown

    def test_another_column_may_hold_the_reports(self, optldp):
        write_column("other.parquet", "answer", read_column("reports.csv", "report"))
        other = optldp("estimate", "mech.json", "other.parquet", "--column", "answer", "--json")
        assert other.stdout == optldp("estimate", "mech.json", "reports.csv", "--json").stdout

    def test_missing_reports_are_refused_or_left_out(self, optldp, refusal):
        Path("gaps.csv").write_text(Path("reports.csv").read_text().replace("report\n", "report\nNA\n"))
        assert "--drop-missing" in refusal("estimate", "mech.json", "gaps.csv")
        assert json.loads(optldp("estimate", "mech.json", "gaps.csv", "--drop-missing", "--json").stdout)["n"] == 300

    def test_reports_that_the_table_cannot_produce_are_counted(self, refusal):
        text = Path("reports.csv").read_text().splitlines()
        text[3], text[8] = "0.125", "17"
        Path("foreign.csv").write_text("\n".join(text) + "\n")
        message = refusal("estimate", "mech.json", "foreign.csv")
        assert "reports must be outputs of this table, got 2 of 300 that cannot be, the first 0.125 at row 2" in message

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("report\n", "must hold at least one value"),
            ("income\n1\n", "column 'report' of 'bad.csv' must exist: the file has 'income'"),
            ("report\nmuch\n", "must hold numbers, got the text 'much' in row 1"),
        ],
        ids=["empty", "no-column", "text"],
    )
    def test_bad_reports(self, refusal, text, says):
        Path("bad.csv").write_text(text)
        assert says in refusal("estimate", "mech.json", "bad.csv")

    def test_one_report_has_no_standard_error(self, refusal):
        Path("one.csv").write_text("\n".join(Path("reports.csv").read_text().splitlines()[:2]) + "\n")
        assert "reports must be at least 2 for a standard error, got 1" in refusal("estimate", "mech.json", "one.csv")

    @pytest.mark.parametrize("level", ["0", "1", "nan", "-1"])
    def test_a_level_is_strictly_between_0_and_1(self, refusal, level):
        message = refusal("estimate", "mech.json", "reports.csv", "--level", level)
        assert "level must lie strictly between 0 and 1" in message
