"""Devices on this machine against a whole deployment, which is killed in the middle: is anything lost, or twice?

    python examples/deployment/simulate.py --devices 100000

In a folder of its own it starts run.py. When 30% of the devices are done it kills the service, at 50% it rotates the
table, at 65% it kills the database (with SQLite the service, which holds it). 1% of devices send twice, half of these
another report; 1% send rubbish; 1% are asked again after the rotation. At the end it compares what was acknowledged
with what is in Parquet and in the counts. The exit code is 1 if anything is lost or counted twice.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from database import database_of
from device import GIVEN, Agreement, Connection, DeclinedError, offer
from publish import optldp, table_files
from settings import HERE, Settings, read_settings
from store import Store, StoreDownError
from tokens import new_token, token_key

SERVICE_DIES, ROTATION, DATABASE_DIES = 0.3, 0.5, 0.65  # shares of devices that are done
PATIENCE = 120.0  # seconds that a device goes on trying, and that publishing may take

Answer = tuple[int, bytes]


@dataclass
class Outcome:
    """What the devices saw."""

    acknowledged: set[str] = field(default_factory=set)  # report_ids of first reports
    seconds_sent: set[str] = field(default_factory=set)  # of other reports by a token that was used
    refused: int = 0
    taken_rubbish: int = 0
    asked_again: int = 0
    gave_again: int = 0
    sent_again: int = 0
    by_table: Counter[str] = field(default_factory=Counter)


class Watched:
    """An exchange that remembers the last row that went through it, and how many did."""

    def __init__(self, connection: Connection) -> None:
        self.connection, self.row, self.sent = connection, b"", 0

    def __call__(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Answer:
        """Pass on, and remember."""
        if method == "POST":
            self.row, self.sent = body, self.sent + 1
        return self.connection(method, path, headers, body)


def patient(exchange: Any, headers: dict[str, str], body: bytes) -> Answer:
    """Send until an answer that is not `again`, as a device does."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            status, answer = exchange("POST", "/v1/reports", headers, body)
            if status not in (429, 503):
                return status, answer
        except OSError:
            pass
        time.sleep(0.2)
    raise TimeoutError("the service must come back")


def one_device(
    exchange: Watched, agreement: Agreement, token: str, chance: random.Random
) -> tuple[dict[str, Any], str]:
    """Let a device give its report, however often it must try; return its record and the row's id."""
    record: dict[str, Any] = {}
    value = min(chance.lognormvariate(10.3, 0.6), 199_999.0)
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            if offer(value, token, agreement, record, exchange) == GIVEN:
                return record, json.loads(exchange.row)["report_id"]
        except DeclinedError as fault:
            if "must be there" not in str(fault):
                raise
        time.sleep(0.2)
    raise TimeoutError("the service must come back")


