"""The service: hands out the table and takes each token's one report. What it keeps is in store.py.

Addresses and times are not kept: there is no access log, the rows have a day, and the log counts.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import uvicorn
from events import log
from settings import HERE, Settings, SettingsError, read_settings
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from store import Row, Store, StoreDownError
from tokens import mark_of, token_key

sys.path.append(str(HERE.parents[1] / "clients" / "python"))

from optldp_client import TableError, read_table

KEYS = {"table", "output", "day", "report_id"}
AGAIN = {"Retry-After": "1"}
MOST_ADDRESSES = 100_000  # whose requests of this minute are counted; of more the limit holds for all together


class RefusedError(Exception):
    """A request that is refused: the status, and one line that repeats nothing of it."""

    def __init__(self, status: int, reason: str, words: str) -> None:
        super().__init__(words)
        self.status, self.reason = status, reason


class Service:
    """What requests share: tables, limits, the queue before the database, and counts for metrics."""

    def __init__(self, settings: Settings, database: str) -> None:
        self.settings = settings
        self.store = Store(database)
        self.watch = Store(database)  # so that /healthz does not wait behind a batch
        self.key = token_key(settings.data)
        self.counts: Counter[str] = Counter()
        self.waiting: asyncio.Queue[tuple[bytes, Row, asyncio.Future[bool]]] = asyncio.Queue()
        self.minute, self.addresses = 0, Counter[str]()
        self.second, self.this_second = 0, 0
        self.tables: dict[str, int] = {}
        self.document, self.identifier = b"", ""
        self.read_tables()

    def read_tables(self) -> None:
        """Read and prove the tables that the settings name; the last is handed out."""
        tables, text, identifier = {}, "", ""
        for path in self.settings.tables:
            try:
                text = path.read_text("utf-8")
                table = read_table(text)
            except (OSError, ValueError, TableError) as fault:
                raise SettingsError(f"the table {path} must be proved private, got: {fault}") from None
            identifier = table.identifier
            tables[identifier] = len(table.low)
        self.tables, self.document, self.identifier = tables, text.encode(), identifier

    def again(self) -> None:
        """Read the settings again; if they are wrong, go on with those before."""
        try:
            new = read_settings(self.settings.path)
            old, self.settings = self.settings, new
            try:
                self.read_tables()
            except SettingsError:
                self.settings = old
                raise
        except SettingsError:
            log("settings refused, those before hold")
            return
        log("settings read", handed_out=self.identifier, taken=len(self.tables))

    async def keep_all(self) -> None:
        """Write what waits, a transaction for all that is there; answer only what is committed."""
        while True:
            batch = [await self.waiting.get()]
            while len(batch) < self.settings.limits["batch"] and not self.waiting.empty():
                batch.append(self.waiting.get_nowait())
            try:
                rows = [(mark, row) for mark, row, _ in batch]
                kept = await asyncio.to_thread(self.store.keep, rows, self.settings.collection["round"])
                self.counts["kept"] += kept
                self.counts["repeated"] += len(batch) - kept
                done = True
            except StoreDownError as fault:
                log("database down", fault=str(fault), sent_back=len(batch))
                done = False
            self.counts["batches"] += 1
            for _, _, answer in batch:
                if not answer.done():
                    answer.set_result(done)

    def admit(self, request: Request) -> None:
        """Count a request against the limits; addresses are forgotten with the minute."""
        now = int(time.monotonic())
        if now != self.second:
            self.second, self.this_second = now, 0
        if now // 60 != self.minute:
            self.minute = now // 60
            self.addresses.clear()
        self.this_second += 1
        if self.this_second > self.settings.limits["reports_a_second"]:
            raise RefusedError(429, "rate", "too many requests: come again later")
        host = request.client.host if request.client else ""
        if host not in self.addresses and len(self.addresses) >= MOST_ADDRESSES:
            host = ""
        self.addresses[host] += 1
        if self.addresses[host] > self.settings.limits["requests_a_minute"]:
            raise RefusedError(429, "rate", "too many requests from one place: come again later")

    async def take(self, request: Request) -> None:
        """Take one report; return once it is committed."""
        self.admit(request)
        body = await _body(request, self.settings.limits["largest_body"])
        row = self.checked(body)
        mark = self.mark(request.headers.get("authorization", ""))
        if self.waiting.qsize() >= self.settings.limits["waiting"]:
            raise RefusedError(503, "busy", "too many reports wait: send the same again later")
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self.waiting.put_nowait((mark, row, answer))
        if not await answer:
            raise RefusedError(503, "database", "the database is down: send the same again later")

    def checked(self, body: bytes) -> Row:
        """Return the row in a body, of one of our tables and a day that is open."""
        try:
            found: Any = json.loads(body)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or found.keys() != KEYS:
            raise RefusedError(422, "form", f"the body must be a JSON object of {', '.join(sorted(KEYS))}")
        table, output, day, name = found["table"], found["output"], found["day"], found["report_id"]
        outputs = self.tables.get(table) if isinstance(table, str) else None
        if outputs is None:
            raise RefusedError(422, "table", "the report must be of a table that is collected")
        if type(output) is not int or not 0 <= output < outputs:
            raise RefusedError(422, "output", "the output must be one of the table's")
        if not (isinstance(name, str) and len(name) == 32 and set(name) <= set("0123456789abcdef")):
            raise RefusedError(422, "report_id", "report_id must be 32 hexadecimal digits")
        try:
            late = _today() - date.fromisoformat(day)
        except (TypeError, ValueError):
            late = timedelta(-1)
        fits = isinstance(day, str) and len(day) == 10 and 0 <= late.days <= self.settings.collection["late_days"]
        if not fits:
            raise RefusedError(422, "day", "the day must be today (UTC) or one of the days before that are open")
        return Row(table, output, day, name)

    def mark(self, header: str) -> bytes:
        """Return the mark of the token in a header."""
        if _today() > self.settings.collection["round_ends"]:
            raise RefusedError(410, "round", "the round is over: no report is taken")
        token = header.removeprefix("Bearer ")
        mark = mark_of(self.key, self.settings.collection["round"], token) if token.isascii() else None
        if mark is None:
            raise RefusedError(403, "token", "the token must be one of this round")
        return mark

    def metrics(self) -> str:
        """Return counts in the text format of Prometheus."""
        lines = ["# TYPE reports_total counter"]
        lines += [f'reports_total{{answer="{name}"}} {self.counts[name]}' for name in ("kept", "repeated")]
        refused = sorted(name for name in self.counts if name.startswith("refused_"))
        lines += [f'reports_total{{answer="{name}"}} {self.counts[name]}' for name in refused]
        lines += ["# TYPE batches_total counter", f"batches_total {self.counts['batches']}"]
        lines += ["# TYPE reports_waiting gauge", f"reports_waiting {self.waiting.qsize()}"]
        return "\n".join(lines) + "\n"


async def _body(request: Request, largest: int) -> bytes:
    body = b""
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > largest:
                raise RefusedError(413, "size", f"the body must have at most {largest} bytes")
    except ClientDisconnect:
        raise RefusedError(400, "cut", "the body must be whole") from None
    return body


def _today() -> date:
    return datetime.now(UTC).date()


def _end_without_writer(writer: asyncio.Task[None]) -> None:
    if not writer.cancelled():  # a fault that nobody foresaw: nothing would be answered any more, so start anew
        log("writer ended", fault=type(writer.exception()).__name__)
        os.kill(os.getpid(), signal.SIGTERM)


def application(service: Service) -> Starlette:
    """Return the routes of a service."""

    async def report(request: Request) -> Response:
        try:
            await service.take(request)
        except RefusedError as refused:
            service.counts[f"refused_{refused.reason}"] += 1
            again = AGAIN if refused.status in (429, 503) else None
            return PlainTextResponse(f"{refused}\n", refused.status, headers=again)
        return PlainTextResponse("kept\n")  # the same for a token that comes again: it tells nothing

    async def table(request: Request) -> Response:
        headers = {"ETag": f'"{service.identifier}"', "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == headers["ETag"]:
            return Response(status_code=304, headers=headers)
        return Response(service.document, media_type="application/json", headers=headers)

    async def healthz(_: Request) -> Response:
        try:
            await asyncio.to_thread(service.watch.alive)
        except StoreDownError:
            return PlainTextResponse("the database is down\n", 503)
        if service.waiting.qsize() >= service.settings.limits["waiting"]:
            return PlainTextResponse("too many reports wait\n", 503)
        return PlainTextResponse("ok\n")

    async def metrics(_: Request) -> Response:
        return PlainTextResponse(service.metrics())

    async def estimate(_: Request) -> Response:
        page = service.settings.data / "published" / "estimate.html"
        if not page.exists():
            return PlainTextResponse("nothing is published yet: too few reports, or wait some seconds\n", 404)
        return FileResponse(page, headers={"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"})

    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        writer = asyncio.create_task(service.keep_all())
        writer.add_done_callback(_end_without_writer)
        log("service started", handed_out=service.identifier, database=service.store.kind)
        yield
        writer.cancel()
        log("service stopped", **{name: service.counts[name] for name in ("kept", "repeated")})

    return Starlette(
        routes=[
            Route("/v1/reports", report, methods=["POST"]),
            Route("/v1/table", table),
            Route("/healthz", healthz),
            Route("/metrics", metrics),
            Route("/estimate", estimate),
            Mount("/client", StaticFiles(directory=HERE.parents[1] / "clients" / "javascript")),
            Mount("/", StaticFiles(directory=HERE / "front", html=True)),
        ],
        lifespan=running,
    )


def main(path: str, database: str) -> None:
    """Serve until told to stop."""
    settings = read_settings(Path(path))
    service = Service(settings, database)
    signal.signal(signal.SIGHUP, lambda *_: service.again())
    uvicorn.run(
        application(service),
        host=settings.service["host"],
        port=settings.service["port"],
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=5,
        limit_concurrency=2 * settings.limits["waiting"] + 10,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
