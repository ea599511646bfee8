"""From a file to a way of reporting over time whose mechanism is proved private, and whose budgets add up."""

from __future__ import annotations

import re
from fractions import Fraction
from math import comb
from typing import Any

from .category_proving import categories_of
from .drawing import DENOMINATOR, Table
from .over_time import Mechanism, Memoised, Panel, Way
from .proving import SCALE, checked_epsilon, exact_table, exponential_below
from .reading import (
    as_list,
    as_number,
    as_numbers,
    as_object,
    as_text,
    as_wholes,
    inside,
    need,
    parse,
    refuse,
    require_checksum,
)
from .whole_lives import Branch, Rows, Tree

MOST_PERIODS = 100_000
MOST_ROWS = 10_000
MOST_SIGNS = 32
LARGEST_SHARES = 2**31 - 1
SHARED = ("format", "kind", "epsilon", "checksum")
OWN = {
    "panel": ("mechanism", "periods", "reports", "salt", "shares", "span"),
    "memoised": ("mechanism", "periods", "values"),
    "rows": ("mechanism", "rows", "shares", "variances", "salt", "stays"),
    "tree": ("table", "periods", "shares", "branches", "variance", "salt"),
}


def read_way(text: str) -> Way:
    """Return the way over time in the text of a file once it is proved private.

    Raises
    ------
    TableError
        The text is no such file, was altered, or is not proved to keep its epsilon; one line.
    """
    document = as_object("the file", parse(text))
    kind = document.get("kind")
    if document.get("format") != "optldp-bundle/1" or not isinstance(kind, str) or kind not in OWN:
        refuse(f'a file must be of the format "optldp-bundle/1" and of one of the kinds {", ".join(OWN)}')
    as_object("the way", document, (*SHARED, *OWN[kind]))
    require_checksum(document)
    epsilon = checked_epsilon(document["epsilon"])
    if kind == "rows":
        return _rows(document, epsilon)
    if kind == "tree":
        return _tree(document, epsilon)
    mechanism = _mechanism(document["mechanism"])
    periods = _whole(document, "periods", 2, MOST_PERIODS)
    shared = (mechanism, periods, epsilon, document["checksum"])
    if kind == "memoised":
        values = _whole(document, "values", 1, periods)
        _require_budget(mechanism, values, epsilon)
        return Memoised(*shared, values)
    span = None if document["span"] is None else _whole(document, "span", 1, periods)
    reports = _whole(document, "reports", 1, span or periods)
    _require_budget(mechanism, reports, epsilon)
    salt = None if document["salt"] is None else _salt(document["salt"])
    return Panel(*shared, reports, span, salt, _turns(document["shares"], periods, reports, span))


def _rows(document: dict[str, Any], epsilon: float) -> Rows:
    table = _table(document["mechanism"], epsilon)
    rows = tuple(tuple(as_numbers("a row", row)) for row in as_list("rows", document["rows"]))
    need(1 <= len(rows) <= MOST_ROWS, f"there must be 1 to {MOST_ROWS} rows, got {len(rows)}")
    periods = len(rows[0])
    fits = all(len(row) == periods and any(row) for row in rows) and 2 <= periods <= MOST_PERIODS
    need(fits, f"rows must have 2 to {MOST_PERIODS} weights each, of which some are not zero")
    variances = as_numbers("variances", document["variances"])
    need(len(variances) == len(rows) and min(variances) > 0, "there must be a positive variance for each row")
    stays = document["stays"]
    fits = isinstance(stays, bool) and (not stays or any(map(sum, rows)))
    need(fits, "stays must be true or false, and true of rows that tell a value that stays")
    shares, salt = _shares(document["shares"], len(rows)), _salt(document["salt"])
    return Rows(table, periods, epsilon, document["checksum"], rows, shares, salt)


def _tree(document: dict[str, Any], epsilon: float) -> Tree:
    table, periods = _table(document["table"], epsilon), _whole(document, "periods", 2, MOST_PERIODS)
    branches = tuple(_branch(each, periods, epsilon) for each in as_list("branches", document["branches"]))
    need(len({branch.step for branch in branches}) == len(branches), "branches must have different steps")
    need(as_number("variance", document["variance"]) > 0, "variance must be positive")
    shares, salt = _shares(document["shares"], periods + len(branches)), _salt(document["salt"])
    return Tree(table, periods, epsilon, document["checksum"], shares, branches, salt)


def _branch(value: Any, periods: int, epsilon: float) -> Branch:
    numbers = as_wholes("a branch", value, 1, DENOMINATOR)
    need(len(numbers) == 5, "a branch must be five whole numbers")
    step, many, least, high, low = numbers
    need(step < periods and least <= many <= MOST_SIGNS and low <= high, "a branch must have numbers in their ranges")
    need(high * SCALE <= exponential_below(epsilon) * low, f"weights of signs must have a ratio of at most e^{epsilon}")
    weights = tuple(comb(many, plus) * (high if plus >= least else low) for plus in range(many + 1))
    need(sum(weights) <= DENOMINATOR, "weights of signs must sum to at most 2^53")
    return Branch(step, many, weights)


def _table(value: Any, epsilon: float) -> Table:
    mechanism = _mechanism(value)
    if not isinstance(mechanism, Table):
        refuse("the mechanism must be a table of numbers")
    _require_budget(mechanism, 1, epsilon)
    return mechanism


def _mechanism(value: Any) -> Mechanism:
    document = inside("the mechanism", value)
    return exact_table(document) if document.get("format") == "optldp-table/2" else categories_of(document)


def _whole(document: dict[str, Any], name: str, least: int, most: int) -> int:
    return as_wholes(name, [document[name]], least, most)[0]


def _require_budget(mechanism: Mechanism, many: int, epsilon: float) -> None:
    fits = Fraction(mechanism.epsilon) * many <= Fraction(epsilon)
    need(fits, f"{many} reports of a user must spend at most {epsilon}, got {mechanism.epsilon} each")


def _salt(value: Any) -> bytes:
    digits = as_text("the salt", value)
    need(re.fullmatch("[0-9a-f]{32}", digits) is not None, "the salt must be 32 hexadecimal digits")
    return bytes.fromhex(digits)


def _turns(value: Any, periods: int, reports: int, span: int | None) -> tuple[int, ...] | None:
    if value is None:
        return None
    need(reports == 1 and span is None, "shares must be of one report of a user, without a span")
    return _shares(value, periods)


def _shares(value: Any, many: int) -> tuple[int, ...]:
    shares = as_wholes("shares", value, 0, LARGEST_SHARES)
    fits = len(shares) == many and 0 < sum(shares) <= LARGEST_SHARES
    need(fits, f"there must be {many} shares, of a sum below 2^31")
    return tuple(shares)
