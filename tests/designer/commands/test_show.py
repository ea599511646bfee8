"""`optldp show` and `optldp verify`: exit codes, and files that are no tables."""

import json
import os
import sys
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from optldp.mechanisms import load_table, piecewise, prove, save_table, verify
from optldp.mechanisms.files.checksum import checksum


def edited(path: Path, name: str = "edited.json", *, sign: bool = True, **changes: object) -> Path:
    """A copy of a table file with members changed and, unless told not to, the checksum made right again."""
    document = {**json.loads(path.read_text()), **changes}
    if sign:
        document["checksum"] = checksum(document)
    Path(name).write_text(json.dumps(document))
    return Path(name)


class TestVerify:
    def test_a_good_table_is_exit_code_0_and_its_numbers_are_those_of_verify(self, optldp, table):
        done = optldp("verify", table, "--json")
        assert done.exit_code == 0
        expected = asdict(verify(load_table(table))) | {"promise": "epsilon 1", "epsilon": 1.0}
        del expected["worst_case_variance"]
        assert json.loads(done.stdout) == {**expected, "ok": True, "failures": []}
        assert "keeps its promise" in optldp("verify", table).stdout

    def test_a_table_above_its_epsilon_is_exit_code_1_and_says_why(self, optldp, table):
        done = optldp("verify", edited(table, epsilon=0.5), "--json")
        found = json.loads(done.stdout)
        assert done.exit_code == 1
        assert found["ok"] is False
        assert found["epsilon"] == 0.5
        assert found["max_log_ratio"] == pytest.approx(1.0)
        (failure,) = found["failures"]
        assert failure.startswith("the log-ratio must be at most 0.5, got 0.99999")

    def test_text_names_every_failure(self, optldp, table):
        shown = optldp("verify", edited(table, epsilon=0.5))
        assert shown.exit_code == 1
        assert "DOES NOT KEEP ITS PROMISE" in shown.stdout
        assert "the log-ratio must be at most 0.5" in shown.stdout

    def test_an_impossible_output_is_an_endless_ratio_and_still_json(self, optldp, table):
        rows = np.array(load_table(table).numerators)
        rows[0, 1] += rows[0, 0]
        rows[0, 0] = 0
        done = optldp("verify", edited(table, numerators=rows.tolist()), "--json")
        assert done.exit_code == 1
        assert json.loads(done.stdout, parse_constant=pytest.fail)["max_log_ratio"] is None

    @pytest.mark.parametrize("command", ["show", "perturb", "estimate"])
    def test_a_table_above_its_epsilon_is_good_for_nothing_else(self, refusal, table, command):
        bad = edited(table, epsilon=0.5)
        assert "refused: the log-ratio must be at most 0.5" in refusal(*with_arguments(command, bad))


