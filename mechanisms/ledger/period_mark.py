"""How far a state over time had come, in a small file apart from it: so that an old copy of the state is noticed."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from ..errors import InputError
from ..files.atomic_write import replacing

FORMAT = "optldp-periods-mark/1"

LONGEST = 1024
"""Bytes; a mark takes a hundred."""

NAME = re.compile(r"[0-9a-f]{32}", re.ASCII)


@dataclass(frozen=True)
class PeriodMark:
    """What was last written of a state.

    Attributes
    ----------
    state : str
        The state's random name, 32 hexadecimal digits.
    number : int
        How often it was written.
    latest : int
        The last period that was asked for.

    Example
    -------
    >>> import tempfile
    >>> mark = PeriodMark("0" * 32, 7, 3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mark.write(Path(folder, "state.db.mark"))
    ...     PeriodMark.read(Path(folder, "state.db.mark")) == mark, PeriodMark.read(Path(folder, "other"))
    (True, None)
    """

    state: str
    number: int
    latest: int

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Return the mark of a file, None where there is none; InputError for a file of something else."""
        try:
            with path.open("rb") as file:
                found = json.loads(file.read(LONGEST))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            raise _no_mark(path, type(error).__name__) from None
        known = isinstance(found, dict) and [*found] == ["format", "state", "number", "latest"]
        if not known or found["format"] != FORMAT or not NAME.fullmatch(str(found["state"])):
            raise _no_mark(path, "something else")
        if any(type(found[name]) is not int or found[name] < 0 for name in ("number", "latest")):
            raise _no_mark(path, "other numbers")
        return cls(found["state"], found["number"], found["latest"])

    def write(self, path: Path) -> None:
        """Put the mark in a file's place, on disk when this returns; whole or not at all."""
        with replacing(path) as temporary, temporary.open("w") as file:
            json.dump({"format": FORMAT} | asdict(self), file)
            file.flush()
            os.fsync(file.fileno())


def _no_mark(path: Path, what: str) -> InputError:
    return InputError(f"the mark {str(path)!r} must be a file of {FORMAT}, got {what}: put its latest copy back")
