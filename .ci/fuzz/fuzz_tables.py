"""Feed the reader mutated tables and bundles: it may refuse them in one line, or load what is private; nothing else.

python .ci/fuzz/fuzz_tables.py --seconds 30                       in every run
python .ci/fuzz/fuzz_tables.py --seconds 600 --files 1000000      at night: whichever comes first
"""

import argparse
import contextlib
import copy
import io
import json
import resource
import sys
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from optldp.mechanisms import (
    FAMILIES,
    AttributeSampling,
    CategoricalMechanism,
    PersonalisedMechanism,
    TableError,
    TabulatedMechanism,
    duchi,
    make_exact,
    save_bundle,
    save_table,
)
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.projective_geometry import projective_geometry
from optldp.mechanisms.categorical.subset_selection import subset_selection
from optldp.mechanisms.categorical.table import categorical_grr
from optldp.mechanisms.categorical.unary_encoding import basic_rappor, optimised_unary
from optldp.mechanisms.compact_tables import FloorForm, form_over
from optldp.mechanisms.documents.bundle import Bundle
from optldp.mechanisms.documents.table import ends_to_document
from optldp.mechanisms.exactness.point_outputs import to_points
from optldp.mechanisms.exactness.verification import require_private, require_proved
from optldp.mechanisms.files.bundle import parse_mechanism
from optldp.mechanisms.files.checksum import checksum
from optldp.mechanisms.key_value.response import key_value_response
from optldp.mechanisms.key_value.unary import key_value_unary
from optldp.mechanisms.sampling.within_cell import GeometricTails
from optldp.mechanisms.table.knot_prior import KnotPrior

MEMORY = 2**29
"""Address space allowed beyond what the libraries take: a file of a few kilobytes that needs more has exhausted it."""

Mutate = Callable[[list[bytes], np.random.Generator], bytes]
"""Makes a file of good ones."""

ENUMERATED = 10
"""Categories whose reports are all looked at."""

ROUNDING = 1e-9
"""Products of a dozen doubles and their ratios are exact to far less."""

NASTY: list[Any] = [
    None, True, False, 0, 1, -1, 0.5, -0.0, 1e-320, 1e308, -1e308, 2**53, 2**53 + 1, 2**63, 2**64, 10**400, 1e120,
    1e121, "", "inf", "-inf", "nan", "optldp-table/1", "optldp-table/2", "optldp-bundle/1", "unary-encoding",
    "\ud800", "x" * 10_000, [], {}, [[]], [[[0]]],
    [0] * 5000, {"kind": "uniform"}, {"kind": "linear", "tilt": [[0.0]]},
    {"kind": "geometric-tails", "step": 1e-300, "ratio": 1 - 2**-53},
]  # fmt: skip

HEADERS = [
    "{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999999,), }",
    "{'descr': '<i8', 'fortran_order': True, 'shape': (3, 3), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }",
    "{'descr': '<c16', 'fortran_order': False, 'shape': (), }",
    "{'descr': '<U9999999', 'fortran_order': False, 'shape': (0,), }",
]


def corpus(folder: Path) -> list[bytes]:
    """Good files of both formats and both forms."""
    tables = [family([0.0, 0.4, 1.0], 1.0) for family in FAMILIES.values()]
    tables = [to_points(t, spacing=1.5) if t.within.kind in ("linear", "exponential") else t for t in tables] + tables
    ends = np.array([-np.inf, 0.5, 2.0]), np.array([-1.0, 0.5, np.inf])
    matrix = np.array([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]])
    prior = KnotPrior(np.array([0.5, 0.5]), np.array([0.01]), "public")
    tables.append(TabulatedMechanism(np.arange(2.0), *ends, matrix, 1.0, GeometricTails(0.5, 0.3), prior=prior))
    tables += [make_exact(t).mechanism for t in tables if t.within.kind in ("uniform", "geometric-tails")]
    files = []
    for table in tables:
        for suffix in (".json", ".npz"):
            path = folder / f"good{suffix}"
            save_table(table, path, allow_unproved=True)
            files.append(path.read_bytes())
    for bundle in bundles():
        for suffix in (".json", ".npz") if bundle.vectors else (".json",):
            save_bundle(bundle, folder / f"bundle{suffix}")
            files.append((folder / f"bundle{suffix}").read_bytes())
    return files


