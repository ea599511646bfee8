"""`optldp estimate` with one table and nothing else said: reports to a mean."""

import json
from pathlib import Path

import pytest
from optldp.designer.commands.handlers import reading
from optldp.estimators import count, estimate_mean
from optldp.estimators.differences import ratio_to_no_privacy
from optldp.estimators.reading.columns import read_column
from optldp.estimators.reading.columns.number_cells import write_column
from optldp.mechanisms import load_table

from ..conftest import INCOME

PERTURB = ("perturb", "mech.json", *INCOME)


@pytest.mark.usefixtures("table")
class TestEstimate:
    @pytest.fixture(autouse=True)
    def reports(self, table, optldp):
        optldp(*PERTURB, "--out", "reports.csv")

    def test_it_is_the_librarys_estimate(self, optldp):
        found = json.loads(optldp("estimate", "mech.json", "reports.csv", "--confidence", 0.8, "--json").stdout)
        reports = read_column("reports.csv", "report")
        assert found.pop("fit_p_value") > 1e-4
        told = {name: found.pop(name) for name in ("simulated", "skipped", "skipped_first")}
        assert told == {"simulated": False, "skipped": 0, "skipped_first": []}
        counts = count(load_table("mech.json"), reports)
        estimate = estimate_mean(counts)
        assert found.pop("ratio_to_no_privacy") == pytest.approx(ratio_to_no_privacy(estimate, counts, confidence=0.8))
        assert found == estimate.to_dict(0.8)
        assert found["value"] == pytest.approx(reports.mean())

    def test_the_confidence_is_95_percent_and_text_shows_all(self, optldp):
        shown = optldp("estimate", "mech.json", "reports.csv").stdout
        assert dict(line.split(maxsplit=1) for line in shown.splitlines()[1:])["confidence"] == "0.95"
        for name in ("value", "std_error", "low", "high", "n", "method", "target"):
            assert f"  {name} " in shown

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["reports.csv", "reports.parquet", "simulated.csv"])
    def test_sound_reports_are_not_looked_at_one_by_one(self, optldp, monkeypatch, name):
        """What is said of them is what is said where each of them is."""
        write_column("reports.parquet", "report", read_column("reports.csv", "report"))
        optldp(*PERTURB, "--out", "simulated.csv", "--seed", 1)
        looked_at = optldp("estimate", "mech.json", name, "--skip-invalid", "--json").stdout
        monkeypatch.setattr(reading, "read_laid_out", None)
        assert optldp("estimate", "mech.json", name, "--json").stdout == looked_at
        assert json.loads(looked_at)["simulated"] is name.startswith("simulated")

    @pytest.mark.slow
    def test_another_column_may_hold_the_reports(self, optldp):
        write_column("other.parquet", "answer", read_column("reports.csv", "report"))
        other = optldp("estimate", "mech.json", "other.parquet", "--column", "answer", "--json")
        assert other.stdout == optldp("estimate", "mech.json", "reports.csv", "--json").stdout

    @pytest.mark.slow
    def test_missing_reports_are_refused_or_left_out(self, optldp, refusal):
        Path("gaps.csv").write_text(Path("reports.csv").read_text().replace("\n", "\nNA,\n", 1))
        assert "--drop-missing" in refusal("estimate", "mech.json", "gaps.csv")
        assert json.loads(optldp("estimate", "mech.json", "gaps.csv", "--drop-missing", "--json").stdout)["n"] == 300

    def test_reports_that_the_table_cannot_produce_are_counted(self, refusal):
        text = Path("reports.csv").read_text().splitlines()
        text[3], text[8] = "0.125,", "17,"
        Path("foreign.csv").write_text("\n".join(text) + "\n")
        message = refusal("estimate", "mech.json", "foreign.csv")
        assert "must hold reports of this mechanism, got 2 of 300 rows that hold none" in message
        assert "the first in row 3: 0.125 is no output of this table: correct them, or leave such rows out" in message
        assert "--skip-invalid" in message

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("report\n", "must hold at least one value"),
            ("income\n1\n", "column 'report' of 'bad.csv' must exist: the file has 'income'"),
            ("report\nmuch\n", "got 1 of 1 rows that hold none, the first in row 1: 'much' is no number"),
            (f"{'x' * 9999}\n1\n", f"must exist: the file has '{'x' * 60} ...'"),
        ],
        ids=["empty", "no-column", "text", "long-column"],
    )
    def test_bad_reports(self, refusal, text, says):
        Path("bad.csv").write_text(text)
        assert says in refusal("estimate", "mech.json", "bad.csv")

    def test_one_report_has_no_standard_error(self, refusal):
        Path("one.csv").write_text("\n".join(Path("reports.csv").read_text().splitlines()[:2]) + "\n")
        assert "reports must be at least 2 for a standard error, got 1" in refusal("estimate", "mech.json", "one.csv")

    @pytest.mark.parametrize("confidence", ["0", "1", "nan", "-1"])
    def test_a_confidence_is_strictly_between_0_and_1(self, refusal, confidence):
        message = refusal("estimate", "mech.json", "reports.csv", "--confidence", confidence)
        assert "confidence must lie strictly between 0 and 1" in message
