"""A server on this machine alone, for whoever has the token of its address."""

from __future__ import annotations

import http.cookies
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs

from ...mechanisms.errors import InputError

HOST = "127.0.0.1"
"""Never another: what is shown may be computed from values to be protected."""

OF_CLIENTS = ("aiohttp", "requests")
"""Socket.IO does without them, as where they are not installed: its clients need them, and they take .4 s to load."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]


class Guard:
    """Lets through who has the token, in the first address or, from then on, in a cookie; others get 403.

    Also refuses every name but this machine's own, so that no page elsewhere reaches the server by a name of its own.
    """

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]], token: str, port: int) -> None:
        self._app, self._token, self._port = app, token, port

    @property
    def _cookie(self) -> str:
        return f"optldp-{self._port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        asked = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        known = self._in_cookie(headers.get(b"cookie", ""))
        ours = headers.get(b"host") in (f"{HOST}:{self._port}", f"localhost:{self._port}")
        origin = headers.get(b"origin", f"http://{headers.get(b'host')}")
        if not ours or origin != f"http://{headers.get(b'host')}" or not (self._right(asked) or self._right(known)):
            await _refuse(scope, send)
            return

        async def with_cookie(message: Any) -> None:
            if message["type"] == "http.response.start":
                cookie = f"{self._cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"
                more = [(b"set-cookie", cookie.encode()), (b"referrer-policy", b"no-referrer")]
                message = {**message, "headers": [*message.get("headers", []), *more]}
            await send(message)

        await self._app(scope, receive, with_cookie if self._right(asked) else send)

    def _in_cookie(self, text: str) -> str:
        try:
            found = http.cookies.SimpleCookie(text).get(self._cookie)
        except http.cookies.CookieError:
            return ""
        return "" if found is None else found.value

    def _right(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self._token.encode())


async def _refuse(scope: Scope, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    text = b"This page opens from the address that optldp workbench printed, with its token."
    await send({"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": text})


def bound_socket(port: int) -> socket.socket:
    """Return a socket of this machine; InputError for a port that is in use.

    Parameters
    ----------
    port : int
        0 for any that is free.
    """
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((HOST, port))
    except OSError:
        made.close()
        raise InputError(f"the port must be free, got {port}, which is in use: leave --port out for any") from None
    return made


def serve(build: Callable[[str], Any], query: str, *, port: int, opens: bool, told: Callable[[str], None]) -> None:
    """Show a page until it is interrupted.

    Parameters
    ----------
    build : callable
        Lays out the page; gets the address of the page with its token.
    query : str
        The state to begin with.
    port : int
        0 for any that is free.
    opens : bool
        Whether to open the browser.
    told : callable
        Called with the address.
    """
    listening = bound_socket(port)
    listening.listen()
    port, token = listening.getsockname()[1], secrets.token_urlsafe(24)
    base = f"http://{HOST}:{port}/?token={token}"
    address = base + (f"&{query}" if query else "")
    told(address)
    if opens:
        threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
    # Only now what takes a second to import: the socket listens, and the browser starts meanwhile.
    with _missing(OF_CLIENTS):
        import uvicorn
        from fastapi import FastAPI
        from nicegui import ui

    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    ui.run_with(app, root=lambda: build(base), title="optldp workbench", dark=None, language="en-US",
                show_welcome_message=False, tailwind=False)  # fmt: skip
    # No access log: addresses have the token.
    config = uvicorn.Config(Guard(app, token, port), log_level="warning", access_log=False, lifespan="on")
    uvicorn.Server(config).run(sockets=[listening])


@contextmanager
def _missing(names: tuple[str, ...]) -> Iterator[None]:
    """Let modules that are not loaded yet seem not to be installed, for as long as others are imported."""
    loaded: dict[str, Any] = sys.modules
    hidden = [name for name in names if name not in loaded]
    loaded.update(dict.fromkeys(hidden))  # Python raises ImportError where a module is None
    try:
        yield
    finally:
        for name in hidden:
            loaded.pop(name, None)
