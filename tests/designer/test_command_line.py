"""The program as a whole: help, what it loads, what it prints where, and the first loop from data to a mean."""

import json
import os
import re
import shlex
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import typer
from optldp.designer.command_line import COMMANDS, app, main
from optldp.designer.commands.options.shared import TOLERANCE, UNIFORM_SHARE
from optldp.designer.objectives.base import DEFAULT_TOLERANCE
from optldp.designer.priors.prior import DEFAULT_UNIFORM_SHARE
from typer.testing import CliRunner

from .conftest import INCOME

HEAVY = ("scipy", "highspy", "cvxpy", "duckdb", "matplotlib")


def loaded_after(code: str) -> set[str]:
    """Modules that a fresh interpreter has loaded after running the code."""
    program = f"import sys\n{code}\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


class TestImports:
    @pytest.mark.slow
    def test_mechanisms_need_numpy_alone(self):
        loaded = loaded_after("import optldp.mechanisms as m\nfor name in m.__all__:\n    getattr(m, name)")
        assert "numpy" in loaded
        assert loaded.isdisjoint((*HEAVY, "typer", "rich"))

    @pytest.mark.slow
    @pytest.mark.parametrize("arguments", [["--help"], ["design", "--help"], ["compare", "--help-all"]])
    def test_help_waits_for_nothing_heavy(self, arguments):
        code = f"sys.argv = ['optldp', *{arguments!r}]\nfrom optldp.designer.command_line import main\n"
        loaded = loaded_after(code + "try:\n    main()\nexcept SystemExit:\n    pass")
        assert "typer" in loaded
        assert loaded.isdisjoint((*HEAVY, "numpy", "rich"))

    @pytest.mark.nightly
    def test_a_column_goes_there_and_back_without_what_others_need(self, tmp_path):
        """Each of these takes from a tenth of a second to a whole one to load."""
        people, made, reports = (str(tmp_path / name) for name in ("people.csv", "mech.json", "reports.csv"))
        (tmp_path / "people.csv").write_text("x\n" + "1\n2\n4\n" * 10)
        column, run = (
            ["--column", "x"],
            "from optldp.designer.command_line import main\ntry:\n    main()\nexcept SystemExit",
        )
        commands = {
            ("scipy.integrate", "scipy.optimize", "scipy.stats", "cvxpy"): [
                *("design", people, *column, "--range", "0", "9", "--epsilon", "1", "--knots", "5", "--out", made)
            ],
            ("scipy", "highspy"): ["perturb", made, people, *column, "--out", reports],
            ("scipy.stats", "scipy.optimize", "highspy", "typer.rich_utils"): ["estimate", made, reports],
        }
        for absent, arguments in commands.items():
            loaded = loaded_after(f"sys.argv = ['optldp', *{arguments!r}]\n{run} as done:\n    assert not done.code")
            assert loaded.isdisjoint(absent), arguments[0]

    @pytest.mark.slow
    def test_an_audit_does_without_the_distributions_of_scipy(self):
        """Its bounds are quantiles of one of them."""
        assert "scipy.stats" not in loaded_after("from optldp.designer.auditing import audit")

    @pytest.mark.nightly
    def test_the_designer_loads_its_parts_on_first_use(self):
        assert loaded_after("import optldp.designer").isdisjoint((*HEAVY, "numpy"))
        assert "scipy" in loaded_after("from optldp.designer import design")


class TestHelp:
    @pytest.mark.parametrize("command", COMMANDS)
    def test_every_command_shows_an_example(self, optldp, command):
        shown = optldp(command, "--help")
        assert shown.exit_code == 0
        assert f"Example: optldp {command} " in " ".join(shown.stdout.split())

    def test_the_program_lists_its_commands(self, optldp):
        shown = optldp("--help")
        assert shown.exit_code == 0
        assert all(f" {command} " in shown.stdout for command in COMMANDS)
        assert "..." not in shown.stdout.partition("Commands:")[2], "sentences are whole"

    def test_the_version_is_that_of_the_distribution(self, optldp):
        assert optldp("--version").stdout == f"optldp {metadata.version('optldp')}\n"

    def test_defaults_are_those_of_the_library(self):
        assert UNIFORM_SHARE == DEFAULT_UNIFORM_SHARE
        assert TOLERANCE == DEFAULT_TOLERANCE

    def test_the_installed_script_is_this_program(self):
        (script,) = metadata.entry_points(group="console_scripts", name="optldp")
        assert script.load() is main


