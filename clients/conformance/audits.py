"""Audits of clients: `python -m clients.conformance.audits CLIENT ... [--samples 1e5]`, from the repository's root.

Each client draws from a mechanism of each sort that it claims, and `optldp audit --sampler` bounds the epsilon that its
reports show from below. The status is 1 if one shows more than its mechanism claims.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from optldp.mechanisms import (
    AttributeSampling,
    PersonalisedMechanism,
    make_exact,
    piecewise,
    save_bundle,
    save_table,
)
from optldp.mechanisms.categorical import basic_rappor, categorical_grr
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.projective_geometry import projective_geometry
from optldp.mechanisms.categorical.subset_selection import subset_selection
from optldp.mechanisms.compact_tables import floor_form
from optldp.mechanisms.families.duchi import duchi
from optldp.mechanisms.key_value import key_value_response, key_value_unary

from .manifest import CLIENTS, Manifest, built

JOBS = ("cook", "smith", "nurse", "clerk", "baker", "pilot")
OPTLDP = Path(sys.executable).parent / "optldp"
CONFIDENCE = 0.99999
"""Of each bound; some thirty of them are looked for at a time, every night."""


def mechanisms(folder: Path) -> Iterator[tuple[str, Path]]:
    """Write a mechanism of each sort into a folder; yield the kind of vectors that it is of, and its file."""
    knots = np.linspace(0.0, 100.0, 11)
    table = folder / "table.json"
    save_table(make_exact(piecewise(knots, 1.0)).mechanism, table)
    small = make_exact(duchi([0.0, 10.0], 1.0)).mechanism
    yield "tables", table
    oracles = {
        "floor": floor_form(make_exact(duchi(knots, 1.0)).mechanism),
        "answers": categorical_grr(JOBS, 1.0),
        "bits": basic_rappor(JOBS, 1.0),
        "sets": subset_selection(JOBS, 1.0),
        "hashes": local_hashing(JOBS, 1.0),
        "points": projective_geometry(JOBS, 1.0),
        "pairs": key_value_response(JOBS[:3], small, 1.0, padding=2),
        "pairs apart": key_value_unary(JOBS[:3], small, 1.0, padding=2),
        "attributes": AttributeSampling(["pay", "age", "hours"], [small] * 3, 1, 1.0),
        "levels": PersonalisedMechanism([categorical_grr(JOBS, each) for each in (0.5, 1.0)], 1.0),
    }
    kinds = {"floor": "floor-forms", "points": "geometry", "pairs": "pairs", "pairs apart": "pairs"}
    kinds |= {"attributes": "attributes", "levels": "levels"}
    for name, mechanism in oracles.items():
        save_bundle(mechanism, folder / f"{name}.json")
        yield kinds.get(name, "categories"), folder / f"{name}.json"


def audited(command: tuple[str, ...], file: Path, samples: float) -> subprocess.CompletedProcess[str]:
    """Run `optldp audit` on a client's command."""
    sampler = shlex.join([sys.executable, "-m", "clients.conformance.sampler", str(file), *command])
    words = [str(OPTLDP), "audit", str(file), "--sampler", sampler, "--samples", f"{samples:g}"]
    words += ["--confidence", str(CONFIDENCE)]
    return subprocess.run(words, cwd=CLIENTS.parent, capture_output=True, text=True, check=False)


def main() -> int:
    """Audit clients, and say what was found; the status is 1 if anything was."""
    parser = argparse.ArgumentParser(
        prog="python -m clients.conformance.audits",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("clients", nargs="+", metavar="CLIENT", help="a folder under clients/")
    parser.add_argument("--samples", type=float, default=1e5, help="reports to draw of each mechanism, such as 1e5")
    asked = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        files = list(mechanisms(Path(scratch)))
        for client in asked.clients:
            manifest = Manifest.of(client)
            folder = Path(scratch, client)
            folder.mkdir()
            command = built(manifest, folder)
            for kind, file in files:
                if kind not in manifest.kinds:
                    continue
                done = audited(command, file, asked.samples)
                print(f"{client}, {file.stem}: {'within its claim' if done.returncode == 0 else 'FAILED'}", flush=True)
                if done.returncode:
                    print(done.stdout, done.stderr, sep="\n")
                    failed += 1
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
