"""Results that are kept: a CSV for each table, with the stamp of what made it, and the drift of a new run from them.

A figure is kept when all its tables and then its checks are; one that was stopped half way is made anew.
"""

from __future__ import annotations

import ast
import csv
import hashlib
import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from math import hypot
from pathlib import Path

ROOT = Path(__file__).parents[4]
LIBRARY = ("mechanisms", "solvers", "estimators", "designer")
"""What experiments are made of, beside their own code."""

TELLING = ("script", "keeping", "pages", "said")
"""Modules that print, keep and write what was computed, and change no number of it: no figure is made anew for them."""

COPIED = "copied"
"""In place of the experiment's code: numbers that a page had before tables were kept, made at that commit or before."""

ERRORS = 4.0
"""Drift that is allowed, in standard errors, where a cell has one: a mean ± its standard error."""

SHARE = 0.02
"""Drift that is allowed anywhere, as a share of the number: other processors round otherwise."""

BY_SET = ("data", "data, noise")
"""Heads of first columns by which a row is of one set of data."""

NOTHING = 1e-9
"""Below this a number is the arithmetic's."""

NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?|(?<![\w.])[-+]?inf\b|\bnan\b")


@dataclass(frozen=True)
class Stamp:
    """What made a table: the library's last commit, the experiment's code, and the parameters of the run."""

    commit: str
    experiment: str
    seed: int
    full: bool
    data: bool

    @property
    def clean(self) -> bool:
        """Whether the library was as committed."""
        return not self.commit.endswith("+")


@dataclass(frozen=True)
class Table:
    """A table as CSV has it: text, in rows."""

    name: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    timed: bool = False
    """Seconds, which no other machine has: kept, never compared."""

    def where(self, column: str, *texts: str) -> Table:
        """Return the rows whose cell in a column begins with one of the texts."""
        place = self.header.index(column)
        return replace(self, rows=tuple(row for row in self.rows if row[place].startswith(texts)))

    def texts(self, column: str) -> list[str]:
        """Return a column as it stands."""
        place = self.header.index(column)
        return [row[place] for row in self.rows]

    def numbers(self, column: str) -> list[float]:
        """Return the first number of each cell of a column."""
        return [float(numbers(text)[0]) for text in self.texts(column)]

    def number(self, column: str) -> float:
        """Return the number of a column where one row is left."""
        (found,) = self.numbers(column)
        return found


@dataclass(frozen=True)
class Kept:
    """A figure that is kept: its tables, the last of which are its checks, what made it, and processor seconds."""

    stamp: Stamp
    tables: tuple[Table, ...]
    seconds: float

    @property
    def checks(self) -> Table:
        """Claim, whether it holds, and what was seen."""
        return self.tables[-1]


@dataclass(frozen=True)
class Shelf:
    """The folder where a paper's results are kept."""

    folder: Path

    def put(self, figure: str, stamp: Stamp, tables: Sequence[Table], checks: Sequence[Sequence[str]], seconds: float):
        """Keep a figure, its checks last."""
        self.folder.mkdir(parents=True, exist_ok=True)
        told = Table(_checks_name(figure), "Checks", ("claim", "holds", "seen"), tuple(map(tuple, checks)))
        for table in (*tables, told):
            about: dict[str, object] = {"title": table.title, **asdict(stamp)}
            about |= {"timed": True} if table.timed else {}
            if table is told:
                about |= {"tables": [t.name for t in tables], "seconds": round(seconds)}
            _write(self.folder / f"{table.name}.csv", about, [table.header, *table.rows])

    def get(self, figure: str) -> Kept | None:
        """Return what is kept of a figure, or None."""
        place = self.folder / f"{_checks_name(figure)}.csv"
        if not place.exists():
            return None
        about, checks = _read(place)
        tables = [self.table(name) for name in about["tables"]]
        stamp = Stamp(**{name: about[name] for name in Stamp.__dataclass_fields__})
        return Kept(stamp, (*tables, checks), about["seconds"])

    def table(self, name: str) -> Table:
        """Return one kept table."""
        return _read(self.folder / f"{name}.csv")[1]

    def seen(self, figure: str, claim: str) -> str:
        """Return what was seen of the claim that begins so."""
        return self.table(_checks_name(figure)).where("claim", claim).texts("seen")[0]

    def drift(self, figure: str, tables: Iterable[Table], *, lacking: bool = False) -> list[str]:
        """Return where new tables say other than the kept ones; rows that were not made anew are not asked for.

        With `lacking` the figure looked for the real data and they were not there: if what is kept had them, rows of
        other data are left out, and so are tables without a row for each set, which may sum up over all of them.
        """
        kept = self.get(figure)
        if kept is None:
            return [f"{figure} is not kept: run --keep"]
        if kept.stamp.experiment == COPIED:
            print(f"\n{figure} was copied from an earlier page: nothing to compare with")
            return []
        old, lacking = {table.name: table for table in kept.tables}, lacking and kept.stamp.data
        compared = [new for new in tables if not new.timed and not (lacking and new.header[0] not in BY_SET)]
        return [line for new in compared for line in table_drift(old.get(new.name), new, lacking=lacking)]


