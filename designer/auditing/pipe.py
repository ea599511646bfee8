"""A sampler behind a pipe: a command that reads values, one a line, and prints as many reports.

It is run without a shell, once for every batch of values, in a session of its own that is ended with it whatever
happens. It may not hang, fall silent, or print without end: each of these ends in one line that says so.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from contextlib import suppress
from threading import Event, Thread
from typing import IO

from ...mechanisms import InputError

CHUNK = 2**16
"""Bytes read at a time."""

SPARE = 2**20
"""Bytes that a command may print beyond what its reports could need."""

WORDS = 2**12
"""Bytes of its errors that are kept, the last ones."""

SHOWN = 600
"""Characters of its errors that are shown, the last ones."""


def split_command(command: str) -> list[str]:
    """Return a command's words, split as a shell does and expanded no further; InputError for none.

    Example
    -------
    >>> split_command("node client.mjs 'my table.json'")
    ['node', 'client.mjs', 'my table.json']
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"the sampler must be a command, got {command!r:.80}: {error}") from None
    if not words:
        raise InputError("the sampler must be a command, got no words: name a program")
    return words


def answers(words: list[str], lines: list[str], *, longest: int, timeout: float) -> list[str]:
    """Return the lines that a command prints for these lines, as many as went in, byte for byte: with their ends.

    Parameters
    ----------
    words : list of str
        The program and its arguments.
    lines : list of str
        Sent to its standard input, which is then closed.
    longest : int
        Bytes that a report may have, on average.
    timeout : float
        Seconds until the command is ended.

    Raises
    ------
    InputError
        A program that cannot be run, that fails, prints too few or too many lines or too much, or takes too long.

    Example
    -------
    >>> answers(["cat"], ["1.5", "2"], longest=100, timeout=60.0)
    ['1.5\\n', '2\\n']
    """
    name = f"the sampler {shlex.join(words)!r:.80}"
    try:
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
    except (OSError, ValueError) as error:
        raise InputError(
            f"{name} must be a program that can be run: {getattr(error, 'strerror', None) or error}"
        ) from None
    reading = _Reading(process, SPARE + longest * len(lines))
    try:
        output = reading.talk("".join(line + "\n" for line in lines).encode(), timeout)
    finally:
        _end(process)
    if output is None:
        raise InputError(f"{name} must answer {len(lines)} values in {timeout:g} seconds, got no end: see --timeout")
    if reading.overflowed.is_set():
        raise InputError(f"{name} must print one report a line, got more than {reading.most} bytes for {len(lines)}")
    if process.returncode:
        raise InputError(f"{name} must end with exit code 0, got {process.returncode}{_last_words(reading.errors)}")
    texts = [text + "\n" for text in output.decode("utf-8", "surrogateescape").split("\n")]
    last = texts.pop().removesuffix("\n")
    if last:
        texts.append(last)
    if len(texts) != len(lines):
        found = f"got {len(texts)}{_last_words(reading.errors)}"
        raise InputError(f"{name} must print one line for each of {len(lines)} values, {found}")
    return texts


class _Reading:
    """Three threads that write, read and read errors at once, so that no full pipe can stop them all."""

    def __init__(self, process: subprocess.Popen[bytes], most: int) -> None:
        self.process, self.most = process, most
        self.overflowed = Event()
        self.errors = b""
        self._pieces: list[bytes] = []

    def talk(self, content: bytes, timeout: float) -> bytes | None:
        """Send everything and return everything that comes back; None if that takes too long."""
        jobs = (lambda: self._write(content), self._read, self._read_errors)
        threads = [Thread(target=job, daemon=True) for job in jobs]
        for thread in threads:
            thread.start()
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None
        _end(self.process)  # whoever else holds the pipes
        for thread in threads:
            thread.join()
        return b"".join(self._pieces)

    def _write(self, content: bytes) -> None:
        with suppress(OSError), _pipe(self.process.stdin) as pipe:  # it may end without reading all
            pipe.write(content)

    def _read(self) -> None:
        room = self.most
        with _pipe(self.process.stdout) as pipe:
            while piece := os.read(pipe.fileno(), CHUNK):
                room -= len(piece)
                if room < 0:
                    self.overflowed.set()
                    _end(self.process)
                    return
                self._pieces.append(piece)

    def _read_errors(self) -> None:
        with _pipe(self.process.stderr) as pipe:
            while piece := os.read(pipe.fileno(), CHUNK):
                self.errors = (self.errors + piece)[-WORDS:]


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the command with all that it started; wait for it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _last_words(errors: bytes) -> str:
    """Return what went to standard error as one line, in characters that do no harm.

    Without lines that are set in, unless all are: what failed stands at the margin, first in some languages and last in
    others, and the calls that led there stand in.
    """
    lines = [line for line in errors.decode("utf-8", "replace").splitlines() if line.strip()]
    told = " | ".join(line.strip() for line in lines if not line[0].isspace()) or " | ".join(map(str.strip, lines))
    if not told:
        return ""
    return ": " + "".join(letter if letter.isprintable() else "?" for letter in told[-SHOWN:])
