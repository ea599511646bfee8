"""Good exact documents with one thing changed and a checksum that fits, for readers that must agree on every one."""

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any

from optldp.mechanisms import TableError
from optldp.mechanisms.files.checksum import checksum

from . import floor_forms
from .exact_documents import GOOD, PROMISED, document, lattice, of_table, tails

D = 2**53

VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 0.5, -0.0, 1.0, 5e-324, 1e-101, 1e101, 1e120, 1.1e120, 1e308, 2**52, D, D + 1, 2.0**53,
    10**17 + 1, 2**64, 10**400, 1 - 2.0**-53, 1 - 1e-20, 1e-7, 16, 16.000001, 1e-6, 3e-10, 3e-9, "", "inf", "-inf",
    "Infinity", "nan", "1", "0.5", "public", "sensitive", "uniform", "geometric-tails", "linear", "optldp-table/1",
    "\ud800", "\0", "x" * 5000, [], {}, [[]], [0], [1.0], ["1"], [None], [True], [[1]], {"a": 1}, {"unbiased": True},
    {"unbiased": 1}, {"kind": "uniform"}, {"kind": "uniform", "step": 1.0},
    {"kind": "geometric-tails", "step": 1.0, "ratio": 0.5}, {"kind": "geometric-tails", "step": -1.0, "ratio": 0.5},
    {"kind": "geometric-tails", "step": 1.0, "ratio": 1.0}, {"kind": "geometric-tails", "step": True, "ratio": 0.5},
    {"kind": "geometric-tails", "step": "1", "ratio": 0.5}, {"kind": "geometric-tails", "step": 1.0, "ratio": -0.5},
]  # fmt: skip
"""What stands in the place of every member and every element in turn."""

TEXTS = {
    "a key twice": ('"units"', '"units": "", "units"'),
    "a key twice, the same value": ('"epsilon": 1.1', '"epsilon": 1.1, "epsilon": 1.1'),
    "a key twice, escaped": ('"units"', '"un\\u0069ts": "", "units"'),
    "an inner key twice": ('"kind"', '"kind": "uniform", "kind"'),
    "a parameter twice": ('"parameters": {', '"parameters": {"unbiased": true, "unbiased": false, '),
    "NaN": ("1.1", "NaN"),
    "infinity": ("1.1", "Infinity"),
    "minus infinity as an end": ("[-5.0, 15.0]", "[-Infinity, 15.0]"),
    "beyond doubles": ("1.1", "1e999"),
    "a number of 5000 digits": ("1.1", "1" * 5000),
    "5000 zeros before the digits": ("1.1", "0." + "0" * 5000 + "1"),
    "a fraction of 5000 digits": ("1.1", "1." + "1" * 5000),
    "a leading zero": ("1.1", "01.1"),
    "a plus": ("1.1", "+1.1"),
    "no digit before the point": ("1.1", ".11"),
    "no digit behind the point": ("1.1", "1."),
    "hexadecimal": ("1.1", "0x1"),
    "digits of another script": ("1.1", "\u0661.\u0661"),
    "an exponent": ("1.1", "11E-1"),
    "the epsilon as text": ("1.1", '"1.1"'),
    "a comma too many": ("]]", "],]"),
    "a comment": ("{", "/* */ {"),
    "single quotes": ('"units"', "'units'"),
    "a control character": ('"units": ""', '"units": "\t"'),
    "an escaped control character": ('"units": ""', '"units": "\\u0000"'),
    "half a surrogate pair": ('"units": ""', r'"units": "\ud800"'),
    "an unknown escape": ('"units": ""', r'"units": "\x"'),
    "space of other kinds": ("{", "\u00a0{"),
    "a form feed": ("{", "\f{"),
    "a byte order mark": ("{", "\ufeff{"),
    "a second document": ("}", "} {}"),
    "a zero byte at the end": (None, "\0"),
    "deep nesting": ('"parameters": {', '"parameters": {"a": ' + "[" * 5000 + "]" * 5000 + ", "),
    "nesting of objects": ('"parameters": {', '"parameters": {"a": ' + '{"a":' * 3000 + "1" + "}" * 3000 + ", "),
    "a minus before zero": ('"kind": "uniform"', '"kind": "uniform", "step": -0'),
    "a numerator of minus zero": ("[[6755399441055744, 2251799813685248]", "[[9007199254740992, -0]"),
    "a numerator with an exponent": ("2251799813685248", "2251799813685248e0"),
    "a numerator with a point": ("2251799813685248", "2251799813685248.0"),
    "the denominator with a point": (str(D) + ",", str(D) + ".0,"),
}
"""Damage to the text of the plainest document: what is replaced by what (None: put at the end)."""


