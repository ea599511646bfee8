"""`optldp bounds`: the report it writes, what it prints, and what it refuses before it computes."""

import json
import os
import shlex
import sys
from pathlib import Path

import pytest
import typer
from optldp.designer import Prior, bounds, bounds_html
from optldp.designer.commands.bounds import bounds_command
from optldp.designer.commands.options.bounds import KNOTS
from optldp.designer.comparison.bounds import REPORT_KNOTS
from optldp.mechanisms import InputError
from typer.testing import CliRunner

from ..conftest import INCOME, PEOPLE, Optldp, contents

APP = typer.Typer()
APP.command("bounds")(bounds_command)

QUICK = ("--range", 0, 100, "--epsilon", "1:2:1", "--knots", 9, "--method", "duchi")


@pytest.fixture
def run(here) -> Optldp:
    """Run the command; what it raises beside an exit is raised here too."""

    def call(*arguments: object):
        return CliRunner().invoke(APP, [str(argument) for argument in arguments], catch_exceptions=False)

    return call


@pytest.fixture
def plain(monkeypatch) -> None:
    """Pages without their seven figures, which take nearly all the time and are tested beside the report."""
    monkeypatch.setattr("optldp.designer.report.figures.report_figures", lambda result: [])


def expected(**options) -> tuple[Prior, list[float]]:
    prior = Prior.from_data(PEOPLE, knots=9, domain=(0, 100), **options)
    return prior, [1.0, 2.0]


class TestReport:
    @pytest.mark.nightly
    def test_it_is_the_page_of_the_librarys_bounds(self, run):
        done = run(*INCOME, *QUICK, "--units", "EUR", "--out", "report.html")
        assert done.exit_code == 0
        prior, budgets = expected(units="EUR")
        command = (
            "optldp bounds people.csv --column income --range 0 100 --epsilon 1:2:1 --knots 9 --method duchi "
            "--units EUR --out report.html"
        )
        page = bounds_html(bounds(prior, budgets, methods=["duchi"]), column="income", command=command)
        assert Path("report.html").read_text("utf-8") == page
        assert done.stdout.splitlines()[-1] == "report: report.html"

    @pytest.mark.nightly
    def test_the_command_it_shows_makes_it_again(self, run, plain):
        options = ("--uniform-share", 0.01, "--tolerance", 1e-4, "--at", 2, "--public", "--drop-missing")
        options += ("--units", "a b's")
        run(*INCOME, *QUICK, *options, "--out", "report.html")
        first = Path("report.html").read_text("utf-8")
        shown = first.partition("<pre")[2].partition(">")[2].partition("</pre>")[0]
        words = shlex.split(shown.replace("&#39;", "'").replace("&#34;", '"'))
        assert words[:2] == ["optldp", "bounds"]
        Path("report.html").unlink()
        run(*words[2:])
        assert Path("report.html").read_text("utf-8") == first

    @pytest.mark.nightly
    def test_a_prior_file_will_do(self, run):
        done = run("--prior", "prior.csv", "--epsilon", "1", "--knots", 5, "--method", "duchi", "--json")
        rows = json.loads(done.stdout)["rows"]
        assert [row["method"] for row in rows] == ["optimal", "duchi", "minimax"]

    @pytest.mark.nightly
    def test_a_prior_that_is_not_public_is_warned_of_twice(self, run, plain):
        sensitive = run(*INCOME, *QUICK, "--out", "report.html").stderr.splitlines()
        public = run(*INCOME, *QUICK, "--public", "--force", "--out", "report.html").stderr
        assert len(sensitive) == 4
        assert "--public" in sensitive[0]
        assert "the report shows the prior itself" in sensitive[1]
        assert public.splitlines() == sensitive[2:]

    @pytest.mark.nightly
    def test_few_knots_are_warned_of_on_the_page_too(self, run, plain):
        line, written = run(*INCOME, *QUICK, "--public", "--out", "report.html").stderr.splitlines()
        assert "knots are few: at epsilon 2 a mechanism on the whole interval could have up to" in line
        assert "Few knots." in Path("report.html").read_text()
        assert written == "optldp: wrote report.html (a page to read)"
        many = ("--force", "--range", 0, 100, "--epsilon", "0.5", "--knots", 41, "--method", "duchi", "--public")
        assert run(*INCOME, *many, "--out", "report.html").stderr == f"{written}\n"
        assert "Few knots." not in Path("report.html").read_text()

    @pytest.mark.nightly
    def test_budgets_may_be_repeated(self, run, plain):
        once = json.loads(run(*INCOME, *QUICK, "--json").stdout)["rows"]
        others = [word for place, word in enumerate(QUICK) if place not in (3, 4)]
        again = json.loads(run(*INCOME, *others, "--epsilon", 1, "--epsilon", 2, "--json").stdout)["rows"]
        assert [row["epsilon"] for row in again] == [row["epsilon"] for row in once] == [1, 1, 1, 2, 2, 2]


