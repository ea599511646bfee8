"""Long computations off the event loop, one at a time: of what is asked meanwhile only the last is computed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress


class Overtaken(Exception):  # noqa: N818 - nothing failed
    """Something newer was asked for, so that what is being computed is of no use any more."""


class Latest:
    """Runs one request at a time; a new one takes the place of that which waits.

    Example
    -------
    >>> import asyncio
    >>> seen = []
    >>> async def ask(number):
    ...     await asyncio.sleep(0)
    ...     seen.append(number)
    >>> async def several():
    ...     latest = Latest()
    ...     await asyncio.gather(*(latest.ask(lambda number=number: ask(number)) for number in range(5)))
    >>> asyncio.run(several())
    >>> seen
    [0, 4]
    """

    def __init__(self) -> None:
        self._busy, self._waiting, self._newer = False, None, asyncio.Event()

    async def ask(self, request: Callable[[], Awaitable[None]]) -> None:
        """Compute this now, or after what is being computed unless another request comes before then."""
        if self._busy:
            self._waiting = request
            self._newer.set()
            return
        self._busy, self._waiting = True, request
        try:
            while self._waiting is not None:
                now, self._waiting = self._waiting, None
                self._newer.clear()
                with suppress(Overtaken):
                    await now()
        finally:
            self._busy = False

    def go_on(self, *_: object) -> None:
        """Raise `Overtaken` if another request waits; a computation, in whatever thread, calls it at its every step."""
        if self._waiting is not None:
            raise Overtaken

    async def pause(self, seconds: float) -> None:
        """Wait so long, or raise `Overtaken` as soon as another request waits."""
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._newer.wait(), seconds)
        self.go_on()
