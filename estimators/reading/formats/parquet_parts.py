"""Tables in several Parquet files: folders, as Spark writes them, and patterns such as days/2026-05-*.parquet."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import Any

from ....mechanisms.errors import InputError

SUFFIX = ".parquet"


def parquet_parts(path: Any) -> list[Path] | None:
    """Return the files that a folder holds or a pattern matches, in the order of their names; None for other paths.

    What begins with a dot or an underscore is what engines write beside the rows.

    Raises
    ------
    InputError
        A folder or pattern without Parquet files.

    Example
    -------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("part-1.parquet", "part-0.parquet", "_SUCCESS"):
    ...     (folder / name).touch()
    >>> [part.name for part in parquet_parts(folder)], parquet_parts(folder / "part-0.parquet")
    (['part-0.parquet', 'part-1.parquet'], None)
    """
    place, text = Path(path), str(path)
    if place.is_dir() and place.suffix.lower() in ("", SUFFIX):
        found = sorted(place.rglob(f"*{SUFFIX}"))
    elif text.endswith(SUFFIX) and any(mark in text for mark in "*?[") and not place.exists():
        found = [Path(name) for name in sorted(glob.glob(text))]
    else:
        return None
    inside = [part for part in found if part.is_file() and not part.name.startswith((".", "_"))]
    if not inside:
        raise InputError(f"a folder or pattern must hold files that end in {SUFFIX}, got none for {text!r}")
    return inside
