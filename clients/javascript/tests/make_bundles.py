"""What the client of bundles is tested against, made by the library: `python make_bundles.py FOLDER`.

FOLDER gets a file for each good bundle and `bundles.json`: the law of every report at some values, as text; and
`changed.json`, bundles with one thing changed and whether the library takes them.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from itertools import combinations, product
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from make_fixtures import FALSE_ALARM, POOLED_BELOW, load_documents
from optldp.mechanisms import (
    AttributeSampling,
    CategoricalMechanism,
    PersonalisedMechanism,
    TableError,
    TabulatedMechanism,
    save_bundle,
)
from optldp.mechanisms.categorical import CategoricalTable, basic_rappor, categorical_grr, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.projective_geometry import projective_geometry
from optldp.mechanisms.categorical.subset_selection import subset_selection, subsets_of_levels
from optldp.mechanisms.documents.bundle import Bundle
from optldp.mechanisms.files.bundle import parse_mechanism
from optldp.mechanisms.key_value import KeyValueMechanism, key_value_response, key_value_unary
from optldp.mechanisms.key_value.unary import KeyValueUnary
from scipy import stats

REPORTS = 10_000
STRIDE = 23
"""Each 23rd changed document is enough here."""

Law = dict[str, float]

COLOURS = ["red", "green", "blue", "violet", "\u767d"]
LARGE = [f"c{i}" for i in range(300)]


def bundles() -> dict[str, Bundle]:
    """Bundles of every kind, by name; hashing in fields of primes and of their powers."""
    laws = load_documents("key_value_laws")
    three = laws.three_outputs
    two = [three(0.9), three(0.9)]
    attributes = {e: AttributeSampling(["pay", "age", "hours"], [three(e / 2)] * 3, 2, e) for e in (2.0, 3.0)}
    uneven = [[0.7, 0.2, 0.1, 0.0], [0.4, 0.4, 0.2, 0.0], [0.3, 0.5, 0.2, 0.0]]
    oracles: dict[str, Bundle] = {
        "randomised response": categorical_grr(COLOURS, 1.0),
        "a table with an output that never comes": CategoricalTable.from_probabilities(COLOURS[:3], uneven, 1.2),
        "basic RAPPOR": basic_rappor(COLOURS, 1.0),
        "OUE of nine": optimised_unary(range(9), 2.0),
        "sets of two of five": subset_selection(COLOURS, 1.0, n_chosen=2),
        "sets of three of nine": subset_selection(range(9), 0.5, n_chosen=3),
        **{f"hashing to {g}": local_hashing(COLOURS, 1.0, n_values=g) for g in (2, 3, 4, 9, 27)},
        "hashing to 16 of 300": local_hashing(LARGE, 3.0, n_values=16),
        "points of seven": projective_geometry(COLOURS, 1.0, order=2),
        "points of a line": projective_geometry(COLOURS[:4], 1.0, order=3),
        "points over four elements": projective_geometry(range(9), 1.5, order=4),
    }
    levels: dict[str, Bundle] = {
        "levels of numbers in the clear": PersonalisedMechanism([three(e) for e in (0.9, 1.5)]),
        "levels of categories": PersonalisedMechanism([categorical_grr(COLOURS, e) for e in (0.5, 1.0, 2.0)], 0.7),
        "levels told by hashing": PersonalisedMechanism(
            [local_hashing(COLOURS, e, n_values=4) for e in (0.5, 1.0)], level_mechanism=local_hashing(range(2), 1.0)
        ),
        "levels of sets": PersonalisedMechanism(list(subsets_of_levels(COLOURS, [0.5, 1.0], n_chosen=2)), 1.0),
        "levels told by sets": PersonalisedMechanism(
            [categorical_grr(COLOURS[:3], e) for e in (0.5, 1.0, 1.5, 2.0)],
            level_mechanism=subset_selection(range(4), 1.0, n_chosen=2),
        ),
        "levels told by bits": PersonalisedMechanism(
            [optimised_unary(COLOURS[:3], e) for e in (0.5, 1.0)], level_mechanism=optimised_unary(range(2), 1.0)
        ),
        "levels of pairs": PersonalisedMechanism(
            [key_value_response(COLOURS[:2], three(e), e) for e in (0.9, 1.5)], 1.0
        ),
        "levels of attributes": PersonalisedMechanism(list(attributes.values()), 1.0),
    }
    return (
        oracles
        | levels
        | {
            "pairs apart": key_value_unary(COLOURS[:3], two[0], 1.0, padding=2),
            "pairs at one place": key_value_response(COLOURS[:3], two[0], 1.0, padding=2),
            "pairs without padding": key_value_response(COLOURS[:3], two[0], 1.0, padding=0),
            "attributes": attributes[2.0],
        }
    )


def values_of(mechanism: Bundle) -> list[Any]:
    """Two values as JSON, off knots where they are numbers."""
    if isinstance(mechanism, CategoricalMechanism):
        return [mechanism.categories.labels[0], mechanism.categories.labels[-1]]
    if isinstance(mechanism, KeyValueMechanism):
        first, second, *_ = mechanism.keys.labels
        return [[[second, 0.4]], [[first, 2.5], [second, 0.0]] if mechanism.padding else [[first, 3.0]]]
    if isinstance(mechanism, AttributeSampling):
        return [[0.4, 3.0, 1.7], [0.0, 1.0, 2.0]]
    assert isinstance(mechanism, PersonalisedMechanism | PersonalisedMechanism | PersonalisedMechanism)
    inner = mechanism.levels[0]
    values = [0.4, 2.5] if isinstance(inner, TabulatedMechanism) else values_of(inner)
    return [[value, level] for value, level in zip(values, (0, len(mechanism.levels) - 1), strict=True)]


def law_of(mechanism: Any, value: Any) -> Law:
    """The probability of every report at a value, by the text of its cells joined by commas."""
    if isinstance(mechanism, TabulatedMechanism):
        return {repr(at): p for at, p in zip(mechanism.low.tolist(), mechanism.pmf([value])[0].tolist(), strict=True)}
    if isinstance(mechanism, CategoricalMechanism):
        reports = mechanism.all_reports()
        chances = mechanism.pmf(reports)[:, mechanism.categories.labels.index(value)]
        return dict(zip(mechanism.to_text(reports), chances.tolist(), strict=True))
    if isinstance(mechanism, KeyValueMechanism):
        return law_of_pairs(mechanism, value)
    if isinstance(mechanism, AttributeSampling):
        return law_of_attributes(mechanism, value)
    inner, level = value
    told = enumerate(mechanism.level_response[level].tolist())
    cells = law_of(mechanism.levels[level], inner)
    return {f"{place},{text}": p * q for (place, p), (text, q) in product(told, cells.items())}


def law_of_attributes(mechanism: AttributeSampling, values: list[float]) -> Law:
    """Every set of attributes, and what each of them reports."""
    law: Law = {}
    tables = [law_of(table, value) for table, value in zip(mechanism.mechanisms, values, strict=True)]
    for chosen in combinations(range(len(tables)), mechanism.sampled):
        for texts in product(*(tables[i].items() if i in chosen else [("", 1.0)] for i in range(len(tables)))):
            chance = np.prod([p for _, p in texts]) / comb(len(tables), mechanism.sampled)
            law[",".join(text for text, _ in texts)] = float(chance)
    return law


def law_of_pairs(mechanism: KeyValueMechanism, pairs: list[list[Any]]) -> Law:
    """Every pair that may be sampled, with either knot beside its value, and what reports show of it."""
    laws = load_documents("key_value_laws")
    unary = isinstance(mechanism, KeyValueUnary)
    size = max(len(pairs), mechanism.padding, 1)
    total = np.zeros(len(laws.all_reports(mechanism, unary)))
    for number in range(size):
        place, chances = len(mechanism.keys) + number, {0: 1.0}
        if number < len(pairs):
            key, value = pairs[number]
            place, chances = mechanism.keys.labels.index(key), beside(mechanism.value.knots, value)
        for row, chance in chances.items():
            total += chance / size * np.array(laws.pair_law(mechanism, unary, place, row), dtype=float)
    texts = [text_of(report, unary) for report in laws.all_reports(mechanism, unary)]
    return dict(zip(texts, total.tolist(), strict=True))


def beside(knots: np.ndarray, value: float) -> dict[int, float]:
    """The chances of the two knots around a value."""
    k = min(int(np.searchsorted(knots, value, side="right")) - 1, knots.size - 2)
    right = float((value - knots[k]) / (knots[k + 1] - knots[k]))
    return {k: 1 - right, k + 1: right}


def text_of(report: tuple[int, ...], unary: bool) -> str:
    """A report of pairs as a file holds it."""
    if not unary:
        return f"{report[0]}:{report[1]}"
    return ";".join(f"{key}:{symbol - 1}" for key, symbol in enumerate(report) if symbol) or "-"


def test_of(law: Law, alarm: float) -> dict[str, Any]:
    """The group of every report in a chi-square test, the groups' probabilities and what is not to be exceeded."""
    possible = {text: p for text, p in law.items() if p > 0}
    chances = np.array(list(possible.values()))
    assert abs(chances.sum() - 1) < 1e-9
    order = np.argsort(chances, kind="stable")  # rare reports are counted together with as rare ones
    _, group = np.unique(np.cumsum(chances[order]) * REPORTS // POOLED_BELOW, return_inverse=True)
    group = group[np.argsort(order)]
    summed = np.bincount(group, weights=chances)
    return {
        "groups": dict(zip(possible, group.tolist(), strict=True)),
        "law": summed.tolist(),
        "critical": float(stats.chi2.isf(alarm, summed.size - 1)),
    }


def changed(documents: Mapping[str, dict[str, Any]]) -> Iterator[tuple[str, str, bool]]:
    """Changed bundles by name, each with whether the library takes it."""
    for name, content in load_documents("document_mutants").changed(documents, STRIDE):
        try:
            made = parse_mechanism(content)
            assert isinstance(made, Bundle)
            made.require_private()
            fits = True
        except TableError:
            fits = False
        yield name, content.decode(), fits


def main(folder: Path) -> None:
    """Write all files."""
    made = bundles()
    said: dict[str, Any] = {}
    for number, (name, mechanism) in enumerate(made.items()):
        path = folder / f"bundle-{number}.json"
        save_bundle(mechanism, path)
        alarm = FALSE_ALARM / len(made) / 2
        tests = [{"value": value, **test_of(law_of(mechanism, value), alarm)} for value in values_of(mechanism)]
        said[name] = {"file": path.name, "kind": mechanism.kind, "tests": tests}
    (folder / "bundles.json").write_text(json.dumps({"reports": REPORTS, "good": said}))
    small = (
        "a table",
        "basic",
        "hashing to 4",
        "sets of two",
        "points of seven",
        "levels told by bits",
        "levels of attributes",
        "pairs",
        "levels of pairs",
        "levels of numbers",
        "levels told by sets",
        "attributes",
    )
    documents = {
        name: json.loads((folder / each["file"]).read_text()) for name, each in said.items() if name.startswith(small)
    }
    (folder / "changed.json").write_text(json.dumps(list(changed(documents))))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
