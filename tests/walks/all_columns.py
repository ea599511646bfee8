"""Walk the analyst's way through every column of a folder of npz files, at 100,000 rows each.

python -m tests.walks.all_columns --data FOLDER [--only TEXT]: prints the processor seconds of the slowest step of each
command and on which column; exit code 1 at an answer that makes no sense.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from .columns import columns_of
from .take import walk_categories, walk_numbers
from .walk import SECONDS


def main() -> int:
    """Walk, and say how long it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the real data sets, npz files")
    parser.add_argument("--only", default="", help="columns whose names hold this text")
    asked = parser.parse_args()
    slowest: dict[str, tuple[float, str]] = {}
    failed = 0
    for column in columns_of(asked.data):
        if asked.only not in column.name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                found = (walk_categories if column.is_text else walk_numbers)(
                    column, Path(folder), *([] if column.is_text else [""])
                )
            except AssertionError as error:
                failed += 1
                print(f"{column.name}: {str(error)[:1500]}", flush=True)
                continue
            finally:
                os.chdir("/")
        took = {f"{place:2} {command}": seconds for place, (command, seconds) in enumerate(found.took, 1)}
        for command, seconds in took.items():
            slowest[command] = max(slowest.get(command, (0.0, "")), (seconds, column.name))
        print(f"{column.name}: {sum(took.values()):.1f} s, the longest {max(took.values()):.1f} s", flush=True)
    for command, (seconds, name) in sorted(slowest.items()):
        print(f"{command:16} {seconds:6.1f} s  {name}{'  more than ' + f'{SECONDS:g} s' if seconds > SECONDS else ''}")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
