"""What the pages of the documentation show works: every block of Python, the tutorial's commands, every option named.

A block that is not to be run says so above itself: `<!-- not run: the reason -->`. A block of text below
`<!-- output -->` is what the block before it prints; below `<!-- output: numbers vary -->` numbers count as equal.
"""

import contextlib
import importlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
LAYERS = ("mechanisms", "solvers", "estimators", "designer")
FENCE = re.compile(r"(?:^<!-- ([^\n]*) -->\n)?^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"[-+]?(?:\d[\d,]*\.?\d*|inf)(?:[eE][-+]?\d+)?")


@dataclass(frozen=True)
class Block:
    """One fenced block of a page, and what the mark above it says."""

    page: str
    line: int
    language: str
    code: str
    mark: str

    @property
    def runs(self) -> bool:
        return not self.mark.startswith("not run: ")

    def __str__(self) -> str:
        return f"docs/{self.page}, line {self.line}:\n\n{self.code}"


def blocks(page: str) -> list[Block]:
    text = (DOCS / page).read_text()
    found = FENCE.finditer(text)
    return [Block(page, text[: b.start(3)].count("\n") + 1, b[2], b[3], b[1] or "") for b in found]


PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
SLOW = ("bounds.md", "estimators.md", "figures.md", "how-to/services.md", "information.md", "minimax.md", "sweeps.md")
"""They design dozens of mechanisms, or draw many pictures."""

NIGHTLY = ("sweeps.md",)
"""Half a minute of simulations."""

WITH_PYTHON = [page for page in PAGES if any(block.language == "python" and block.runs for block in blocks(page))]


def run_python(block: Block, names: dict[str, Any]) -> str:
    """Run a block in its page's namespace and return what it printed; a failure shows the block."""
    printed = io.StringIO()
    code = compile("\n" * (block.line - 1) + block.code, str(DOCS / block.page), "exec")
    try:
        with contextlib.redirect_stdout(printed):
            exec(code, names)
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error}\n{block}") from error
    return printed.getvalue()


def run_shell(block: Block, folder: Path) -> str:
    """Run a block in bash with the `optldp` of this Python and return its stdout; a failure shows the block."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = ["bash", "-euo", "pipefail", "-c", block.code]
    environment = {**os.environ, "PATH": path, "PYTHONWARNINGS": "error"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, f"{block}\n{done.stderr}"
    return done.stdout


def without_numbers(text: str) -> str:
    """Return a text with every number as # and every run of blanks as one."""
    return "\n".join(" ".join(NUMBER.sub("#", line).split()) for line in text.strip().splitlines())


@pytest.mark.slow
def test_the_tutorial_runs_from_its_first_block_to_its_last_and_prints_what_it_shows(tmp_path, monkeypatch):
    """In order, in one empty folder; pictures and files that it writes are there afterwards."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    printed, shown = "", 0
    for block in blocks("tutorial.md"):
        if not block.runs:
            continue
        if block.language == "python":
            printed = run_python(block, names)
        elif block.language == "sh":
            printed = run_shell(block, tmp_path)
        elif block.mark == "output":
            assert printed.strip() == block.code.strip(), str(block)
            shown += 1
        elif block.mark == "output: numbers vary":
            assert without_numbers(printed) == without_numbers(block.code), str(block)
            shown += 1
    assert shown >= 8
    for name in ("mech.json", "mech.png", "reports.csv", "distribution.csv", "distribution.png"):
        assert (tmp_path / name).stat().st_size > 0


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.nightly] * (page in NIGHTLY) + [pytest.mark.slow] * (page in SLOW))
        for page in WITH_PYTHON
        if page != "tutorial.md"
    ],
)
def test_the_python_of_a_page_runs(page, tmp_path, monkeypatch):
    """All its blocks in order, in one namespace, in an empty folder but for what the page takes as given."""
    monkeypatch.chdir(tmp_path)
    names = GIVEN.get(page, dict)()
    for block in blocks(page):
        if block.language == "python" and block.runs:
            run_python(block, names)
    assert {path.name for path in tmp_path.iterdir()} >= WRITTEN.get(page, set())


def reports_of_two_services() -> dict[str, Any]:
    """What estimators.md starts from: two tables, and a file of reports by each."""
    import pandas as pd
    from optldp.mechanisms import duchi, piecewise

    rng, knots = np.random.default_rng(1), np.linspace(0, 80_000, 41)
    values = rng.beta(2, 5, 2_000) * 80_000
    tables = {"a": duchi(knots, 1.0), "b": piecewise(knots, 2.0)}
    for name, suffix in (("a", "csv"), ("b", "parquet")):
        frame = pd.DataFrame({"user": np.arange(values.size).astype(str), "report": tables[name].sample(values, rng)})
        frame.to_csv(f"{name}.csv", index=False) if suffix == "csv" else frame.to_parquet(f"{name}.parquet")
    return {"table_a": tables["a"], "table_b": tables["b"]}


GIVEN = {"estimators.md": reports_of_two_services}
WRITTEN = {"figures.md": {"variance.pdf", "ratio.pdf"}}
"""Files that a page's code leaves, where it says so."""


