"""Feed `optldp estimate` mutated files of reports: it may estimate, or refuse in one line; nothing else.

python .ci/fuzz/fuzz_reports.py --seconds 20       in every run
python .ci/fuzz/fuzz_reports.py --seconds 3600     at night
"""

import argparse
import resource
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from optldp.designer.command_line import app
from optldp.estimators.reading.columns.number_cells import write_columns
from optldp.mechanisms import (
    AttributeSampling,
    PersonalisedMechanism,
    duchi,
    laplace,
    make_exact,
    piecewise,
    save_bundle,
    save_table,
)
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.projective_geometry import projective_geometry
from optldp.mechanisms.categorical.subset_selection import subset_selection
from optldp.mechanisms.categorical.table import categorical_grr
from optldp.mechanisms.categorical.unary_encoding import basic_rappor
from optldp.mechanisms.documents.bundle import Bundle
from optldp.mechanisms.key_value.response import key_value_response
from optldp.mechanisms.key_value.unary import key_value_unary
from typer.testing import CliRunner

MEMORY = 6 * 2**30
"""Address space allowed, mostly reserved by duckdb and scipy: a file of a few kilobytes that needs more is a fault."""

ROWS = 40
"""Rows of a file before it is mutated."""

NASTY = [
    b"", b"NA", b"nan", b"inf", b"1e999", b"-0", b"1_000", b"0x10", b"banana", b"\xd9\xa3", b"\xff\xfe", b"\0", b'"',
    b'""', b'"1', b"1,2,3,4", b"\r", b"\n", b"\r\n", b"\x1b[2J", "\u202e\u200b".encode(), b"=1+1", b"'", b"7" * 5000,
    b"x" * 100_000, b"9" * 400, b"0:1;0:1", b"-", b"1" * 19, b"\xef\xbb\xbf", b"simulated_report", b"report,",
]  # fmt: skip

OPTIONS: list[list[str]] = [
    [],
    ["--skip-invalid"],
    ["--drop-missing"],
    ["--skip-invalid", "--drop-missing"],
    ["--json"],
]


def corpus(folder: Path) -> list[tuple[Path, bytes, list[str]]]:
    """Every kind of mechanism in a file, with good reports of it and the options that all of its files need."""
    half, whole = (make_exact(duchi([0.0, 1.0], epsilon)).mechanism for epsilon in (0.5, 1.0))
    names = ["a", "b", "c"]
    labels, numbers = np.resize(names, ROWS), np.linspace(0.0, 1.0, ROWS)
    levels = PersonalisedMechanism([categorical_grr(names, epsilon) for epsilon in (0.5, 1.0)], 0.3)
    both = AttributeSampling(["x", "y"], [half, whole], 1, 1.0)
    sent = levels.sample(labels, np.resize([0, 1], ROWS))
    made: list[tuple[Any, dict[str, Any]]] = []
    for table in (
        half,
        make_exact(piecewise([0.0, 0.5, 1.0], 1.0)).mechanism,
        make_exact(laplace([0.0, 1.0], 1.0)).mechanism,
    ):
        made.append((table, {"report": table.sample(numbers)}))
    for oracle in (
        categorical_grr(names, 1.0),
        basic_rappor(names, 1.0),
        local_hashing(names, 1.0),
        subset_selection(names, 0.5),
        projective_geometry(names, 1.0),
    ):
        made.append((oracle, {"report": oracle.to_text(oracle.sample(labels))}))
    made.append(
        (levels, {"report": levels.levels[0].to_text(sent.reports), "level": np.array([0.5, 1.0])[sent.levels]})
    )
    for pairs in (key_value_unary(names, half, 1.0), key_value_response(names, whole, 1.0)):
        made.append((pairs, {"report": pairs.to_text(pairs.sample(labels, numbers))}))
    kept = PersonalisedMechanism([key_value_unary(names, table, table.epsilon) for table in (half, whole)], 0.3)
    shown = kept.sample((labels, numbers), np.resize([0, 1], ROWS))
    told = {"report": kept.levels[0].to_text(shown.reports), "level": np.array([0.5, 1.0])[shown.levels]}
    made.append((kept, told))
    made.append((both, both.sample({"x": numbers, "y": numbers})))
    files = []
    for i, (mechanism, columns) in enumerate(made):
        place = folder / f"mechanism{i}.json"
        (save_bundle if isinstance(mechanism, Bundle) else save_table)(mechanism, place)
        write_columns(folder / "good.csv", columns)
        files.append((place, (folder / "good.csv").read_bytes(), []))
        if not isinstance(mechanism, Bundle):
            write_columns(folder / "good.csv", {"user": [f"u{k}" for k in range(ROWS)], **columns})
            files.append((place, (folder / "good.csv").read_bytes(), ["--key", "user", "--method", "em"]))
    return files


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """Replace cells, rows or bytes, up to six times."""
    data = bytearray(content)
    for _ in range(int(rng.integers(0, 7))):
        place = int(rng.integers(0, len(data) + 1))
        action = int(rng.integers(0, 5))
        if action == 0:
            data[place:place] = NASTY[int(rng.integers(len(NASTY)))]
        elif action == 1:
            lines = bytes(data).split(b"\n")
            cells = lines[int(rng.integers(len(lines)))].split(b",")
            cells[int(rng.integers(len(cells)))] = NASTY[int(rng.integers(len(NASTY)))]
            lines[int(rng.integers(len(lines)))] = b",".join(cells)
            data = bytearray(b"\n".join(lines))
        elif action == 2 and data:
            data[place % len(data)] ^= 1 << int(rng.integers(0, 8))
        elif action == 3:
            del data[place : place + int(rng.integers(1, 40))]
        else:
            data[place:place] = rng.bytes(int(rng.integers(1, 20)))
    return bytes(data)


