"""The command line, called in this process, in a folder of its own with a few data files."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import typer
from optldp.designer.command_line import app
from typer.testing import CliRunner, Result

PEOPLE = np.random.default_rng(7).beta(2, 5, 300) * 100

INCOME = ("people.csv", "--column", "income")

Optldp = Callable[..., Result]


@pytest.fixture(scope="session", autouse=True)
def commands_built_once() -> Iterator[None]:
    """A program builds its commands from their signatures when it starts; here it starts thousands of times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.testing._get_command", cache(typer.main.get_command))
        yield


def instead(words: Sequence[object], *more: object) -> list[object]:
    """Words of a command with more in the place of options of the same names, which may be given once only."""
    kept, dropped, named = [], False, {word for word in more if str(word).startswith("--")}
    for word in words:
        dropped = word in named if str(word).startswith("--") else dropped
        kept += [] if dropped else [word]
    return [*kept, *more]


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """An empty working folder but for survey.csv and people.csv (columns name, income), and prior.csv."""
    monkeypatch.chdir(tmp_path)
    fill()
    return tmp_path


def fill() -> None:
    """Write the files that every test of a command may use into the working folder."""
    rows = "".join(f"p{i},{float(value)!r}\n" for i, value in enumerate(PEOPLE))
    for name in ("survey.csv", "people.csv"):
        Path(name).write_text("name,income\n" + rows)
    Path("prior.csv").write_text("value,weight\n-1,1\n-0.5,2\n0,3\n0.5,2\n1,1\n")


@pytest.fixture
def optldp(here) -> Optldp:
    """Run a command; what it raises beside an exit is raised here too."""

    def run(*arguments: object) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)

    return run


def found(optldp: Optldp, *arguments: object) -> dict:
    """Run a command that succeeds and return its JSON."""
    done = optldp(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def designs_so_far() -> dict[tuple[str, ...], tuple[dict, bytes]]:
    """What was said and written for the words of each design of a module: the same words give the same file."""
    return {}


@pytest.fixture
def design_once(optldp, designs_so_far) -> Callable[..., dict]:
    """Run `optldp design` into made.json, once for the same words in a module, and return its JSON."""

    def run(*arguments: object) -> dict:
        words = tuple(map(str, arguments))
        if words not in designs_so_far:
            designs_so_far[words] = (
                found(optldp, "design", *words, "--force", "--out", "made.json"),
                Path("made.json").read_bytes(),
            )
        said, file = designs_so_far[words]
        Path("made.json").write_bytes(file)
        return said

    return run


def refused_remedies(optldp: Optldp, words: Sequence[object], line: str) -> Iterator[str]:
    """Options that a refusal's last words tell to add, and that the command refuses, or has not."""
    remedy = line.removeprefix("optldp: error: ").rpartition(": ")[2]
    for named in re.finditer(r"(--[a-z-]+)(?: ([a-z0-9._-]+))?", remedy):
        option, value = named.groups()
        command = re.findall(r"optldp ([a-z-]+)", remedy[: named.start()])
        takes = options_of(command[-1] if command else str(words[0]))
        if option not in takes:
            yield option
        elif not command and option not in words and not LEFT_OUT.search(remedy) and (value or takes[option]):
            added = [option] if takes[option] else [option, value]
            again = optldp(*words, *added).stderr
            if again.startswith(f"optldp: error: {option} ") or f"'{option}'" in again:
                yield option


LEFT_OUT = re.compile(r"leave|without|instead of")
"""Where a remedy says so, its options are those to take away."""


@cache
def options_of(command: str) -> dict[str, bool]:
    """Names of the options of a command, and whether each is a flag."""
    params = typer.main.get_command(app).commands[command].params  # pyright: ignore[reportAttributeAccessIssue] -- a group
    return {name: getattr(param, "is_flag", False) for param in params for name in (*param.opts, *param.secondary_opts)}


@pytest.fixture
def refusal(here, optldp) -> Callable[..., str]:
    """Run a command that must refuse its input in one line, and leave the folder as it was; return the line."""

    def run(*arguments: object) -> str:
        before = contents(here)
        result = optldp(*arguments)
        assert result.exit_code == 2, result.output
        assert result.stdout == ""
        assert len(result.stderr.splitlines()) == 1, result.stderr
        assert result.stderr.startswith("optldp: error: ")
        assert contents(here) == before
        for option in refused_remedies(optldp, arguments, result.stderr):
            raise AssertionError(f"{option} is named as a remedy and not taken: {result.stderr}")
        for name in contents(here).keys() - before.keys():
            Path(name).unlink()
        return result.stderr

    return run


@pytest.fixture(scope="session")
def designed_table(tmp_path_factory) -> bytes:
    """What `optldp design` writes for five knots on [0, 100] at epsilon 1, with a sensitive prior."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("designed"))
        fill()
        words = ["design", *INCOME, "--range", "0", "100", "--knots", "5", "--epsilon", "1", "--out", "mech.json"]
        made = CliRunner().invoke(app, words, catch_exceptions=False)
        assert made.exit_code == 0, made.output
        return Path("mech.json").read_bytes()


@pytest.fixture
def table(here, designed_table) -> Path:
    """mech.json: five knots on [0, 100] at epsilon 1, with a sensitive prior."""
    Path("mech.json").write_bytes(designed_table)
    return Path("mech.json")


def contents(folder: Path) -> dict[Path, bytes | None]:
    """Every file below a folder with its bytes, and every folder."""
    return {path: path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}
