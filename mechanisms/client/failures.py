"""Clients who were asked and gave no report: how many, and what the first of them said."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

import numpy as np

from ..printable import shortened
from ..table.table import TabulatedMechanism

FAILURES_NAMED = 5
"""Failures that are told one by one: enough to see what is wrong, still one line."""

MESSAGE_SHOWN = 80
"""Characters of a client's error that are repeated."""


@dataclass(frozen=True)
class ClientFailures:
    """How many clients were asked, how many of them gave no report, and the first of these.

    Attributes
    ----------
    asked, count : int
    first : tuple of str
        Up to five, in the order in which they were asked: the client's place, from 1, and what went wrong, printable
        and cut.  What a client's own error says is the client's doing; those of `OneReportClient` name no value.

    Example
    -------
    >>> print(ClientFailures(asked=9, count=1, first=("client 4: TimeoutError",)))
    1 of 9 clients gave no report: client 4: TimeoutError
    """

    asked: int = 0
    count: int = 0
    first: tuple[str, ...] = ()

    def with_one(self, place: int, what: str) -> ClientFailures:
        """Return the account with one more failure."""
        first = self.first if self.count >= FAILURES_NAMED else (*self.first, f"client {place}: {what}")
        return ClientFailures(self.asked, self.count + 1, first)

    def asked_of(self, asked: int) -> ClientFailures:
        """Return the account with the number of clients who were asked."""
        return ClientFailures(asked, self.count, self.first)

    def __add__(self, other: ClientFailures) -> ClientFailures:
        """Return the account of two parts of the clients."""
        first = (self.first + other.first)[:FAILURES_NAMED]
        return ClientFailures(self.asked + other.asked, self.count + other.count, first)

    def __str__(self) -> str:
        more = f"; and {self.count - len(self.first)} more" if self.count > len(self.first) else ""
        told = f": {'; '.join(self.first)}{more}" if self.first else ""
        return f"{self.count} of {self.asked} clients gave no report{told}"


def report_of(client: Callable[[TabulatedMechanism], object], mechanism: TabulatedMechanism) -> float | str:
    """Return a client's report, or what was wrong with it in a few words; a request to stop the program goes on.

    Example
    -------
    >>> from optldp.mechanisms import duchi, make_exact
    >>> table = make_exact(duchi([0, 1], 1.0)).mechanism
    >>> report_of(lambda _: 0.5, table), report_of(lambda _: "0.5", table)
    ('0.5 is no output of the table', 'str is no number')
    """
    try:
        found = client(mechanism)
        if not isinstance(found, Real) or isinstance(found, bool | np.bool_):
            return shortened(f"{type(found).__name__} is no number", MESSAGE_SHOWN)
        report = float(found)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # whatever a client does, the others have their reports
        return _words(error)
    if math.isnan(report) or mechanism.locate(np.array([report]))[0] < 0:
        return f"{report!r} is no output of the table"
    return report


def _words(error: BaseException) -> str:
    """The kind of an error and what it says, though that may fail as well."""
    kind = shortened(type(error).__name__, MESSAGE_SHOWN)
    try:
        said = shortened(" ".join(str(error)[: 4 * MESSAGE_SHOWN].split()), MESSAGE_SHOWN)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:
        return kind
    return f"{kind}: {said}" if said else kind
