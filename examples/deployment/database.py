"""Which database there is: one of the settings', a PostgreSQL that is made and kept up in `data`, or a SQLite file."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

from events import log
from processes import Process
from settings import Settings, SettingsError
from store import Store, StoreDownError

ACCOUNT = "postgres"  # PostgreSQL refuses to run as root; packages make this account for it


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
