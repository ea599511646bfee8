"""Measure pages of benchmarks, keep what was measured, and make the pages of it.

    python benchmarks/run.py [PAGE] [--write]      all pages, or one; to `results.json` and docs if they are to be kept
    python benchmarks/run.py PAGE --part NAME [ARGUMENT ...] [--write]
    python benchmarks/run.py --render              docs anew from `results.json`, nothing measured
    python benchmarks/run.py --check               what is slower than `results.json` says, in under a minute

A part is named after its file and returns tables; what it takes beyond its name is said in its `run`. The packages that
are compared with are an extra: `pip install -e ".[rivals]"`; without them their rows are empty.
"""

import argparse
import sys
from types import ModuleType

import results
import watched
from categories import designed_tables, frequencies, personalised_fit, sizes
from designs import (
    certified_designs,
    channel,
    closed_forms,
    derived_rivals,
    few_bits,
    hostile_problems,
    labels,
    many_knots,
    reference_optima,
    rivals,
    slider,
    targets,
)
from measured import calibration, timed
from reports import counting, counting_attributes, exact_tables, likelihoods, throughput, user_weights
from threadpoolctl import threadpool_limits

PAGES: dict[str, tuple[str, tuple[ModuleType, ...]]] = {
    "benchmarks": (
        "Benchmarks: designs",
        (
            rivals,
            many_knots,
            slider,
            hostile_problems,
            reference_optima,
            certified_designs,
            closed_forms,
            watched,
        ),
    ),
    "benchmarks-problem": ("Benchmarks: one program", (targets, derived_rivals, few_bits, labels, channel)),
    "benchmarks-reports": (
        "Benchmarks: drawing, counting and estimating",
        (throughput, exact_tables, counting, counting_attributes, user_weights, likelihoods),
    ),
    "benchmarks-categories": ("Benchmarks: categories", (sizes, designed_tables, frequencies, personalised_fit)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("page", choices=PAGES, nargs="?", help="all pages by default")
    parser.add_argument("--write", action="store_true", help="keep what is measured, in results.json and the pages")
    alone = parser.add_mutually_exclusive_group()
    alone.add_argument("--part", nargs="+", metavar=("NAME", "ARGUMENT"), help="only this part, and what it takes")
    alone.add_argument("--render", action="store_true", help="only make the pages, from results.json")
    alone.add_argument("--check", action="store_true", help="only say what is slower than results.json says")
    options = parser.parse_args()
    if options.check:
        (before,) = results.tables(results.read()[results.name_of(watched)])
        (now,) = watched.run()
        print("\n".join(results.compared(before, now)))
        return
    if not options.render:
        _measure(parser, options)
    if options.render or options.write:
        for name in PAGES:
            (results.DOCS / f"{name}.md").write_text(rendered(name))


def rendered(name: str) -> str:
    """A page of docs, as `results.json` has it."""
    return results.page(name, *PAGES[name], results.read())


def _measure(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Each part, kept as soon as it is measured: what comes later cannot lose it."""
    pages = [options.page] if options.page else list(PAGES)
    parts = {results.name_of(part): part for page in pages for part in PAGES[page][1]}
    arguments = []
    if options.part:
        name, *arguments = options.part
        if name not in parts:
            parser.error(f"--part must be one of {', '.join(parts)}, got {name!r}")
        parts = {name: parts[name]}
    if arguments and options.write:
        parser.error("a part with arguments of its own is not kept: leave out --write")
    for name, part in parts.items():
        print(f"{name} ...", end=" ", file=sys.stderr, flush=True)
        with threadpool_limits(1, user_api="blas"):
            least = calibration()
            tables, seconds = timed(lambda part=part: part.run(*(int(a) if a.isdigit() else a for a in arguments)))
            least = min(least, calibration())
        print(f"{seconds:.0f} s of the processor", file=sys.stderr, flush=True)
        print("\n\n".join([f"## {part.TITLE}", *(one.markdown() for one in tables)]) + "\n", flush=True)
        if options.write:
            results.write({**results.read(), name: results.record(tables, least)})


if __name__ == "__main__":
    main()