def judge(mechanism: Path, reports: Path, options: list[str]) -> bool:
    """Whether there was an estimate; raises what must not happen."""
    done = CliRunner().invoke(app, ["estimate", str(mechanism), str(reports), *options], catch_exceptions=False)
    if not all(line.isprintable() for line in done.output.split("\n")):
        raise AssertionError(f"output must be printable, got {done.output!r:.500}")
    if done.exit_code == 0:
        return True
    said = done.stderr.strip("\n").split("\n")
    refusals = [line for line in said if not line.startswith("optldp: note: ")]  # notes say how a file was read
    if done.exit_code != 2 or done.stdout or len(refusals) != 1 or refusals != said[-1:] or len(done.stderr) > 2000:
        raise AssertionError(f"a refusal must be one line and exit code 2, got {done.exit_code}: {done.output!r:.500}")
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description="Fuzz the reader of reports.")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=None, help="default: a new one, printed")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else int(np.random.SeedSequence().generate_state(1)[0])
    rng = np.random.default_rng(seed)
    warnings.simplefilter("error")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    tried = estimated = 0
    with tempfile.TemporaryDirectory() as name:
        files = corpus(Path(name))
        started = time.monotonic()
        while time.monotonic() - started < options.seconds:
            mechanism, good, needed = files[int(rng.integers(len(files)))]
            content, more = mutated(good, rng), OPTIONS[int(rng.integers(len(OPTIONS)))]
            (Path(name) / "reports.csv").write_bytes(content)
            tried += 1
            try:
                estimated += judge(mechanism, Path(name) / "reports.csv", [*needed, *more])
            except BaseException as error:
                Path("fuzz-failure.csv").write_bytes(content)
                told = f"seed {seed}, file {tried}, {mechanism.name} {' '.join([*needed, *more])}"
                print(f"fuzz: {told}: {type(error).__name__}: {error}; kept as fuzz-failure.csv")
                raise
    print(
        f"fuzz: {tried} files of reports, {estimated} estimated from, {tried - estimated} refused, 0 failed; "
        f"seed {seed}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
