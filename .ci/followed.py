"""Follow one number through `design` and through `estimate` as they run, for docs/architecture.md.

    python .ci/followed.py            write the ways of both numbers into the page
    python .ci/followed.py --check    say whether the page tells them as they are; exit code 1 if not

A file is on the way of a number if one of its functions is handed it, alone or in an array; a return is a file that the
number comes back to. The budget is followed from the command line to the file of the table, a report from the file of
reports to the mean. How few files know a number, and in which order, says how natural its way is.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- ways -->\n", "<!-- end of ways -->\n"
FLOORS = ("designer", "estimators", "solvers", "mechanisms")

BUDGET = 1.0625
"""No other number of the design."""


def followed(command: Sequence[str], number: float) -> list[tuple[str, str]]:
    """Return the files and functions that are handed a number while a command runs, in their order."""
    from optldp.designer.command_line import main as optldp

    places = {str(Path(import_module(f"optldp.{floor}").__file__ or "").parent) + os.sep: floor for floor in FLOORS}
    way: list[tuple[str, str]] = []

    def handed(value: Any) -> bool:
        if isinstance(value, float):
            return value == number
        return isinstance(value, np.ndarray) and value.dtype.kind == "f" and bool((value == number).any())

    def called(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        place = next((place for place in places if code.co_filename.startswith(place)), None)
        if event != "call" or place is None:
            return
        file = f"{places[place]}/{code.co_filename.removeprefix(place)}"
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if any(handed(frame.f_locals.get(name)) for name in arguments):
            way.append((file, code.co_name))

    before = sys.argv
    sys.argv = ["optldp", *command]
    sys.setprofile(called)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            optldp()
    except SystemExit as end:
        if end.code:
            raise
    finally:
        sys.setprofile(None)
        sys.argv = before
    return way


def told(title: str, way: Sequence[tuple[str, str]]) -> str:
    """Return a way as text: how many files and returns, and the functions of each file."""
    stays = [file for i, (file, _) in enumerate(way) if i == 0 or way[i - 1][0] != file]
    functions: dict[str, dict[str, None]] = {}
    for file, function in way:
        if not function.startswith("<"):
            functions.setdefault(file, {})[function] = None
    lines = [f"**{title}**: {len(functions)} files, {len(stays) - len(functions)} returns.", ""]
    lines += ["| file | is handed to |", "|---|---|"]
    lines += [f"| `{file}` | {', '.join(f'`{name}`' for name in names)} |" for file, names in functions.items()]
    return "\n".join(lines) + "\n"


def ways() -> str:
    """Run both commands in a folder of their own and return what the page says of them."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("p.csv").write_text("value,weight\n0,1\n5,2\n10,1\n")
        budget = followed(
            ["design", "--prior", "p.csv", "--range", "0", "10", "--knots", "5", "--epsilon", str(BUDGET), "--public",
             "--out", "m.json"], BUDGET,
        )  # fmt: skip
        from optldp import load_mechanism

        outputs = load_mechanism("m.json").low.tolist()
        Path("r.csv").write_text("\n".join(["report", *map(repr, outputs * 3)]) + "\n")
        report = followed(["estimate", "m.json", "r.csv"], outputs[1])
    return f"{told('A budget through design', budget)}\n{told('A report through estimate', report)}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Follow one number through design and through estimate.")
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    before, rest = PAGE.read_text().split(BEGIN)
    old, after = rest.split(END)
    new = ways()
    if parser.parse_args().check:
        same = old.strip() == new.strip()
        print("ways of a number: the page tells them as they are" if same else "ways of a number: write the page anew")
        return 0 if same else 1
    PAGE.write_text(f"{before}{BEGIN}\n{new}\n{END}{after}")
    print("\n".join(line for line in new.splitlines() if line.startswith("**")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
