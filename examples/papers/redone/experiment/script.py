"""What the scripts of this folder share: their options, and tables that are printed, kept and compared."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .keeping import ROOT, Shelf, Stamp, Table, stamp_of
from .pages import Said, stale, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Run:
    """How to run: reduced or in full, with the real data or without, and where figures go."""

    quick: bool
    folder: Path | None
    out: Path | None
    seed: int = 1
    tables: list[Table] = field(default_factory=list)
    """Those of the figure that is being made."""
    asked: list[str] = field(default_factory=list)
    """What of the run a figure has looked at, that may be missing: "data"."""

    @property
    def data(self) -> Path | None:
        """The folder with the real data, or None."""
        self.asked.append("data")
        return self.folder

    def repetitions(self, full: int, quick: int) -> int:
        """Return how often to repeat an experiment."""
        return quick if self.quick else full

    def table(
        self, name: str, title: str, header: Sequence[str], rows: Sequence[Sequence[object]], *, timed: bool = False
    ) -> None:
        """Print a table in markdown and have it kept as NAME.csv; one of seconds is never compared."""
        print(f"\n### {title}\n\n| {' | '.join(header)} |\n|{'---|' * len(header)}")
        for row in rows:
            print(f"| {' | '.join(_text(cell) for cell in row)} |", flush=True)
        cells = tuple(
            tuple(str(float(f"{cell:.6g}")) if isinstance(cell, float) else str(cell) for cell in row) for row in rows
        )
        self.tables.append(Table(name, title, tuple(header), cells, timed))

    def figure(self, name: str, figure: Figure) -> None:
        """Keep a figure as NAME.png in the folder of --out."""
        if self.out is not None:
            figure.savefig(self.out / f"{name}.png", dpi=120)


@dataclass(frozen=True)
class Check:
    """A claim of the paper that the run can decide, and what was seen."""

    claim: str
    holds: bool
    seen: str


Make = Callable[[Run], Sequence[Check]]
"""Makes a figure and returns the claims that it checked."""

Figures = Mapping[str, Make]
"""From a figure's name to the function that makes it."""


def main(paper: str, about: str, figures: Figures, said: Said) -> None:
    """Run the figures asked for, list their checks and exit with 1 if one of them fails.

    Parameters
    ----------
    paper : str
        Name of its page, and of the folder where its results are kept.
    about : str
        For --help.
    figures : mapping
    said : callable
        From what is kept to what the pages say of it.
    """
    options = _options(about, figures)
    shelf = Shelf(ROOT / "examples" / "papers" / "results" / paper)
    if options.check or options.render:
        wrong = write(paper, shelf, said) if options.render else stale(paper, shelf, said)
        _end(wrong)
        return
    chosen = {name: figures[name] for name in options.figure or figures}
    # Before anything runs: whoever edits a module meanwhile does not change what is loaded.
    full, data = not options.quick, options.data is not None
    stamps = {name: stamp_of(make, Run.seed, full, data) if options.keep else None for name, make in chosen.items()}
    _end([line for name, make in chosen.items() for line in _one(name, make, stamps[name], options, shelf)])


def _options(about: str, figures: Figures) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--quick", action="store_true", help="few repetitions and small cases: some minutes")
    parser.add_argument("--data", type=Path, help="folder with the real data sets, npz files; without: synthetic only")
    parser.add_argument("--out", type=Path, help="folder for figures (PNG)")
    parser.add_argument("--figure", choices=figures, action="extend", nargs="+", help="only these")
    parser.add_argument("--keep", action="store_true", help="keep the tables; figures that are kept are not made again")
    parser.add_argument("--again", action="store_true", help="with --keep: make them again")
    parser.add_argument("--compare", action="store_true", help="exit with 1 where a table is not as kept")
    parser.add_argument("--render", action="store_true", help="run nothing: write what is kept into the pages")
    parser.add_argument("--check", action="store_true", help="run nothing: exit with 1 where pages say other than kept")
    options = parser.parse_args()
    if options.data is not None and not options.data.is_dir():
        parser.error(f"--data must be a folder, got {str(options.data)!r}")
    if options.quick and (options.keep or options.compare):
        parser.error("--keep and --compare take full runs: leave out --quick")
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
    return options


def _one(name: str, make: Make, stamp: Stamp | None, options: argparse.Namespace, shelf: Shelf) -> list[str]:
    """Make one figure; return what is wrong with it."""
    run, started = Run(options.quick, options.data, options.out), time.process_time()
    print(f"\n## {name}", flush=True)
    kept = shelf.get(name) if stamp and stamp.clean and not options.again else None
    if kept and kept.stamp == stamp:
        print("\nkept already")
        return [f"{claim} ({seen})" for claim, holds, seen in kept.checks.rows if holds != "yes"]
    checks = make(run)
    for check in checks:
        print(f"\n{'holds' if check.holds else 'FAILS'}: {check.claim} ({check.seen})", flush=True)
    seconds = time.process_time() - started
    print(f"\n({seconds:.1f} s)", flush=True)
    if stamp:
        rows = [(check.claim, "yes" if check.holds else "no", check.seen) for check in checks]
        shelf.put(name, stamp, run.tables, rows, seconds)
    lacking = options.data is None and "data" in run.asked
    drift = shelf.drift(name, run.tables, lacking=lacking) if options.compare else []
    return [f"{check.claim} ({check.seen})" for check in checks if not check.holds] + drift


def _end(wrong: Sequence[str]) -> None:
    for line in wrong:
        print(f"\nFAILS: {line}")
    if wrong:
        raise SystemExit(1)


def _text(cell: object) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