def bases() -> dict[str, dict[str, Any]]:
    """Documents with every member that there can be."""
    full = document(
        prior={"weights": [0.5, 0.5], "rounding": [1.0], "source": "public"},
        provenance={
            "method": "x",
            "parameters": {"unbiased": True, "list": [1, "a", None, 2.5]},
            "version": "0",
            "certificate": {"lower_bound": 1e-300},
        },
    )
    return {
        "full": full,
        "lattice": of_table(lattice()),
        "tails": tails(0.1, 0.3, 1.0, 0.5),
        "mixed": GOOD["hybrid"],
        **short(),
    }


def short() -> dict[str, dict[str, Any]]:
    """Floor forms: unbiased with a prior, and one whose budget is spent to the last unit."""
    made = floor_forms.forms()
    return {name: floor_forms.document(made[name]) for name in ("unbiased", "at the limit")}


def mutants(stride: int = 1) -> Iterator[tuple[str, bytes]]:
    """Every base document with each place changed, removed or doubled, and damaged texts; each stride-th, by name."""
    yield from changed(bases(), stride)
    plain = json.dumps(document())
    for name, (old, new) in TEXTS.items():
        assert old is None or old in plain, old
        yield name, (plain + new if old is None else plain.replace(old, new, 1)).encode(errors="surrogatepass")
    for encoding in ("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "utf-7"):
        yield f"in {encoding}", plain.encode(encoding)
    yield "in latin-1", plain.replace('"units": ""', '"units": "\xe4"').encode("latin-1")
    yield "an empty file", b""


def promised(stride: int = 1) -> Iterator[tuple[str, bytes]]:
    """Every document of another promise with each place of the promise, and what goes with it, changed as above."""
    places = ("promise", "epsilon", "knots")
    changes = (each for each in _changes(PROMISED) if each[2][0] in places)
    for name, base, path, change in islice(changes, 0, None, stride):
        yield name, _signed(base, path, change)


def changed(documents: Mapping[str, dict[str, Any]], stride: int = 1) -> Iterator[tuple[str, bytes]]:
    """Each of these documents with each place changed, removed or doubled; each stride-th, by name."""
    for name, base, path, change in islice(_changes(documents), 0, None, stride):
        yield name, _signed(base, path, change)


def _changes(
    documents: Mapping[str, dict[str, Any]],
) -> Iterator[tuple[str, dict[str, Any], tuple[Any, ...], Callable[[Any, Any], None]]]:
    """Every change by name: the document, the place and what is done there."""
    for name, base in documents.items():
        for path in list(_paths(base)):
            for number, value in enumerate(VALUES):
                yield f"{name} {path} = {number}", base, path, partial(_replace, value)
            yield f"{name} {path} removed", base, path, _remove
            yield f"{name} {path} doubled", base, path, _double


def _paths(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield (*above, key)
        yield from _paths(child, (*above, key))


def _replace(value: Any, parent: Any, key: Any) -> None:
    parent[key] = value


def _remove(parent: Any, key: Any) -> None:
    del parent[key]


def _double(parent: Any, key: Any) -> None:
    if isinstance(parent, list):
        parent.insert(key, parent[key])
    else:
        parent[f"{key} "] = parent[key]


def _signed(base: dict[str, Any], path: tuple[Any, ...], change: Callable[[Any, Any], None]) -> bytes:
    made = copy.deepcopy(base)
    parent: Any = made
    for key in path[:-1]:
        parent = parent[key]
    change(parent, path[-1])
    if path[0] != "checksum":
        with suppress(TableError, RecursionError):  # what cannot be signed keeps the old checksum
            made["checksum"] = checksum(made)
    return json.dumps(made).encode()
