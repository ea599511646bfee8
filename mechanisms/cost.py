"""What a file may make its readers do: bytes of memory and multiplications, told by its shape before any work is done.

One model for all that is read: tables and what floor forms expand to, fits to their outputs, columns of data files,
names, sets and levels of bundles, audits.
Its constants are what the most costly command takes, measured and rounded up; docs/bundle-format.md has them for other
readers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from .errors import InputError

MOST_MEMORY = 2**31
"""Bytes that may be taken without being asked for: less than the smallest machines have that people work on."""

MOST_MULTIPLICATIONS = 2**33
"""Half a minute of one processor, with all that goes along with a multiplication."""

ENTRY_BYTES, ENTRY_PASSES = 64, 64
"""Of a table, for each of its knots times outputs: eight doubles at a time, and so often is each looked at. Other
matrices that are as large as a file or an option says count as tables."""

SOLVED_AT_ONCE = 24
"""Multiplications of an unbiased decoder, which has the shorter side's square times the longer one, that take no longer
than one with all that goes along with it: matrices are multiplied in blocks."""

PAIR_PASSES = 4
"""So often is each output of a pair of rows looked at, where a promise is of all pairs."""

CELL_BYTES, CELL_PASSES = 128, 2**12
"""Of a fit, for each of its cells times outputs: what it is iterated for, some hundred steps of some ten passes. Its
covariance counts as a table of cells times cells."""

STEPPED_AT_ONCE = 4
"""Of the cube of a fit's cells, which steps towards its maximum and its intervals have, as of a decoder above: there
are several."""

COLUMN_BYTES, COLUMN_PASSES = 2**16, 2**17
"""Of a data file, for each column, whatever its cells hold; for each column and column that is asked for."""

NAME_BYTES, NAME_PASSES = 16, 64
"""Of categories and keys, for each of them and each character of the longest: numpy holds texts as wide as the longest,
four bytes a character, and sorts copies."""

SET_PASSES = 2**14
"""Of subset selection, for each category of a set: a step of numpy, which takes that long for few people, too."""

PLACE_BYTES, PLACE_PASSES = 4, 16
"""Of an audit, for each report and each of its bits or places, of which each becomes a column."""


class Cost(NamedTuple):
    """What something takes at most.

    Attributes
    ----------
    memory : int
        Bytes at a time.
    multiplications : int
    """

    memory: int
    multiplications: int

    def __str__(self) -> str:
        return f"{self.memory / 1e9:.2g} GB of memory and {self.multiplications:.1e} multiplications"


_LARGE: ContextVar[bool] = ContextVar("large files are allowed", default=False)


@contextmanager
def allow_large(wanted: bool = True) -> Iterator[None]:
    """Allow files, tables and fits of any cost in this block; the same as the option --allow-large of all commands.

    Otherwise work that needs more than 2 GiB of memory or 2^33 multiplications is refused beforehand, with its cost: a
    small file from anybody could ask for that much.

    Parameters
    ----------
    wanted : bool
        False changes nothing.

    Returns
    -------
    context manager

    Example
    -------
    >>> from optldp.mechanisms import allow_large
    >>> from optldp.mechanisms.cost import require_affordable, table_cost
    >>> with allow_large():
    ...     require_affordable("a table of 10^10 entries", table_cost(10**5, 10**5))
    >>> require_affordable("a table of 10^10 entries", table_cost(10**5, 10**5))
    Traceback (most recent call last):
        ...
    optldp.mechanisms.errors.InputError: a table of 10^10 entries may take 6.4e+02 GB of memory and 4.2e+13 \
