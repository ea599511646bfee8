"""`results.json`: what every part measured last; pages made of it alone; and what is slower than it says."""

import json
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from measured import Table

RESULTS = Path(__file__).with_name("results.json")
DOCS = Path(__file__).parents[1] / "docs"
LIBRARIES = ("numpy", "scipy", "highspy", "clarabel", "duckdb")

SLOWER = 1.3
"""A ratio of two times that is worth a line; two runs of the same code on a busy machine differ by less."""

MOST_ROWS = 12
"""Of a table on a page; one that is longer shows every second of its rows, or every third, and so on."""

LOOKED = (("rev-parse", "--short=10", "HEAD"), ("status", "--porcelain", "--", "*.py", ":!benchmarks"))
"""What Git is asked for: the commit, and files of the library that have changed since."""

Results: TypeAlias = dict[str, dict[str, Any]]
"""Of each part, by name: when, where and with what it was measured, seconds of the calibration loop, and its tables."""


def name_of(part: ModuleType) -> str:
    """The file's: what a part is called in `results.json` and on the command line."""
    return part.__name__.rpartition(".")[2]


def read() -> Results:
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def record(tables: list[Table], calibration: float) -> dict[str, Any]:
    """What a part measured, as it is kept."""
    return {
        "measured": f"{datetime.now(UTC):%Y-%m-%d}",
        "commit": _commit(),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}",
        "versions": {
            "Python": platform.python_version(),
            **{name: metadata.version(name) for name in LIBRARIES},
        },
        "calibration": _number(calibration),
        "tables": [
            {
                "about": one.about,
                "columns": dict(one.columns),
                "rows": [[_number(cell) for cell in row] for row in one.rows],
            }
            for one in tables
        ],
    }


def _commit() -> str:
    """The commit that was measured, with a plus if files have changed since; empty outside a repository."""
    git = ["git", "-C", str(DOCS.parent)]
    if shutil.which("git") is None:
        return ""
    ran = [subprocess.run([*git, *what], capture_output=True, text=True, check=False).stdout for what in LOOKED]
    return ran[0].strip() + "+" * bool(ran[0] and ran[1])


def _number(cell: Any) -> Any:
    """Nine digits are more than any table shows; numpy's numbers become Python's."""
    if hasattr(cell, "item"):
        cell = cell.item()
    return float(f"{cell:.9g}") if isinstance(cell, float) else cell


def write(results: Results) -> None:
    """One row of a table on a line, so that a change of one number is a change of one line."""
    text = json.dumps(results, indent=1, ensure_ascii=False)
    RESULTS.write_text(re.sub(r"\[\n\s+([^\[\]{}]*?)\n\s+\]", _on_one_line, text) + "\n")


def _on_one_line(found: re.Match[str]) -> str:
    return "[" + re.sub(r"\n\s+", " ", found[1]) + "]"


def tables(kept: Mapping[str, Any]) -> list[Table]:
    return [Table(one["columns"], one["rows"], one["about"]) for one in kept["tables"]]


def page(name: str, title: str, parts: tuple[ModuleType, ...], results: Results) -> str:
    """A page of docs from what is kept, measuring nothing."""
    known = [(part, results[name_of(part)]) for part in parts if name_of(part) in results]
    with_what = {
        f"{kept['machine']}; " + ", ".join(f"{library} {version}" for library, version in kept["versions"].items())
        for _, kept in known
    }
    lines = [
        f"# {title}",
        f"`python benchmarks/run.py {name} --write` makes this page from `benchmarks/results.json`. Seconds are "
        "those of the processor, in one thread unless a part says otherwise. Under each heading stands the time of a "
        "loop that never changes (sorts, small Cholesky factors, plain Python): divide by it to compare machines.",
        "These were measured on " + "; and on ".join(sorted(with_what)) + ".",
    ]
    for part, kept in known:
        commit = f", commit {kept['commit']}" if kept.get("commit") else ""
        beside = f"*{kept['measured']}{commit}; the calibration loop took {1e3 * kept['calibration']:.1f} ms.*"
        lines += [f"## {part.TITLE}", (part.__doc__ or "").strip(), beside, *(_shortened(one) for one in tables(kept))]
    return "\n\n".join(lines) + "\n"


def _shortened(table: Table) -> str:
    """A table as a page shows it, and below it how many of its rows these are."""
    each = -(-len(table.rows) // MOST_ROWS)
    shown = Table(table.columns, table.rows[::each], table.about)
    note = f"\n\n*One row in {each}; `benchmarks/results.json` has all {len(table.rows)}.*" if each > 1 else ""
    return shown.markdown() + note


def compared(before: Table, now: Table) -> list[str]:
    """Say what is slower or quicker, in calibration loops, than what was kept, and what is new: a line for each.

    Parameters
    ----------
    before, now : Table
        With the columns of `watched`: what was done, seconds, calibration loops.
    """
    kept = {what: float(loops or 0) for what, _, loops in before.rows}
    said = []
    for what, _, cell in now.rows:
        loops = float(cell or 0)
        if what not in kept:
            said.append(f"new: {what}, {loops:.1f} calibration loops")
        elif loops > SLOWER * kept[what]:
            said.append(f"slower by {loops / kept[what]:.2f}: {what}, {loops:.1f} loops, {kept[what]:.1f} before")
        elif kept[what] > SLOWER * loops:
            said.append(f"quicker by {kept[what] / loops:.2f}: {what}, {loops:.1f} loops, {kept[what]:.1f} before")
    return said or [f"nothing has changed by {SLOWER} since {RESULTS.name}, of {len(now.rows)} things measured"]
