"""Mutation testing: does a test fail for every small change to a module, or is there a reason why none can?

    nice python .ci/mutation                                   all modules of modules.toml, hours
    nice python .ci/mutation mechanisms/integers/numerators.py one of them
    nice python .ci/mutation --record docs/mutation.md ...     and the counts go into that page's table

modules.toml names each module's tests. equivalent.toml lists the mutants that no test can find out, with the reason;
one that a test does find out, or that the module no longer has, is an error, like every survivor that is not listed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

from mutants import mutants
from record import record
from trial import prepare, trial

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SLOWER = 10
"""How many times longer than the unchanged module a mutant may take, and two seconds more."""


@dataclass(frozen=True)
class Found:
    """What a module's mutants came to."""

    module: str
    killed: int
    equivalent: int
    survivors: tuple[tuple[str, str], ...]
    faults: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether every mutant is killed or listed, and the list is true."""
        return not (self.survivors or self.faults)


def examine(module: str, tests: list[str], listed: set[tuple[str, str]]) -> Found:
    """Try all mutants of one module and print those that survive without being listed."""
    path = ROOT / module
    name = "optldp." + module.removesuffix(".py").replace("/", ".")
    started = time.monotonic()
    if not trial(name, path, path.read_text(), tests, 600.0):
        trial(name, path, path.read_text(), tests, 600.0, show=True)
        sys.exit(f"{module}: its tests must pass without a mutation")
    limit = SLOWER * (time.monotonic() - started) + 2
    killed, equivalent, met, survivors, faults = 0, 0, set(), [], []
    for one in mutants(path.read_text()):
        survives, key = trial(name, path, one.source, tests, limit), (one.line, one.becomes)
        met |= {key} & listed
        killed += not survives
        equivalent += survives and key in listed
        if survives and key not in listed:
            survivors.append(key)
            print(f"SURVIVES {module}\n  - {one.line}\n  + {one.becomes}", flush=True)
        elif not survives and key in listed:
            faults.append(f"{module}: listed as equivalent, but a test fails: {one.becomes}")
    faults += [f"{module}: listed as equivalent, but there is no such mutant: {new}" for _, new in listed - met]
    return Found(module, killed, equivalent, tuple(survivors), tuple(faults))


def main() -> None:
    """Examine the modules asked for; exit with 1 if one has a survivor or the list is not true."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    modules = tomllib.loads((HERE / "modules.toml").read_text())
    parser.add_argument("module", nargs="*", help="files of modules.toml; all by default")
    parser.add_argument("--record", type=Path, help="page whose table takes the counts")
    options = parser.parse_args()
    unknown = sorted(set(options.module) - set(modules))
    if unknown:
        parser.error(f"modules must be named in modules.toml, got {', '.join(unknown)}")
    os.chdir(ROOT)
    prepare()
    equivalent = tomllib.loads((HERE / "equivalent.toml").read_text())
    failed = False
    for module in options.module or modules:
        started = time.monotonic()
        listed = {(entry["line"], new) for entry in equivalent.get(module, []) for new in entry["becomes"]}
        found = examine(module, modules[module], listed)
        for fault in found.faults:
            print(fault)
        print(
            f"{module}: {found.killed} killed, {found.equivalent} equivalent, {len(found.survivors)} survive, "
            f"{time.monotonic() - started:.0f} s",
            flush=True,
        )
        if options.record:
            record(options.record, module, found.killed, found.equivalent, len(found.survivors))
        failed = failed or not found.ok
    sys.exit(failed)


if __name__ == "__main__":
    main()
