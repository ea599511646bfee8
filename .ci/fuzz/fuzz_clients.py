"""Feed clients mutated files: each must take what the library takes, refuse the rest in one line, and go on.

python .ci/fuzz/fuzz_clients.py c rust --seconds 60

C is built with the compiler's sanitizers, so that a byte that is read out of place ends it.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from fuzz_tables import corpus, mutant, some
from optldp.mechanisms import TableError, TabulatedMechanism, duchi, make_exact
from optldp.mechanisms.exactness.verification import require_private
from optldp.mechanisms.files.bundle import parse_mechanism

sys.path.insert(0, str(Path(__file__).parents[2]))
from clients.conformance.driver import faults
from clients.conformance.manifest import Manifest, built
from clients.conformance.over_time import file_of, ways
from clients.conformance.vectors import KINDS_OVER_TIME, Vector

SANITIZED = "-std=c99 -O1 -g -ffp-contract=off -fsanitize=address,undefined -fno-sanitize-recover=all"
AT_ONCE = 2000
"""Files for one run of a client."""


def good_files(folder: Path) -> list[tuple[str, bytes]]:
    """Files that a client takes, each with the kind of vectors that not all clients have, or ""."""
    table = make_exact(duchi([0.0, 1.0], 0.5)).mechanism
    tables = [("", content) for content in corpus(folder) if not content.startswith(b"PK") and taken(content)]
    return tables + [(KINDS_OVER_TIME[way.kind], file_of(way).encode()) for way in ways(table).values()]


def taken(content: bytes) -> bool:
    """Whether a client must take a file: the library does, and proves it by whole numbers."""
    try:
        mechanism = parse_mechanism(content)
        if not isinstance(mechanism, TabulatedMechanism):
            mechanism.require_private()
            return True
        require_private(mechanism)
        return mechanism.exact
    except TableError:
        return False


def files(good: list[tuple[str, bytes]], rng: np.random.Generator) -> list[Vector]:
    """Mutants of good files, in text of UTF-8, as clients get them, each with the library's verdict."""
    made = []
    while len(made) < AT_ONCE:
        kind, file = some(rng, good)
        content = mutant([file], rng)
        try:
            text = content.decode()
        except UnicodeDecodeError:
            continue
        made.append(Vector(text, kind, {"do": "read", "document": text}, accepted=taken(content)))
    return made


def main() -> int:
    """Fuzz clients until the time is over; print what is answered wrongly, and keep it in a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clients", nargs="+", metavar="CLIENT", help="a folder under clients/")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None, help="default: a new one, printed")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else int(np.random.SeedSequence().generate_state(1)[0])
    rng, started = np.random.default_rng(seed), time.monotonic()
    verdicts: list[bool | None] = []
    os.environ["CFLAGS"] = SANITIZED
    with tempfile.TemporaryDirectory() as scratch:
        good, commands, kinds = good_files(Path(scratch)), {}, {}
        for client in options.clients:
            folder, manifest = Path(scratch, client), Manifest.of(client)
            folder.mkdir()
            commands[client], kinds[client] = built(manifest, folder), ("", *manifest.kinds)
        while not verdicts or time.monotonic() - started < options.seconds:
            asked = files(good, rng)
            verdicts += [vector.accepted for vector in asked]
            wrong = {
                client: faults(command, [vector for vector in asked if vector.kind in kinds[client]])
                for client, command in commands.items()
            }
            if any(wrong.values()):
                Path("fuzz-failure.json").write_text(json.dumps(wrong))
                print(
                    f"fuzz: seed {seed}: { ({client: len(each) for client, each in wrong.items()}) } answered wrongly"
                )
                return 1
    count = f"{len(verdicts)} files, {sum(map(bool, verdicts))} to be taken"
    print(f"fuzz: {count}, read by {', '.join(commands)}, 0 answered wrongly; seed {seed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
