"""One word for one thing, and no sentence that is too long to read aloud: pages, help and messages.

`.ci/words.txt` is the vocabulary. What a page quotes, in code or `backticks`, is not held to it.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [path.relative_to(ROOT).as_posix() for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))]
LISTS = "docs/architecture.md"
"""Made from the code; its cells are names of many rooms."""

LAYERS = ("mechanisms", "solvers", "estimators", "designer")
LONGEST = 45
"""Words of a sentence."""

LINES = [line.split(" -> ") for line in (ROOT / ".ci" / "words.txt").read_text().splitlines() if line[0] != "#"]
WORDS = [(re.compile(rf"\b(?:{wrong})(?!\w)", re.IGNORECASE), right) for wrong, right in LINES]
ENDS = re.compile(r"(?<=[.!?;])[)*_\"]*\s+|\s\|\s")
"""Of sentences, of what a semicolon parts, and of cells of a table."""


def passages(page: str) -> Iterator[tuple[int, str]]:
    """The prose of a page by paragraph, item and row of a table, each with its line; code is left out."""
    blank = re.sub(
        r"^ *```.*?^ *```$|<!--.*?-->", lambda m: "\n" * m[0].count("\n"), page, flags=re.DOTALL | re.MULTILINE
    )
    blank = re.sub(r"`[^`]*`", lambda m: "code" + "\n" * m[0].count("\n"), blank)
    blank = re.sub(r"\]\([^)]*\)", "]", blank)
    found: list[str] = []
    for number, line in enumerate([*blank.splitlines(), ""], 1):
        if found and (not line.strip() or re.match(r"\s*([-*|#>]|\d+\.)\s?|    ", line)):
            yield number - len(found), " ".join(found)
            found = []
        if line.strip() and not line.startswith("    "):
            found.append(line.strip())


def faults(text: str) -> list[str]:
    """What is wrong with a passage: its words, and its sentences of too many."""
    wrong = [f"{found[0]!r}: {right}" for words, right in WORDS if (found := words.search(text))]
    long = [
        each for each in ENDS.split(text) if each and len(re.findall(r"[\w'.,-]*[A-Za-z][\w'.,-]*", each)) > LONGEST
    ]
    return wrong + [f"more than {LONGEST} words: {each[:60]}..." for each in long]


@pytest.mark.parametrize("page", [page for page in PAGES if page != LISTS])
def test_a_page_keeps_to_the_words(page):
    found = [f"{page}:{line}: {each}" for line, text in passages((ROOT / page).read_text()) for each in faults(text)]
    assert not found, "\n".join(found)


def test_help_keeps_to_the_words():
    import typer
    from optldp.designer.command_line import app

    group: Any = typer.main.get_command(app)
    said = {name: command.help.split("\b")[0] for name, command in group.commands.items()}
    for name, command in group.commands.items():
        said |= {f"{name} {each.opts[0]}": each.help for each in command.params if getattr(each, "help", None)}
    found = [f"optldp {name}: {each}" for name, text in said.items() for each in faults(text)]
    assert len(said) > 100
    assert not found, "\n".join(found)


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """What is raised or said in a module, what it puts into the text left out."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "say"):
            parts = [part for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)]
            yield node.lineno, " ".join(str(part.value) for part in parts)


@pytest.mark.parametrize("layer", LAYERS)
def test_messages_keep_to_the_words(layer):
    said = [(path, *each) for path in (ROOT / layer).rglob("*.py") for each in messages(path)]
    found = [f"{path.relative_to(ROOT)}:{line}: {each}" for path, line, text in said for each in faults(text)]
    assert len(said) > 100 or layer == "solvers"
    assert not found, "\n".join(found)


def test_the_check_finds_what_is_wrong_and_nothing_else():
    page = "Good.\n\n```\nsimply\n```\n\nIt is `simply` so.\n\n- Simply so,\n  and so on.\n"
    assert [(line, faults(text)) for line, text in passages(page)][2:] == [
        (9, ["'Simply': nothing, what is simple needs no word for it"])
    ]
    assert faults(" ".join(["word"] * 45) + ".") == []
    assert len(faults(" ".join(["word"] * 46) + ".")) == 1
