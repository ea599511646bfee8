"""Run the accuracy comparisons: python benchmarks/run_accuracy.py --data FOLDER [--part NAME] [--write FOLDER]."""

import argparse
import os
import time
from pathlib import Path
from types import ModuleType

from accuracy import (
    advice,
    distributions,
    frequencies,
    full_tables,
    histograms,
    key_value,
    personalised,
    phases,
    phases_default,
    reduction,
    shapes,
    smoothing,
    wavelets,
)
from accuracy.intervals import assumed_lengths, intervals, levels_and_biased, short_intervals
from accuracy.services import services_and_queries, services_distribution, services_mean, unequal

PARTS: dict[str, ModuleType] = {
    "services-mean": services_mean,
    "services-distribution": services_distribution,
    "reduction": reduction,
    "distributions": distributions,
    "shapes": shapes,
    "intervals": intervals,
    "short-intervals": short_intervals,
    "services-and-queries": services_and_queries,
    "levels-and-biased": levels_and_biased,
    "assumed-lengths": assumed_lengths,
    "smoothing": smoothing,
    "unequal": unequal,
    "personalised": personalised,
    "key-value": key_value,
    "phases": phases,
    "phases-default": phases_default,
    "frequencies": frequencies,
    "advice": advice,
    "wavelets": wavelets,
    "histograms": histograms,
}
SHORT = (
    smoothing, unequal, phases_default, advice, wavelets, short_intervals, histograms, services_and_queries,
    levels_and_biased, assumed_lengths,
)  # fmt: skip
"""Parts whose page shows all; those of others show a summary of `rows`, which benchmarks/accuracy/full has as CSV."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Accuracy over seeded repetitions, with standard errors.")
    parser.add_argument("--data", type=Path, required=True, help="folder with the real data sets, npz files")
    parser.add_argument("--part", choices=PARTS, action="append", help="only this part; may be repeated")
    parser.add_argument("--repetitions", type=int, default=50)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--write", type=Path, help="write each part to a page in this folder")
    parser.add_argument(
        "--kept",
        type=Path,
        help="of intervals, short-intervals and advice: folder of what is not found anew, and that gets all",
    )
    parser.add_argument("--cases", type=int, help="of advice: no more than so many of the 60")
    parser.add_argument("--render", action="store_true", help="pages anew, of parts with a CSV and of what --kept has")
    options = parser.parse_args()
    if options.kept is not None:
        options.kept.mkdir(exist_ok=True)
    for name in options.part or PARTS:
        if options.render and PARTS[name] in SHORT and PARTS[name] is not short_intervals:
            continue
        page = page_of(name, options)
        print(page, flush=True)
        if options.write and PARTS[name] is not wavelets:  # docs/theory/estimators.md says what it found
            options.write.mkdir(exist_ok=True)
            (options.write / f"{name}.md").write_text(page)


def page_of(name: str, options: argparse.Namespace) -> str:
    """Run a part, or read what was kept of it, and return its page."""
    part, asked, more = PARTS[name], name, ""
    started = time.perf_counter()
    asked_of = (options.data, options.repetitions, options.workers)
    if part is advice:
        body, took = advice.run(options.data, options.kept, options.cases)
        asked = "advice" if options.cases is None else f"advice --cases {options.cases}"
    elif part not in SHORT:
        if not options.render:
            rows = part.rows(*asked_of, options.kept) if part is intervals else part.rows(*asked_of)
            often = f"{options.repetitions} repetitions, in several runs"
            full_tables.keep(name, rows, often if options.kept else _took(options.repetitions, started))
        rows, took = full_tables.kept(name)
        body, more = part.page(rows), f" All that it found: `benchmarks/accuracy/full/{name}.csv`."
    else:
        if part is short_intervals:
            body, took = part.run(*asked_of, options.kept, render=options.render), "in several runs, --kept FOLDER"
        else:
            body, took = part.run(*asked_of), _took(options.repetitions, started)
    command = f"python benchmarks/run_accuracy.py --data FOLDER --part {asked} --write docs/accuracy"
    made = f"`{command}` made this page ({took}).{more}"
    return "\n\n".join([f"# {part.TITLE}", made, (part.__doc__ or "").strip(), body]) + "\n"


def _took(repetitions: int, started: float) -> str:
    return f"{repetitions} repetitions, {(time.perf_counter() - started) / 60:.0f} minutes"


if __name__ == "__main__":
    main()
