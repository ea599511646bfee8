"""The reports that `optldp show` writes: a page of one mechanism, or a folder of pages with an index."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ....mechanisms.errors import InputError
from ..options.bounds import SUFFIXES
from ..output.output import require_place

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..handlers.kind import Kind

INDEX = "index.html"

Facts = list[tuple[str, str]]
"""What there is to know of a mechanism: names and values."""


def require_report_place(out: Path, tables: Sequence[Path], *, force: bool) -> None:
    """Refuse a report that could not be written, before anything is computed.

    Raises
    ------
    InputError
        A page of one table that is no page or is a folder, a folder of several that is a file, a place that may not be
        written to, files that would be replaced without `force`; jinja2 or matplotlib is not installed.
    """
    from ...report.rendering import require_report_tools

    if len(tables) == 1:
        require_place(out, SUFFIXES, force=force)
    elif out.exists() and not out.is_dir():
        raise InputError(f"the reports of {len(tables)} tables need a folder, got the file {str(out)!r}: name another")
    elif out.is_dir() and any(out.iterdir()) and not force:
        raise InputError(f"the reports' folder must be empty, got {str(out)!r}: --force replaces pages in it")
    else:
        require_place(out / INDEX if out.is_dir() else out, force=force)
    if not os.access(out if out.is_dir() else out.parent, os.W_OK):
        raise InputError(f"the report's folder must be writable, got {str(out)!r}: name another")
    require_report_tools()


def report_pages(
    out: Path, tables: Sequence[Path], kinds: Sequence[Kind], facts: Sequence[Facts], users: int | None
) -> dict[str, str]:
    """Return pages by the names of their files: one, or those of several tables and their index."""
    from ...report.fronts.mechanism import front_of
    from ...report.index_page import index_html
    from ...report.mechanism_page import mechanism_page

    pages, fronts = {}, {}
    for table, kind, rows in zip(tables, kinds, facts, strict=True):
        file = out.name if len(tables) == 1 else free_name(table.stem, pages)
        front = front_of(kind.mechanism, users)
        notes = [("note", note.removeprefix("note: ")) for note in kind.notes()]
        pages[file] = mechanism_page(front, kind.mechanism, table.name, [*rows, *notes], _pictures(kind))
        fronts[file] = (str(table), front)
    return pages if len(tables) == 1 else pages | {INDEX: index_html(fronts)}


def free_name(stem: str, taken: Mapping[str, str]) -> str:
    """Return the name of a page that no other has, the index included, on file systems of either case too."""
    stem = re.sub(r"[^\w.-]+", "_", stem).strip(".") or "page"
    names, number, name = {INDEX, *map(str.lower, taken)}, 1, f"{stem}.html"
    while name.lower() in names:
        number += 1
        name = f"{stem}-{number}.html"
    return name


def _pictures(kind: Kind) -> list[Axes]:
    """Return figures of the kind: of one that is made of parts one for each, so that every telephone shows them."""
    from ...plots.mechanism_mesh import MOST_PARTS, part_map

    parts = kind.parts()
    try:
        if len(parts) == 1:
            return [kind.figure()]
        return [part_map(part.name, part.mechanism) for part in parts[:MOST_PARTS]]
    except InputError:  # none is drawn of this kind
        return []


def write_pages(out: Path, pages: Mapping[str, str]) -> None:
    """Write one page as the file, or several into the folder, which is made if it is not there."""
    from ....mechanisms.files.atomic_write import replacing

    folder = out.parent
    if INDEX in pages and len(pages) > 1:
        out.mkdir(exist_ok=True)
        folder = out
    for name, page in pages.items():
        with replacing(folder / name) as part:
            part.write_text(page, "utf-8", errors="replace")
