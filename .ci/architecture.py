"""Draw the house from its imports: docs/architecture.svg, and the table of arrows in docs/architecture.md.

    python .ci/architecture.py            write both
    python .ci/architecture.py --check    say whether the table tells the imports as they are; exit code 1 if not

Rooms are folders of a layer, and files that stand in none. An arrow from a room to another says that a file in the
first imports from the second. The picture leaves out arrows that others imply; the table has all of them.
"""

from __future__ import annotations

import argparse
import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FLOORS = ("designer", "estimators", "solvers", "mechanisms")
PAGE, PICTURE = ROOT / "docs" / "architecture.md", ROOT / "docs" / "architecture.svg"
BEGIN, END = "<!-- rooms -->\n", "<!-- end of rooms -->\n"
COLORS = {"designer": "#F5E6D3", "estimators": "#DDEBDD", "solvers": "#DCE6F2", "mechanisms": "#EDE3EF"}

APART = 1.9
"""Distance of two rooms in a row; rows are one apart."""

SHIFTS = (-1.0, 1.2, -0.4, 0.7, -1.5)
"""By which rooms alone in their row stand to and fro, so that arrows do not run through them."""

Arrows = dict[str, set[str]]
"""From each room to those that it imports; rooms are named floor.room."""


def modules() -> set[str]:
    """Every file of the four floors as a dotted name."""
    files = (path for floor in FLOORS for path in (ROOT / floor).rglob("*.py"))
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in files}


def imports(module: str, known: set[str]) -> Iterator[str]:
    """The modules of the house that one imports, inside functions too."""
    path = ROOT.joinpath(*module.split("."))
    package = module.split(".") if path.is_dir() else module.split(".")[:-1]
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1] + (node.module.split(".") if node.module else [])
            for alias in node.names:
                found = [".".join([*base, alias.name]), ".".join(base)]
                yield next(name for name in found if name in known)


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
            path = ROOT.joinpath(*name.split("."))
            file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
            said = (ast.get_docstring(ast.parse(file.read_text("utf-8"))) or "").split("\n")[0].replace("|", "\\|")
            link = f"[`{name.replace('.', '/')}`](../{file.relative_to(ROOT)})"
            own = sorted(other.removeprefix(f"{floor}.") for other in found[name])
            lines.append(f"| {link} | {said} | {', '.join(own)} |")
    return "\n".join(lines) + "\n"


def places() -> dict[str, tuple[float, float]]:
    """Where each room is drawn: the contracts of pyproject.toml have the order."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = {c["containers"][0].split(".")[1]: c["layers"] for c in contracts if c.get("exhaustive")}
    found, height = {}, 0.0
    for floor in reversed(FLOORS):
        for row in reversed(layers[floor]):
            names = [name.strip() for name in row.split("|")]
            for i, name in enumerate(names):
                shift = SHIFTS[len(found) % len(SHIFTS)] if len(names) == 1 else 0.0
                found[f"{floor}.{name}"] = (APART * (i - (len(names) - 1) / 2) + shift, height)
            height += 1.0
        height += 0.9
    return found


def draw(found: Arrows) -> None:
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyArrowPatch

    mpl.rcParams["svg.hashsalt"] = "optldp"
    where = places()
    figure = Figure(figsize=(8.5, 12.5), layout="constrained")
    axes = figure.add_subplot()
    for floor in FLOORS:
        rows = [y for name, (_, y) in where.items() if name.startswith(f"{floor}.")]
        low, high = min(rows) - 0.62, max(rows) + 0.62
        axes.fill_between([-3.1, 3.1], low, high, color=COLORS[floor], linewidth=0)
        axes.text(-3.02, high - 0.12, floor, va="top", fontsize=13, fontweight="bold")
    for name, others in without_implied(found).items():
        for other in others:
            if name in where and other in where:
                (x, y), (u, v) = where[name], where[other]
                bend = 0.12 if abs(y - v) > 1.5 else 0.0
                axes.add_patch(
                    FancyArrowPatch(
                        (x, y - 0.17), (u, v + 0.17), arrowstyle="-|>", mutation_scale=9, color="#666666",
                        linewidth=0.8, alpha=0.8, shrinkA=0, shrinkB=0, connectionstyle=f"arc3,rad={bend}",
                    )
                )  # fmt: skip
    for name, (x, y) in where.items():
        box = {"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": "#333333", "linewidth": 0.8}
        axes.text(x, y, name.split(".")[1], ha="center", va="center", fontsize=10, bbox=box)
    heights = [y for _, y in where.values()]
    axes.set(xlim=(-3.15, 3.15), ylim=(min(heights) - 0.75, max(heights) + 0.75))
    axes.set_axis_off()
    figure.savefig(PICTURE, metadata={"Date": None})


def main() -> int:
    parser = argparse.ArgumentParser(description="Draw the house from its imports.")
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    found = arrows()
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    old, after = rest.split(END)
    if parser.parse_args().check:
        same = old.strip() == table(found).strip()
        print("architecture: the page tells the imports as they are" if same else "architecture: write the page anew")
        return 0 if same else 1
    PAGE.write_text(f"{before}{BEGIN}\n{table(found)}\n{END}{after}")
    draw(found)
    print(f"architecture: {len(found)} rooms, {sum(map(len, found.values()))} arrows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
