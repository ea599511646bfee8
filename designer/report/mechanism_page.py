"""The report on a mechanism of any kind as one page of HTML: what to sign first, then what there is to know of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from ...estimators.plots.style import whole_figure
from ...mechanisms.documents.bundle import Bundle
from ...mechanisms.files.identifier import file_checksum, identifier_of
from ...mechanisms.table.provenance import installed_version
from ...mechanisms.table.table import TabulatedMechanism
from ...mechanisms.third_party.mark import origin_of
from .figures import SIZE
from .fronts.front import Front
from .fronts.mechanism import front_of
from .narrow import fit
from .rendering import rendered, require_report_tools
from .svg import inline_svg

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes


def mechanism_html(
    mechanism: TabulatedMechanism | Bundle,
    *,
    n: int | None = None,
    name: str = "this mechanism",
    facts: Sequence[tuple[str, str]] = (),
    picture: Axes | None = None,
) -> str:
    """Return a page on what a mechanism protects, the meaning of its budget, and the errors of estimates from n people.

    Parameters
    ----------
    mechanism : TabulatedMechanism or Bundle
        Of any kind that a file can hold.
    n : int, optional
        How many people will report. Default: 10,000.
    name : str
        Its name, such as that of its file.
    facts : sequence of (str, str)
        Further facts for those who check it: names and values.
    picture : Axes, optional
        A figure of it.

    Returns
    -------
    page : str
        HTML that loads nothing from elsewhere.

    Raises
    ------
    InputError
        A mechanism of another kind, a number of people that is none; jinja2 or matplotlib is not installed.

    Example
    -------
    >>> from optldp.designer import mechanism_html
    >>> from optldp.mechanisms import duchi
    >>> page = mechanism_html(duchi([0, 100], 1.0), n=20_000)
    >>> page[:15], "What 20,000 people tell" in page
    ('<!doctype html>', True)
    """
    require_report_tools()
    drawn = [] if picture is None else [picture]
    return mechanism_page(front_of(mechanism, n), mechanism, name, facts, drawn)


def mechanism_page(
    front: Front,
    mechanism: TabulatedMechanism | Bundle,
    name: str,
    facts: Sequence[tuple[str, str]],
    pictures: Sequence[Axes],
) -> str:
    """Return the page of a mechanism whose front is made already; of several pictures each has its title below it."""
    drawn = [_drawn(picture, f"picture-{place}") for place, picture in enumerate(pictures)]
    return rendered(
        "mechanism.html.j2",
        title=f"What {name} promises",
        front=front,
        signed=_signed(mechanism, name),
        facts=facts,
        pictures=drawn,
    )


def _signed(mechanism: TabulatedMechanism | Bundle, name: str) -> list[tuple[str, str]]:
    """Return what is signed for: the very file, and where it and the page come from."""
    found = file_checksum(mechanism)
    origin = origin_of(mechanism)
    made = [] if origin is None else [("made by", f"the method {origin.method} of optldp {origin.version}")]
    said = [("file", name), ("its checksum", found), ("in reports and counts", identifier_of(found)), *made]
    return [*said, ("page written", f"{date.today().isoformat()} by optldp {installed_version()}")]


def _drawn(picture: Axes, name: str) -> tuple[Markup, str]:
    """Return a picture for the page, and its title."""
    from markupsafe import Markup

    title, figure, place = picture.get_title(), whole_figure(picture), picture.get_subplotspec()
    if place is None or place.get_geometry()[:2] == (1, 1):  # else several of a size of their own
        figure.set_size_inches(*SIZE)
    fit(figure, bare=False)
    return Markup(inline_svg(picture, name, title)), title
