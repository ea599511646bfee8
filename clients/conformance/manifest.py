"""What a client says of itself in `client.json`: the kinds it has, how it is built and how it is run."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

CLIENTS = Path(__file__).parents[1]


@dataclass(frozen=True)
class Manifest:
    """How to build and to run a client.

    Attributes
    ----------
    kinds : tuple of str
        The kinds of vectors that it claims to be right on; none of a stranger's command.
    build, run : tuple of str
        Commands, in which `{folder}` is the client's, `{scratch}` an empty one for what is built, and `{python}` the
        Python that runs the driver. No `build`: nothing is to be built.
    folder : Path or None
        None of a stranger's command, which is run as it stands.
    """

    kinds: tuple[str, ...]
    build: tuple[str, ...]
    run: tuple[str, ...]
    folder: Path | None

    @classmethod
    def of(cls, client: str) -> Manifest:
        """Return that of a folder under `clients/`, or of a quoted command.

        Example
        -------
        >>> Manifest.of("node mine.js").run
        ('node', 'mine.js')
        """
        file = CLIENTS / client / "client.json"
        if not file.is_file():
            return cls((), (), tuple(shlex.split(client)), None)
        said = json.loads(file.read_text())
        return cls(tuple(said["kinds"]), tuple(said["build"]), tuple(said["run"]), file.parent)


def built(manifest: Manifest, scratch: Path) -> tuple[str, ...]:
    """Build a client in the folder `scratch` and return the command that runs it.

    Raises
    ------
    subprocess.CalledProcessError
        The build fails; what the compiler says is printed.
    OSError
        The compiler is missing.
    """
    if manifest.folder is None:
        return manifest.run
    words = {"folder": str(manifest.folder), "scratch": str(scratch), "python": sys.executable}
    if manifest.build:
        subprocess.run([part.format(**words) for part in manifest.build], check=True)
    return tuple(part.format(**words) for part in manifest.run)
