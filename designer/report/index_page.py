"""A page that leads to several reports, with a line of numbers for each."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from .fronts.front import Front
from .odds import BELIEFS, percent_of
from .rendering import rendered


def index_html(fronts: Mapping[str, tuple[str, Front]]) -> str:
    """Return a page with a row for each report: its link, its promise, what 1 % becomes at most, and its error.

    Parameters
    ----------
    fronts : mapping of str to (str, Front)
        File of each report, in the folder of this page, to its name and first page; at least one.

    Example
    -------
    >>> from optldp.mechanisms import duchi
    >>> from .fronts.mechanism import front_of
    >>> page = index_html({"a b.html": ("a b.json", front_of(duchi([0, 100], 1.0)))})
    >>> 'href="a%20b.html"' in page
    True
    """
    users = next(front.users for _, front in fronts.values())
    rows = [(quote(file), name, *front.line) for file, (name, front) in fronts.items()]
    header = ("promise", f"{percent_of(BELIEFS[0])} becomes at most", f"{users:,} people are told within")
    return rendered("index.html.j2", title=f"{len(rows)} reports", header=header, rows=rows)
