"""Starts the deployment: `python examples/deployment/run.py`. Ctrl-C stops it; what it keeps is in `data`.

A supervisor of three processes, which it starts again when they end: the database, the service, the publisher.
`kill -HUP` reads the settings again. Where there is no PostgreSQL, the database is a SQLite file.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from pathlib import Path

from database import database_of, migrated
from processes import Process, require_port
from settings import HERE, read_settings
from tokens import new_token, token_key


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
    signal.signal(signal.SIGHUP, lambda *_: here[0].tell(signal.SIGHUP))
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