ASKED = {
    "design": ["design", *INCOME, "--knots", 5, "--epsilon", 1],
    "verify": ["verify", "mech.json"],
    "adopt": ["adopt", "grr", "--categories", "prior.csv", "--epsilon", 1, "--out", "theirs.json"],
    "audit": ["audit", "mech.json", "--samples", 10_000, "--confidence", 0.999999],
    "compare": ["compare", *INCOME, "--knots", 5, "--epsilon", 1, "--epsilon", 2],
    "bounds": ["bounds", *INCOME, "--knots", 5, "--epsilon", "1,2", "--method", "duchi", "--out", "report.html"],
    "evaluate": ["evaluate", "mech.json", "--on", *INCOME],
    "plan": ["plan", *INCOME, "--knots", 5, "--n", 1000, "--error", 4],
    "two-phase": ["two-phase", *INCOME, "--range", 0, 100, "--knots", 5, "--epsilon", 1, "--seed", 1],
    "monitor": ["monitor", "mech.json", "counts"],
    "ledger": ["ledger", "people.ledger", "--ledger-key", "ledger.key"],
    "advise": ["advise", *INCOME, "--knots", 5, "--epsilon", 1, "--n", 300, "--estimator", "ua"],
}
"""What is asked here of commands whose examples take long or prove more."""

SOLVED = [("--objective", "information"), ("--method", "aaa", "--intervals", 4, "--window", 3)]
"""Designs of which HiGHS solves a part."""


def arguments(command: str) -> list[Any]:
    """What a command is asked here: unless said above, the first example of its help."""
    if command in ASKED:
        return [*ASKED[command], *(["--force"] if "--out" in ASKED[command] else [])]
    group: Any = typer.main.get_command(app)
    examples = re.findall(r"^Example: optldp (.*)$", group.commands[command].help, re.MULTILINE)
    words = shlex.split(examples[0])
    return [*words, "--force"] if {"--out", "--plot"} & set(words) else words  # more than one test runs them


KEYS = {
    "design": "method epsilon knots outputs expected_variance program_variance program_lower_bound lower_bound "
    "relative_gap value worst_case_variance max_log_ratio max_abs_bias status solver seconds continuum_lower_bound "
    "total_gap knots_tried table",
    "verify": "ok verdict promise epsilon kept max_log_ratio max_abs_bias max_row_sum_error expected_variance failures",
    "audit": "ok epsilon lower_bound confidence inputs event counts trials draws tested foreign tried not_tried "
    "misspelled first_misspelled sampler simulated",
    "perturb": "n clipped out simulated",
    "estimate": "value std_error low high confidence n method target one_report bias_low bias_high "
    "ratio_to_no_privacy simulated skipped skipped_first fit_p_value",
    "compare": "rows",
}
ROW_KEYS = (
    "prior epsilon objective method value bound relative_gap ratio_to_optimal expected_variance worst_case_variance "
    "status error seconds max_log_ratio one_report_times_n continuum_bound clip_low clip_high shift noise bias_bound "
    "expected_bound"
)


class TestUsage:
    @pytest.mark.parametrize(
        "arguments",
        [
            ["nonsense"],
            ["design", "people.csv", "--column", "income"],
            ["design", *INCOME, "--epsilon", "one"],
            ["design", *INCOME, "--epsilon", "1", "--range", "0"],
            ["verify"],
            ["perturb", "mech.json", *INCOME],
            ["compare", *INCOME],
            ["estimate", "mech.json", "reports.csv", "--nonsense"],
        ],
        ids=lambda arguments: " ".join(arguments),
    )
    def test_wrong_usage_is_exit_code_2_and_says_nothing_on_stdout(self, optldp, arguments):
        done = optldp(*arguments)
        assert done.exit_code == 2
        if len(arguments) > 1:  # a bare command shows its help
            assert done.stdout == ""
            assert "error" in done.stderr.lower()


