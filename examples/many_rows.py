"""Perturb many rows, Parquet to Parquet, and say the memory at its peak, the time, and the estimate.

    python examples/many_rows.py --rows 10000000

Makes the rows in a folder that is gone at the end: 8 bytes each, and as much again for the reports at the most.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
from optldp.mechanisms import duchi, make_exact, save_table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        table, people, reports = (Path(folder, name) for name in ("mech.json", "people.parquet", "reports.parquet"))
        save_table(make_exact(duchi([0.0, 1000.0], 1.0)).mechanism, table)
        with duckdb.connect(config={"memory_limit": "300MB"}) as connection:
            connection.sql(f"SELECT 1000 * random() AS income FROM range({rows})").write_parquet(str(people))
        optldp = [sys.executable, "-m", "optldp"]
        words = ["--column", "income", "--as", "index", "--out", str(reports)]
        subprocess.run([*optldp, "perturb", str(table), str(people), *words], check=True)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        unit = 2**20 if sys.platform == "darwin" else 2**10
        print(f"peak {used.ru_maxrss / unit:,.0f} MiB, {used.ru_utime + used.ru_stime:.1f} s of processor time")
        subprocess.run([*optldp, "estimate", str(table), str(reports)], check=True)


if __name__ == "__main__":
    main()