def commands(page: Path) -> Iterator[str]:
    """Every `optldp` command of a page's shell blocks, one line each."""
    for block in re.findall(r"^```sh\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE):
        for line in block.replace("\\\n", " ").splitlines():
            if re.match(r"optldp\s", line.strip()):
                yield line.strip()


@pytest.mark.parametrize("page", [ROOT / "README.md", *(DOCS / page for page in PAGES)], ids=lambda page: page.name)
def test_every_command_shown_has_the_options_it_is_shown_with(page):
    """Parsed by the command itself, without running it."""
    import typer
    from optldp.designer.command_line import app

    group: Any = typer.main.get_command(app)
    for line in commands(page):
        _, name, *arguments = shlex.split(line, comments=True)
        assert name in group.commands, f"optldp has no command {name!r}: {line}"
        command = group.commands[name]
        command.parse_args(typer.Context(command, info_name=name), arguments)


@pytest.fixture(scope="module")
def site_hooks():
    """The module that makes the reference, loaded as mkdocs loads it."""
    sys.path.insert(0, str(ROOT / ".ci"))
    try:
        yield importlib.import_module("site_hooks")
    finally:
        sys.path.remove(str(ROOT / ".ci"))


@pytest.mark.parametrize("layer", LAYERS)
def test_every_name_of_a_layer_and_of_its_rooms_is_in_the_reference_once(site_hooks, layer):
    """And nothing else is; whether each is found by the tool that draws it is checked where the site is built."""
    pages = [site_hooks.expanded(page.read_text()) for page in (DOCS / "reference").glob(f"{layer}*.md")]
    entries = [entry for page in pages for entry in re.findall(r"^::: (optldp\.\S+)$", page, re.MULTILINE)]
    faces = [layer, *(room for room in importlib.import_module("check_site").ROOMS if room.startswith(f"{layer}."))]
    names = [f"optldp.{face}.{name}" for face in faces for name in importlib.import_module(f"optldp.{face}").__all__]
    assert len(faces) > 1
    assert sorted(entries) == sorted(names)


def test_a_name_that_is_not_exported_cannot_be_listed(site_hooks):
    with pytest.raises(ValueError, match="got no_such_name"):
        site_hooks.expanded("<!-- api optldp.designer: design, no_such_name -->")


def test_the_command_line_page_has_every_command_and_option(site_hooks):
    """Of the application itself, whatever it has."""
    import typer
    from optldp.designer.command_line import app

    page = site_hooks.expanded((DOCS / "reference" / "command-line.md").read_text())
    group: Any = typer.main.get_command(app)
    assert re.findall(r"^## optldp (\S+)$", page, re.MULTILINE) == list(group.commands)
    for section, (name, command) in zip(page.split("\n## ")[1:], group.commands.items(), strict=True):
        assert f"optldp {name} " in section.split("```sh")[1]
        options = [option for parameter in command.params for option in parameter.opts if option.startswith("--")]
        assert [option for option in options if f"`{option}`" not in section] == []


def test_links_out_of_the_docs_become_pages_of_the_site(site_hooks):
    """A file of the repository has a page; an address and a page of the docs stay as they are."""
    text = "[a](../examples/verify_table.py) [b](optimum.md#cost) [c](https://example.org/x.py) [d](../README.md)"
    assert site_hooks._linked("table-format.md", text) == ["examples/verify_table.py", "README.md"]
    assert site_hooks._page_of("examples/verify_table.py") == "source/examples/verify_table.py.md"
    assert site_hooks._page_of("CHANGELOG.md") == "changelog.md"
    moved = site_hooks._from_root("[a](docs/optimum.md#cost) [b](examples/sweep.py) [c](https://example.org/x)")
    assert moved == "[a](optimum.md#cost) [b](../examples/sweep.py) [c](https://example.org/x)"


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<a href="../b/#there">', None),
        ('<a href="../b/#gone">', "../b/#gone names no anchor"),
        ('<a href="../c/">', "../c/ leads nowhere"),
        ('<img src="picture.png">', "picture.png leads nowhere"),
        ('<script src="https://example.org/x.js"></script>', "loads https://example.org/x.js from elsewhere"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "loads //example.org/x.css from elsewhere"),
        ('<a href="https://example.org/">', None),
    ],
)
def test_the_check_of_the_built_site_finds_a_fault(site_hooks, tmp_path, body, fault):
    """And none where there is none, but for the reference, which this site has not."""
    check = importlib.import_module("check_site")
    for name, text in (("a", body), ("b", '<h2 id="there">')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").write_text(text)
    found = [line for line in check.faults(tmp_path) if not line.startswith("reference/")]
    assert found == ([f"a/index.html: {fault}"] if fault else [])


@pytest.mark.parametrize("layer", LAYERS)
def test_the_check_of_the_built_site_misses_no_name_without_an_entry(site_hooks, layer):
    check = importlib.import_module("check_site")
    names = importlib.import_module(f"optldp.{layer}").__all__
    page = check.Page("".join(f'<h3 id="optldp.{layer}.{name}">' for name in names[1:]))
    missing = [line for line in check.undocumented({layer: page}) if line.startswith(f"reference/{layer}: ")]
    assert missing == [f"reference/{layer}: {names[0]} is exported and has no entry"]


def test_the_check_of_the_built_site_asks_for_the_names_of_rooms_too(site_hooks, tmp_path):
    check = importlib.import_module("check_site")
    (tmp_path / "index.html").write_text("<p>")
    missing = check.faults(tmp_path)
    assert "reference/designer.plots: variance is exported and has no entry" in missing
    assert "reference/mechanisms.ledger: Ledger is exported and has no entry" in missing


def test_every_page_is_named_in_the_navigation():
    """Those that are made from the root of the repository among them."""
    named = set(re.findall(r"[\w./-]+\.md", (ROOT / "mkdocs.yml").read_text().split("\nnav:\n")[1]))
    assert set(PAGES) - named == set()
