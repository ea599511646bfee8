"""Where a file that is written goes: to its place, whole or not at all, or to standard output once it is complete."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ....mechanisms.files.atomic_write import replacing
from .plain_file import STANDARD_INPUT


@contextmanager
def destination(path: str | os.PathLike[str], *, within: Path | None = None) -> Iterator[Path]:
    """Yield a file to write, which takes the place of the path when the block ends well; "-" is standard output.

    It is written in the path's folder, or in another one `within` the same disk.

    Example
    -------
    >>> with destination("-") as part:
    ...     _ = part.write_text("x\\n1\\n")
    x
    1
    """
    if str(path) != STANDARD_INPUT:
        with replacing(path, within=within) as part:
            yield part
        return
    with tempfile.TemporaryDirectory(prefix="optldp-") as folder:
        part = Path(folder, "output.csv")
        yield part
        if (stream := getattr(sys.stdout, "buffer", None)) is None:
            sys.stdout.write(part.read_text(encoding="utf-8"))
        else:
            sys.stdout.flush()
            with part.open("rb") as written:
                shutil.copyfileobj(written, stream)
        sys.stdout.flush()
