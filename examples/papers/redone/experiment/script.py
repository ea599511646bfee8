"""What the scripts of this folder share: their options, and a table that is printed and kept as CSV."""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Run:
    """How to run: reduced or in full, with the real data or without, and where figures go."""

    quick: bool
    data: Path | None
    out: Path | None
    seed: int = 1

    def repetitions(self, full: int, quick: int) -> int:
        """Return how often to repeat an experiment."""
        return quick if self.quick else full

    def table(self, name: str, title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Print a table in markdown, and keep it as NAME.csv in the folder of --out."""
        print(f"\n### {title}\n\n| {' | '.join(header)} |\n|{'---|' * len(header)}")
        for row in rows:
            print(f"| {' | '.join(_text(cell) for cell in row)} |", flush=True)
        if self.out is not None:
            with (self.out / f"{name}.csv").open("w", newline="") as file:
                csv.writer(file).writerows([header, *rows])

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


def main(about: str, figures: Mapping[str, Callable[[Run], Sequence[Check]]]) -> None:
    """Run the figures asked for, list their checks and exit with 1 if one of them fails.

    Parameters
    ----------
    about : str
        For --help.
    figures : mapping
        From a figure's name to the function that makes it; what it returns are the claims that it checked.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--quick", action="store_true", help="few repetitions and small cases: some minutes")
    parser.add_argument("--data", type=Path, help="folder with the real data sets, npz files; without: synthetic only")
    parser.add_argument("--out", type=Path, help="folder for figures (PNG) and tables (CSV)")
    parser.add_argument("--figure", choices=figures, action="extend", nargs="+", help="only these")
    options = parser.parse_args()
    if options.data is not None and not options.data.is_dir():
        parser.error(f"--data must be a folder, got {str(options.data)!r}")
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
    run, failed = Run(options.quick, options.data, options.out), False
    for name in options.figure or figures:
        started = time.perf_counter()
        print(f"\n## {name}", flush=True)
        for check in figures[name](run):
            failed = failed or not check.holds
            print(f"\n{'holds' if check.holds else 'FAILS'}: {check.claim} ({check.seen})", flush=True)
        print(f"\n({time.perf_counter() - started:.1f} s)", flush=True)
    if failed:
        raise SystemExit(1)


def _text(cell: object) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
