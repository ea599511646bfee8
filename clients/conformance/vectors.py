"""The vectors, made by the library when they are asked for: kept files would be megabytes, and could fall behind it."""

from __future__ import annotations

import json
import runpy
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from optldp.mechanisms.files.bundle import parse_mechanism

from .categories import KINDS_OF, draws, edges, geometries, hashings, read, seeded
from .combined import combined_draws
from .over_time import USERS, file_of, intrusions, lives, ways

MAKERS = Path(__file__).parents[1] / "javascript" / "tests"
"""Where documents and draws are made, with fixed seeds; the JavaScript client is tested against the same."""

STRICTER = ("a million escapes",)
"""What a browser refuses for want of stack, and others take: no vector."""

KINDS = (
    "tables",
    "floor-forms",
    "categories",
    "geometry",
    "pairs",
    "attributes",
    "levels",
    "panels",
    "memoised",
    "rows",
    "tree",
)
"""What a client may have: exact tables, their floor forms, oracles of categories but projective geometry, that, sets of
pairs of a key and a number, several numbers, any of these at levels that users choose, and four ways over time."""

COMBINED = {
    "key-value-unary": "pairs",
    "key-value-response": "pairs",
    "attributes": "attributes",
    "personalised": "levels",
    "personalised-pairs": "levels",
    "personalised-attributes": "levels",
}
"""The kind of vectors of each bundle that is not of categories alone."""


OF_ONE_BRANCH = ("values of one period", "signs of each period")
"""Trees that are changed in no other places than the one of several."""

KINDS_OVER_TIME = {"panel": "panels", "memoised": "memoised", "rows": "rows", "tree": "tree"}


@dataclass(frozen=True)
class Vector:
    """One line for a client, and what it must answer.

    Attributes
    ----------
    name : str
    kind : str
        One of `KINDS`.
    asked : dict
        `do` is `read`, `draw` or `live`; `document` is the text of a file; of a draw, `draws` are values, each with its
        random words of 64 bits in hexadecimal; of a life, `user` is a name and `steps` are periods, each with its value
        and words, and maybe with what happens to the state `first`, where the device has a `crash`, and the `user` or
        the `document` that asks with the state of another.
    accepted : bool or None
        Of `read`: whether the document must be taken.
    reports : tuple of float or str, or None
        Of `draw`: what the library makes of the same words, of numbers alone as numbers, else as lines of
        docs/report-format.md; None where there are too few words, so that nothing may be drawn.
    answers : tuple of dict or None
        Of `live`: `sent`, a report's text or None, or `crashed`, `stopped` or `refused`, for each step.
    """

    name: str
    kind: str
    asked: dict[str, Any]
    accepted: bool | None = None
    reports: tuple[float | str, ...] | None = None
    answers: tuple[dict[str, Any], ...] | None = None


def _over_time() -> Iterator[Vector]:
    made_bundles, laws = import_module("make_bundles"), import_module("make_fixtures").load_documents("key_value_laws")
    made, texts = ways(laws.three_outputs(1.0)), {}
    for name, way in made.items():
        kind, texts[name] = KINDS_OVER_TIME[way.kind], file_of(way)
        yield Vector(f"accept: {name}", kind, {"do": "read", "document": texts[name]}, accepted=True)
        for user, steps, answers in lives(way):
            asked = {"do": "live", "document": texts[name], "user": user, "steps": steps}
            yield Vector(f"a life: {name}", kind, asked, answers=tuple(answers))
    for name, other in {"four of twelve": "colours remembered", "colours remembered": "four of twelve"}.items():
        steps, answers = intrusions(made[name], made[other])
        asked = {"do": "live", "document": texts[name], "user": USERS[0], "steps": steps}
        yield Vector(
            f"a state of another user or way: {name}", KINDS_OVER_TIME[made[name].kind], asked, answers=tuple(answers)
        )
    several = {name: json.loads(text) for name, text in texts.items() if name not in OF_ONE_BRANCH}
    for name, text, private in made_bundles.changed(several):
        kind = KINDS_OVER_TIME[json.loads(texts[name.split(" (")[0]])["kind"]]
        yield Vector(f"changed way: {name}", kind, {"do": "read", "document": text}, accepted=private)


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
            yield from _over_time()
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