class TestOutput:
    @pytest.mark.nightly
    def test_json_has_every_row_and_nothing_else_is_on_stdout(self, run):
        found = json.loads(run(*INCOME, *QUICK, "--json").stdout)
        prior, budgets = expected()
        rows = bounds(prior, budgets, methods=["duchi"]).rows
        for told, row in zip(found["rows"], rows, strict=True):
            lower = row.bound if row.expected_bound is None else row.expected_bound
            said = {"seconds": 0, "program_variance": row.value, "lower_bound": lower}
            assert told | {"seconds": 0} == vars(row) | said
        assert found["report"] is None
        assert "theory" not in found

    @pytest.mark.nightly
    def test_the_table_has_the_optimum_and_the_best_closed_form(self, run):
        lines = run(*INCOME, *QUICK).stdout.splitlines()
        prior, budgets = expected()
        found = bounds(prior, budgets, methods=["duchi"])
        for line, budget in zip(lines[2:], found.budgets, strict=True):
            epsilon, least, worst, method, ratio = line.split()
            assert (float(epsilon), method) == (budget.epsilon, "duchi")
            assert float(least) == pytest.approx(budget.row("optimal").expected_variance, rel=1e-6)
            assert float(worst) == pytest.approx(budget.minimax.worst_case_variance, rel=1e-6)
            assert float(ratio) == pytest.approx(budget.row("duchi").ratio_to_optimal, abs=1e-4)

    @pytest.mark.nightly
    def test_what_papers_prove_stands_beside_the_certified_worst_case(self, run):
        """Duchi's is that of the row by its table, and neither it nor PTT's is below the certified bound."""
        asked = (*INCOME, "--range", 0, 100, "--epsilon", 1, "--knots", 9, "--method", "duchi", "--theory")
        found = json.loads(run(*asked, "--json").stdout)
        duchi = [row["worst_case_variance"] for row in found["rows"] if row["method"] == "duchi"]
        assert [row["duchi"] for row in found["theory"]] == pytest.approx(duchi, rel=1e-6)
        for row in found["theory"]:
            assert row["bound"] < row["worst_case"] < min(row["duchi"], row["ptt_at_least"])
        assert "what papers prove" in run(*asked).stdout

    @pytest.mark.nightly
    def test_failures_are_counted_on_stderr_and_shown_in_the_report(self, run, plain):
        Path("far.csv").write_text("value,weight\n1e12,1\n1000000000001,1\n")
        done = run(
            "--prior", "far.csv", "--epsilon", "0.001,1", "--knots", 5, "--method", "square-wave", "--method", "duchi",
            "--method", "grr", "--public", "--out", "report.html",
        )  # fmt: skip
        assert done.exit_code == 0
        assert "cases failed, the first" in done.stderr
        assert "cases failed." in Path("report.html").read_text("utf-8")

    @pytest.mark.nightly
    def test_rows_are_kept_in_the_results_file(self, run, monkeypatch):
        first = run(*INCOME, *QUICK, "--json", "--results", "rows.jsonl").stdout
        monkeypatch.setattr("optldp.designer.comparison.bounds.solve_budget", None)
        assert run(*INCOME, *QUICK, "--json", "--results", "rows.jsonl").stdout == first

    @pytest.mark.nightly
    def test_several_columns_are_a_folder_of_reports_with_an_index(self, run, plain):
        Path("two.csv").write_text("a/b,c\n" + "".join(f"{i % 7},{i}\n" for i in range(40)))
        words = ("two.csv", "--attribute", "a/b=0:6", "--attribute", "c=0:39", "--epsilon", 1, "--method", "duchi")
        done = run(*words, "--knots", 5, "--out", "both")
        assert done.exit_code == 0, done.output
        assert {path.name for path in Path("both").iterdir()} == {"a_b.html", "c.html", "index.html"}
        assert 'href="a_b.html">a/b</a>' in Path("both/index.html").read_text("utf-8")
        each = json.loads(run(*words, "--knots", 5, "--json").stdout)["attributes"]
        alone = json.loads(run("two.csv", "--column", "c", "--range", 0, 39, *words[5:], "--knots", 5, "--json").stdout)
        assert [one["attribute"] for one in each] == ["a/b", "c"]
        assert [row["value"] for row in each[1]["rows"]] == [row["value"] for row in alone["rows"]]
        assert "must be empty" in run(*words, "--out", "both").stderr
        assert "for one column, not for attributes" in run(*words, "--column", "c").stderr

    @pytest.mark.nightly
    def test_values_on_few_steps_have_these_as_their_knots(self, run):
        Path("days.csv").write_text("day\n" + "".join(f"{i % 7}\n" for i in range(70)))
        words = ("days.csv", "--column", "day", "--range", 0, 6, "--epsilon", 1, "--method", "duchi", "--json")
        own, even = (json.loads(run(*words, *more).stdout)["rows"] for more in ((), ("--knots", 7)))
        assert [row["value"] for row in own] == [row["value"] for row in even]

    def test_the_defaults_are_the_librarys(self):
        assert KNOTS == REPORT_KNOTS


