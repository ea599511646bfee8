"""Run the accuracy comparisons: python benchmarks/run_accuracy.py --data FOLDER [--part NAME] [--write FOLDER]."""

import argparse
import os
import time
from pathlib import Path

from accuracy import (
    advice,
    distributions,
    frequencies,
    intervals,
    key_value,
    personalised,
    phases,
    phases_default,
    reduction,
    services_distribution,
    services_mean,
    shapes,
    smoothing,
    unequal,
)

PARTS = {
    "services-mean": services_mean,
    "services-distribution": services_distribution,
    "reduction": reduction,
    "distributions": distributions,
    "shapes": shapes,
    "intervals": intervals,
    "smoothing": smoothing,
    "unequal": unequal,
    "personalised": personalised,
    "key-value": key_value,
    "phases": phases,
    "phases-default": phases_default,
    "frequencies": frequencies,
    "advice": advice,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Accuracy over seeded repetitions, with standard errors.")
    parser.add_argument("--data", type=Path, required=True, help="folder with the real data sets, npz files")
    parser.add_argument("--part", choices=PARTS, action="append", help="only this part; may be repeated")
    parser.add_argument("--repetitions", type=int, default=50)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--write", type=Path, help="write each part to a page in this folder")
    parser.add_argument(
        "--kept", type=Path, help="of advice: folder whose cases are not judged anew, and that gets all"
    )
    parser.add_argument("--cases", type=int, help="of advice: no more than so many of the 60")
    options = parser.parse_args()
    for name in options.part or PARTS:
        part = PARTS[name]
        started = time.perf_counter()
        if part is advice:
            body, took = advice.run(options.data, options.kept, options.cases)
            asked = "advice" if options.cases is None else f"advice --cases {options.cases}"
        else:
            body = part.run(options.data, options.repetitions, options.workers)
            took = f"{options.repetitions} repetitions, {(time.perf_counter() - started) / 60:.0f} minutes"
            asked = name
        made = (
            f"Made by `python benchmarks/run_accuracy.py --data FOLDER --part {asked} --write docs/accuracy` ({took})."
        )
        page = "\n\n".join([f"# {part.TITLE}", made, (part.__doc__ or "").strip(), body]) + "\n"
        print(page, flush=True)
        if options.write:
            options.write.mkdir(exist_ok=True)
            (options.write / f"{name}.md").write_text(page)


if __name__ == "__main__":
    main()