def rubbish(chance: random.Random, row: bytes, token: str) -> tuple[dict[str, str], bytes]:
    """Return headers and a body that the service must refuse."""
    told = json.loads(row) if row else {"table": "", "output": 0, "day": "", "report_id": "0" * 32}
    right = {"Authorization": f"Bearer {token}"}
    kinds = [
        (right, row[: len(row) // 2]),
        (right, json.dumps(told | {"table": "t000000000000"}).encode()),
        (right, json.dumps(told | {"output": 10**6}).encode()),
        (right, json.dumps(told | {"output": True}).encode()),
        (right, json.dumps(told | {"day": "2026-05-01T10:00"}).encode()),
        (right, json.dumps(told | {"name": "Ann"}).encode()),
        (right, b"x" * 4096),
        ({"Authorization": f"Bearer {'0' * 64}"}, row or b"{}"),
        ({}, row or b"{}"),
    ]
    return chance.choice(kinds)


def work(numbers: Any, lock: threading.Lock, settings: Settings, agreement: Agreement, outcome: Outcome) -> None:
    """Be one device after another."""
    key, round_ = token_key(settings.data), settings.collection["round"]
    exchange = Watched(Connection(settings.service["host"], settings.service["port"]))
    kept: list[dict[str, Any]] = []
    while True:
        with lock:
            number = next(numbers, None)
        if number is None:
            break
        chance = random.Random(number)
        token = new_token(key, round_)
        if number % 100 == 1:
            status, _ = patient(exchange, *rubbish(chance, exchange.row, token))
            with lock:
                outcome.refused += 400 <= status < 500
                outcome.taken_rubbish += status == 200
            continue
        record, name = one_device(exchange, agreement, token, chance)
        with lock:
            outcome.acknowledged.add(name)
            outcome.by_table[record[agreement.question]["table"]] += 1
        if number % 100 == 2:
            row = json.loads(exchange.row)
            if number % 200 == 2:
                row["report_id"] = f"{chance.getrandbits(128):032x}"
            patient(exchange, {"Authorization": f"Bearer {token}"}, json.dumps(row).encode())
            with lock:
                outcome.sent_again += 1
                outcome.seconds_sent.update({row["report_id"]} - {name})
        if number % 100 == 3:
            kept.append(record)
    for record in kept:  # asked again, whatever tables have come since
        before = exchange.sent
        offer(1.0, "", agreement, record, exchange)
        with lock:
            outcome.asked_again += 1
            outcome.gave_again += exchange.sent - before


def write_settings(folder: Path, port: int, kind: str, tables: int) -> Path:
    """Write the settings of the example, with limits for one address that is all devices."""
    text = (HERE / "settings.toml").read_text("utf-8")
    names = [str(HERE / "tables" / f"income-{number + 1}.json") for number in range(tables)]
    for before, after in (
        ("port = 8036", f"port = {port}"),
        ('["tables/income-1.json"]', json.dumps(names)),
        ('kind = "auto"', f'kind = "{kind}"'),
        ("requests_a_minute = 600", "requests_a_minute = 100000000"),
        ("reports_a_second = 5000", "reports_a_second = 100000"),
        ("seconds = 10", "seconds = 2"),
        ("at_least = 100", "at_least = 1"),
        ("min_batch = 100", "min_batch = 1"),
    ):
        if before not in text:
            raise ValueError(f"settings.toml must have {before!r}")
        text = text.replace(before, after, 1)
    path = folder / "settings.toml"
    path.with_suffix(".new").write_text(text, "utf-8")
    path.with_suffix(".new").replace(path)
    return path


def kill(data: Path, name: str) -> None:
    """Kill a process of the deployment, so that it can clean up nothing."""
    print(f"killed: {name}", flush=True)
    os.kill(int((data / f"{name}.pid").read_text()), signal.SIGKILL)


def published(settings: Settings) -> tuple[list[str], int]:
    """Return the report_ids in Parquet, and how many reports are in the counts by day."""
    files = sorted((settings.data / "reports").rglob("*.parquet"))
    names = [name for path in files for name in pq.ParquetFile(path).read().column("report_id").to_pylist()]
    counted = 0
    for path in table_files(settings).values():
        folder = settings.data / "counts" / path.stem
        if folder.exists():
            counted += sum(day["n"] + day["waiting"] for day in optldp("monitor", path, folder)["days"])
    return names, counted


def simulate(folder: Path, devices: int, threads: int, port: int, kind: str) -> bool:
    """Run it all in a folder, print what was seen, and return whether nothing was lost or counted twice."""
    path = write_settings(folder, port, kind, 1)
    settings = read_settings(path)
    with (folder / "log").open("wb") as told:
        running = subprocess.Popen([sys.executable, HERE / "run.py", path], stdout=told, stderr=told)
    try:
        return _with_running(running, folder, settings, devices, threads, kind)
    finally:
        running.terminate()
        running.wait(60)


def _with_running(running: Any, folder: Path, settings: Settings, devices: int, threads: int, kind: str) -> bool:
    numbers, lock, outcome = iter(range(devices)), threading.Lock(), Outcome()
    known = frozenset(table_files(read_settings(write_settings(folder, settings.service["port"], kind, 2))))
    write_settings(folder, settings.service["port"], kind, 1)
    agreement = Agreement("income", known, 1.0)
    _until(lambda: Connection(settings.service["host"], settings.service["port"])("GET", "/healthz", {}, b"")[0] == 200)
    database, own = database_of(settings)
    arguments = (numbers, lock, settings, agreement, outcome)
    workers = [threading.Thread(target=work, args=arguments) for _ in range(threads)]
    begun = time.monotonic()
    for worker in workers:
        worker.start()
    for share, act in (
        (SERVICE_DIES, lambda: kill(settings.data, "service")),
        (ROTATION, lambda: _rotate(running, folder, settings.service["port"], kind)),
        (DATABASE_DIES, lambda: kill(settings.data, "service" if own is None else "database")),
    ):
        while len(outcome.acknowledged) < share * devices and any(worker.is_alive() for worker in workers):
            time.sleep(0.02)
        act()
    for worker in workers:
        worker.join()
    seconds = time.monotonic() - begun
    store = Store(database)
    _until(lambda: store.sizes()["reports"] == 0)
    marks = store.sizes()["tokens"]
    bytes_a_mark = _bytes_of_marks(store) / max(marks, 1)
    store.close()
    names, counted = published(read_settings(folder / "settings.toml"))
    lost, twice = outcome.acknowledged - set(names), len(names) - len(set(names))
    others = set(names) - outcome.acknowledged
    right = not (lost or twice or others or outcome.taken_rubbish or outcome.gave_again)
    right = right and counted == len(names) == marks == len(outcome.acknowledged)
    own_seconds = resource.getrusage(resource.RUSAGE_SELF)
    for line in (
        f"devices                    {devices:,}",
        f"acknowledged               {len(outcome.acknowledged):,}, by table {dict(outcome.by_table)}",
        f"lost of these              {len(lost):,}",
        f"stored twice               {twice:,}",
        f"counted                    {counted:,}",
        f"sent twice                 {outcome.sent_again:,}, of these another report {len(outcome.seconds_sent):,}; "
        f"of those stored {len(others):,}",
        f"rubbish refused            {outcome.refused:,}, taken {outcome.taken_rubbish:,}",
        f"asked again after rotation {outcome.asked_again:,}, gave again {outcome.gave_again:,}",
        f"marks of tokens            {marks:,}, {bytes_a_mark:.0f} bytes each in {store.kind}",
        f"reports a second           {len(outcome.acknowledged) / seconds:,.0f} of wall time, outages and devices "
        f"included ({seconds:.0f} s; devices took {own_seconds.ru_utime + own_seconds.ru_stime:.0f} processor seconds)",
        "all is right" if right else "SOMETHING IS WRONG",
    ):
        print(line)
    return right


def _bytes_of_marks(store: Store) -> int:
    if store.kind == "postgresql":
        return store.ask("SELECT pg_total_relation_size('tokens')")
    return store.ask("SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE name = 'tokens'")


def _rotate(running: Any, folder: Path, port: int, kind: str) -> None:
    write_settings(folder, port, kind, 2)
    running.send_signal(signal.SIGHUP)
    print("rotated: the table", flush=True)


def _until(holds: Any) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            if holds():
                return
        except (OSError, StoreDownError):
            pass
        time.sleep(0.2)
    raise TimeoutError("the deployment must answer")


def main() -> None:
    """Simulate, and end with 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description="Simulate devices against the whole deployment.")
    parser.add_argument("--devices", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=32)
    parser.add_argument("--port", type=int, default=8037)
    parser.add_argument("--database", choices=("auto", "postgresql", "sqlite"), default="auto")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # so that PostgreSQL's own account reaches its folder
        if not simulate(Path(folder), told.devices, told.threads, told.port, told.database):
            print((Path(folder) / "log").read_text()[-4000:], file=sys.stderr)
            raise SystemExit(1)


if __name__ == "__main__":
    main()
