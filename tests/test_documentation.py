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

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
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
SLOW = (
    "bounds.md",
    "error.md",
    "estimators.md",
    "figures.md",
    "how-to/services.md",
    "information.md",
    "minimax.md",
    "sweeps.md",
    "theory/error.md",
    "theory/estimators.md",
)
"""They design dozens of mechanisms, or draw many pictures."""

NIGHTLY = ("figures.md", "sweeps.md", "tutorial.md")
"""Pictures whose functions have tests of their own (`designer/plots`), and half a minute each of simulations or fits.

By day the other tutorials run in turn, and every command and option of these pages is asked for.
"""

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


def shows(block: Block, printed: str) -> None:
    """Hold a block of output to what the block before it printed."""
    if block.mark == "output":
        assert printed.strip() == block.code.strip(), str(block)
    elif block.mark == "output: numbers vary":
        assert without_numbers(printed) == without_numbers(block.code), str(block)


REPLAYED = {
    "tutorial.md": ("mech.png", "mean.png", "reports.csv", "distribution.csv", "distribution.png", "budgets.png"),
    "studies/affairs.md": ("answer.png",),
    "studies/visits.md": ("answer.png",),
    "studies/occupations.md": ("answer.png",),
    "studies/diseases.md": ("answer.png",),
    "studies/marriages.md": ("answer.png",),
    "tutorial-two-columns.md": ("two.json", "reports.csv", "map.png"),
    "is-it-for-you.md": ("last_year.csv",),
    "tutorial-categories.md": ("jobs.json", "reports.csv", "jobs.png", "table.png"),
    "tutorial-attributes.md": ("three.json", "reports.csv"),
    "index.md": (),
    "what-is-local-privacy.md": (),
    "choosing-epsilon.md": (),
}
"""Pages that run in whole, commands and all, and the files that are there afterwards."""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.nightly] * (page in NIGHTLY) + [pytest.mark.slow] * bool(files))
        for page, files in REPLAYED.items()
    ],
)
def test_a_tutorial_runs_from_its_first_block_to_its_last_and_prints_what_it_shows(page, tmp_path, monkeypatch):
    """In order, in one empty folder; pictures and files that it writes are there afterwards."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    printed, marks = "", []
    for block in blocks(page):
        marks.append(block.mark)
        if block.language == "python" and block.runs:
            printed = run_python(block, names)
        elif block.language == "sh" and block.runs:
            printed = run_shell(block, tmp_path)
        shows(block, printed)
    assert sum(mark.startswith("output") for mark in marks) >= (8 if page == "tutorial.md" else 1)
    for name in REPLAYED[page]:
        assert (tmp_path / name).stat().st_size > 0


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.nightly] * (page in NIGHTLY) + [pytest.mark.slow] * (page in SLOW))
        for page in WITH_PYTHON
        if page not in REPLAYED
    ],
)
def test_the_python_of_a_page_runs_and_prints_what_it_shows(page, tmp_path, monkeypatch):
    """All its blocks in order, in one namespace, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    printed = ""
    for block in blocks(page):
        if block.language == "python" and block.runs:
            printed = run_python(block, names)
        shows(block, printed)
    assert {path.name for path in tmp_path.iterdir()} >= WRITTEN.get(page, set())


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
    """The module that makes the reference, loaded as mkdocs loads it; checks of docstrings stand one folder above."""
    sys.path[:0] = folders = [str(ROOT / ".ci" / "site"), str(ROOT / ".ci")]
    try:
        yield importlib.import_module("site_hooks")
    finally:
        for folder in folders:
            sys.path.remove(folder)


def test_every_name_of_every_package_has_a_page_of_its_own_and_a_row_of_a_table(site_hooks):
    """So has what `optldp` alone exports, and nothing else; the site's build finds each, or fails."""
    reference, check = importlib.import_module("site_reference"), importlib.import_module("check_site")
    names = {f"optldp.{face}.{name}" for face in check.LAYERS + check.ROOMS for name in check.exported(face)}
    pages = reference.object_pages()
    entries = {re.findall(r"^::: (optldp\.\S+)$", text, re.MULTILINE)[0]: page for page, text in pages.items()}
    assert len(entries) == len(pages) == len({page.lower() for page in pages})
    top = [name for name in importlib.import_module("optldp").__all__ if name not in check.LAYERS]
    assert set(reference.addresses()) == names | {f"optldp.{name}" for name in top}
    assert set(entries) == names | {"optldp.designer.auditing.audit.audit"}
    tables = [f"reference/{page.name}" for page in (DOCS / "reference").glob("*.md")]
    shown = [reference.with_tables(page, (DOCS / page).read_text()) for page in tables]
    rows = [row for text in shown for row in re.findall(r"^\| \[`\w+`\]\((\S+)\) \| (.*) \|$", text, re.MULTILINE)]
    assert {f"reference/{page}" for page, _ in rows} == set(pages)
    assert len(rows) == len(names) + len(top)
    assert [page for page, says in rows if not 10 < len(says) < 160] == []


