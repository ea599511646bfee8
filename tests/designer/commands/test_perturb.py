"""`optldp perturb`: values to reports."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from optldp.estimators.reading.columns import read_column
from optldp.estimators.reading.columns.number_cells import write_column
from optldp.mechanisms import load_table

from ..conftest import INCOME, PEOPLE, instead

PERTURB = ("perturb", "mech.json", *INCOME)


@pytest.mark.usefixtures("table")
class TestPerturb:
    def test_every_value_becomes_one_report_of_the_table(self, optldp):
        found = json.loads(optldp(*PERTURB, "--out", "reports.csv", "--json").stdout)
        assert found == {"n": 300, "clipped": 0, "out": "reports.csv", "simulated": False}
        assert Path("reports.csv").read_text().startswith("report,table\n")
        reports = read_column("reports.csv", "report")
        assert len(load_table("mech.json").output_index(reports)) == 300

    def test_a_seed_makes_it_the_librarys_sample(self, optldp):
        optldp(*PERTURB, "--out", "reports.csv", "--seed", 7)
        expected = load_table("mech.json").sample(PEOPLE, np.random.default_rng(7))
        assert np.array_equal(read_column("reports.csv", "simulated_report"), expected)

    def test_seeds_decide_and_no_seed_is_fresh(self, optldp):
        def reports(*options: object) -> str:
            optldp(*PERTURB, "--force", "--out", "reports.csv", *options)
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
        first, second = (read_column(f"{name}.{target}", "simulated_report") for name in ("x", "income"))
        assert np.array_equal(first, second)

    def test_clipping_is_asked_for_and_counted(self, optldp, refusal):
        Path("wild.csv").write_text("x\n-5\n20\n101\n1e9\n100\n")
        arguments = ["perturb", "mech.json", "wild.csv", "--column", "x", "--out", "reports.csv", "--seed", 1]
        message = refusal(*arguments)
        assert "values must lie in [0, 100], got 3 of 5 outside, from -5.0 to 1000000000.0" in message
        done = optldp(*arguments, "--clip", "--json")
        assert json.loads(done.stdout) == {"n": 5, "clipped": 3, "out": "reports.csv", "simulated": True}
        clipped, written = done.stderr.splitlines()
        assert clipped == "optldp: note: 3 of 5 values were outside the range and clipped"
        assert written == "optldp: wrote reports.csv (5 reports)"
        expected = load_table("mech.json").sample([0, 20, 100, 100, 100], np.random.default_rng(1))
        assert np.array_equal(read_column("reports.csv", "simulated_report"), expected)

    def test_public_columns_are_carried_along_and_said_to_stand_in_clear(self, optldp, refusal):
        Path("two.csv").write_text("id,region,x\na,north,1\nb,south,\nc,,3\n")
        words = ("perturb", "mech.json", "two.csv", "--column", "x", "--drop-missing", "--seed", 1)
        done = optldp(*words, "--keep", "region", "--keep", "id", "--out", "r.csv")
        assert "region, id of each person stand in clear" in done.stderr
        first, *rows = [line.split(",") for line in Path("r.csv").read_text().splitlines()]
        assert first == ["region", "id", "simulated_report", "table"]
        assert [row[:2] for row in rows] == [["north", "a"], ["", "c"]]
        keyed = optldp(*words, "--keep", "region", "--key", "id", "--out", "k.csv")
        assert keyed.exit_code == 0
        assert Path("k.csv").read_text().startswith("id,region,simulated_report,table\na,north,")
        assert "which is protected" in refusal(*words, "--keep", "x", "--out", "no.csv")
        assert "did you mean 'region'" in refusal(*words, "--keep", "regio", "--out", "no.csv")
        assert "those kept already" in refusal(*words, "--keep", "id", "--keep", "id", "--out", "no.csv")

    def test_clipping_nothing_is_not_mentioned(self, optldp):
        assert "clipped" not in optldp(*PERTURB, "--out", "reports.csv", "--clip").stderr

    def test_missing_values_are_refused_with_their_row_or_left_out(self, optldp, refusal):
        Path("gaps.csv").write_text("x\n1\n\nNA\n4\n")
        arguments = ["perturb", "mech.json", "gaps.csv", "--column", "x", "--out", "reports.csv"]
        message = refusal(*arguments)
        assert (
            "got 2 missing, the first in row 2: fill them in, or leave them out by --drop-missing (drop_missing="
            in message
        )
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

    def test_the_key_stays_beside_its_report(self, optldp, refusal):
        """So that the reports of several services can be matched."""
        found = json.loads(optldp(*PERTURB, "--key", "name", "--out", "reports.csv", "--seed", 7, "--json").stdout)
        rows = Path("reports.csv").read_text().splitlines()
        expected = load_table("mech.json").sample(PEOPLE, np.random.default_rng(7))
        assert found["n"] == 300
        assert rows[0] == "name,simulated_report,table"
        assert [row.rpartition(",")[0] for row in rows[1:]] == [
            f"p{i},{float(report)!r}" for i, report in enumerate(expected)
        ]
        assert "column 'who' of 'people.csv' must exist" in refusal(*PERTURB, "--key", "who", "--out", "more.csv")


@pytest.mark.usefixtures("table")
class TestBySecret:
    """A report is a function of the secret, the column, the round, the user and the value."""

    KEYED = (*PERTURB, "--key", "name", "--secret", "secret")

    @pytest.fixture(autouse=True)
    def secret(self, here: Path) -> bytes:
        content = bytes(range(32))
        (here / "secret").touch(mode=0o600)
        (here / "secret").write_bytes(content)
        return content

    def test_a_run_that_is_repeated_draws_the_same_reports_in_any_order(self, optldp):
        header, *rows = Path("people.csv").read_text().splitlines()
        Path("turned.csv").write_text("\n".join([header, *rows[::-1]]) + "\n")
        done = optldp(*self.KEYED, "--out", "a.csv", "--json")
        assert json.loads(done.stdout)["simulated"] is False
        optldp("perturb", "mech.json", "turned.csv", *self.KEYED[3:], "--out", "b.csv")
        assert sorted(Path("a.csv").read_text().split()) == sorted(Path("b.csv").read_text().split())
        optldp(*self.KEYED, "--as", "index", "--out", "c.csv")
        table = load_table("mech.json")
        assert np.array_equal(table.output_index(read_column("a.csv", "report")), read_column("c.csv", "output"))
        optldp(*self.KEYED, "--period", "May", "--out", "d.csv")
        assert Path("d.csv").read_text() != Path("a.csv").read_text()

    def test_it_is_said_who_may_hold_the_secret_and_the_secret_never(self, optldp, secret):
        done = optldp(*self.KEYED, "--out", "a.csv")
        assert "keep it with the values, never with the collector" in done.stderr
        assert "a value that has changed is another report" in done.stderr
        assert secret.hex() not in done.stderr + done.stdout
        assert "never with the collector" in " ".join(optldp("perturb", "--help").stdout.split())
        told = " ".join(optldp("perturb", "--help-all").stdout.split())
        assert "spends again" in told

    @pytest.mark.parametrize(
        ("mode", "words", "says"),
        [
            (0o644, (), "closed to all but its owner, got mode 644"),
            (0o600, ("--seed", 1), "--seed is of a simulation"),
            (0o440, (), "(--group-readable) takes a mount as it is"),
            (0o600, ("--secret", "none"), "the secret must be readable"),
            (0o600, ("--secret", "short"), "must be 32 random bytes, got 0 bytes"),
            (0o600, ("--key", "income"), "must be another column"),
        ],
    )
    def test_bad_secrets(self, refusal, mode, words, says):
        Path("secret").chmod(mode)
        Path("short").touch(mode=0o600)
        assert says in refusal(*instead(self.KEYED, *words), "--out", "a.csv")
        assert not Path("a.csv").exists()

    def test_a_mount_for_a_group_is_taken_where_that_is_said(self, optldp, refusal):
        Path("secret").chmod(0o440)
        optldp(*self.KEYED, "--group-readable", "--out", "a.csv")
        assert "--group-readable is for files of" in refusal(*PERTURB, "--group-readable", "--out", "b.csv")

    def test_a_round_or_a_secret_by_itself(self, refusal):
        assert "--period is for reports by a --secret" in refusal(*PERTURB, "--period", "May", "--out", "a.csv")
        assert "--secret needs --key" in refusal(*PERTURB, "--secret", "secret", "--out", "a.csv")

    def test_a_user_with_two_values_is_refused(self, refusal):
        Path("twice.csv").write_text("name,income\nann,1\nann,2\n")
        says = refusal("perturb", "mech.json", "twice.csv", *self.KEYED[3:], "--out", "a.csv")
        assert "a user must have one value in a round" in says


@pytest.mark.usefixtures("table")
class TestSpentTwice:
    """A second report of the same people spends the budget again: said where it is seen, prevented by a ledger."""

    KEYED = (*PERTURB, "--key", "name")
    BOOKED = (*KEYED, "--ledger", "ledger", "--ledger-key", "key")

    @pytest.fixture(autouse=True)
    def key(self, here: Path) -> None:
        (here / "key").touch(mode=0o600)
        (here / "key").write_bytes(bytes(range(32)))

    def test_a_second_report_of_the_same_people_is_warned_of_with_the_sum(self, optldp):
        first = optldp(*self.KEYED, "--out", "a.csv").stderr
        assert first.splitlines() == [
            "optldp: note: nobody keeps count of what these people have spent in all: --ledger FILE does",
            "optldp: wrote a.csv (300 reports)",
        ]
        again = (
            "these people's reports are drawn again; a second report that anybody sees spends epsilon 1 again, 2 in all"
        )
        Path("some.csv").write_text("name,income\np3,5\np4,6\nnew,7\n")
        done = optldp("perturb", "mech.json", "some.csv", *self.KEYED[3:], "--out", "a.csv", "--force")
        assert f"warning: 2 of these people have reports in a.csv already: {again}\n" in done.stderr
        done = optldp(*PERTURB, "--out", "a.csv", "--force")
        assert f"warning: people have reports in a.csv already: {again}\n" in done.stderr

    def test_others_and_simulations_are_not_warned_of(self, optldp):
        Path("others.csv").write_text("name,income\nann,5\n")
        optldp("perturb", "mech.json", "others.csv", *self.KEYED[3:], "--out", "a.csv")
        simulated = optldp(*self.KEYED, "--out", "b.csv", "--seed", 1).stderr
        for out in ("a.csv", "b.csv"):
            assert "drawn again" not in optldp(*self.KEYED, "--out", out, "--force").stderr
        assert "keeps count" not in simulated

    @pytest.mark.slow
    def test_a_ledger_repeats_reports_and_refuses_what_is_above_the_budget(self, optldp, refusal):
        new = optldp(*self.BOOKED, "--budget", 1.5, "--out", "a.csv", "--json")
        assert json.loads(new.stdout) | {"out": ""} == {
            "n": 300, "clipped": 0, "out": "", "simulated": False, "new": 300, "repeated": 0, "spent": 1.0,
        }  # fmt: skip
        assert "keeps count" not in new.stderr
        assert (
            "300 new reports spend epsilon 1, and 0 given before nothing; a user has now spent up to 1 of 1.5"
            in new.stderr
        )
        repeated = optldp(*self.BOOKED, "--out", "b.csv")
        assert "0 new reports spend epsilon 1, and 300 given before nothing" in repeated.stderr
        assert Path("a.csv").read_text() == Path("b.csv").read_text()
        by_index = optldp(*self.BOOKED, "--as", "index", "--out", "c.csv")
        assert by_index.exit_code == 0
        table = load_table("mech.json")
        assert np.array_equal(table.output_index(read_column("a.csv", "report")), read_column("c.csv", "output"))
        Path("moved.csv").write_text("name,income\nann,5\np1,6\np2,7\n")
        says = refusal("perturb", "mech.json", "moved.csv", *self.BOOKED[3:], "--out", "d.csv")
        assert "sum to at most 1.5, which this report of epsilon 1.0 would exceed for 2 of 3 users, the first" in says
        assert "of them number 2: leave them out; nothing was drawn for anybody" in says
        assert "go on with it, without --budget" in refusal(*self.BOOKED, "--budget", 3, "--out", "d.csv")

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            ((*KEYED, "--ledger", "ledger"), "--ledger needs --ledger-key FILE"),
            ((*KEYED, "--budget", 2), "--budget is for a --ledger"),
            (BOOKED, "there must be a ledger at 'ledger', got no file"),
            ((*BOOKED, "--budget", 0.5), "would exceed for 300 of 300 users"),
            ((*BOOKED, "--budget", 2, "--seed", 1), "--seed is of no use to a --ledger"),
            ((*BOOKED, "--budget", 2, "--secret", "key"), "--secret is of no use to a --ledger"),
            ((*PERTURB, "--ledger", "ledger", "--ledger-key", "key", "--budget", 2), "--ledger needs --key"),
        ],
        ids=lambda value: value.replace(" ", "-")[:30] if isinstance(value, str) else "",
    )
    def test_a_ledger_that_is_not_usable_leaves_nothing_behind(self, refusal, words, says):
        assert says in refusal(*words, "--out", "a.csv")

    @pytest.mark.nightly
    def test_other_kinds_are_booked_too(self, optldp):
        """Categories, pairs and attributes; what their estimators read is what a client would have sent."""
        rows = "".join(f"p{i},{'ab'[i % 2]},{i % 7}\n" for i in range(12))
        Path("all.csv").write_text("name,job,x\n" + rows)
        column = ("--column", "job", "--categorical", "--epsilon", 1, "--public")
        optldp("design", "all.csv", *column, "--out", "jobs.json")
        optldp(
            "design", "all.csv", *column, "--value-column", "x", "--range", 0, 9, "--knots", 3, "--out", "pairs.json"
        )
        optldp("design", "all.csv", "--attribute", "x=0:9", "--epsilon", 1, "--knots", 3, "--public", "--out", "x.json")
        budget: tuple[object, ...] = ("--budget", 3)
        for made, words in (
            ("jobs", ("--column", "job")), ("pairs", ("--column", "job", "--value-column", "x")), ("x", ()),
        ):  # fmt: skip
            words = ("perturb", f"{made}.json", "all.csv", *words, *self.BOOKED[5:])
            for out in ("a", "b"):
                done = optldp(*words, *budget, "--out", f"{made}-{out}.csv", "--json")
                assert done.exit_code == 0, done.output
                assert json.loads(done.stdout)["new"] == (12 if out == "a" else 0)
                budget = ()
            assert Path(f"{made}-a.csv").read_text() == Path(f"{made}-b.csv").read_text()
            assert json.loads(optldp("estimate", f"{made}.json", f"{made}-a.csv", "--json").stdout)
