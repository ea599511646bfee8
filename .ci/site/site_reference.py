"""The reference: tables of one-line summaries, and a page of its own for each name, all from the docstrings.

- `<!-- api optldp.LAYER: name, name -->` on a page of docs/reference becomes a table of these names, as does
  `optldp.LAYER.ROOM` of a room that has public names of its own, and `<!-- api optldp.LAYER: the rest -->` one of all
  exported names that the page does not list, under the heading More;
- `<!-- api optldp: all -->` becomes one of the names of `optldp` itself, which lead to where they live;
- each name of a table leads to its own page, with the whole docstring and the names that stand beside it;
- a link to `LAYER.md#optldp.LAYER.NAME` leads to that name's page.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import posixpath
import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from markdown.extensions.toc import slugify

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "reference"
API = re.compile(r"<!-- api (optldp[\w.]*): (.*?) -->", re.DOTALL)
TOP, REST, ALL = "optldp", "the rest", "all"
MORE = "More"
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Group:
    """Names of one package that stand in one table, below one heading of one page."""

    page: str
    heading: str
    package: str
    names: tuple[str, ...]

    def table(self, here: str, *, without: str = "") -> str:
        """Return the table as a page whose address in docs is given shows it."""
        links = [(name, posixpath.relpath(address(self.package, name), posixpath.dirname(here))) for name in self.names]
        rows = [f"| [`{name}`]({to}) | {summary(self.package, name)} |" for name, to in links if name != without]
        return "\n".join([f"| | from `{self.package}` |", "|---|---|", *rows]) if rows else ""

    def page_of(self, name: str) -> str:
        """Return the page of a name: where it stands, its docstring, and what stands beside it."""
        way = "[Reference](../index.md)"
        way += f" / [{self.package}](../{self.page}.md)" if self.package != TOP else ""
        if self.heading:
            way += f" / [{self.heading}](../{self.page}.md#{slugify(self.heading, '-')})"
        value, entry = _value(self.package, name), f"{self.package}.{name}"
        if self.package == TOP:
            entry = f"{value.__module__}.{name}"  # what `optldp` loads on first use is not told to griffe
        beside = self.table(address(self.package, name), without=name)
        parts = [f"---\ntitle: {name}\n---", way, f"::: {entry}", *(["## Beside it", beside] if beside else [])]
        return "\n\n".join(parts) + "\n"


def groups(page: str, markdown: str) -> list[Group]:
    """Return the groups of a page's marks, in order; ValueError for a name that is not exported."""
    listed = {name.strip() for _, names in API.findall(markdown) for name in names.split(",")}
    found = []
    for mark in API.finditer(markdown):
        exported = [
            name for name in importlib.import_module(mark[1]).__all__ if not inspect.ismodule(_value(mark[1], name))
        ]
        names = [name.strip() for name in mark[2].split(",")]
        above = HEADING.findall(markdown[: mark.start()])
        heading = MORE if names == [REST] else above[-1] if above else ""
        names = [name for name in exported if name not in listed] if names in ([REST], [ALL]) else names
        unknown = [name for name in names if name not in exported]
        if unknown:
            raise ValueError(f"the reference may list what {mark[1]} exports alone, got {', '.join(unknown)}")
        found.append(Group(page, heading, mark[1], tuple(names)))
    return found


def with_tables(uri: str, markdown: str) -> str:
    """Return a page with its marks replaced by tables."""
    made = iter(groups(posixpath.basename(uri).removesuffix(".md"), markdown))

    def table(mark: re.Match[str]) -> str:
        shown = next(made).table(uri)
        return f"## {MORE}\n\n{shown}" if shown and mark[2] == REST else shown

    return API.sub(table, markdown)


@cache
def all_groups() -> tuple[Group, ...]:
    """Return the groups of all pages of the reference."""
    pages = sorted(FOLDER.glob("*.md"))
    return tuple(group for page in pages for group in groups(page.stem, page.read_text("utf-8")))


@cache
def addresses() -> dict[str, str]:
    """Return each name's address in docs, by the name with its package; those of `optldp` are where they live."""
    below = [(group.package, name) for group in all_groups() if group.package != TOP for name in group.names]
    found = {f"{package}.{name}": _own_address(package, name) for package, name in below}
    by_value = {id(_value(package, name)): found[f"{package}.{name}"] for package, name in below}
    for name in [name for group in all_groups() if group.package == TOP for name in group.names]:
        found[f"{TOP}.{name}"] = by_value.get(id(_value(TOP, name)), _own_address(TOP, name))
    return found


def address(package: str, name: str) -> str:
    """Return where in docs a name's page is."""
    return addresses()[f"{package}.{name}"]


def _own_address(package: str, name: str) -> str:
    """Return a page's address from its name: names that differ in case alone need two files on every system."""
    twins = [other for other in importlib.import_module(package).__all__ if other.lower() == name.lower()]
    folder = package.removeprefix(f"{TOP}.")
    return f"reference/{folder}/{name}{'-class' if len(twins) > 1 and name[0].isupper() else ''}.md"


def object_pages() -> dict[str, str]:
    """Return a page for each name of the reference, by its address in docs."""
    made: dict[str, str] = {}
    for group in sorted(
        all_groups(), key=lambda group: group.package == TOP
    ):  # layers tell more of where a name stands
        for name in group.names:
            made.setdefault(address(group.package, name), group.page_of(name))
    return made


def _value(package: str, name: str) -> Any:
    return getattr(importlib.import_module(package), name)


def summary(package: str, name: str) -> str:
    """Return the first sentence of a name's docstring, as a cell of a table."""
    value = _value(package, name)
    text = inspect.getdoc(value) if inspect.isclass(value) or inspect.isroutine(value) else _said_of(package, name)
    first = " ".join((text or "").split("\n\n")[0].split())
    return re.sub(":$", ".", re.split(r"(?<=\.) (?=[A-Z])", first)[0]).replace("|", r"\|")


def _said_of(package: str, name: str) -> str | None:
    """Return the docstring below a constant, in the module that the package's stub has it from."""
    stub = Path(str(importlib.import_module(package).__file__)).with_suffix(".pyi").read_text("utf-8")
    imports = [node for node in ast.parse(stub).body if isinstance(node, ast.ImportFrom)]
    (home,) = (node for node in imports if name in (one.name for one in node.names))
    module = importlib.import_module("." * home.level + str(home.module), package)
    body = ast.parse(inspect.getsource(module)).body
    for stands, says in pairwise(body):
        targets = stands.targets if isinstance(stands, ast.Assign) else [getattr(stands, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return str(ast.literal_eval(says.value)) if isinstance(says, ast.Expr) else None
    return None
