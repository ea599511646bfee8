"""Run a page of benchmarks in one go and print Markdown: python benchmarks/run.py PAGE [--write docs/PAGE.md]."""

import argparse
import os
import platform
import sys
from importlib import metadata
from pathlib import Path

import categorical_designs
import categorical_reports
import certified_designs
import closed_forms
import counting
import counting_attributes
import exact_tables
import likelihoods
import personalised_fit
import reference_optima
import same_program
import throughput
import user_weights

PAGES = {
    "benchmarks": ("Benchmarks: designs", (reference_optima, same_program, certified_designs, closed_forms)),
    "benchmarks-reports": (
        "Benchmarks: drawing, counting and estimating",
        (throughput, exact_tables, counting, counting_attributes, user_weights, likelihoods),
    ),
    "benchmarks-categories": (
        "Benchmarks: categories",
        (categorical_designs, categorical_reports, personalised_fit),
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="A page of benchmarks, side by side in one run.")
    parser.add_argument("page", choices=PAGES)
    parser.add_argument("--write", type=Path, help="also write the page to this file")
    options = parser.parse_args()
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