class TestRefusals:
    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (("--epsilon", "0.25:4:0"), "LO:HI:STEP with 0 < LO < HI and STEP > 0"),
            (("--epsilon", "4:0.25:0.25"), "LO:HI:STEP with 0 < LO < HI and STEP > 0"),
            (("--epsilon", "1:2"), "LO:HI:STEP"),
            (("--epsilon", ""), "--epsilon must be numbers"),
            (("--epsilon", "one"), "--epsilon must be numbers"),
            (("--epsilon", "0.001:16:0.001"), "at most 256 --epsilon"),
            (("--epsilon", "0.5,0"), "epsilon must be positive"),
            (("--epsilon", "17"), "epsilon must be at most 16"),
            (("--method", "nope"), "method must be one of"),
            (("--at", "3.3"), "must be one of the epsilons"),
            (("--workers", "0"), "--workers must be"),
            (("--knots", "1"), "knots must be at least 2"),
            (("--uniform-share", "2"), "the uniform share must lie in"),
            (("--out", "report.txt"), "must end in .html or .htm"),
            (("--out", "missing/report.html"), "folder must exist"),
            (("--results", "missing/rows.jsonl"), "folder must exist"),
            (("--results", "."), "must be a file"),
            (("--out", "report.html", "--results", "report.html"), "must be two files"),
            (("--prior", "prior.csv"), "the prior must come from one file"),
        ],
        ids=str,
    )
    def test_bad_input_is_one_line_before_anything_is_computed(self, run, here, monkeypatch, arguments, says):
        monkeypatch.setattr("optldp.designer.comparison.bounds.solve_budget", None)
        before = contents(here)
        done = run(*INCOME, "--range", 0, 100, *arguments)
        assert done.exit_code == 2
        assert len(done.stderr.splitlines()) == 1
        assert done.stderr.startswith("optldp: error: ")
        assert says in done.stderr
        assert done.stdout == ""
        assert contents(here) == before

    def test_a_folder_in_the_reports_place_is_refused_at_once(self, run, monkeypatch):
        monkeypatch.setattr("optldp.designer.comparison.bounds.solve_budget", None)
        Path("report.html").mkdir()
        assert "must be a file" in run(*INCOME, *QUICK, "--out", "report.html").stderr

    def test_a_folder_that_may_not_be_written_to_is_refused_at_once(self, run, monkeypatch):
        """Asked of the system, as the tests may run as a user who may write anywhere."""
        monkeypatch.setattr("optldp.designer.comparison.bounds.solve_budget", None)
        monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
        assert "folder must be writable" in run(*INCOME, *QUICK, "--out", "report.html").stderr

    def test_missing_tools_are_named_at_once(self, run, monkeypatch):
        monkeypatch.setattr("optldp.designer.comparison.bounds.solve_budget", None)
        monkeypatch.setitem(sys.modules, "jinja2", None)
        assert "reports need jinja2: pip install jinja2" in run(*INCOME, *QUICK, "--out", "report.html").stderr

    @pytest.mark.nightly
    @pytest.mark.parametrize("error", [KeyboardInterrupt(), InputError("no such luck")], ids=["ctrl-c", "error"])
    def test_an_interrupted_report_leaves_no_file_but_its_results(self, run, here, monkeypatch, error):
        def stop(*arguments, **options):
            raise error

        monkeypatch.setattr("optldp.designer.report.page.bounds_html", stop)
        done = run(*INCOME, *QUICK, "--out", "report.html", "--results", "rows.jsonl")
        assert done.exit_code == (130 if isinstance(error, KeyboardInterrupt) else 2)
        assert sorted(path.name for path in here.iterdir()) == [
            "people.csv",
            "prior.csv",
            "rows.jsonl",
            "survey.csv",
        ]
        assert len(Path("rows.jsonl").read_text().splitlines()) == 3


@pytest.mark.nightly
def test_categories_have_bounds_and_a_report(run):
    """The optimum first, certified; a hostile label is text; an option of numbers is refused."""
    Path("jobs.csv").write_text("value,weight\ncook,5\n<script>x</script>,3\na$b,1\n")
    words = ("--prior", "jobs.csv", "--categorical", "--epsilon", "0.5,1", "--n", 20_000)
    rows = json.loads(run(*words, "--out", "jobs.html", "--json").stdout)["rows"]
    assert [row["method"] for row in rows] == 2 * ["optimal", "grr", "rappor", "oue", "olh", "subset"]
    best = rows[0]
    assert best["bound"] <= best["value"]
    assert min(row["ratio_to_optimal"] for row in rows) > 1 - 1e-9  # the optimum's table is in whole numbers
    assert best["frequency_error"] == pytest.approx((best["value"] / 3 / 20_000) ** 0.5)
    page = Path("jobs.html").read_text("utf-8")
    assert "20,000 people" in page
    assert "<script>x" not in page
    refused = run(*words, "--knots", 5)
    assert (refused.exit_code, refused.stderr.count("--knots is of no use to categories")) == (2, 1)