class TestStreams:
    @pytest.fixture(autouse=True)
    def reports(self, table, optldp, request):
        assert optldp(*arguments("perturb")).exit_code == 0
        if "ledger" in request.node.name:
            booked = ("--key", "user", "--ledger", "people.ledger", "--ledger-key", "ledger.key")
            Path("users.csv").write_text("user,income\nann,10\nbo,20\n")
            Path("ledger.key").write_bytes(bytes(range(32)))
            os.chmod("ledger.key", 0o600)
            spend = ("--budget", 2, "--out", "booked.csv")
            done = optldp("perturb", "mech.json", "users.csv", "--column", "income", *booked, *spend)
            assert done.exit_code == 0, done.output
        if "monitor" in request.node.name:
            day = ("--as", "index", "--day", "2026-05-01", "--seed", 1, "--out", "day.csv")
            assert optldp("perturb", "mech.json", *INCOME, *day).exit_code == 0
            counted = ("day.csv", "--by", "table,day", "--today", "2026-05-02", "--out", "counts")
            assert optldp("count", "mech.json", *counted).exit_code == 0

    @pytest.mark.sampled(2)
    @pytest.mark.parametrize("command", COMMANDS)
    def test_json_is_one_object_and_all_of_stdout(self, optldp, command):
        done = optldp(*arguments(command), "--json")
        assert done.exit_code == 0
        printed = json.loads(done.stdout, parse_constant=pytest.fail)
        assert isinstance(printed, dict)
        if command in KEYS:
            assert list(printed) == KEYS[command].split()
        if command == "compare":
            for row in printed["rows"]:
                assert list(row) == ROW_KEYS.split()

    @pytest.mark.parametrize(
        "asked",
        [
            *[pytest.param(of, marks=pytest.mark.nightly, id=str(of)) for of in (*COMMANDS, *SOLVED[:-1])],
            pytest.param(SOLVED[-1], marks=pytest.mark.slow, id="aaa"),
        ],
    )
    def test_json_is_all_that_a_process_of_its_own_prints(self, asked):
        """What a library in C prints, or another process that a command starts, is on its stdout, too."""
        words = arguments(asked) if isinstance(asked, str) else [*ASKED["design"], *asked]
        command = [sys.executable, "-m", "optldp", *map(str, words), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert isinstance(json.loads(done.stdout), dict)

    @pytest.mark.nightly
    @pytest.mark.parametrize("command", COMMANDS)
    def test_json_says_on_stderr_what_text_says_there(self, optldp, command):
        text, asked = optldp(*arguments(command)), optldp(*arguments(command), "--json")
        assert text.exit_code == asked.exit_code == 0
        assert text.stderr == asked.stderr
        assert all(line.startswith("optldp: ") for line in text.stderr.splitlines())

    @pytest.mark.slow
    @pytest.mark.parametrize("command", COMMANDS)
    def test_text_is_never_cut_or_wrapped_to_a_terminal(self, optldp, command, monkeypatch):
        monkeypatch.setenv("COLUMNS", "20")
        narrow = optldp(*arguments(command)).stdout
        assert "\u2026" not in narrow
        monkeypatch.setenv("COLUMNS", "200")
        wide = optldp(*arguments(command)).stdout
        assert [line.split()[:1] for line in narrow.splitlines()] == [line.split()[:1] for line in wide.splitlines()]


class TestInterruption:
    @pytest.mark.nightly
    @pytest.mark.parametrize(
        ("arguments", "where"),
        [
            (["design", *INCOME, "--epsilon", 1, "--out", "new.json"], "optldp.designer.designs.design.design"),
            (["compare", *INCOME, "--epsilon", 1], "optldp.designer.comparison.compare.compare"),
            (
                ["perturb", "mech.json", *INCOME, "--out", "new.csv"],
                "optldp.estimators.reading.columns.number_cells.open_file",
            ),
            (
                ["design", *INCOME, "--epsilon", 1, "--out", "new.json"],
                "optldp.mechanisms.files.atomic_write.os.replace",
            ),
        ],
        ids=["solving", "comparing", "reading", "writing"],
    )
    def test_ctrl_c_is_one_line_and_leaves_no_file(self, table, here, optldp, monkeypatch, arguments, where):
        def interrupt(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        before = sorted(os.listdir(here))
        with monkeypatch.context() as patch:
            patch.setattr(where, interrupt)
            done = optldp(*arguments)
        assert done.exit_code == 130
        assert done.stdout == ""
        assert done.stderr == "optldp: interrupted\n"
        assert sorted(os.listdir(here)) == before

    def test_a_problem_beyond_memory_is_one_line(self, optldp, monkeypatch):
        def exhaust(*_: object, **__: object) -> None:
            raise MemoryError

        monkeypatch.setattr("optldp.designer.designs.design.design", exhaust)
        done = optldp("design", *INCOME, "--epsilon", 1)
        assert done.exit_code == 2
        assert done.stderr == "optldp: error: the problem must fit in memory: use fewer --knots, or a smaller file\n"


@pytest.mark.slow
@pytest.mark.parametrize("form", ["json", "npz"])
@pytest.mark.parametrize("data", ["csv", "parquet"])
def test_the_whole_loop_ends_near_the_true_mean(optldp, form, data):
    mech, reports = f"mech.{form}", f"reports.{data}"
    assert optldp("design", *INCOME, "--range", 0, 100, "--knots", 9, "--epsilon", 4, "--out", mech).exit_code == 0
    assert optldp("verify", mech).exit_code == 0
    assert optldp("perturb", mech, *INCOME, "--out", reports, "--seed", 7).exit_code == 0
    found = json.loads(optldp("estimate", mech, reports, "--json").stdout)
    truth = 28.5  # mean of Beta(2, 5) * 100 is 28.57; 300 draws of it vary by 0.9
    assert abs(found["value"] - truth) < 4 * found["std_error"]
    assert found["n"] == 300


class TestCompletion:
    """What a shell asks the program, as its completion script does, and what it gets."""

    def ask(self, shell: str, line: str, **more: str) -> list[str]:
        words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1), "_TYPER_COMPLETE_ARGS": line}
        asked = words | more | {"_OPTLDP_COMPLETE": f"complete_{shell}"}
        return CliRunner().invoke(app, [], env=asked, prog_name="optldp").stdout.split("\n")[:-1]

    def test_verbs_and_options_are_completed_each_on_one_line(self):
        assert self.ask("bash", "optldp des") == ["describe", "design"]
        assert self.ask("bash", "optldp design --out") == ["--outputs", "--out"]
        assert self.ask("bash", "optldp estimate mech.json r.csv --of q") == ["quantiles", "queries"]
        fish = self.ask("fish", "optldp des", _TYPER_COMPLETE_FISH_ACTION="get-args")
        assert [line.split("\t")[0] for line in fish] == ["describe", "design"]
        assert "\n".join(self.ask("zsh", "optldp des")).startswith('_arguments \'*: :(("describe":')

    @pytest.mark.parametrize(
        "line", ["optldp design peo", "optldp design people.csv --out m", "optldp perturb mech.json p"]
    )
    def test_files_are_left_to_the_shell(self, line):
        """Bash completes files where it gets nothing (`-o default`), zsh where it is told so, fish by the exit code."""
        assert self.ask("bash", line) in ([], [""])
        assert self.ask("zsh", line) == ["_files"]
        assert self.ask("fish", line, _TYPER_COMPLETE_FISH_ACTION="get-args") in ([], [""])

    @pytest.mark.nightly
    def test_the_script_that_is_printed_does_so_in_bash(self):
        """Sourced as it is, and asked as readline asks it."""
        program = Path(sys.executable).with_name("optldp")
        script = (
            f'eval "$({program} --show-completion bash)"; complete -p optldp; COMP_WORDS=(optldp des) COMP_CWORD=1\n'
            f"_optldp_completion {program}; echo ${{COMPREPLY[@]}}"
        )
        environment = os.environ | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
        command = ["bash", "--norc", "-c", script]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        assert done.stdout.splitlines() == [
            "complete -o default -F _optldp_completion optldp",
            "describe design",
        ]
