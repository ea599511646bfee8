"""From checked values to a proof that a mechanism for pairs, for several numbers or at levels is private."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import accumulate, pairwise
from math import comb
from typing import Any

from .category_drawing import GeometryOracle, HashOracle, Oracle, SubsetOracle, TableOracle, UnaryOracle
from .category_proving import OWN as ORACLES
from .category_proving import as_labels, as_share, categories_of, prove_ratio
from .combined_drawing import LEVEL, Attributes, Combined, Levels, OneCategory, OneNumber, Pairs, Part
from .drawing import DENOMINATOR, Table
from .proving import (
    MOST_ENTRIES,
    SCALE,
    checked_epsilon,
    checked_provenance,
    exact_table,
    exponential_below,
    require_denominator,
)
from .reading import as_list, as_object, as_text, as_wholes, inside, need, parse, refuse, require_checksum

SHARED = ("format", "kind", "checksum")
PAIRS = (*SHARED, "keys", "epsilon", "provenance", "value", "padding", "denominator", "fake", "own", "other")
ATTRIBUTES = (*SHARED, "attributes", "mechanisms", "sampled", "epsilon")
LEVELS = (*SHARED, "levels", "level_epsilon")
MOST_PADDING = 2**20
MOST_OUTPUTS = 2**15 - 2
MOST_ATTRIBUTES = 256
MOST_LEVELS = 256
MOST_LEVEL_REPORTS = 4096
NUMBER = "number"
OF_PAIRS = ("key-value-unary", "key-value-response")
LEVELS_OF = {
    "personalised": (NUMBER, *ORACLES),
    "personalised-pairs": OF_PAIRS,
    "personalised-attributes": ("attributes",),
}
"""What a level may be, for each kind of levels; a number is a table."""
KINDS = (*OF_PAIRS, "attributes", *LEVELS_OF)


def read_combined(text: str) -> Combined:
    """Return the mechanism for pairs, attributes or at levels in the text of a file once it is proved private.

    Raises
    ------
    TableError
        The text is no such file, was altered, or is not proved to keep its epsilon; one line.
    """
    document = as_object("the file", parse(text))
    kind = document.get("kind")
    if document.get("format") != "optldp-bundle/1" or kind not in KINDS:
        refuse(f'a file must be of the format "optldp-bundle/1" and of one of the kinds {", ".join(KINDS)}')
    require_checksum(as_object("the mechanism", document, {*document, "checksum"}))
    part = _levels(document) if kind in LEVELS_OF else _part(document)
    epsilons = tuple(level.epsilon for level in part.levels) if isinstance(part, Levels) else (part.epsilon,)
    return Combined(kind, epsilons, part.columns, document["checksum"], part)


def _part(document: dict[str, Any]) -> Part:
    """A mechanism without levels; it has its checksum, be it from inside another."""
    kind = _kind(document)
    if kind == NUMBER:
        return OneNumber(exact_table(document))
    if kind in OF_PAIRS:
        return _pairs(document)
    return _attributes(document) if kind == "attributes" else OneCategory(categories_of(document))


def _kind(document: dict[str, Any]) -> Any:
    """The kind of a bundle, or that it is a table; None of what is neither."""
    if document.get("format") == "optldp-table/2":
        return NUMBER
    return document.get("kind") if document.get("format") == "optldp-bundle/1" else None


def _table(value: Any) -> Table:
    document = inside("a table", value)
    need(_kind(document) == NUMBER, 'a table must have the format "optldp-table/2"')
    return exact_table(document)


def _whole(document: dict[str, Any], name: str, least: int, most: int) -> int:
    return as_wholes(name, [document[name]], least, most)[0]


def _pairs(document: dict[str, Any]) -> Pairs:
    as_object("the mechanism", document, PAIRS)
    keys, epsilon = as_labels("keys", document["keys"]), checked_epsilon(document["epsilon"])
    require_denominator(document["denominator"])
    checked_provenance(document["provenance"])
    table = _table(document["value"])
    many = len(table.low)
    need(many <= MOST_OUTPUTS, f"the table of values must have at most {MOST_OUTPUTS} outputs, got {many}")
    need(len(keys) * many <= MOST_ENTRIES, "pairs must have fewer keys and outputs")
    padding = _whole(document, "padding", 0, MOST_PADDING)
    rows = as_list("fake", document["fake"])
    need(len(rows) == 1, "fake must be a list of one row")
    fake = as_wholes("fake", rows[0], 0, DENOMINATOR)
    need(len(fake) == many and sum(fake) == DENOMINATOR, f"fake must be {many} numbers that sum to 2^53 exactly")
    own, other = as_share(document, "own"), as_share(document, "other")
    need(other < own, "other must be below own")
    apart = document["kind"] == "key-value-unary"
    fits = apart or own + (len(keys) + padding - 1) * other == DENOMINATOR
    need(fits, "own must leave equal shares of 2^53 to the other places")
    ratios = list(_ratios(table, fake, Fraction(own, other)))
    _prove_apart(ratios, own, other, epsilon) if apart else _prove_together(ratios, padding, epsilon)
    codes = {key: code for code, key in enumerate(keys)}
    return Pairs(apart, epsilon, codes, table, padding, list(accumulate(fake)), own, other)


def _ratios(table: Table, fake: list[int], odds: Fraction) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield the least and the largest of A M(o | v) / (B D(o)), for each output that can be shown."""
    for column, share in zip(columns_of(table), fake, strict=True):
        need(share > 0 or max(column) == 0, "an output of the table of values must be among the fake ones")
        if share > 0:
            yield odds * Fraction(min(column), share), odds * Fraction(max(column), share)


