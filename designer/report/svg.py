"""A matplotlib figure as SVG inside a page: the same bytes in every run, no ids twice, and spots to point at."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS_PER_INCH = 72
"""SVG is drawn in points."""

SALT = "optldp"
"""matplotlib names clip paths by hashes with this salt; without one they differ in every run."""


@dataclass(frozen=True)
class Spot:
    """A place of a figure that says something when pointed at.

    Attributes
    ----------
    x, y : float
        In the units of the axes.
    series : str
        The method that it belongs to, or another name.
    lines : tuple of str
        What it says.
    """

    x: float
    y: float
    series: str
    lines: tuple[str, ...]


def inline_svg(figure: Figure, name: str, label: str, spots: Sequence[Spot] = (), *, axes: int = 0) -> str:
    """Return a figure as an SVG element that scales with its place.

    Parameters
    ----------
    figure : Figure
    name : str
        Of letters and hyphens, different for every figure of a page: ids start with it.
    label : str
        What the figure shows, for those who cannot see it.
    spots : sequence of Spot
    axes : int
        Which of the figure's axes the spots are on.

    Example
    -------
    >>> from optldp.designer.plots.style import new_figure
    >>> figure, axes = new_figure(2, 2)
    >>> svg = inline_svg(figure, "empty", "nothing <at all>", [Spot(0.5, 0.5, "aaa", ("a half",))])
    >>> svg[:4], "nothing &lt;at all&gt;" in svg, svg.count('class="spot"')
    ('<svg', True, 1)
    """
    import matplotlib

    figure.set_dpi(POINTS_PER_INCH)
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": SALT, "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", dpi=POINTS_PER_INCH, transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)  # it would hold for the whole page
    text = re.sub(r"\n\s*", "\n", text)
    text = re.sub(r'(<[a-zA-Z][^<>]*? id=")', rf"\g<1>{name}-", text)
    text = re.sub(r"url\(#", f"url(#{name}-", text)
    text = re.sub(r'href="#', f'href="#{name}-', text)
    head, _, rest = text.partition(">")
    head = re.sub(r' (?:width|height)="[^"]*"', "", head)
    head = f'{head} id="figure-{name}" role="img" aria-label="{escape(label)}"'
    body, closing, _ = rest.rpartition("</svg>")
    return f"{head}>{body}{_drawn(figure, spots, axes)}{closing}".strip()


def _drawn(figure: Figure, spots: Sequence[Spot], axes: int) -> str:
    """Return circles over the figure where the spots are; they are seen once pointed at."""
    if not spots:
        return ""
    place = figure.axes[axes].transData
    height = figure.get_figheight() * POINTS_PER_INCH
    circles = []
    for spot in spots:
        x, y = place.transform((spot.x, spot.y))
        said = escape("\n".join(spot.lines)).replace("\n", "&#10;")
        circles.append(
            f'<circle class="spot" cx="{x:.1f}" cy="{height - y:.1f}" r="5" data-series="{escape(spot.series)}" '
            f'data-says="{said}"/>'
        )
    return '<g class="spots">' + "\n".join(circles) + "</g>"
