"""What a device decides, whoever asks: which tables it draws from, what it spends, and that it gives nothing twice.

The clients of `clients/` prove a table and draw; this is what an app puts around them. Its agreement ships with the
app. Its record is its own, on the device's disk, and is written before anything is sent.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Protocol

sys.path.append(str(Path(__file__).resolve().parents[2] / "clients" / "python"))

from optldp_client import Table, TableError, read_table

Exchange = Callable[[str, str, dict[str, str], bytes], tuple[int, bytes]]
"""Of a method, a path, headers and a body: the status and the body of the answer. `OSError` if there is none."""

PENDING, GIVEN = "pending", "given"


class DeclinedError(Exception):
    """The device does not send: one line that says why, without the value."""


@dataclass(frozen=True)
class Agreement:
    """What the device's user agreed to, and the app ships.

    Attributes
    ----------
    question : str
        Answered once, whatever tables come and go.
    tables : frozenset of str
        Identifiers of the tables that may be drawn from; all others are refused.
    largest_epsilon : float
    promise : str
        The kind of the promise; `pure` is that of a table that names none.
    """

    question: str
    tables: frozenset[str]
    largest_epsilon: float
    promise: str = "pure"

    def proved(self, document: str) -> Table:
        """Return the table in a document, proved and agreed to, or raise `DeclinedError`."""
        kind = _promise_of(document)
        if kind != self.promise:
            raise DeclinedError(f"the promise must be {self.promise}, got {kind}: nothing sent")
        try:
            table = _proved(document)
        except TableError as fault:
            raise DeclinedError(f"the table is refused: {fault}: nothing sent") from None
        if table.epsilon > self.largest_epsilon:
            raise DeclinedError(f"epsilon must be at most {self.largest_epsilon}, got {table.epsilon}: nothing sent")
        if table.identifier not in self.tables:
            raise DeclinedError(f"the table must be one that this app knows, got {table.identifier}: nothing sent")
        return table


class Record(Protocol):
    """What the device remembers of each question: `get`, and to set an item, as of a dictionary."""

    def get(self, question: str, /) -> dict[str, Any] | None:
        """Return what is remembered, or nothing."""
        ...

    def __setitem__(self, question: str, entry: dict[str, Any], /) -> None:
        """Remember; on the disk before this returns."""
        ...


class FileRecord:
    """A record in a folder of the device: a file for each question, replaced whole."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def get(self, question: str, /) -> dict[str, Any] | None:
        """Return what is remembered, or nothing; a file that cannot be read stops the device, which draws no more."""
        try:
            return json.loads((self.folder / f"{question}.json").read_text("utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            raise DeclinedError("the record of what was given must be readable: nothing sent") from None

    def __setitem__(self, question: str, entry: dict[str, Any], /) -> None:
        """Remember; on the disk before this returns."""
        path, made = self.folder / f"{question}.json", self.folder / f"{question}.new"
        with made.open("w", encoding="utf-8") as file:
            json.dump(entry, file)
            file.flush()
            os.fsync(file.fileno())
        made.replace(path)
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def offer(value: float, token: str, agreement: Agreement, record: Record, exchange: Exchange) -> str:
    """Give one report of a value, once in the life of the record; what is pending is sent again as it was.

    Returns
    -------
    str
        `given`, now or before; or `pending`: no answer yet, so call again later.

    Raises
    ------
    DeclinedError
        Nothing was sent, or the service refuses what was; one line.
    """
    entry = record.get(agreement.question)
    if entry is None:
        row = _drawn(value, agreement.proved(_fetched(exchange)))
        entry = {"state": PENDING, "row": row}
        record[agreement.question] = entry
    if entry["state"] == GIVEN:
        return GIVEN
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    try:
        status, answer = exchange("POST", "/v1/reports", headers, json.dumps(entry["row"]).encode())
    except (OSError, HTTPException):
        return PENDING
    if status in (429, 503):
        return PENDING
    table = entry["row"]["table"]
    record[agreement.question] = {"state": GIVEN, "table": table, "kept": status == 200}  # the row is no longer needed
    if status != 200:
        raise DeclinedError(f"the service refuses the report: {answer.decode(errors='replace')[:200]}")
    return GIVEN


def _fetched(exchange: Exchange) -> str:
    try:
        status, body = exchange("GET", "/v1/table", {}, b"")
        document = body.decode("utf-8")
    except (OSError, HTTPException, UnicodeDecodeError):
        raise DeclinedError("the table must be there as text, got none: nothing sent") from None
    if status != 200:
        raise DeclinedError(f"the table must be there, got status {status}: nothing sent")
    return document


def _drawn(value: float, table: Table) -> dict[str, Any]:
    try:
        output = table.index(value)
        name = secrets.token_hex(16)
    except (OSError, ValueError) as fault:  # neither message holds the value
        raise DeclinedError(f"{fault}: nothing sent") from None
    day = datetime.now(UTC).date().isoformat()
    return {"table": table.identifier, "output": output, "day": day, "report_id": name}


@lru_cache(maxsize=8)
def _proved(document: str) -> Table:
    return read_table(document)


@lru_cache(maxsize=8)
def _promise_of(document: str) -> str:
    try:
        promise = json.loads(document).get("promise")
        return "pure" if promise is None else str(promise["kind"])[:40]
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
        return "pure"  # no such document: the proof that follows says what is wrong


class Connection:
    """An exchange with a service over one connection, opened anew after a fault."""

    def __init__(self, host: str, port: int) -> None:
        self._http = HTTPConnection(host, port, timeout=10)

    def __call__(self, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
        """Return the status and the body of the answer."""
        try:
            self._http.request(method, path, body or None, headers)
            answer = self._http.getresponse()
            return answer.status, answer.read()
        except BaseException:
            self._http.close()
            raise