def test_a_name_that_is_not_exported_cannot_be_listed(site_hooks):
    with pytest.raises(ValueError, match="got no_such_name"):
        site_hooks.expanded("reference/x.md", "<!-- api optldp.designer: design, no_such_name -->")


def test_a_link_to_a_name_of_a_package_leads_to_its_page(site_hooks):
    """Written as a link to the table's page, which is what a reader of the file has."""
    from types import SimpleNamespace

    page: Any = SimpleNamespace(file=SimpleNamespace(src_uri="how-to/design.md"), meta={})
    text = "[a](../reference/designer.md#optldp.designer.Design) [b](../reference/designer.md#objectives)"
    made = site_hooks.on_page_markdown(text, page, None, None)
    assert made == "[a](../reference/designer/Design-class.md) [b](../reference/designer.md#objectives)"


def test_the_command_line_page_has_every_command_and_option(site_hooks):
    """Of the application itself, whatever it has."""
    import typer
    from optldp.designer.command_line import app

    page = site_hooks.expanded("reference/command-line.md", (DOCS / "reference" / "command-line.md").read_text())
    group: Any = typer.main.get_command(app)
    assert re.findall(r"^## optldp (\S+)$", page, re.MULTILINE) == list(group.commands)
    assert re.findall(r"^\| \[`(\S+)`\]\(#optldp-\1\) \| .{20,}\. \|$", page, re.MULTILINE) == list(group.commands)
    for section, (name, command) in zip(page.split("\n## ")[1:], group.commands.items(), strict=True):
        assert f"optldp {name} " in section.split("```sh")[1]
        shown = [parameter for parameter in command.params if not getattr(parameter, "hidden", False)]
        options = [option for parameter in shown for option in parameter.opts if option.startswith("--")]
        assert [option for option in options if f"`{option}`" not in section] == []


def test_links_out_of_the_docs_become_pages_of_the_site(site_hooks):
    """A file of the repository has a page; an address and a page of the docs stay as they are."""
    text = "[a](../examples/verify_table.py) [b](optimum.md#cost) [c](https://example.org/x.py) [d](../README.md)"
    assert site_hooks._linked("table-format.md", text) == ["examples/verify_table.py", "README.md"]
    assert site_hooks._page_of("examples/verify_table.py") == "source/examples/verify_table.py.md"
    assert site_hooks._page_of("CHANGELOG.md") == "changelog.md"
    moved = site_hooks._from_root("[a](docs/optimum.md#cost) [b](examples/sweep.py) [c](https://example.org/x)")
    assert moved == "[a](optimum.md#cost) [b](../examples/sweep.py) [c](https://example.org/x)"


def test_a_press_on_a_picture_opens_it_by_itself(site_hooks):
    """A picture that leads somewhere already is left alone; those of a notebook become files beside its page."""
    html = '<p><img alt="a" src="b.png" /></p><a href="c"><img src="d.png"></a>'
    made = '<p><a class="picture" href="b.png"><img alt="a" src="b.png" /></a></p><a href="c"><img src="d.png"></a>'
    assert site_hooks.on_page_content(html, None, None, None) == made
    text, pictures = site_hooks._pictures_apart('<img alt="a" src="data:image/png;base64,b3B0bGRw">', "analyst")
    assert (text, pictures) == ('<img alt="a" src="../analyst-1.png">', {"analyst-1.png": b"optldp"})


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
    found = [line for line in check.faults(tmp_path) if "in the reference" not in line]
    assert found == ([f"a/index.html: {fault}"] if fault else [])


