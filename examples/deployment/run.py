"""Starts the deployment: `python examples/deployment/run.py`. Ctrl-C stops it; what it keeps is in `data`.

A supervisor of three processes, which it starts again when they end: the database, the service, the publisher.
`kill -HUP` reads the settings again. Where there is no PostgreSQL, the database is a SQLite file.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from events import log
from settings import HERE, Settings, SettingsError, read_settings
from store import Store, StoreDownError
from tokens import new_token, token_key

ACCOUNT = "postgres"  # PostgreSQL refuses to run as root; packages make this account for it


class Process:
    """A program that is started again whenever it ends; its number is in a file, for whoever looks after it."""

    def __init__(self, name: str, command: list[str], data: Path, **options: Any) -> None:
        self.name, self.command, self.options = name, command, options
        self.pid_file = data / f"{name}.pid"
        self.running: subprocess.Popen[bytes] | None = None
        self.begun = 0.0

    def keep_up(self) -> None:
        """Start the program unless it runs, at most once a second."""
        if self.running is not None and self.running.poll() is not None:
            log("process ended", name=self.name, status=self.running.returncode)
            self.running = None
        if self.running is None and time.monotonic() - self.begun >= 1:
            self.begun = time.monotonic()
            self.running = subprocess.Popen(self.command, start_new_session=True, **self.options)
            self.pid_file.write_text(f"{self.running.pid}\n")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Stop the program, after ten seconds by force."""
        if self.running is None or self.running.poll() is not None:
            return
        self.running.send_signal(how)
        try:
            self.running.wait(10)
        except subprocess.TimeoutExpired:
            self.running.kill()


def database_of(settings: Settings) -> tuple[str, Process | None]:
    """Return where the database is, and the process of our own PostgreSQL if it is one."""
    kind, url = settings.database["kind"], settings.database["url"]
    has_driver = importlib.util.find_spec("psycopg") is not None
    if url:
        if not has_driver:
            raise SettingsError("url in [database] needs psycopg: pip install -r examples/deployment/requirements.txt")
        return url, None
    programs = [shutil.which(name) for name in ("initdb", "postgres")]
    missing = [name for name, path in zip(("initdb", "postgres"), programs, strict=True) if path is None]
    missing += [] if has_driver else ["psycopg"]
    if kind == "auto":
        kind = "sqlite" if missing else "postgresql"
        log("database chosen", kind=kind, missing=", ".join(missing))
    if kind == "sqlite":
        return str(settings.data / "reports.sqlite"), None
    if missing:
        raise SettingsError(f'PostgreSQL needs {", ".join(missing)}: install it, or set kind = "sqlite" in [database]')
    return _postgresql(settings.data / "postgresql", settings.data, *(str(path) for path in programs))


def _postgresql(folder: Path, data: Path, initdb: str, postgres: str) -> tuple[str, Process]:
    """Make a database that listens on a socket in its own folder alone, with no log of statements."""
    own: dict[str, Any] = {"user": ACCOUNT, "group": ACCOUNT} if os.geteuid() == 0 else {}
    user = ACCOUNT if own else os.environ.get("USER", ACCOUNT)
    if not (folder / "PG_VERSION").exists():
        folder.mkdir(mode=0o700, exist_ok=True)
        if own:
            shutil.chown(folder, ACCOUNT, ACCOUNT)
        made = subprocess.run(
            [initdb, "--pgdata", folder, "--username", user, "--auth", "peer", "--encoding", "UTF8", "--locale", "C"],
            cwd="/", capture_output=True, text=True, check=False, **own,
        )  # fmt: skip
        if made.returncode:
            last = (made.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise SettingsError(f"PostgreSQL could not be made in {folder}: {last}")
        (folder / "pg_hba.conf").write_text("local all all trust\n")  # whoever may enter the folder: mode 700
    options = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={folder}", "-c", "log_statement=none"]
    options += ["-c", "log_min_error_statement=panic", "-c", "log_min_messages=fatal"]  # an error would tell its rows
    process = Process("database", [postgres, "-D", str(folder), *options], data, cwd="/", **own)
    return f"postgresql:///postgres?host={folder}&user={user}", process


def require_port(host: str, port: int) -> None:
    """Stop with one line if the port is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as fault:
            words = f"port {port} of {host} must be free: {fault.strerror}; set another in [service], or --port"
            raise SettingsError(words) from None


def migrated(database: str, process: Process | None, seconds: float = 60) -> None:
    """Bring the schema to its newest version, once the database answers."""
    store, until = Store(database), time.monotonic() + seconds
    while True:
        if process is not None:
            process.keep_up()
        try:
            had = store.migrate()
        except StoreDownError as fault:
            if time.monotonic() > until:
                words = f"the database must answer within {seconds:.0f} s, got {fault}: is it up, and url right?"
                raise SettingsError(words) from None
            time.sleep(0.2)
            continue
        log("schema", had=had)
        store.close()
        return


def main() -> None:
    """Start all, and keep it up."""
    parser = argparse.ArgumentParser(description="Start the deployment.", epilog="Example: run.py settings.toml")
    parser.add_argument("settings", nargs="?", type=Path, default=HERE / "settings.toml", help="the one file of them")
    path = parser.parse_args().settings.resolve()
    settings = read_settings(path)
    host, port = settings.service["host"], settings.service["port"]
    require_port(host, port)
    settings.data.mkdir(parents=True, exist_ok=True)
    database, own = database_of(settings)
    here = [
        Process(name, [sys.executable, str(HERE / f"{name}.py"), str(path), database], settings.data)
        for name in ("service", "publish")
    ]
    ends: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: ends.append(number))
    signal.signal(
        signal.SIGHUP, lambda *_: [process.running.send_signal(signal.SIGHUP) for process in here if process.running]
    )
    try:
        migrated(database, own)
        token = new_token(token_key(settings.data), settings.collection["round"])
        print(f"give a report  http://{host}:{port}/#{token}\nthe estimate   http://{host}:{port}/estimate", flush=True)
        while not ends:
            for process in ([own] if own else []) + here:
                process.keep_up()
            time.sleep(0.1)
    finally:
        for process in here:
            process.stop()
        if own:
            own.stop(signal.SIGINT)  # PostgreSQL's fast shutdown


if __name__ == "__main__":
    main()
