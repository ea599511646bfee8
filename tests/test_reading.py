"""What the pages owe their readers: a main rule that every example obeys, paths by links alone, and proportions."""

import ast
import json
import posixpath
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py")) + sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
LINK = re.compile(r"\]\(([^)\s#]+\.md)[^)]*\)")


# The main rule: a mechanism is made for a survey or last year's file, and other people report.
def shared_names(code: str) -> set[str]:
    """Return the names that a prior is made from and that are reported as well."""
    made, reported = set(), set()
    for call in (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)):
        if isinstance(call.func, ast.Attribute) and call.args:
            names = {node.id for node in ast.walk(call.args[0]) if isinstance(node, ast.Name)}
            made |= names if call.func.attr == "from_data" else set()
            reported |= names if call.func.attr in ("sample", "sample_index") else set()
    return made & reported


def shared_files(text: str) -> set[str]:
    """Return the files of a page's commands for which a mechanism is designed and whose values are perturbed."""
    lines = text.replace("\\\n", " ")
    made = set(re.findall(r"^optldp design +([\w.-]+\.(?:csv|parquet)) ", lines, re.MULTILINE))
    return made & set(re.findall(r"^optldp perturb +\S+ +([\w.-]+\.(?:csv|parquet)) ", lines, re.MULTILINE))


def designed_for_people(text: str) -> list[str]:
    """Return the commands that make or weigh mechanisms for people.csv, which the pages call those who report."""
    asked = r"optldp +(?:describe|design|compare|bounds|plan|advise) +people\.\w+.*"
    return re.findall(asked, text.replace("\\\n", " "))


def test_no_page_or_help_designs_for_those_who_report():
    told = [*PAGES, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "designer").rglob("*.py"))]
    assert {path.name: found for path in told if (found := designed_for_people(path.read_text()))} == {}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_page_designs_for_the_values_that_it_then_perturbs(page):
    text = page.read_text()
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
    assert (shared_names(code), shared_files(text)) == (set(), set())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_no_example_designs_for_the_values_that_it_then_perturbs(example):
    text = example.read_text()
    if example.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    assert shared_names(text) == set()


def test_the_main_rule_is_seen_to_be_broken():
    assert shared_names("p = Prior.from_data(values.clip(0, 9))\nt.sample(values)") == {"values"}
    page = "optldp design   a.csv --column x\noptldp perturb m.json a.csv --column x"
    assert shared_files(page) == {"a.csv"}
    assert designed_for_people("optldp bounds people.csv --column x") == ["optldp bounds people.csv --column x"]


# Paths.
def links(page: str) -> set[str]:
    """Return the pages that a page of docs links to, from docs."""
    found = LINK.findall((DOCS / page).read_text())
    return {posixpath.normpath(posixpath.join(posixpath.dirname(page), link)) for link in found}


def test_three_readers_reach_their_goals_by_links_alone():
    """Each page that the front page names for a reader links to the next."""
    section = (DOCS / "index.md").read_text().split("\n## Three readers\n")[1].split("\n## ")[0]
    paths = [part for part in section.strip().split("\n\n") if part.startswith("**You ")]
    assert len(paths) == 3
    for path in paths:
        steps = re.findall(r"\]\(([^)]+\.md)\)", path)
        assert len(steps) == 4
        for page, following in pairwise(["index.md", *steps]):
            assert following in links(page), f"{page} does not link to {following}"


def test_every_page_of_docs_is_reached_from_the_front_page_in_four_clicks():
    seen = front = {"index.md"}
    for _ in range(4):
        front = {to for page in front for to in links(page) if (DOCS / to).is_file()} - seen
        seen = seen | front
    assert {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} - seen == set()


# Proportions.
def navigation() -> dict[str, list[str]]:
    """Return the sections of the site's navigation with their pages that stand in docs."""

    def pages(entry: Any) -> list[str]:
        if isinstance(entry, str):
            return [entry] * (DOCS / entry).is_file()
        return [page for each in (entry.values() if isinstance(entry, dict) else entry) for page in pages(each)]

    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text().split("\nnav:\n")[1])
    return {name: pages(section) for entry in nav for name, section in entry.items()}


def words(page: str) -> int:
    """Return how many words a page has; numbers, code and commands are not counted."""
    text = re.sub(r"^```.*?^```$|<!--.*?-->|`[^`\n]*`|\]\([^)]*\)", " ", (DOCS / page).read_text(), flags=re.S | re.M)
    return len(re.findall(r"[A-Za-z]{2,}", text))


def test_there_are_more_words_to_learn_and_use_it_than_to_prove_it():
    sections = {name: sum(map(words, pages)) for name, pages in navigation().items()}
    assert sections["Evidence"] < sections["Tutorials"] + sections["How to"], sections


@pytest.mark.parametrize(
    "page",
    ["what-is-local-privacy.md", "is-it-for-you.md", "choosing-epsilon.md", "other-tools.md", "faq.md", "checklist.md"],
)
def test_a_page_for_a_decision_is_short(page):
    text = re.sub(r"^```.*?^```$", "", (DOCS / page).read_text(), flags=re.DOTALL | re.MULTILINE)
    assert len(text.split()) <= 700
