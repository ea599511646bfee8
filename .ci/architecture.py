"""Draw the house from its imports, and the way of the data through it, for docs/architecture.md.

    python .ci/architecture.py            write both pictures and the table of arrows
    python .ci/architecture.py --check    say whether the tables tell the house as it is; exit code 1 if not

Rooms are folders of a layer, and files that stand in none. An arrow from a room to another says that a file in the
first imports from the second, whether by its path or as a public name of its layer. The picture leaves out arrows that
others imply, and what loads public names; the table has all. The second picture has the steps of the page's other
table, each with the rooms where it is taken.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from layered_drawing import Drawing, Edge, layered, path

ROOT = Path(__file__).resolve().parents[1]
FLOORS = ("designer", "estimators", "solvers", "mechanisms")
PAGE, PICTURE, WAY = (ROOT / "docs" / name for name in ("architecture.md", "architecture.svg", "way-of-the-data.svg"))
BEGIN, END = "<!-- rooms -->\n", "<!-- end of rooms -->\n"
COLORS = {"designer": "#F5E6D3", "estimators": "#DDEBDD", "solvers": "#DCE6F2", "mechanisms": "#EDE3EF"}
INK = {"designer": "#9A5B13", "estimators": "#2F7A3B", "solvers": "#2B5C94", "mechanisms": "#7A4488"}
"""Arrows have the colour of the floor that they come from."""

BETWEEN = 0.75
"""Between two floors, in rows."""

PER_LETTER, MARGIN = 0.073, 0.22
"""Inches of a box's width."""

HEAD = "-|>,head_length=0.5,head_width=0.25"

LOADER = "mechanisms.lazy_names"
"""Loads public names for every layer and for some rooms: left out of the picture."""

STEPS = {
    "a column, or what is known of it": ("who designs", ()),
    "what is wanted": ("who designs", ()),
    "a program": ("who designs", ("a column, or what is known of it", "what is wanted")),
    "`design`": ("who designs", ("a program",)),
    "a table": ("who designs", ("`design`",)),
    "a proof": ("who designs", ("a table",)),
    "a file": ("who designs", ("a proof",)),
    "a report": ("each device", ("a file",)),
    "counts": ("who collects", ("a report", "a file")),
    "an estimate": ("who collects", ("counts",)),
    "figures and pages": ("who collects", ("an estimate", "`design`")),
}
"""Of the second picture: by whom a step is taken, and from which others it follows; names are those of the table."""

WHO = {"who designs": COLORS["designer"], "each device": COLORS["mechanisms"], "who collects": COLORS["estimators"]}

Arrows = dict[str, set[str]]
"""From each room to those that it imports; rooms are named floor.room."""


