"""Run a page of benchmarks in one go, or a part of it, and print Markdown.

    python benchmarks/run.py PAGE [--write docs/PAGE.md]
    python benchmarks/run.py PAGE --part NAME [ARGUMENT ...]

A part is named after its file; what it takes beyond its name is said in its `run`.
"""

import argparse
import os
import platform
import sys
from importlib import metadata
from pathlib import Path

from categories import designed_tables, frequencies, personalised_fit, sizes
from designs import certified_designs, closed_forms, many_knots, reference_optima, same_program
from reports import counting, counting_attributes, exact_tables, likelihoods, throughput, user_weights

PAGES = {
    "benchmarks": (
        "Benchmarks: designs",
        (reference_optima, same_program, many_knots, certified_designs, closed_forms),
    ),
    "benchmarks-reports": (
        "Benchmarks: drawing, counting and estimating",
        (throughput, exact_tables, counting, counting_attributes, user_weights, likelihoods),
    ),
    "benchmarks-categories": ("Benchmarks: categories", (sizes, designed_tables, frequencies, personalised_fit)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="A page of benchmarks, side by side in one run.")
    parser.add_argument("page", choices=PAGES)
    alone = parser.add_mutually_exclusive_group()
    alone.add_argument("--write", type=Path, help="also write the page to this file")
    alone.add_argument("--part", nargs="+", metavar=("NAME", "ARGUMENT"), help="only this part, and what it takes")
    options = parser.parse_args()
    if options.part:
        name, *arguments = options.part
        parts = {part.__name__.rpartition(".")[2]: part for part in PAGES[options.page][1]}
        if name not in parts:
            parser.error(f"--part must be one of {', '.join(parts)}, got {name!r}")
        print(parts[name].run(*(int(one) if one.isdigit() else one for one in arguments)))
        return
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "scipy", "highspy", "cvxpy"))
    title, parts = PAGES[options.page]
    page = [
        f"# {title}",
        f"Made by `python benchmarks/run.py {options.page} --write docs/{options.page}.md`, everything in one run. "
        "Seconds depend on the machine and its load; ratios measured side by side are what to look at.",
        f"Machine: {os.cpu_count()} cores, {platform.machine()}, {platform.system()}; "
        f"Python {platform.python_version()}, {versions}.",
    ]
    for part in parts:
        print(part.TITLE, "...", file=sys.stderr, flush=True)
        page += [f"## {part.TITLE}", (part.__doc__ or "").strip(), part.run()]
    text = "\n\n".join(page) + "\n"
    print(text)
    if options.write:
        options.write.write_text(text)


if __name__ == "__main__":
    main()