def bundles() -> list[Bundle]:
    """One or two of every kind."""
    names = ["a", "b", "c"]
    half, whole = (make_exact(duchi([0.0, 1.0], epsilon)).mechanism for epsilon in (0.5, 1.0))
    return [
        categorical_grr(names, 1.0),
        basic_rappor(names, 1.0),
        optimised_unary(names, 1.0),
        local_hashing(range(10), 1.0),
        subset_selection(range(10), 1.0),
        projective_geometry(range(10), 1.0),
        PersonalisedMechanism([categorical_grr(names, epsilon) for epsilon in (0.5, 1.0)], 0.3),
        PersonalisedMechanism([half, whole]),
        key_value_unary(names, half, 1.0),
        key_value_response(names, whole, 1.0, padding=2),
        AttributeSampling(["x", "y"], [half, half], 2, 1.0),
        *forms(),
    ]


def forms() -> list[Bundle]:
    """Floor forms, with a prior and without."""
    prior = KnotPrior(np.full(3, 1 / 3), np.full(2, 0.01), "public")
    given = [0.0, 0.3, 1.0], [-1.0, 0.4, 2.0], [0.25, 0.05, 0.25], 1.5
    return [form_over(*given), form_over(*given, prior=prior)]


def some(rng: np.random.Generator, items: list[Any]) -> Any:
    return items[int(rng.integers(len(items)))]


def mutate_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    """Flip bits, cut, repeat or insert, up to four times."""
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        place = int(rng.integers(0, max(len(data), 1)))
        length = int(rng.integers(1, 40))
        action = int(rng.integers(0, 6))
        if action == 0 and data:
            data[place % len(data)] ^= 1 << int(rng.integers(0, 8))
        elif action == 1:
            del data[place : place + length]
        elif action == 2:
            data[place:place] = data[place : place + length]
        elif action == 3:
            data[place:place] = rng.bytes(length)
        elif action == 4:
            data[place : place + 1] = some(
                rng, [b"9" * 50, b"[" * 2000, b"1e999", b"NaN", b'"', b"}", b",", b"-", b"\0"]
            )
        else:
            del data[place:]
    return bytes(data)


def mutate_document(document: Any, rng: np.random.Generator, *, signed: bool = True) -> Any:
    """Change something anywhere inside, up to three times; sign the result anew, mostly, if it can be signed."""
    changed = copy.deepcopy(document)
    for _ in range(int(rng.integers(1, 4))):
        parent: Any = None
        key: Any = None
        place: Any = changed
        while isinstance(place, dict | list) and place and (parent is None or rng.random() < 0.8):
            parent = place
            key = some(rng, list(place)) if isinstance(place, dict) else int(rng.integers(len(place)))
            place = place[key]
        if parent is None:
            continue
        action = rng.random()
        if action < 0.5:
            parent[key] = copy.deepcopy(some(rng, NASTY))
        elif action < 0.7 and isinstance(place, int | float) and not isinstance(place, bool):
            with contextlib.suppress(OverflowError):  # a whole number of hundreds of digits and a double
                parent[key] = place + some(rng, [1, -1, 1e-9, 2**52, place])
        elif action < 0.85:
            del parent[key]
        elif isinstance(parent, list):
            parent.insert(key, copy.deepcopy(some(rng, [place, *NASTY])))
        else:
            parent[some(rng, ["extra", "kind", "tilt", "rate", "unbiased"])] = place
    if signed and isinstance(changed, dict) and rng.random() < 0.9:
        with contextlib.suppress(TableError, RecursionError):
            changed["checksum"] = checksum(changed)
    return changed


def mutate_archive(content: bytes, rng: np.random.Generator) -> bytes:
    """Replace an array of an npz file by another, or by a header that lies."""
    with np.load(io.BytesIO(content)) as archive:
        arrays = dict(archive)
    name = some(rng, list(arrays))
    array = arrays[name]
    action = int(rng.integers(0, 7))
    if action == 0 and array.size:
        array = array.copy()
        array.flat[int(rng.integers(array.size))] = some(rng, [0, 1, 2, 255])
    elif action == 1:
        with np.errstate(invalid="ignore"):
            array = array.astype(some(rng, [np.float64, np.float32, np.int64, np.int32, np.uint8, np.complex128]))
    elif action == 2:
        array = array[..., :-1]
    elif action == 3:
        array = array.reshape(-1)[:, None] if rng.random() < 0.5 else array.reshape(-1)
    elif action == 4:
        arrays[some(rng, ["extra", "prior.weights", "within.tilt", "knots", "a.b.c", ""])] = array
    elif action == 6:
        name, array = "document", mutate_text(arrays, rng)
    buffer = io.BytesIO()
    np.savez(buffer, **{**arrays, name: array})
    if action == 5:
        header = some(rng, HEADERS).encode() + b"\n"
        lie = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(16)
        with warnings.catch_warnings(), zipfile.ZipFile(buffer, "a") as archive:
            warnings.simplefilter("ignore")  # a repeated name is what is wanted
            archive.writestr(f"{name}.npy", lie)
    return buffer.getvalue()


