"""Whether clients are right: `python -m clients.conformance CLIENT ...`, from the repository's root.

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
    parser.add_argument(
        "clients",
        nargs="+",
        metavar="CLIENT",
        help="a folder under clients/, or a quoted command; several share vectors",
    )
    parser.add_argument(
        "--kinds",
        default=",".join(KINDS),
        help=f"vectors of these kinds alone, of {', '.join(KINDS)}; `{CLAIMED}`: those that the client's own manifest "
        "names (default: all), such as --kinds tables,floor-forms",
    )
    asked = parser.parse_args()
    try:
        kinds = {client: kinds_of(client, asked.kinds) for client in asked.clients}
    except ValueError as error:
        parser.error(str(error))
    made = list(vectors())
    failed = 0
    for client in asked.clients:
        chosen = [vector for vector in made if vector.kind in kinds[client]]
        try:
            with tempfile.TemporaryDirectory() as scratch:
                found = faults(built(Manifest.of(client), Path(scratch)), chosen)
        except (OSError, subprocess.SubprocessError) as error:
            parser.error(f"CLIENT must be a folder under clients/, or a command that runs, got {client!r}: {error}")
        for fault in found[:FAULTS_SHOWN]:
            print(f"FAILED {fault}")
        print(f"{client}: {', '.join(kinds[client])}: {len(chosen)} vectors, {len(found)} failed", flush=True)
        failed += len(found)
    return int(failed > 0)


def kinds_of(client: str, asked: str) -> tuple[str, ...]:
    """Return the kinds of vectors that a client is to get, by the option's text; ValueError for others."""
    kinds = Manifest.of(client).kinds if asked == CLAIMED else tuple(asked.split(","))
    if not kinds or not set(kinds) <= set(KINDS):
        raise ValueError(f"--kinds must be some of {','.join(KINDS)}, or {CLAIMED} of a folder, got {asked!r}")
    return kinds


if __name__ == "__main__":
    sys.exit(main())
