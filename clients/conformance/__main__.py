"""Whether a client is right: `python -m clients.conformance CLIENT`, from the repository's root.

CLIENT is the name of a folder under `clients/`, or a quoted command: `python -m clients.conformance "node mine.js"`.
The command gets a line of JSON for each vector and answers each by one line. It is right if the status is 0.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from .driver import faults
from .manifest import Manifest, built
from .vectors import KINDS, vectors

FAULTS_SHOWN = 20
CLAIMED = "claimed"


def main() -> int:
    """Run the vectors and say what is wrong; the status is 1 if anything is."""
    parser = argparse.ArgumentParser(
        prog="python -m clients.conformance", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("client", metavar="CLIENT", help="a folder under clients/, or a quoted command")
    parser.add_argument(
        "--kinds",
        default=",".join(KINDS),
        help=f"vectors of these kinds alone, of {', '.join(KINDS)}; `{CLAIMED}`: those that the client's own manifest "
        "names (default: all), such as --kinds tables,floor-forms",
    )
    asked = parser.parse_args()
    try:
        manifest = Manifest.of(asked.client)
    except ValueError as error:
        parser.error(str(error))
    kinds = manifest.kinds if asked.kinds == CLAIMED else tuple(asked.kinds.split(","))
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        parser.error(f"--kinds must be some of {', '.join(KINDS)}, or {CLAIMED} of a folder, got {unknown[0]!r}")
    chosen = [vector for vector in vectors() if vector.kind in kinds]
    try:
        with tempfile.TemporaryDirectory() as scratch:
            found = faults(built(manifest, Path(scratch)), chosen)
    except (OSError, subprocess.SubprocessError) as error:
        parser.error(f"CLIENT must be a folder under clients/, or a command that runs, got {asked.client!r}: {error}")
    for fault in found[:FAULTS_SHOWN]:
        print(f"FAILED {fault}")
    print(f"{', '.join(kinds)}: {len(chosen)} vectors, {len(found)} failed")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
