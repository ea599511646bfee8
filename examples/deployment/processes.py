"""Programs that are kept up, started again whenever they end; and the port that one of them needs."""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

from events import log
from settings import SettingsError


class Process:
    """A program that is started again whenever it ends; its number is in a file, for whoever looks after it."""

    def __init__(self, name: str, command: list[str], data: Path, **options: Any) -> None:
        self.name, self.command, self.options = name, command, options
        self.pid_file = data / f"{name}.pid"
        self.running: subprocess.Popen[Any] | None = None
        self.begun = 0.0

    def keep_up(self) -> None:
        """Start the program unless it runs, at most once a second."""
        if self.running is not None and self.running.poll() is not None:
            log("process ended", name=self.name, status=self.running.returncode)
            self.running = None
        if self.running is None and time.monotonic() - self.begun >= 1:
            self.begun = time.monotonic()
            started: subprocess.Popen[Any] = subprocess.Popen(self.command, start_new_session=True, **self.options)
            self.pid_file.write_text(f"{started.pid}\n")
            self.running = started

    def tell(self, signal_: signal.Signals) -> None:
        """Send a signal, if the program runs."""
        if self.running is not None and self.running.poll() is None:
            self.running.send_signal(signal_)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Stop the program, after ten seconds by force."""
        if self.running is None or self.running.poll() is not None:
            return
        self.running.send_signal(how)
        try:
            self.running.wait(10)
        except subprocess.TimeoutExpired:
            self.running.kill()


def require_port(host: str, port: int) -> None:
    """Stop with one line if the port is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as fault:
            words = f"port {port} of {host} must be free: {fault.strerror}; set another in [service]"
            raise SettingsError(words) from None