def mutate_text(arrays: dict[str, np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """Change the document beside the arrays; what is signed is signed anew, with the arrays in their places."""
    document = mutate_document(json.loads(arrays["document"].tobytes()), rng, signed=False)
    if isinstance(document, dict) and "checksum" in document and rng.random() < 0.9:
        whole = document | {name: array for name, array in arrays.items() if name not in ("document", "low", "high")}
        for name in {"low", "high"} & set(arrays):
            whole[name] = ends_to_document(arrays[name])
        for name in [name for name in arrays if "." in name]:
            parent, key = name.split(".")
            whole[parent] = {
                **(document[parent] if isinstance(document.get(parent), dict) else {}),
                key: whole.pop(name),
            }
        with contextlib.suppress(TableError, RecursionError):
            document["checksum"] = checksum(whole)
    return np.frombuffer(json.dumps(document).encode(), dtype=np.uint8)


def mutant(files: list[bytes], rng: np.random.Generator) -> bytes:
    content = some(rng, files)
    kind = rng.random()
    if content.startswith(b"PK"):
        return mutate_archive(content, rng) if kind < 0.6 else mutate_bytes(content, rng)
    if kind < 0.7:
        return json.dumps(mutate_document(json.loads(content), rng)).encode()
    return mutate_bytes(content, rng)


def auditor() -> Callable[[Any], object]:
    """The independent verifier in examples/."""
    path = Path(__file__).parents[2] / "examples" / "verify_table.py"
    names: dict[str, Any] = {"__name__": "verify_table"}
    exec(compile(path.read_text(), path.name, "exec"), names)
    return names["prove"]


def enumerate_ratios(mechanism: CategoricalMechanism) -> None:
    """Compare the probabilities of every report under every category, whatever the mechanism says of itself."""
    laws = mechanism.pmf(mechanism.all_reports())
    limit = np.exp(mechanism.epsilon) * (1 + ROUNDING)
    if not (np.allclose(laws.sum(axis=0), 1.0) and (laws.max(axis=1) <= limit * laws.min(axis=1)).all()):
        raise AssertionError(f"a mechanism that is not private was loaded: {mechanism!r}")


def judge(content: bytes, prove: Callable[[Any], object]) -> bool:
    """Whether the bytes were a private table; raises what must not happen."""
    try:
        mechanism = parse_mechanism(content)
        if isinstance(mechanism, Bundle):
            mechanism.require_private()
        else:
            require_private(mechanism)
    except TableError as error:
        if "\n" in str(error):
            raise AssertionError(f"a refusal must be one line, got {error!s}") from None
        return False
    if isinstance(mechanism, CategoricalMechanism) and len(mechanism.categories) <= ENUMERATED:
        enumerate_ratios(mechanism)
    if isinstance(mechanism, FloorForm):
        require_proved(mechanism.expand())
    exact = isinstance(mechanism, FloorForm) or (isinstance(mechanism, TabulatedMechanism) and mechanism.exact)
    if exact and not content.startswith(b"PK"):
        prove(json.loads(content))
    return True


def fuzz(what: str, corpus: Callable[[Path], list[bytes]], mutate: Mutate, judge: Callable[[bytes], bool]) -> int:
    """Judge mutants of good files until the time is over or the first that does what must not happen, and print it."""
    parser = argparse.ArgumentParser(description=f"Fuzz the reader of {what}.")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--files", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=None, help="default: a new one, printed")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else int(np.random.SeedSequence().generate_state(1)[0])
    rng, started = np.random.default_rng(seed), time.monotonic()
    warnings.simplefilter("error")
    limit = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    loaded = tried = 0
    with tempfile.TemporaryDirectory() as folder:
        files = corpus(Path(folder))
    while tried < options.files and time.monotonic() - started < options.seconds:
        content = mutate(files, rng)
        tried += 1
        try:
            loaded += judge(content)
        except BaseException as error:
            kept = Path("fuzz-failure.bin")
            kept.write_bytes(content)
            print(f"fuzz: seed {seed}, file {tried}: {type(error).__name__}: {error}; kept as {kept}")
            raise
    print(f"fuzz: {tried} files of {what}, {loaded} loaded, {tried - loaded} refused, 0 failed; seed {seed}")
    return 0


def main() -> int:
    prove = auditor()
    return fuzz("tables and bundles", corpus, mutant, lambda content: judge(content, prove))


if __name__ == "__main__":
    sys.exit(main())
