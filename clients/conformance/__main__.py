"""Whether a client is right: `python -m clients.conformance CLIENT`, from the repository's root.

CLIENT is the name of a folder under `clients/`, or a quoted command: `python -m clients.conformance "node mine.js"`.
The command gets a line of JSON for each vector and answers each by one line. It is right if the status is 0.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from pathlib import Path

from .driver import faults
from .vectors import vectors

ROOT = Path(__file__).parents[2]

COMMANDS = {"javascript": ("node", str(ROOT / "clients" / "javascript" / "conformance.js"))}
"""How the clients of this repository are started, by folder."""

FAULTS_SHOWN = 20


def main() -> int:
    """Run the vectors and say what is wrong; the status is 1 if anything is."""
    parser = argparse.ArgumentParser(
        prog="python -m clients.conformance", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("client", metavar="CLIENT", help="a folder under clients/, or a quoted command")
    client = parser.parse_args().client
    command = COMMANDS.get(client) or tuple(shlex.split(client))
    asked = list(vectors())
    try:
        found = faults(command, asked)
    except (OSError, subprocess.TimeoutExpired) as error:
        known = ", ".join(COMMANDS)
        parser.error(f"CLIENT must be one of {known}, or a command that runs, got {client!r}: {error}")
    for fault in found[:FAULTS_SHOWN]:
        print(f"FAILED {fault}")
    print(f"{len(asked)} vectors, {len(found)} failed")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
