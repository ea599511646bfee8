"""Draws of categories by given words, and mechanisms for categories at and beyond what the format allows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from optldp.mechanisms import CategoricalMechanism, TableError
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.projective_geometry import projective_geometry
from optldp.mechanisms.categorical.subset_selection import SubsetSelection
from optldp.mechanisms.categorical.unary_encoding import UnaryEncoding, bernoulli
from optldp.mechanisms.files.bundle import bundle_to_document, parse_mechanism
from optldp.mechanisms.files.checksum import checksum
from optldp.mechanisms.sampling.law import Words
from optldp.mechanisms.third_party import adopt

SEED = 20_261_128
DRAWS = 8
"""Of each value: a quarter of random words, the others of words at which a choice turns."""

WHOLE = 2**53
EDGE = np.array([0, 2**11 - 1, 2**11, 2**53, 2**63, 2**64 - 2**11, 2**64 - 1], dtype=np.uint64)

REDRAWN = 8
"""Words beyond those of a report, for what is drawn again."""

FIELDS = (4, 8, 16, 32, 64, 128, 256, 9, 27, 81, 243, 25, 125, 49, 121, 169, 3, 251)

KINDS_OF = {
    **dict.fromkeys(("categorical-table", "unary-encoding", "subset-selection", "local-hashing"), "categories"),
    "projective-geometry": "geometry",
}
"""The kind of vectors of each oracle."""


def draws(mechanism: CategoricalMechanism) -> Iterator[tuple[str, list[str], str]]:
    """Yield values, words in hexadecimal, and the reports that the library makes of them.

    Example
    -------
    >>> from optldp.mechanisms.categorical import categorical_grr
    >>> next(draws(categorical_grr(["yes", "no"], 1.0)))[::2]
    ('yes', '1')
    """
    rng = np.random.default_rng(SEED)
    labels = mechanism.categories.labels
    for code in sorted({0, len(labels) // 2, len(labels) - 1}):
        for number in range(DRAWS):
            words = _words(mechanism, code, number, rng)
            yield labels[code], [f"{word:x}" for word in words], report_of(mechanism, code, iter(words))


def _words(mechanism: CategoricalMechanism, code: int, number: int, rng: np.random.Generator) -> list[int]:
    size = 3 + REDRAWN
    if isinstance(mechanism, UnaryEncoding | SubsetSelection):
        size = len(mechanism.categories) + 1 + REDRAWN
    if number % 4 == 1:
        return rng.choice(EDGE, size).tolist()
    words = rng.integers(0, 2**64 - 1, size, dtype=np.uint64, endpoint=True).tolist()
    turns = _turns(mechanism.members(), code).tolist()
    if number % 4 == 2:  # at every probability in turn, to the last bit
        words = [turns[(place + number // 4) % len(turns)] % WHOLE << 11 for place in range(size)]
    if number % 4 == 3:  # just below and at a probability, at every place where one may be asked for
        near = [(int(rng.choice(turns)) - int(rng.integers(2))) % WHOLE for _ in words]
        words = [(upper << 11) + int(rng.choice([0, 2**11 - 1])) for upper in near]
    return words


def _turns(members: dict[str, Any], code: int) -> np.ndarray:
    if "numerators" in members:
        return np.cumsum(np.asarray(members["numerators"][code], dtype=np.int64))
    if "own_value" in members:
        own, others = members["own_value"], members["n_values"] - 1
        return own + (WHOLE - own) // others * np.arange(others)
    return np.array(
        [members[name] for name in ("own_one", "other_one", "own_chosen", "own_supported") if name in members]
    )


def report_of(mechanism: CategoricalMechanism, code: int, words: Iterator[int]) -> str:
    """Return the library's report of a category's number as text, by words of 64 bits."""
    if isinstance(mechanism, UnaryEncoding):  # the library draws the same bits from fewer words
        shares = [mechanism.own_one if k == code else mechanism.other_one for k in range(len(mechanism.categories))]
        bits = [int(bernoulli(share, 1, in_parts(next(words)))[0]) for share in shares]
        return np.packbits(bits).tobytes().hex()
    return mechanism.to_text(mechanism.draw(np.array([code]), scripted(words)))[0]


def scripted(words: Iterator[int]) -> Words:
    """Return a source of randomness that gives these words and no others."""
    return lambda size: np.fromiter((next(words) for _ in range(size)), np.uint64, size)


def in_parts(word: int) -> Words:
    """Return a word as the library takes it for a bit: 16 leading ones, and the other 48 where those do not decide."""
    return scripted(iter((word >> 48, word << 16 & (2**64 - 1))))


def edges(documents: dict[str, str]) -> Iterator[tuple[str, str, bool]]:
    """Yield mechanisms with a member at or beyond its limit, by name, each with whether the library takes it."""
    for name, text in documents.items():
        base = json.loads(text)
        for what, members in _changes(base):
            made = base | members
            with suppress(TableError):  # what cannot be signed keeps the old checksum
                made["checksum"] = checksum(made)
            changed = json.dumps(made)
            yield f"{name}: {what}", changed, _taken(changed)


def hashings() -> Iterator[tuple[str, str]]:
    """Yield mechanisms that hash in each field which is not of a prime, and in two that are, by name."""
    for g in FIELDS:
        yield f"a field of {g}", _file(local_hashing(range(2 * g), 3.0, n_values=g))


def geometries() -> Iterator[tuple[str, str]]:
    """Yield projective geometry over the same fields, of more points than lie on a line, by name."""
    for q in FIELDS:
        yield f"points over a field of {q}", _file(projective_geometry(range(q + 5), 2.0, order=q))


def seeded() -> str:
    """Return a file of hashing by seeds, by which nobody draws."""
    made = adopt("olh", list("abc"), 1.0)
    assert isinstance(made, CategoricalMechanism)
    return _file(made)


def _file(mechanism: CategoricalMechanism) -> str:
    document = bundle_to_document(mechanism)
    return json.dumps(document | {"checksum": checksum(document)})


def read(text: str) -> CategoricalMechanism:
    """Return the mechanism in the text of a file, as the library reads it; `TableError` for what it refuses."""
    mechanism = parse_mechanism(text.encode())
    assert isinstance(mechanism, CategoricalMechanism)
    mechanism.require_private()
    return mechanism


def _taken(text: str) -> bool:
    try:
        read(text)
    except TableError:
        return False
    return True


def _changes(base: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    labels = base["categories"]
    for what, changed in {
        "a name twice": [*labels[:-1], labels[0]],
        "an empty name": [*labels[:-1], ""],
        "a name with NUL": [*labels[:-1], "a\0b"],
        "a name of a number": [*labels[:-1], 1],
        "half a surrogate pair": [*labels[:-1], "\ud800"],
        "a name beyond the basic plane": [*labels[:-1], "\U0001f600"],
        "one category": labels[:1],
        "names that take too much": ["x" * 2**20, *map(str, range(128))],
    }.items():
        yield what, {"categories": changed}
    for epsilon in (base["epsilon"] - 1e-9, np.nextafter(16, 17), 9.9e-7, 16, "1.0", True):
        yield f"epsilon {epsilon!r}", {"epsilon": epsilon if isinstance(epsilon, str | bool) else float(epsilon)}
    shares = [name for name in ("own_one", "other_one", "own_chosen", "own_value", "own_supported") if name in base]
    for name in shares:
        own = base[name]
        for changed in (own + 1, own - 1, own + 2**20, 0, -1, WHOLE, WHOLE - 1, float(own), str(own), None):
            yield f"{name} {changed!r}", {name: changed}
    for name in ("n_values", "n_chosen", "order"):
        if name in base:
            for changed in (0, 1, 2, 6, 256, 257, len(labels) - 1, len(labels), float(base[name])):
                yield f"{name} {changed!r}", {name: changed}
    if "numerators" in base:
        rows = base["numerators"]
        for what, row in {
            "a sum one above": [rows[0][0] + 1, *rows[0][1:]],
            "a sum one below": [rows[0][0] - 1, *rows[0][1:]],
            "one moved": [rows[0][0] + 1, rows[0][1] - 1, *rows[0][2:]],
            "much moved": [rows[0][0] + rows[0][1], 0, *rows[0][2:]],
            "a short row": rows[0][:-1],
            "no numbers": [],
            "doubles": [float(entry) for entry in rows[0]],
            "one negative": [rows[0][0] + rows[0][1] + 1, -1, *rows[0][2:]],
        }.items():
            yield what, {"numerators": [row, *rows[1:]]}
        yield "a row too few", {"numerators": rows[1:]}
        yield "denominator in doubles", {"denominator": float(WHOLE)}
