"""Thirty days of reports, late and doubled ones among them, counted by runs that are killed: are the counts the same?

    python benchmarks/days.py --reports 1000000 --seed 1

Each day has two batches, in an order of chance: the reports of that day with those of three days before that were held
up, and a tenth of what came the day before once more, some of it after its day was closed. A run is killed (SIGKILL)
after a part of the time that the last whole one took, chosen at random, and started again. The counts must be those of
all reports, each once. Prints processor seconds, memory and the size of what is known.
"""

import argparse
import resource
import signal
import subprocess
import sys
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from optldp.estimators.days import load_days
from optldp.mechanisms import duchi, make_exact, save_table
from optldp.mechanisms.files.identifier import table_identifier
from optldp.mechanisms.table.table import TabulatedMechanism

DAYS, LATE = 30, 3
HELD_UP, AGAIN = 0.2, 10
"""Share of reports that come up to three days late, and which part of a day's batch comes once more."""

FIRST = date(2026, 5, 1)
DIGITS = 32


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--reports", type=int, default=1_000_000, help="a day")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rng = np.random.default_rng(asked.seed)
    table = make_exact(duchi([0.0, 1.0], 1.0)).mechanism
    expected = np.zeros((DAYS, 2), dtype=np.int64)
    arriving: list[list[pa.Table]] = [[] for _ in range(DAYS + LATE + 1)]
    with tempfile.TemporaryDirectory() as temporary:
        runs = Runs(Path(temporary), rng)
        save_table(table, runs.folder / "mech.json")
        for number in range(DAYS + LATE):
            if number < DAYS:
                made = reports(table, number, asked.reports, rng)
                expected[number] = np.bincount(made["output"], minlength=2)
                delays = rng.integers(0, LATE + 1, asked.reports) * (rng.random(asked.reports) < HELD_UP)
                for delay in range(LATE + 1):
                    arriving[number + delay].append(made.filter(pa.array(delays == delay)))
            batches = [pa.concat_tables(arriving[number])]
            if number:
                batches.append(pa.concat_tables(part.slice(0, part.num_rows // AGAIN) for part in arriving[number - 1]))
                arriving[number - 1] = []
            for place in rng.permutation(len(batches)):
                runs.count(batches[place], FIRST + timedelta(number))
        found = load_days([runs.folder / "counts"])
        told = np.zeros_like(expected)
        for day in found.dates(table_identifier(table)):
            rows = found.rows(table_identifier(table), day)
            told[(day - FIRST).days, rows["output"].astype(int)] = rows["n"]
        size = (runs.folder / "counts" / "state.duckdb").stat().st_size
    same = bool((told == expected).all()) and not found.number(table_identifier(table), "invalid")
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{expected.sum():,} reports of {DAYS} days in {runs.batches} batches, {runs.killed} runs killed:", end=" ")
    print("the same counts" if same else "OTHERS")
    print(
        f"{spent.ru_utime + spent.ru_stime:.0f} s of processor time, {spent.ru_maxrss / 1e3:.0f} MB of memory at most,"
    )
    print(f"{size / 1e6:.0f} MB of state")
    sys.exit(not same)


def reports(table: TabulatedMechanism, day: int, many: int, rng: np.random.Generator) -> pa.Table:
    """Return a day's reports as `perturb --day` writes them."""
    digits = rng.bytes(DIGITS // 2 * many).hex()
    return pa.table(
        {
            "output": table.sample_index(rng.uniform(0, 1, many), rng),
            "day": pa.repeat((FIRST + timedelta(day)).isoformat(), many),
            "report_id": [digits[start : start + DIGITS] for start in range(0, len(digits), DIGITS)],
            "table": pa.repeat(table_identifier(table), many),
        }
    )


class Runs:
    """Runs of `optldp count`, half of which are killed."""

    def __init__(self, folder: Path, rng: np.random.Generator) -> None:
        self.folder, self.rng, self.batches, self.killed, self.seconds = folder, rng, 0, 0, 3.0

    def count(self, batch: pa.Table, today: date) -> None:
        """Count a batch, by runs that are killed until one is not."""
        pq.write_table(batch, self.folder / "batch.parquet")
        self.batches += 1
        words = ["count", "mech.json", "batch.parquet", "--by", "table,day", "--late", str(LATE)]
        run = [sys.executable, "-m", "optldp", *words, "--today", today.isoformat(), "--out", "counts"]
        while True:
            patience = self.seconds * self.rng.random() if self.rng.random() < 0.5 else None
            started = time.perf_counter()
            running = subprocess.Popen(run, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            try:
                _, told = running.communicate(timeout=patience)
            except subprocess.TimeoutExpired:
                running.send_signal(signal.SIGKILL)
                running.communicate()
                self.killed += 1
                continue
            if running.returncode:
                raise SystemExit(told.decode())
            self.seconds = time.perf_counter() - started
            return


if __name__ == "__main__":
    main()
