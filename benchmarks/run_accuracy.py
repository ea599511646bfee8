"""Run the accuracy comparisons: python benchmarks/run_accuracy.py --data FOLDER [--part NAME] [--write FOLDER]."""

import argparse
import os
import time
from pathlib import Path

from accuracy import (
    advice,
    distributions,
    frequencies,
    key_value,
    personalised,
    phases,
    reduction,
    services_distribution,
    services_mean,
    shapes,
    smoothing,
)

PARTS = {
    "services-mean": services_mean,
    "services-distribution": services_distribution,
    "reduction": reduction,
    "distributions": distributions,
    "shapes": shapes,
    "smoothing": smoothing,
    "personalised": personalised,
    "key-value": key_value,
    "phases": phases,
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
    parser.add_argument("--full", action="store_true", help="of advice: all 60 cases, an hour, not five of them")
    options = parser.parse_args()
    for name in options.part or PARTS:
        part = PARTS[name]
        started = time.perf_counter()
        full = {"full": True} if options.full and part is advice else {}
        body = part.run(options.data, options.repetitions, options.workers, **full)
        took = f"{options.repetitions} repetitions, {(time.perf_counter() - started) / 60:.0f} minutes"
        made = (
            f"Made by `python benchmarks/run_accuracy.py --data FOLDER --part {name} --write docs/accuracy` ({took})."
        )
        page = "\n\n".join([f"# {part.TITLE}", made, (part.__doc__ or "").strip(), body]) + "\n"
        print(page, flush=True)
        if options.write:
            options.write.mkdir(exist_ok=True)
            (options.write / f"{name}.md").write_text(page)


if __name__ == "__main__":
    main()
