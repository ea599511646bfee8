"""Writing a file whole or not at all: into a temporary neighbour first, then renamed over the target.

The standard library has the rename (`os.replace`) and no more, `atomicwrites` is no longer maintained, and this layer
needs numpy alone.
"""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import InputError

TEMPORARY = ".optldp-"
"""What names of files begin with that a killed process was writing."""


@contextmanager
def replacing(target: str | os.PathLike[str], *, within: Path | None = None) -> Iterator[Path]:
    """Yield a temporary path in the target's folder, or another, and rename it to the target if the block succeeds.

    Whatever goes wrong, Ctrl-C included, the target is untouched and the temporary file is removed.

    Parameters
    ----------
    target : path
        The file to create or replace. The temporary path ends in the same suffix.
    within : Path, optional
        Another folder of the same disk, where somebody will find what a killed process leaves.

    Raises
    ------
    InputError
        The target is a folder, or its folder is missing or not writable.

    Example
    -------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder, "note.txt")) as temporary:
    ...         _ = temporary.write_text("whole")
    ...     Path(folder, "note.txt").read_text(), len(list(Path(folder).iterdir()))
    ('whole', 1)
    """
    path = Path(target)
    if os.path.isdir(path):  # false, not an error, for a name too long to exist
        raise InputError(f"the output must be a file, got the folder {str(path)!r}")
    temporary = path.with_name(
        f"{TEMPORARY}{secrets.token_hex(8)}{path.suffix}"
    )  # no letters that a library may not take
    temporary = temporary if within is None else within / temporary.name
    try:
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        raise InputError(f"the output must be writable, got {str(path)!r}: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            temporary.unlink()