class TestShow:
    def test_it_shows_how_the_table_was_made(self, optldp, table):
        found = json.loads(optldp("show", table, "--json").stdout)
        checked = verify(load_table(table))
        assert (found["method"], found["epsilon"], found["knots"], found["domain"]) == ("optimal", 1, 5, [0, 100])
        assert found["expected_variance"] == checked.expected_variance
        assert found["worst_case_variance"] == checked.worst_case_variance
        assert found["certificate"]["status"] == "optimal"
        assert found["certificate"]["uniform_share"] == 0.001
        assert found["plot"] is None
        text = optldp("show", table).stdout
        assert "certificate: bound" in text
        assert "domain" in text

    @pytest.mark.slow
    def test_it_says_that_a_sensitive_prior_is_inside(self, optldp, table):
        assert "sensitive prior" in optldp("show", table).stderr
        arguments = ["people.csv", "--column", "income", "--epsilon", 1, "--knots", 5, "--out", "new.json"]
        for option in ("--public", "--omit-prior"):
            optldp("design", *arguments, "--force", option)
            assert optldp("show", "new.json").stderr == ""

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["map.png", "map.svg", "map.pdf"])
    def test_it_draws(self, optldp, table, name):
        done = optldp("show", table, "--plot", name, "--json")
        assert done.exit_code == 0
        assert json.loads(done.stdout)["plot"] == name
        assert Path(name).stat().st_size > 2000

    @pytest.mark.parametrize(
        ("place", "says"),
        [
            ("none/map.png", "the output's folder must exist"),
            ("people.csv/map.png", "the output's folder must exist"),
            ("folder.png", "the output must be a file, got the folder 'folder.png'"),
            ("map.bmpp", "a plot must end in one of "),
        ],
        ids=["missing-folder", "file-as-folder", "folder", "suffix"],
    )
    def test_a_plot_that_cannot_be_written(self, refusal, table, place, says):
        os.mkdir("folder.png")
        assert says in refusal("show", table, "--plot", place)

    def test_a_plot_without_matplotlib_names_the_extra(self, refusal, table, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
        assert "pip install matplotlib" in refusal("show", table, "--plot", "map.png")


@pytest.mark.parametrize("command", ["show", "verify", "perturb", "estimate"])
class TestBadTables:
    def test_no_such_file(self, refusal, command):
        message = refusal(*with_arguments(command, "none.json"))
        assert "the mechanism must be a readable file, got 'none.json': No such file or directory" in message

    def test_a_folder(self, refusal, command):
        os.mkdir("folder.json")
        assert "'folder.json'" in refusal(*with_arguments(command, "folder.json"))

    @pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
    def test_a_truncated_file(self, refusal, table, command, share):
        content = table.read_bytes()
        Path("cut.json").write_bytes(content[: int(share * len(content))])
        assert "mechanism 'cut.json' refused: " in refusal(*with_arguments(command, "cut.json"))

    def test_a_truncated_binary_file(self, refusal, optldp, command):
        optldp("design", "--prior", "prior.csv", "--epsilon", 1, "--out", "new.npz")
        Path("cut.npz").write_bytes(Path("new.npz").read_bytes()[:-40])
        assert "mechanism 'cut.npz' refused: " in refusal(*with_arguments(command, "cut.npz"))

    def test_something_else(self, refusal, command):
        message = refusal(*with_arguments(command, "people.csv"))
        assert "mechanism 'people.csv' refused: the file must be whole JSON text" in message

    def test_a_tampered_file(self, refusal, table, command):
        bad = edited(table, sign=False, epsilon=2.0)
        assert "refused: checksum must be sha256:" in refusal(*with_arguments(command, bad))

    def test_another_version(self, refusal, table, command):
        bad = edited(table, format="optldp-table/9")
        says = "format must be 'optldp-table/1' or 'optldp-table/2', got 'optldp-table/9'"
        assert says in refusal(*with_arguments(command, bad))

    def test_negative_probabilities(self, refusal, table, command):
        rows = load_table(table).numerators.tolist()
        rows[2][1] *= -1
        message = refusal(*with_arguments(command, edited(table, numerators=rows)))
        assert "refused: " in message
        assert "row 2" in message


def with_arguments(command: str, table: object) -> list[object]:
    """The command with what else it needs."""
    more = {
        "perturb": ["people.csv", "--column", "income", "--out", "new.csv"],
        "estimate": ["people.csv", "--column", "income"],
    }
    return [command, table, *more.get(command, [])]


class TestVerifyExact:
    def test_the_facts_of_the_proof_are_exact_numbers_in_text(self, optldp, table):
        done = optldp("verify", "--exact", table, "--json")
        assert done.exit_code == 0
        found = json.loads(done.stdout)
        proof = prove(load_table(table))
        assert (found["ok"], found["epsilon"], found["tightest_output"]) == (True, 1.0, proof.output)
        assert Fraction(found["ratio"]) == proof.ratio
        assert Fraction(found["max_abs_bias"]) == proof.bias
        assert Fraction(found["slack_decimal"]) == pytest.approx(proof.slack, rel=1e-19)
        assert 0 < Fraction(found["slack_decimal"]) < Fraction(found["limit_decimal"])
        assert found["limit_decimal"] == "2.7182818284590452354"
        assert Fraction(found["relative_bias_decimal"]) <= Fraction(1, 10**12)
        text = optldp("verify", "--exact", table).stdout
        assert "keeps its promise" in text
        assert found["ratio"] in text

    def test_a_budget_claimed_too_small_is_exit_code_1(self, optldp, table):
        done = optldp("verify", "--exact", edited(table, epsilon=0.999), "--json")
        assert done.exit_code == 1
        found = json.loads(done.stdout)
        assert Fraction(found["slack_decimal"]) < 0
        assert found["failures"][0].startswith("the log-ratio must be at most 0.999, got 0.99999")

    def test_an_infinite_ratio_is_still_json(self, optldp, table):
        rows = np.array(load_table(table).numerators)
        rows[0, 1] += rows[0, 0]
        rows[0, 0] = 0
        done = optldp("verify", "--exact", edited(table, numerators=rows.tolist()), "--json")
        assert done.exit_code == 1
        assert json.loads(done.stdout)["ratio_decimal"] is None

    @pytest.mark.parametrize("options", [(), ("--exact",)])
    def test_a_table_in_doubles_is_not_proved(self, optldp, options):
        """Exit code 1, and no word of a promise kept."""
        save_table(piecewise([0.0, 1.0], 1.0), "doubles.json", allow_unproved=True)
        done = optldp("verify", "doubles.json", *options)
        assert done.exit_code == 1
        assert "NOT PROVED: probabilities are in doubles" in done.stdout
        assert "keeps its promise" not in done.stdout
        told = json.loads(optldp("verify", "doubles.json", *options, "--json").stdout)
        assert (told["ok"], told["verdict"], told["failures"]) == (False, "not proved", [])

    def test_a_table_in_doubles_is_shown_and_estimated_with_on_request_alone(self, optldp, refusal):
        """And never perturbed with."""
        save_table(piecewise([0.0, 1.0], 1.0), "doubles.json", allow_unproved=True)
        Path("reports.csv").write_text("report\n0.5\n0.25\n")
        for command in (["show", "doubles.json"], ["estimate", "doubles.json", "reports.csv"]):
            assert "must be exact to be proved, got doubles" in refusal(*command)
            assert optldp(*command, "--allow-unproved").exit_code == 0
        assert "--allow-unproved" not in optldp("perturb", "--help-all").stdout


class TestReports:
    @pytest.mark.slow
    def test_one_table_becomes_a_page_that_begins_with_what_to_sign(self, optldp, table):
        done = optldp("show", table, "--n", 20_000, "--out", "report.html")
        assert done.stdout.splitlines()[-1] == "report: report.html"
        page = Path("report.html").read_text("utf-8")
        for said in ("What is protected", "What 20,000 people tell", "Recommended", "For those who check", "<svg"):
            assert said in page
        assert page.index("Recommended") < page.index("For those who check")

    @pytest.mark.nightly
    def test_several_become_a_folder_with_an_index(self, optldp, table):
        Path("other").mkdir()
        again = Path("other", table.name)
        again.write_bytes(table.read_bytes())
        done = optldp("show", table, again, "--out", "reports", "--json")
        assert json.loads(done.stdout)["report"] == "reports"
        names = {f"{table.stem}.html", f"{table.stem}-2.html"}
        assert {path.name for path in Path("reports").iterdir()} == names | {"index.html"}
        index = Path("reports", "index.html").read_text("utf-8")
        assert all(f'href="{name}"' in index for name in names)

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (("--out", "report.txt"), "must end in .html or .htm"),
            (("--out", "none/report.html"), "the output's folder must exist"),
            (("--out", "report.html", "--n", 0), "the number of users must be whole"),
            (("mech.json", "--plot", "map.png"), "--plot draws one table, got 2"),
            (("mech.json", "--out", "people.csv"), "need a folder, got the file 'people.csv'"),
        ],
    )
    def test_what_cannot_be_written_is_refused(self, refusal, table, arguments, says):
        assert says in refusal("show", table, *arguments)
        assert not Path("report.html").exists()


@pytest.mark.usefixtures("table")
class TestRecord:
    def test_a_record_is_filled_from_the_file_and_names_its_blanks(self, optldp):
        found = json.loads(optldp("show", "mech.json", "--record", "--json").stdout)
        told = found["deployment"]
        assert told["dp_flavor"]["name"] == "Pure DP"
        assert told["model"]["model_name"] == "Local"
        assert told["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0}
        assert found["evaluation"]["proof"].startswith("proved")
        assert {"deployment.product.name", "evaluation.budget_per_life"} <= set(found["blanks"])

    def test_it_is_markdown_without_json(self, optldp):
        text = optldp("show", "mech.json", "--record").stdout
        assert "| privacy_loss.privacy_parameters.epsilon | 1 |" in text
        assert "- deployment.product.name" in text

    def test_it_is_of_one_table_and_no_figure(self, optldp):
        for words, says in ((("mech.json",), "record them one by one"), (("--n", 5), "--n is of no use")):
            assert says in optldp("show", "mech.json", "--record", *words).stderr