def table_drift(old: Table | None, new: Table, *, lacking: bool = False) -> list[str]:
    """Return a line for each cell of `new` that differs from its row in `old` by more than the tolerance."""
    if old is None or old.header != new.header:
        return [f"{new.name}: its columns are not the kept ones: run --keep"]
    keys = next(k for k in range(1, len(old.header) + 1) if len({row[:k] for row in old.rows}) == len(old.rows))
    rows, found = {row[:keys]: row for row in old.rows}, []
    for row in new.rows:
        if row[:keys] not in rows and not lacking:
            found.append(f"{new.name}: no row {', '.join(row[:keys])} is kept: run --keep")
        if row[:keys] not in rows:
            continue
        for column, was, now in zip(old.header, rows[row[:keys]], row, strict=True):
            if not _same(was, now):
                found.append(f"{new.name}, {', '.join(row[:keys])}, {column}: kept {was}, now {now}")
    return found


def numbers(text: str) -> list[str]:
    """Return the numbers in a text, in order."""
    return [found.replace(",", "") for found in NUMBER.findall(text)]


def stamp_of(figure: Callable[..., object], seed: int, full: bool, data: bool) -> Stamp:
    """Return the stamp of a run that starts now."""
    return Stamp(library_commit(), experiment_code(figure), seed, full, data)


def library_commit() -> str:
    """Return the last commit that changed the library, with a plus where files differ from it."""

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", *words, "--", *LIBRARY], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout

    return git("log", "-1", "--format=%h").strip() + ("+" if git("status", "--porcelain") else "")


def experiment_code(figure: Callable[..., object]) -> str:
    """Return a short hash of the modules of this folder that a figure is computed by."""
    first = sys.modules[figure.__module__]
    found: dict[Path, bytes] = {}
    todo = [(Path(first.__file__ or ""), first.__package__ or "")]
    while todo:
        path, package = todo.pop()
        if path in found or path.stem in TELLING:
            continue
        found[path] = path.read_bytes()
        todo += [place for name in _imports(found[path], package) if (place := _source(name)) is not None]
    return hashlib.sha256(b"".join(found[path] for path in sorted(found))).hexdigest()[:10]


def _imports(source: bytes, package: str) -> list[str]:
    """Return the full names of what a module imports, modules and names alike."""
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return [name for name in names if name.startswith("redone.")]


def _source(name: str) -> tuple[Path, str] | None:
    module = sys.modules.get(name)
    return None if module is None else (Path(module.__file__ or ""), module.__package__ or "")


def _same(was: str, now: str) -> bool:
    before, after = [[float(n) for n in numbers(text)] for text in (was, now)]
    if NUMBER.sub("#", was) != NUMBER.sub("#", now) and ("±" in was) == ("±" in now):
        return False
    if "±" in was + now:
        (a, *e), (b, *f) = before, after
        return abs(a - b) <= ERRORS * hypot(*e, *f) + SHARE * max(abs(a), abs(b))
    pairs = zip(before, after, strict=True)
    return all(a == b or a != a != b or abs(a - b) <= SHARE * max(abs(a), abs(b)) + NOTHING for a, b in pairs)


def _checks_name(figure: str) -> str:
    return "checks-" + re.sub(r"\W+", "-", figure)


def _write(place: Path, about: dict[str, object], rows: Iterable[Sequence[str]]) -> None:
    """Write a CSV whose first line, a comment, is its stamp; whole or not at all."""
    beside = place.with_suffix(".part")
    with beside.open("w", newline="", encoding="utf-8") as file:
        file.write(f"# {json.dumps(about, ensure_ascii=False)}\n")
        csv.writer(file, lineterminator="\n").writerows(rows)
    beside.replace(place)


def _read(place: Path) -> tuple[dict, Table]:
    with place.open(newline="", encoding="utf-8") as file:
        about = json.loads(file.readline().removeprefix("# "))
        header, *rows = csv.reader(file)
    return about, Table(place.stem, about["title"], tuple(header), tuple(map(tuple, rows)), about.get("timed", False))
