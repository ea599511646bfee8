"""From checked values to a proof that a mechanism for categories is private, in whole numbers."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from .category_drawing import (
    Categories,
    Field,
    GeometryOracle,
    HashOracle,
    Oracle,
    SubsetOracle,
    TableOracle,
    UnaryOracle,
)
from .drawing import DENOMINATOR
from .proving import MOST_ENTRIES, SCALE, checked_epsilon, checked_provenance, exponential_below, require_denominator
from .reading import as_list, as_object, as_text, as_wholes, need, parse, refuse, require_checksum

SHARED = ("format", "kind", "categories", "epsilon", "provenance", "checksum")
OWN = {
    "categorical-table": ("denominator", "numerators"),
    "unary-encoding": ("own_one", "other_one"),
    "subset-selection": ("n_chosen", "own_chosen"),
    "local-hashing": ("n_values", "own_value"),
    "projective-geometry": ("order", "own_supported"),
}
MOST_CATEGORIES = 2**20
MOST_NAMED = 2**27
"""Categories times the characters of the longest."""
MOST_CHOSEN = 2**19
POLYNOMIALS = {
    4: (1, 1), 8: (1, 0, 1), 16: (1, 0, 0, 1), 32: (1, 0, 0, 1, 0), 64: (1, 0, 0, 0, 0, 1),
    128: (1, 0, 0, 0, 0, 0, 1), 256: (1, 0, 0, 0, 1, 1, 0, 1), 9: (1, 0), 27: (1, 0, 2), 81: (1, 0, 1, 1),
    243: (1, 0, 0, 0, 2), 25: (1, 1), 125: (1, 0, 1), 49: (1, 0), 121: (1, 0), 169: (1, 3),
}  # fmt: skip
"""For each power of a prime that is no prime: the coefficients below the highest of its polynomial."""


def read_categories(text: str) -> Categories:
    """Return the mechanism for categories in the text of a file once it is proved private.

    Raises
    ------
    TableError
        The text is no such file, was altered, or is not proved to keep its epsilon; one line.
    """
    return categories_of(as_object("the file", parse(text)))


def categories_of(document: dict[str, Any]) -> Categories:
    """Return the mechanism for categories in a document once it is proved private; TableError for what is not."""
    kind = document.get("kind")
    if document.get("format") != "optldp-bundle/1" or not isinstance(kind, str) or kind not in OWN:
        refuse(f'a file must be of the format "optldp-bundle/1" and of one of the kinds {", ".join(OWN)}')
    as_object("the mechanism", document, (*SHARED, *OWN[kind]))
    require_checksum(document)
    labels, epsilon = as_labels("categories", document["categories"]), checked_epsilon(document["epsilon"])
    checked_provenance(document["provenance"])
    oracle = _oracle(kind, document, len(labels), epsilon)
    codes = {label: code for code, label in enumerate(labels)}
    return Categories(kind, tuple(labels), epsilon, document["checksum"], codes, oracle)


def as_labels(name: str, value: Any) -> list[str]:
    """Return the names of categories, or of keys; TableError for what are none."""
    labels = [as_text(f"every one of {name}", label) for label in as_list(name, value)]
    need(2 <= len(labels) <= MOST_CATEGORIES, f"{name} must be 2 to {MOST_CATEGORIES}, got {len(labels)}")
    need(len(labels) * max(map(len, labels)) <= MOST_NAMED, f"{name} must be fewer or have shorter names")
    need(all(label and "\0" not in label for label in labels), f"{name} must be neither empty nor hold NUL")
    need(len(set(labels)) == len(labels), f"{name} must differ, got one twice")
    return labels


def _oracle(kind: str, document: dict[str, Any], size: int, epsilon: float) -> Oracle:
    if kind == "categorical-table":
        require_denominator(document["denominator"])
        return _table(document["numerators"], size, epsilon)
    if kind == "unary-encoding":
        own, other = as_share(document, "own_one"), as_share(document, "other_one")
        need(other < own, "other_one must be below own_one")
        prove_ratio(own * (DENOMINATOR - other), other * (DENOMINATOR - own), epsilon)
        return UnaryOracle(size, own, other)
    if kind == "subset-selection":
        (many,) = as_wholes("n_chosen", [document["n_chosen"]], 1, min(size - 1, MOST_CHOSEN))
        own = as_share(document, "own_chosen")
        need(own * size > many * DENOMINATOR, f"own_chosen must be more than {many}/{size} of 2^53")
        prove_ratio(own * (size - many), (DENOMINATOR - own) * many, epsilon)
        return SubsetOracle(size, many, own)
    if kind == "projective-geometry":
        return _geometry(document, size, epsilon)
    return _hashing(document, size, epsilon)


def _table(value: Any, size: int, epsilon: float) -> TableOracle:
    rows = [as_wholes(f"row {i}", row, 0, DENOMINATOR) for i, row in enumerate(as_list("numerators", value))]
    need(len(rows) == size, f"numerators must have a row for each of {size} categories, got {len(rows)}")
    many = len(rows[0])
    need(size * many <= MOST_ENTRIES, "a table must have fewer categories and outputs")
    for i, row in enumerate(rows):
        need(len(row) == many, f"row {i} must have a number for each of {many} outputs, got {len(row)}")
        need(sum(row) == DENOMINATOR, f"row {i} must sum to 2^53 exactly")
    limit = exponential_below(epsilon)
    for j, column in enumerate(zip(*rows, strict=True)):  # one that is 0 everywhere never comes
        fits = max(column) * SCALE <= limit * min(column)
        need(fits, f"every ratio must be proved at most e^{epsilon}, got more at output {j}")
    return TableOracle([list(accumulate(row)) for row in rows])


def _hashing(document: dict[str, Any], size: int, epsilon: float) -> HashOracle:
    field, own = _field(document, "n_values"), as_share(document, "own_value")
    g = field.size
    other, left = divmod(DENOMINATOR - own, g - 1)
    need(left == 0 and other < own, f"own_value must leave {g - 1} smaller equal shares of 2^53")
    prove_ratio(own, other, epsilon)
    digits = 1
    while g**digits < size:
        digits += 1
    return HashOracle(field, digits, own, other)


def _geometry(document: dict[str, Any], size: int, epsilon: float) -> GeometryOracle:
    field, own = _field(document, "order"), as_share(document, "own_supported")
    length = 2
    while field.points(length) < size:
        length += 1
    n, m = field.points(length), field.points(length - 1)
    need(own * n > m * DENOMINATOR, f"own_supported must be more than {m}/{n} of 2^53")
    prove_ratio(own * (n - m), (DENOMINATOR - own) * m, epsilon)
    return GeometryOracle(field, length, own)


def _field(document: dict[str, Any], name: str) -> Field:
    (size,) = as_wholes(name, [document[name]], 2, 256)
    prime = next(p for p in range(2, size + 1) if size % p == 0)
    field = Field(prime, POLYNOMIALS.get(size, (0,)))
    need(field.size == size, f"{name} must be a power of a prime, got {size}")
    return field


def as_share(document: dict[str, Any], name: str) -> int:
    """Return a member that is a probability in 2^53, neither 0 nor 1."""
    (share,) = as_wholes(name, [document[name]], 1, DENOMINATOR - 1)
    return share


def prove_ratio(p: int, q: int, epsilon: float) -> None:
    """Refuse a ratio p / q that is not proved at most e^epsilon."""
    fits = q > 0 and p * SCALE <= exponential_below(epsilon) * q
    need(fits, f"every ratio must be proved at most e^{epsilon}, got more")
