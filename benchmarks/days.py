"""Thirty days of reports, late and doubled ones among them, counted by runs that are killed: are the counts the same?

    python benchmarks/days.py --reports 1000000 --seed 1

Each day's batch has what arrived on it: reports of that day and of three days before, and a tenth of those of the day
before again. A run is killed (SIGKILL) after a random time and started again, until it ends by itself. The counts must
be those of all reports, each once. Prints processor seconds and the size of what is known.
"""

import argparse
import resource
import signal
import subprocess
import sys
import tempfile
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from optldp.estimators.days import load_days
from optldp.mechanisms import duchi, make_exact, save_table
from optldp.mechanisms.files.identifier import table_identifier

DAYS, LATE = 30, 3
KILLS = 2
"""Runs of a batch that are killed at most."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--reports", type=int, default=1_000_000, help="a day")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rng, many = np.random.default_rng(asked.seed), asked.reports
    table = make_exact(duchi([0.0, 1.0], 1.0)).mechanism
    name, first, killed = table_identifier(table), date(2026, 5, 1), 0
    expected = np.zeros((DAYS, 2), dtype=np.int64)
    waiting: list[tuple[int, pa.Table]] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        save_table(table, folder / "mech.json")
        for number in range(DAYS + LATE):
            today = (first + timedelta(number)).isoformat()
            if number < DAYS:
                outputs = table.sample_index(rng.uniform(0, 1, many), rng)
                expected[number] = np.bincount(outputs, minlength=2)
                ids = [f"{number:02d}{place:030x}" for place in range(many)]
                made = pa.table({"output": outputs, "day": [today] * many, "report_id": ids, "table": [name] * many})
                arrives = number + rng.integers(0, LATE + 1, many) * (rng.random(many) < 0.2)
                waiting += [(day, made.filter(pa.array(arrives == day))) for day in range(number, number + LATE + 1)]
            batches = [[part for day, part in waiting if day == number]]
            batches.append([part.slice(0, part.num_rows // 10) for day, part in waiting if day == number - 1])
            waiting = [(day, part) for day, part in waiting if day >= number]
            for parts in filter(None, batches):
                pq.write_table(pa.concat_tables(parts), folder / "batch.parquet")
                killed += count(folder, today, rng)
        found = load_days([folder / "counts"])
        told = np.zeros_like(expected)
        for day in found.dates(name):
            rows = found.rows(name, day)
            told[(day - first).days, rows["output"].astype(int)] = rows["n"]
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        size = (folder / "counts" / "state.duckdb").stat().st_size
    same = bool((told == expected).all())
    print(f"{expected.sum():,} reports of {DAYS} days, {killed} runs killed: {'the same counts' if same else 'OTHERS'}")
    print(f"{spent.ru_utime + spent.ru_stime:.0f} s of processor time, {size / 1e6:.0f} MB of state")
    sys.exit(not same)


def count(folder: Path, today: str, rng: np.random.Generator) -> int:
    """Count a batch, by runs that are killed until one is not; return how many were."""
    words = ["count", "mech.json", "batch.parquet", "--by", "table,day", "--late", str(LATE), "--today", today]
    run = [sys.executable, "-m", "optldp", *words, "--out", "counts"]
    for killed in range(KILLS + 1):
        patience = None if killed == KILLS else rng.uniform(0.5, 3.0)
        running = subprocess.Popen(run, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            _, told = running.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGKILL)
            running.communicate()
            continue
        if running.returncode:
            raise SystemExit(told.decode())
        return killed
    raise AssertionError("the last run is not killed")


if __name__ == "__main__":
    main()
