"""A matplotlib figure as SVG inside a page: the same bytes in every run, no ids twice, and spots to point at.

The element is read and written by the standard library's ElementTree. Libraries that make figures for pages (mpld3,
plotly, bokeh) bring megabytes of script along, or a network; a report is one file that needs neither.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from ...estimators.plots.fonts import quiet_about_boxes
from ...estimators.plots.style import whole_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS_PER_INCH = 72
"""SVG is drawn in points."""

SALT = "optldp"
"""matplotlib names clip paths by hashes with this salt; without one they differ in every run."""

LEFT_OUT = ("metadata", "style")
"""A style would hold for the whole page."""


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


def inline_svg(axes: Axes, name: str, label: str, spots: Sequence[Spot] = ()) -> str:
    """Return the figure of axes as an SVG element for a page in HTML, where it scales with its place.

    Parameters
    ----------
    axes : Axes
        Those that the spots are on.
    name : str
        Of letters and hyphens, different for every figure of a page: ids start with it.
    label : str
        What the figure shows, for those who cannot see it; empty if the text beside it says so, as in a key.
    spots : sequence of Spot

    Example
    -------
    >>> from optldp.estimators.plots.style import new_axes
    >>> svg = inline_svg(new_axes(2, 2), "empty", "nothing <at all>", [Spot(0.5, 0.5, "aaa", ("a half",))])
    >>> svg[:4], "nothing &lt;at all&gt;" in svg, svg.count('class="spot"')
    ('<svg', True, 1)
    """
    import matplotlib

    figure = whole_figure(axes)
    figure.set_dpi(POINTS_PER_INCH)
    buffer = io.StringIO()
    with quiet_about_boxes(), matplotlib.rc_context({"svg.hashsalt": SALT, "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", dpi=POINTS_PER_INCH, transparent=True, metadata={"Date": None})
    svg = ElementTree.fromstring(buffer.getvalue())
    for element in list(svg.iter()):
        _fit_into_page(element, name)
    del svg.attrib["width"], svg.attrib["height"]
    svg.attrib |= {
        "id": f"figure-{name}",
        **({"role": "img", "aria-label": label} if label else {"aria-hidden": "true"}),
    }
    if spots:
        svg.append(_drawn(axes, spots))
    return ElementTree.tostring(svg, encoding="unicode").strip()


def _fit_into_page(element: ElementTree.Element, name: str) -> None:
    """Give an element names that HTML knows and ids that no other figure has, and take out what it is not to hold."""
    element.tag = _local(element.tag)
    element.attrib = {_local(key): _own(_local(key), value, name) for key, value in element.attrib.items()}
    for child in [child for child in element if _local(child.tag) in LEFT_OUT]:
        element.remove(child)
    element.text, element.tail = _unindented(element.text), _unindented(element.tail)


def _unindented(text: str | None) -> str | None:
    return "\n" if text and text.isspace() else text


def _local(tag: str) -> str:
    """Return a name without its namespace: HTML has none."""
    return tag.rpartition("}")[2]


def _own(key: str, value: str, name: str) -> str:
    """Return an attribute's value with the figure's name before each id in it."""
    if key == "id":
        return f"{name}-{value}"
    if key == "href":
        return value.replace("#", f"#{name}-", 1)
    return value.replace("url(#", f"url(#{name}-")


def _drawn(axes: Axes, spots: Sequence[Spot]) -> ElementTree.Element:
    """Return circles over the figure where the spots are; they are seen once pointed at."""
    height = whole_figure(axes).get_figheight() * POINTS_PER_INCH
    group = ElementTree.Element("g", {"class": "spots"})
    for spot in spots:
        x, y = axes.transData.transform((spot.x, spot.y))
        place = {"cx": f"{x:.1f}", "cy": f"{height - y:.1f}", "r": "5"}
        said = {"data-series": spot.series, "data-says": "\n".join(spot.lines)}
        ElementTree.SubElement(group, "circle", {"class": "spot", **place, **said}).tail = "\n"
    return group