def columns_of(table: Table) -> Iterator[tuple[int, ...]]:
    """Yield the numerators of each output of a table, by knot."""
    rows = ([now - before for before, now in pairwise([0, *sums])] for sums in table.sums)
    return zip(*rows, strict=True)


def _prove_apart(ratios: list[tuple[Fraction, Fraction]], own: int, other: int, epsilon: float) -> None:
    hidden = Fraction(DENOMINATOR - own, DENOMINATOR - other)
    _prove(max(most for _, most in ratios), min(hidden, *(least for least, _ in ratios)), epsilon)


def _prove_together(ratios: list[tuple[Fraction, Fraction]], padding: int, epsilon: float) -> None:
    q = Fraction(-(-DENOMINATOR // max(padding, 1)), DENOMINATOR)  # how likely a pair is sampled at most
    for least, most in ratios:
        _prove(max(Fraction(1), 1 + q * (most - 1)), min(Fraction(1), 1 + q * (least - 1)), epsilon)


def _prove(most: Fraction, least: Fraction, epsilon: float) -> None:
    prove_ratio(most.numerator * least.denominator, most.denominator * least.numerator, epsilon)


def _attributes(document: dict[str, Any]) -> Attributes:
    as_object("the mechanism", document, ATTRIBUTES)
    names = [as_text("every name of an attribute", name) for name in as_list("attributes", document["attributes"])]
    documents = as_list("mechanisms", document["mechanisms"])
    need(1 <= len(names) <= MOST_ATTRIBUTES, f"attributes must be 1 to {MOST_ATTRIBUTES}, got {len(names)}")
    need(len(names) == len(documents) and all(names), "every attribute must have a name and one table")
    need(len(set(names)) == len(names), "attributes must differ, got one twice")
    tables = tuple(OneNumber(_table(each)) for each in documents)
    epsilon, sampled = checked_epsilon(document["epsilon"]), _whole(document, "sampled", 1, len(names))
    spent = sum(sorted((Fraction(table.epsilon) for table in tables), reverse=True)[:sampled])
    need(spent <= Fraction(epsilon), f"the epsilons of any {sampled} attributes must sum to at most {epsilon}")
    return Attributes(tuple(names), tables, sampled, epsilon)


def _levels(document: dict[str, Any]) -> Levels:
    protocol = "level_mechanism" in document
    as_object("the mechanism", document, (*LEVELS, "level_mechanism") if protocol else LEVELS)
    documents = as_list("levels", document["levels"])
    need(2 <= len(documents) <= MOST_LEVELS, f"there must be 2 to {MOST_LEVELS} levels, got {len(documents)}")
    levels = tuple(_level(each, LEVELS_OF[document["kind"]]) for each in documents)
    for before, after in pairwise(levels):
        need(_nature(before) == _nature(after), "levels must be of the same values and make the same reports")
        rises = all(a < b for a, b in zip(_budgets(before), _budgets(after), strict=True))
        need(rises, "levels must have rising budgets")
    need(LEVEL not in levels[0].columns, f'an attribute must not be named "{LEVEL}"')
    if protocol:
        oracle, many, number = _protocol(document, len(levels))
    elif document["level_epsilon"] is None:
        oracle, many, number = None, len(levels), int
    else:
        oracle, many, number = _response(len(levels), checked_epsilon(document["level_epsilon"])), len(levels), int
    places = _places(levels)
    need(many * places <= MOST_ENTRIES, "there must be fewer reports of levels, or fewer of values beside each")
    return Levels(levels, oracle, number, protocol)


def _level(value: Any, allowed: tuple[str, ...]) -> Part:
    document = inside("a level", value)
    need(_kind(document) in allowed, f"a level must be one of {', '.join(allowed)}")
    return _part(document)


def _budgets(level: Part) -> list[float]:
    """What must rise from level to level: of attributes, each one's too."""
    singles = level.tables if isinstance(level, Attributes) else ()
    return [level.epsilon, *(table.epsilon for table in singles)]


def _nature(part: Part) -> tuple[Any, ...]:
    """What the mechanisms of several levels must have in common."""
    if isinstance(part, OneNumber):
        return (part.table.knots[0], part.table.knots[-1], part.table.units)
    if isinstance(part, OneCategory):
        made = part.categories
        return (made.kind, made.labels, _reports(made.oracle))
    if isinstance(part, Attributes):
        return (part.columns, part.sampled, *map(_nature, part.tables))
    assert isinstance(part, Pairs)
    table, shares = part.table, (now - before for before, now in pairwise([0, *part.fake]))
    possible = [max(column) > 0 or share > 0 for column, share in zip(columns_of(table), shares, strict=True)]
    return (part.apart, list(part.codes), part.padding, table.units, table.knots, possible)


def _reports(oracle: Oracle) -> Any:
    """What the reports of several levels must have in common."""
    if isinstance(oracle, TableOracle):
        return len(oracle.sums[0])
    if isinstance(oracle, SubsetOracle):
        return oracle.chosen
    return oracle.field.size if isinstance(oracle, HashOracle | GeometryOracle) else None


def _places(levels: tuple[Part, ...]) -> int:
    """What is counted beside each report of a level: outputs of all levels, or categories or keys, which they share."""
    first = levels[0]
    if isinstance(first, OneCategory):
        return len(first.categories.labels)
    if isinstance(first, Pairs):
        return len(first.codes) * (1 + len(first.table.low))
    tables = [
        table
        for level in levels
        for table in (level.tables if isinstance(level, Attributes) else [level])
        if isinstance(table, OneNumber)
    ]
    return sum(len(each.table.low) for each in tables)


def _response(size: int, epsilon: float) -> TableOracle:
    """Randomised response among levels: the other ones' shares are rounded up."""
    other = -(-DENOMINATOR * SCALE // (exponential_below(epsilon) + (size - 1) * SCALE))
    own = DENOMINATOR - (size - 1) * other
    prove_ratio(own, other, epsilon)
    return TableOracle([list(accumulate(own if i == j else other for j in range(size))) for i in range(size)])


def _protocol(document: dict[str, Any], size: int) -> tuple[Oracle, int, Callable[[str], int]]:
    """The oracle by which levels are reported, how many reports it has, and the number of each."""
    made = categories_of(inside("level_mechanism", document["level_mechanism"]))
    told = checked_epsilon(document["level_epsilon"]) == made.epsilon and len(made.labels) == size
    need(told, f"level_mechanism must have {size} categories and the budget level_epsilon")
    oracle, number = made.oracle, int
    if isinstance(oracle, TableOracle):
        many = len(oracle.sums[0])
    elif isinstance(oracle, HashOracle):
        many = oracle.field.points(oracle.digits) * oracle.field.size
    elif isinstance(oracle, GeometryOracle):
        many = oracle.field.points(oracle.length)
    else:
        assert isinstance(oracle, UnaryOracle | SubsetOracle)
        every = isinstance(oracle, UnaryOracle)
        many = 2**size if every else comb(size, oracle.chosen)
        number = partial(number_of_bits if every else number_of_set, size=size)
    need(many <= MOST_LEVEL_REPORTS, f"there must be at most {MOST_LEVEL_REPORTS} reports of a level, got {many}")
    return oracle, many, number


def number_of_bits(text: str, size: int) -> int:
    """Return so many bits in hexadecimal as one binary number, the first category highest.

    Example
    -------
    >>> number_of_bits("a0", 3)
    5
    """
    return int(text, 16) >> (-size % 8)


def number_of_set(text: str, size: int) -> int:
    """Return a set's place among all of its size, in the order of the words that their categories make.

    Example
    -------
    >>> [number_of_set(text, 4) for text in ("c0", "a0", "90", "60", "50", "30")]
    [0, 1, 2, 3, 4, 5]
    """
    bits = f"{number_of_bits(text, size):0{size}b}"
    left, place = bits.count("1"), 0
    for k, bit in enumerate(bits):
        if bit == "1":
            left -= 1
        elif left:
            place += comb(size - k - 1, left - 1)  # those that hold k instead come before
    return place