multiplications, and without --allow-large (allow_large in Python) at most 2.1 GB and 8.6e+09
    """
    token = _LARGE.set(_LARGE.get() or wanted)
    try:
        yield
    finally:
        _LARGE.reset(token)


def affordable(cost: Cost) -> bool:
    """Whether a cost is within what may be taken, or large ones are allowed here.

    Example
    -------
    >>> affordable(table_cost(4001, 8002)), affordable(table_cost(8192, 8190))
    (True, False)
    """
    few = cost.memory <= MOST_MEMORY and cost.multiplications <= MOST_MULTIPLICATIONS
    return few or _LARGE.get()


def require_affordable(what: str, cost: Cost, cure: str = "") -> None:
    """Raise InputError for what would cost too much, with how much, unless large files are allowed here.

    Parameters
    ----------
    what : str
        It, for the message.
    cost : Cost
    cure : str
        What costs less.

    Example
    -------
    >>> require_affordable("a table", table_cost(101, 202))
    """
    if affordable(cost):
        return
    most = f"{MOST_MEMORY / 1e9:.2g} GB and {MOST_MULTIPLICATIONS:.1e}"
    raise InputError(
        f"{what} may take {cost}, and without --allow-large (allow_large in Python) at most {most}"
        + (f": {cure}" if cure else "")
    )


def table_cost(knots: int, outputs: int, *, all_pairs: bool = False) -> Cost:
    """Return what a table costs the command that does most with it, but for fits.

    Parameters
    ----------
    knots, outputs : int
    all_pairs : bool
        Whether its promise is one of all pairs of rows, as `Approximate` is.

    Example
    -------
    >>> table_cost(1001, 2002, all_pairs=True).multiplications > 4 * 1001**2 * 2002
    True
    """
    entries = knots * outputs
    more = PAIR_PASSES * knots * entries if all_pairs else min(knots, outputs) * entries // SOLVED_AT_ONCE
    return Cost(ENTRY_BYTES * entries, ENTRY_PASSES * entries + more)


def fit_cost(cells: int, outputs: int) -> Cost:
    """Return what it costs to fit a distribution on so many cells to reports of so many outputs of all services.

    Example
    -------
    >>> affordable(fit_cost(1001, 2002)), affordable(fit_cost(2001, 4002))
    (True, False)
    """
    entries = cells * outputs
    memory = CELL_BYTES * entries + ENTRY_BYTES * cells**2
    return Cost(memory, CELL_PASSES * entries + cells**3 // STEPPED_AT_ONCE)


def fits_cost(fits: int, cells: int, outputs: int) -> Cost:
    """Return what it costs to fit so many distributions, one after the other, of which all that is kept are weights.

    Example
    -------
    >>> affordable(fits_cost(1000, 20, 20)), affordable(fits_cost(10_000, 20, 20))
    (True, False)
    """
    return Cost(CELL_BYTES * fits * cells + ENTRY_BYTES * cells * outputs, CELL_PASSES * fits * cells * outputs)


def columns_cost(columns: int, *, read: int = 1) -> Cost:
    """Return what it costs to read so many columns of a data file that has that many, but for its rows.

    Example
    -------
    >>> affordable(columns_cost(10_000)), affordable(columns_cost(400_000)), affordable(columns_cost(10_000, read=100))
    (True, False, False)
    """
    return Cost(COLUMN_BYTES * columns, COLUMN_PASSES * columns * read)


def names_cost(names: int, longest: int) -> Cost:
    """Return what it costs to look up so many names, of which the longest has so many characters.

    Example
    -------
    >>> affordable(names_cost(2**20, 100)), affordable(names_cost(1000, 10**6))
    (True, False)
    """
    return Cost(NAME_BYTES * names * longest, NAME_PASSES * names * longest)


def sets_cost(chosen: int) -> Cost:
    """Return what it costs to draw sets of so many categories for the first few people.

    Example
    -------
    >>> affordable(sets_cost(2**19)), affordable(sets_cost(2**19 + 1))
    (True, False)
    """
    return Cost(0, SET_PASSES * chosen)


def audit_cost(reports: int, places: int) -> Cost:
    """Return what an audit by so many reports costs, each of so many bits or places of keys.

    Example
    -------
    >>> affordable(audit_cost(10**6, 500)), affordable(audit_cost(10**6, 1000))
    (True, False)
    """
    return Cost(PLACE_BYTES * reports * places, PLACE_PASSES * reports * places)