def test_the_check_of_the_built_site_misses_no_name_without_an_entry_and_no_page_of_two(site_hooks, tmp_path):
    """Names of rooms are asked for, too."""
    check = importlib.import_module("check_site")
    named = {face: check.exported(face) for face in check.LAYERS + check.ROOMS}
    entries = [f'<h1 id="optldp.{face}.{name}">' for face, names in named.items() for name in names]
    pages = {f"reference/{i}": check.Page(entry) for i, entry in enumerate(entries)}
    assert "designer.plots" in named
    assert check.undocumented(pages) == []
    last = re.findall('"(.*)"', entries[-1])[0]
    gone = pages.pop(f"reference/{len(pages) - 1}")
    assert check.undocumented(pages) == [f"{last} is exported and has no entry in the reference"]
    pages["reference/0"].anchors |= gone.anchors
    assert [line.split(":")[0] for line in check.undocumented(pages)] == ["reference/0"]


def test_every_page_is_named_in_the_navigation():
    """Those that are made from the root of the repository among them."""
    named = set(re.findall(r"[\w./-]+\.md", (ROOT / "mkdocs.yml").read_text().split("\nnav:\n")[1]))
    assert set(PAGES) - named == set()


@pytest.mark.parametrize("page", PAGES)
def test_no_code_is_wider_than_its_box(page):
    """75 columns are what a block shows at 1280 pixels without scrolling; a checksum alone cannot be broken."""
    written = [block.code for block in blocks(page) if block.language != "text"]  # what is printed wraps
    lines = [line for code in written for line in code.splitlines() if '"sha256:' not in line]
    assert [line for line in lines if len(line) > 75] == []


@pytest.fixture(scope="module")
def site_formulas():
    sys.path.insert(0, str(ROOT / ".ci" / "site"))
    try:
        yield importlib.import_module("site_formulas")
    finally:
        sys.path.remove(str(ROOT / ".ci" / "site"))


def test_marked_formulas_become_mathml_and_the_rest_of_a_page_stays(site_formulas):
    """In a line with the stop that follows, alone in a box of its own."""
    page = r'<p>Put <span class="arithmatex">\(a \lt b_i\)</span>.</p><div class="arithmatex">\[\frac{a}{b}\]</div>'
    drawn = site_formulas.with_formulas(page)
    shape = r'<p>Put <span class="with-stop"><math .*</math>\.</span></p><div class="formula" .*<mfrac>.*</div>'
    assert re.fullmatch(shape, drawn)
    assert "<msub><mi>b</mi><mi>i</mi></msub>" in drawn
    assert "arithmatex" not in drawn


def test_a_formula_with_an_unknown_command_is_refused(site_formulas):
    with pytest.raises(ValueError, match=r"got \\epsilonn in"):
        site_formulas.drawn(r"e^{\epsilonn}", "inline")


def test_a_docstring_must_say_what_is_taken_and_returned_and_show_an_example(site_hooks):
    """Of every exported name, `optldp.audit` among them; a result's fields may stand under what it extends."""
    check = importlib.import_module("docstring_sections")

    def silent(counts, *, rng=None) -> int: ...

    def says(counts, *, rng=None) -> int:
        """Return a number.

        Parameters
        ----------
        counts : int
        weights : int

        Returns
        -------
        number : int

        Example
        -------
        >>> 1
        1
        """
        return counts

    assert check.faults(silent) == ["no summary", "no parameter counts", "no parameter rng", "no Returns", "no Example"]
    assert check.faults(says) == ["a parameter weights that it does not take", "no parameter rng"]
    assert {"optldp.designer.auditing.audit.audit", "optldp.mechanisms.families.duchi.duchi"} <= set(check.exported())
    assert {name: check.faults(thing) for name, thing in check.exported().items() if check.faults(thing)} == {}


def test_help_names_types_as_they_are_written(site_hooks):
    """Not unfolded: ArrayLike is three lines of what numpy makes of it."""
    import inspect

    check = importlib.import_module("docstring_sections")
    called = {name: thing for name, thing in check.exported().items() if not inspect.isclass(thing)}
    assert [name for name, thing in called.items() if "_SupportsArray" in str(inspect.signature(thing))] == []


def test_names_in_docstrings_lead_to_their_pages_and_words_to_nothing(site_hooks):
    house = importlib.import_module("docstring_text")
    text = "See `estimate_mean`, `Prior` and `count`.\n\nExample\n-------\n>>> `estimate_mean`"
    assert house.in_numpydoc(text) == (
        "See [`estimate_mean`][optldp.estimators.estimate_mean], [`Prior`][optldp.designer.Prior] and `count`.\n\n"
        "Examples\n--------\n>>> `estimate_mean`"
    )
