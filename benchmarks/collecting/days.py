"""Thirty days of reports, late and doubled ones among them, counted by runs that are killed: are the counts the same?

    python benchmarks collecting.days --reports 1000000 --seed 1 --write docs/how-to/engines-over-time.md

Each day has two batches, in an order of chance: the reports of that day with those of three days before that were held
up, and a tenth of what came the day before once more, some of it after its day was closed. A run is killed (SIGKILL)
after a part of the time that the last whole one took, chosen at random, and started again. The counts must be those of
all reports, each once. Prints, and writes into the page, processor seconds, memory and the size of what is known.
"""

from __future__ import annotations

import argparse
import json
import resource
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from optldp.estimators.days import load_days
from optldp.mechanisms import duchi, make_exact, save_table
from optldp.mechanisms.files.identifier import table_identifier

DAYS, LATE = 30, 3
HELD_UP, AGAIN = 0.2, 10
"""Share of reports that come up to three days late, and which part of a day's batch comes once more."""

MARKS = "<!-- days -->\n", "\n<!-- end of days -->"

FIRST = date(2026, 5, 1)
DIGITS = 32


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--reports", type=int, default=1_000_000, help="a day")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kept", type=Path, help="folder from which a run that was stopped goes on")
    parser.add_argument("--write", type=Path, help="a page with marks for what came of it")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.kept or Path(temporary)
        folder.mkdir(exist_ok=True)
        same, text = collected(Collection(asked.reports, asked.seed), folder)
        print(text)
        if same and asked.write is not None:
            page = asked.write.read_text()
            start, stop = (page.index(mark) for mark in MARKS)
            asked.write.write_text(page[: start + len(MARKS[0])] + text + page[stop:])
        sys.exit(not same)


def collected(made: Collection, folder: Path) -> tuple[bool, str]:
    """Count all days, and return whether the counts are those of all reports, and what came of it."""
    kept = folder / "kept.json"
    if kept.exists():
        spent = Spent(**json.loads(kept.read_text()))
    else:
        save_table(made.table, folder / "mech.json")
        spent = Spent()
    while spent.days < DAYS + LATE:
        runs = Runs(folder, np.random.default_rng([made.seed, DAYS, spent.days]), spent)
        batches = [made.batch(spent.days)]
        if spent.days:
            batches.append(made.batch(spent.days - 1, AGAIN))
        for place in runs.rng.permutation(len(batches)):
            runs.count(batches[place], FIRST + timedelta(spent.days))
        spent.days += 1
        kept.write_text(json.dumps(asdict(spent)))
    name, found = table_identifier(made.table), load_days([folder / "counts"])
    expected = np.array([np.bincount(made.day(number)[0]["output"], minlength=2) for number in range(DAYS)])
    told = np.zeros_like(expected)
    for day in found.dates(name):
        rows = found.rows(name, day)
        told[(day - FIRST).days, rows["output"].astype(int)] = rows["n"]
    same = bool((told == expected).all()) and not found.number(name, "invalid")
    runs = f"{spent.killed} of {spent.killed + spent.batches} runs killed"
    text = (
        f"{expected.sum():,} reports of {DAYS} days, {runs}: {'the same counts' if same else 'OTHERS'}. It took "
        f"{spent.processor:.0f} s of processor time and at most {spent.memory:.0f} MB of memory, and "
        f"{(folder / 'counts' / 'state.duckdb').stat().st_size / 1e6:.0f} MB of state were left (seed {made.seed})."
    )
    return same, text


@dataclass
class Spent:
    """What a collection took so far: whole days, batches, runs killed, seconds of processors, MB at most, seconds of
    the last whole run."""

    days: int = 0
    batches: int = 0
    killed: int = 0
    processor: float = 0.0
    memory: float = 0.0
    seconds: float = 3.0


class Collection:
    """Reports of all days, the same for the same seed."""

    def __init__(self, many: int, seed: int) -> None:
        self.many, self.seed = many, seed
        self.table = make_exact(duchi([0.0, 1.0], 1.0)).mechanism
        self.day = lru_cache(LATE + 2)(self._day)

    def _day(self, number: int) -> tuple[pa.Table, np.ndarray]:
        """A day's reports as `perturb --day` writes them, and how many days late each comes."""
        rng = np.random.default_rng([self.seed, number])
        digits = rng.bytes(DIGITS // 2 * self.many).hex()
        columns = {
            "output": self.table.sample_index(rng.uniform(0, 1, self.many), rng),
            "day": pa.repeat((FIRST + timedelta(number)).isoformat(), self.many),
            "report_id": [digits[start : start + DIGITS] for start in range(0, len(digits), DIGITS)],
            "table": pa.repeat(table_identifier(self.table), self.many),
        }
        return pa.table(columns), rng.integers(0, LATE + 1, self.many) * (rng.random(self.many) < HELD_UP)

    def batch(self, number: int, part: int = 1) -> pa.Table:
        """Return what comes on a day, or the first of so many parts of it."""
        parts = []
        for day in range(max(0, number - LATE), min(number, DAYS - 1) + 1):
            rows, delays = self.day(day)
            coming = np.flatnonzero(delays == number - day)
            parts.append(rows.take(pa.array(coming[: coming.size // part])))
        return pa.concat_tables(parts)


class Runs:
    """Runs of `optldp count`, half of which are killed."""

    def __init__(self, folder: Path, rng: np.random.Generator, spent: Spent) -> None:
        self.folder, self.rng, self.spent = folder, rng, spent

    def count(self, batch: pa.Table, today: date) -> None:
        """Count a batch, by runs that are killed until one is not."""
        pq.write_table(batch, self.folder / "batch.parquet")
        words = ["count", "mech.json", "batch.parquet", "--by", "table,day", "--late", str(LATE)]
        run = [sys.executable, "-m", "optldp", *words, "--today", today.isoformat(), "--out", "counts"]
        while self._is_killed(run):
            self.spent.killed += 1
        self.spent.batches += 1

    def _is_killed(self, run: list[str]) -> bool:
        patience = self.spent.seconds * self.rng.random() if self.rng.random() < 0.5 else None
        started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        running = subprocess.Popen(run, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        killed, told = False, b""
        try:
            _, told = running.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGKILL)
            running.communicate()
            killed = True
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.spent.processor += after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.spent.memory = max(self.spent.memory, after.ru_maxrss / 1e3)
        if running.returncode and not killed:
            raise SystemExit(told.decode())
        if not killed:
            self.spent.seconds = time.perf_counter() - started
        return killed


if __name__ == "__main__":
    main()
