"""The publisher: from the database to Parquet, from Parquet to counts, from counts to the page; a process of its own.

A part is begun in the database, written, counted, and only then deleted there. Killed at any of these, it is done
again: its file is replaced, and `optldp count` knows each report_id and counts it once.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from events import log
from page import write_page
from settings import HERE, Settings, read_settings
from store import Row, Store, StoreDownError

sys.path.append(str(HERE.parents[1] / "clients" / "python"))

from optldp_client import read_table

OPTLDP = Path(sys.executable).parent / "optldp"


class CommandError(Exception):
    """A command of optldp stopped; its last line."""


def optldp(*arguments: str | Path) -> dict[str, Any]:
    """Return what a command of optldp answers with --json; a monitor that finds something is no fault."""
    ran = subprocess.run(
        [OPTLDP, *map(str, arguments), "--json"], capture_output=True, text=True, timeout=300, check=False
    )
    try:
        return json.loads(ran.stdout)
    except ValueError:
        raise CommandError((ran.stderr.strip().splitlines() or ["no answer"])[-1]) from None


def publish(store: Store, settings: Settings) -> int:
    """Publish what is ready, a part at a time, and return the number of reports."""
    told, many = settings.publishing, 0
    closed = (_today() - timedelta(settings.collection["late_days"])).isoformat()
    while (part := store.next_part(told["at_least"], closed)) is not None:
        rows = store.rows_of(part)
        written: dict[str, list[Path]] = {}
        for (table, day), some in groupby(sorted(rows, key=_place), key=_place):
            written.setdefault(table, []).append(write_part(settings.data, table, day, part, some))
        files = table_files(settings)
        for table, paths in written.items():
            for path in paths:
                count(settings, files[table], path)
        store.published(part)
        many += len(rows)
        log("published", part=part, reports=len(rows))
    return many


def write_part(data: Path, table: str, day: str, part: int, rows: Iterable[Row]) -> Path:
    """Write the reports of a table and day, in the order of their random names, and return the file's path."""
    folder = data / "reports" / f"table={table}" / f"day={day}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"part-{part:06}.parquet"
    made = path.with_suffix(".new")
    records = [asdict(row) for row in sorted(rows, key=lambda row: row.report_id)]
    types = pa.schema(
        [("table", pa.string()), ("output", pa.int64()), ("day", pa.string()), ("report_id", pa.string())]
    )
    pq.write_table(pa.Table.from_pylist(records, types), made)
    with made.open("rb") as file:
        os.fsync(file.fileno())
    made.replace(path)
    return path


def count(settings: Settings, table: Path, reports: Path) -> None:
    """Add a file of reports to its table's counts by day; one that is added again counts once."""
    told = settings.publishing
    late, least = str(settings.collection["late_days"]), str(told["min_batch"])
    by_day = ("--by", "table,day", "--late", late, "--min-batch", least, "--keep-first", "--skip-invalid")
    optldp("count", table, reports, *by_day, "--out", settings.data / "counts" / table.stem)


def tell(settings: Settings) -> None:
    """Estimate from all counts, monitor those of each table, and write the page."""
    counted = [path for path in settings.tables if (settings.data / "counts" / path.stem).is_dir()]
    folders = [settings.data / "counts" / path.stem for path in counted]
    monitors = {path.stem: optldp("monitor", path, folder) for path, folder in zip(counted, folders, strict=True)}
    ready = [
        (path, folder)
        for path, folder in zip(counted, folders, strict=True)
        if sum(day["n"] for day in monitors[path.stem]["days"])
    ]
    counts = [argument for _, folder in ready for argument in ("--counts", folder)]
    alike = ["--alike"] if len(ready) > 1 else []
    answer = optldp("estimate", *(path for path, _ in ready), *counts, *alike) if ready else None
    write_page(settings.data / "published", settings.collection["question"], answer, monitors)


def table_files(settings: Settings) -> dict[str, Path]:
    """Return the file of each table that the settings name, by its identifier."""
    return {read_table(path.read_text("utf-8")).identifier: path for path in settings.tables}


def retain(store: Store, settings: Settings) -> None:
    """Delete partitions of days that are old, and marks of rounds that are over; counts stay."""
    oldest = (_today() - timedelta(settings.publishing["keep_days"])).isoformat()
    for folder in (settings.data / "reports").glob("table=*/day=*"):
        if folder.name.removeprefix("day=") < oldest:
            shutil.rmtree(folder)
            log("partition deleted", day=folder.name.removeprefix("day="))
    collection = settings.collection
    going_on = collection["round"] if _today() <= collection["round_ends"] else None
    if marks := store.forget_rounds(but=going_on):
        log("marks deleted", marks=marks)


def main(path: str, database: str) -> None:
    """Publish every few seconds until told to stop; settings are read each time."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    store, stale = Store(database), True
    while True:
        settings = read_settings(Path(path))
        try:
            stale = bool(publish(store, settings)) or stale
            retain(store, settings)
            if stale:
                tell(settings)
                stale = False
        except (StoreDownError, CommandError, OSError, KeyError) as fault:
            log("publishing waits", fault=f"{type(fault).__name__}: {fault}"[:300])
        time.sleep(settings.publishing["seconds"])


def _place(row: Row) -> tuple[str, str]:
    return row.table, row.day


def _today() -> date:
    return datetime.now(UTC).date()


if __name__ == "__main__":
    main(*sys.argv[1:])
