"""Figures as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...estimators.plots.fonts import choose_fonts, quiet_about_boxes
from ...estimators.plots.style import whole_figure
from ...mechanisms import InputError
from ...mechanisms.files.atomic_write import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def save_figure(axes: Axes, path: Path) -> str:
    """Write the figure of axes by its file's extension, whole or not at all; return which letters no font has.

    Raises
    ------
    InputError
        An extension matplotlib does not know, or a place that cannot be written.
    """
    figure = whole_figure(axes)
    known = figure.canvas.get_supported_filetypes()
    suffix = path.suffix.lower().lstrip(".")
    if suffix not in known:
        raise InputError(f"a plot must end in one of {', '.join(sorted(known))}, got {str(path)!r}")
    lacking = choose_fonts(figure)
    with replacing(path) as temporary, quiet_about_boxes():
        figure.savefig(temporary, format=suffix, dpi=150)
    return lacking