def modules() -> set[str]:
    """Every file of the four floors as a dotted name."""
    files = (file for floor in FLOORS for file in (ROOT / floor).rglob("*.py"))
    return {".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for file in files}


def source(module: str) -> Path:
    folder = ROOT.joinpath(*module.split("."))
    return folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")


def package(module: str) -> list[str]:
    parts = module.split(".")
    return parts if source(module).name == "__init__.py" else parts[:-1]


def imports(module: str, known: set[str]) -> Iterator[str]:
    """The modules of the house that one imports, inside functions too, and those that it loads by their names."""
    tree = ast.parse(source(module).read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = ".".join(_from(module, "." * node.level + (node.module or "")))
            for alias in node.names:
                home = public(base).get(alias.name, base)
                yield next(name for name in (f"{base}.{alias.name}", home) if name in known)
    if any(isinstance(node, ast.Name) and node.id == "import_module" for node in ast.walk(tree)):
        texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
        named = (".".join(_from(module, text)) for text in texts if isinstance(text, str) and re.match(r"\.+\w", text))
        yield from (name for name in named if name in known)


def _from(module: str, relative: str) -> list[str]:
    """Return the parts of a module that another names by its place relative to itself."""
    level = len(relative) - len(relative.lstrip("."))
    here = package(module)
    return here[: len(here) - level + 1] + [part for part in relative.lstrip(".").split(".") if part]


def public(module: str) -> dict[str, str]:
    """Return where the public names of a layer or a room live, by its stub; empty for a module that has none."""
    stub = source(module).with_suffix(".pyi")
    if not stub.exists():
        return {}
    nodes = (node for node in ast.parse(stub.read_text("utf-8")).body if isinstance(node, ast.ImportFrom))
    homes = {alias.name: "." * node.level + (node.module or "") for node in nodes for alias in node.names}
    return {name: ".".join(_from(module, home)) for name, home in homes.items()}


def room(module: str) -> str:
    return ".".join(module.split(".")[:2])


def arrows() -> Arrows:
    known = modules()
    found: Arrows = {room(module): set() for module in sorted(known) if "." in module}
    for module in sorted(known):
        if "." in module:
            found[room(module)] |= {room(name) for name in imports(module, known)} - {room(module)}
    return found


def without_implied(found: Arrows) -> Arrows:
    """The arrows that are no shortcut for a longer way."""

    def beyond(start: str) -> set[str]:
        seen, stack = set(), [start]
        while stack:
            for one in found.get(stack.pop(), set()) - seen:
                seen.add(one)
                stack.append(one)
        return seen

    ways = {name: beyond(name) for name in found}
    return {a: {b for b in near if not any(b in ways.get(c, set()) for c in near - {b})} for a, near in found.items()}


def table(found: Arrows) -> str:
    """Every room, what it is for by its first line, and what it imports."""
    lines = ["| room | what lives there | imports |", "|---|---|---|"]
    for floor in FLOORS:
        for name in (name for name in found if name.startswith(f"{floor}.")):
            file = source(name)
            said = (ast.get_docstring(ast.parse(file.read_text("utf-8"))) or "").split("\n")[0].replace("|", "\\|")
            link = f"[`{name.replace('.', '/')}`](../{file.relative_to(ROOT)})"
            own = sorted(other.removeprefix(f"{floor}.") for other in found[name])
            lines.append(f"| {link} | {said} | {', '.join(own)} |")
    return "\n".join(lines) + "\n"


def steps(page: str) -> dict[str, str]:
    """Return the steps of the page's table with the places where they are taken; ValueError if one is none."""
    rows = re.findall(r"^\| ([^|]+?) \| [^|]+ \| ([^|]+?) \|$", page.split(BEGIN)[0], re.MULTILINE)
    found = {step: where for step, where in rows if step not in ("step", "---")}
    if list(found) != list(STEPS):
        raise ValueError(f"the page's steps must be those of STEPS, got {', '.join(found)}")
    for where in found.values():
        for place in re.findall(r"`([\w/]+)`", where):
            if not (ROOT / place).is_dir():
                raise ValueError(f"a step must be taken in a room of the house, got {place}")
    return found


def draw_rooms(found: Arrows) -> None:
    """Draw the rooms in the rows that the contracts of pyproject.toml give them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = {c["containers"][0].split(".")[1]: c["layers"] for c in contracts if c.get("exhaustive")}
    rows, heights, at = [], [], 0.0
    for floor in FLOORS:
        for row in layers[floor]:
            names = [f"{floor}.{name.strip()}" for name in row.split("|")]
            rows.append([name for name in names if name != LOADER])
            heights.append(at)
            at -= 1.0
        at -= BETWEEN
    drawn = dict.fromkeys(name for row in rows for name in row)
    edges = [(a, b) for a, near in without_implied(found).items() for b in sorted(near) if {a, b} <= drawn.keys()]
    widths = {name: MARGIN + PER_LETTER * len(name.split(".")[1]) for name in drawn}
    drawing = layered(rows, heights, widths, edges, half=0.2)
    bands = [(floor, COLORS[floor], [i for i, row in enumerate(rows) if row[0].startswith(floor)]) for floor in FLOORS]
    inks = {edge: INK[edge[0].split(".")[0]] for edge in edges}
    save(drawing, bands, inks, {name: (name.split(".")[1], "") for name in drawn}, PICTURE)


def draw_way(where: dict[str, str]) -> None:
    """Draw the steps from a column to an estimate, from the top, each below those that it follows from."""
    row_of: dict[str, int] = {}
    for step, (_, before) in STEPS.items():
        row_of[step] = max((row_of[one] + 1 for one in before), default=0)
    rows: list[list[str]] = [[] for _ in range(max(row_of.values()) + 1)]
    for step, row in row_of.items():
        rows[row].append(step)
    named = {step: (step.strip("`"), where[step].replace("`", "")) for step in STEPS}
    widths = {step: MARGIN + PER_LETTER * max(len(title), 0.85 * len(small)) for step, (title, small) in named.items()}
    edges = [(before, step) for step, (_, all_before) in STEPS.items() for before in all_before]
    heights, at = [], 0.0
    for i, row in enumerate(rows):
        at -= 1.4 + BETWEEN * (i > 0 and STEPS[row[0]][0] != STEPS[rows[i - 1][0]][0])
        heights.append(at)
    drawing = layered(rows, heights, widths, edges, half=0.37)
    bands = [(who, color, [i for i, row in enumerate(rows) if STEPS[row[0]][0] == who]) for who, color in WHO.items()]
    save(drawing, bands, dict.fromkeys(edges, "#444444"), named, WAY)


def save(
    drawing: Drawing,
    bands: list[tuple[str, str, list[int]]],
    inks: dict[Edge, str],
    named: dict[str, tuple[str, str]],
    target: Path,
) -> None:
    """Write a picture: bands with their names, boxes with a title and a small line, arrows in their inks."""
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyArrowPatch

    mpl.rcParams["svg.hashsalt"] = "optldp"
    y: dict[str, Any] = drawing.y()
    left = min(drawing.x[name] - drawing.widths[name] / 2 for name in drawing.x) - 0.25
    right = max(drawing.x[name] + drawing.widths[name] / 2 for name in drawing.x) + 0.25
    title = 0.09 * max(len(name) for name, _, _ in bands) + 0.2
    beyond = drawing.half + 0.32
    low, high = drawing.heights[-1] - beyond - 0.08, drawing.heights[0] + beyond + 0.08
    figure = Figure(figsize=(right - left + title, 0.62 * (high - low)), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(left - title, right), ylim=(low, high))
    axes.set_axis_off()
    for name, color, rows in bands:
        top, bottom = drawing.heights[rows[0]] + beyond, drawing.heights[rows[-1]] - beyond
        axes.fill_between([left - title + 0.05, right - 0.05], bottom, top, color=color, linewidth=0)
        axes.text(left - title + 0.15, top - 0.12, name, va="top", fontsize=12, fontweight="bold")
    for edge, ink in inks.items():
        way = path(drawing, edge)
        axes.add_patch(FancyArrowPatch(path=way, arrowstyle=HEAD, mutation_scale=13, color=ink, linewidth=1.1))
    for name, (title_text, small) in named.items():
        box = {"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": "#333333", "linewidth": 0.8}
        text = f"{title_text}\n{small}" if small else title_text
        axes.text(drawing.x[name], y[name], text, ha="center", va="center", fontsize=9.5, bbox=box, zorder=3)
    figure.savefig(target, metadata={"Date": None})


def main() -> int:
    parser = argparse.ArgumentParser(description="Draw the house from its imports.")
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    found = arrows()
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    old, after = rest.split(END)
    where = steps(page)
    if parser.parse_args().check:
        same = old.strip() == table(found).strip()
        print("architecture: the page tells the imports as they are" if same else "architecture: write the page anew")
        return 0 if same else 1
    PAGE.write_text(f"{before}{BEGIN}\n{table(found)}\n{END}{after}")
    draw_rooms(found)
    draw_way(where)
    print(f"architecture: {len(found)} rooms, {sum(map(len, found.values()))} arrows, {len(where)} steps")
    return 0


if __name__ == "__main__":
    sys.exit(main())
