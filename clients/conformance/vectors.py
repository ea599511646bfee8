"""The vectors, made by the library when they are asked for: kept files would be megabytes, and could fall behind it."""

from __future__ import annotations

import json
import runpy
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optldp.mechanisms.files.bundle import parse_mechanism

from .categories import KINDS_OF, draws, edges, geometries, hashings, read, seeded
from .combined import combined_draws

MAKERS = Path(__file__).parents[2] / "examples" / "browser-client" / "tests"
"""Where documents and draws are made, with fixed seeds; the browser client is tested against the same."""

STRICTER = ("a million escapes",)
"""What a browser refuses for want of stack, and others take: no vector."""

KINDS = ("tables", "floor-forms", "categories", "geometry", "pairs", "attributes", "levels")
"""What a client may have: exact tables, their floor forms, oracles of categories but projective geometry, that, sets of
pairs of a key and a number, several numbers, and any of these at levels that users choose."""

COMBINED = {
    "key-value-unary": "pairs",
    "key-value-response": "pairs",
    "attributes": "attributes",
    "personalised": "levels",
    "personalised-pairs": "levels",
    "personalised-attributes": "levels",
}
"""The kind of vectors of each bundle that is not of categories alone."""


@dataclass(frozen=True)
class Vector:
    """One line for a client, and what it must answer.

    Attributes
    ----------
    name : str
    kind : str
        One of `KINDS`.
    asked : dict
        `do` is `read` or `draw`; `document` is the text of a file; of a draw, `draws` are values, each with its random
        words of 64 bits in hexadecimal.
    accepted : bool or None
        Of `read`: whether the document must be taken.
    reports : tuple of float or str, or None
        Of `draw`: what the library makes of the same words, of numbers alone as numbers, else as lines of
        docs/report-format.md; None where there are too few words, so that nothing may be drawn.
    """

    name: str
    kind: str
    asked: dict[str, Any]
    accepted: bool | None = None
    reports: tuple[float | str, ...] | None = None


def vectors() -> Iterator[Vector]:
    """Yield all vectors: documents to accept and to refuse, draws, a generator that gives nothing."""
    sys.path.insert(0, str(MAKERS))
    try:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            for maker in ("make_fixtures.py", "make_bundles.py"):
                runpy.run_path(str(MAKERS / maker))["main"](folder)
            yield from _of_numbers(folder)
            yield from _of_bundles(folder)
    finally:
        sys.path.remove(str(MAKERS))


def _of_numbers(folder: Path) -> Iterator[Vector]:
    said = json.loads((folder / "fixtures.json").read_text())
    for name, good in said["good"].items():
        text = (folder / good["file"]).read_text()
        kind = _kind_of(text)
        yield Vector(f"accept: {name}", kind, {"do": "read", "document": text}, accepted=True)
        draws = [{"value": draw["value"], "words": draw["words"]} for draw in good["draws"]]
        reports = tuple(draw["report"] for draw in good["draws"])
        yield Vector(f"draw: {name}", kind, {"do": "draw", "document": text, "draws": draws}, reports=reports)
        nothing = [{"value": good["value"], "words": []}]
        yield Vector(f"no random words: {name}", kind, {"do": "draw", "document": text, "draws": nothing})
    for name, bad in said["bad"].items():
        if name in STRICTER:
            continue
        text = (folder / bad["file"]).read_text()
        yield Vector(f"refuse: {name}", _kind_of(text), {"do": "read", "document": text}, accepted=False)
    for name, text, private in json.loads((folder / "mutants.json").read_text()):
        yield Vector(f"changed table: {name}", _kind_of(text), {"do": "read", "document": text}, accepted=private)


def _kind_of(text: str) -> str:
    """The kind of a document of numbers, be it damaged: that of the client which may take it."""
    return "floor-forms" if '"kind": "floor"' in text else "tables"


def _of_bundles(folder: Path) -> Iterator[Vector]:
    good = json.loads((folder / "bundles.json").read_text())["good"]
    texts = {name: (folder / each["file"]).read_text() for name, each in good.items()}
    kinds = {name: (KINDS_OF | COMBINED)[each["kind"]] for name, each in good.items()}
    for name, text in texts.items():
        yield Vector(f"accept: {name}", kinds[name], {"do": "read", "document": text}, accepted=True)
    for name, text, private in json.loads((folder / "changed.json").read_text()):
        kind = kinds[name.split(" (")[0]]  # the document's name comes before the place that is changed
        yield Vector(f"changed bundle: {name}", kind, {"do": "read", "document": text}, accepted=private)
    oracles = {name: text for name, text in texts.items() if kinds[name] in KINDS_OF.values()}
    for name, text, private in edges(oracles):
        kind = kinds[name.split(": ")[0]]
        yield Vector(f"at the limits: {name}", kind, {"do": "read", "document": text}, accepted=private)
    for name, text in (oracles | dict(hashings()) | dict(geometries())).items():
        mechanism = read(text)
        yield from _of_draws(name, KINDS_OF[mechanism.kind], text, list(draws(mechanism)))
    hostile = {"do": "read", "document": seeded()}
    yield Vector("refuse: seeded hashing, by which nobody draws", "categories", hostile, accepted=False)
    for name in (name for name in texts if name not in oracles):
        values = [test["value"] for test in good[name]["tests"]]
        made = list(combined_draws(parse_mechanism(texts[name].encode()), values))
        yield from _of_draws(name, kinds[name], texts[name], made)


def _of_draws(name: str, kind: str, text: str, made: list[tuple[Any, list[str], str]]) -> Iterator[Vector]:
    asked = [{"value": value, "words": words} for value, words, _ in made]
    reports = tuple(report for _, _, report in made)
    yield Vector(f"draw: {name}", kind, {"do": "draw", "document": text, "draws": asked}, reports=reports)
    nothing = [{"value": made[0][0], "words": []}]
    yield Vector(f"no random words: {name}", kind, {"do": "draw", "document": text, "draws": nothing})
