"""From a file to a way of reporting over time whose mechanism is proved private, and whose budgets add up."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from .category_proving import categories_of
from .over_time import Mechanism, Memoised, Panel, Way
from .proving import checked_epsilon, exact_table
from .reading import as_object, as_text, as_wholes, inside, need, parse, refuse, require_checksum

MOST_PERIODS = 100_000
SHARED = ("format", "kind", "mechanism", "periods", "epsilon", "checksum")
OWN = {"panel": ("reports", "salt", "shares", "span"), "memoised": ("values",)}


def read_way(text: str) -> Way:
    """Return the panel, or the way that remembers draws, in the text of a file once it is proved private.

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
    mechanism, epsilon = _mechanism(document["mechanism"]), checked_epsilon(document["epsilon"])
    periods = _whole(document, "periods", 2, MOST_PERIODS)
    shared = (mechanism, periods, epsilon, document["checksum"])
    if kind == "memoised":
        values = _whole(document, "values", 1, periods)
        _require_budget(mechanism, values, epsilon)
        return Memoised(*shared, values)
    span = None if document["span"] is None else _whole(document, "span", 1, periods)
    reports = _whole(document, "reports", 1, span or periods)
    _require_budget(mechanism, reports, epsilon)
    return Panel(*shared, reports, span, _salt(document["salt"]), _shares(document["shares"], periods, reports, span))


def _mechanism(value: Any) -> Mechanism:
    document = inside("the mechanism", value)
    return exact_table(document) if document.get("format") == "optldp-table/2" else categories_of(document)


def _whole(document: dict[str, Any], name: str, least: int, most: int) -> int:
    return as_wholes(name, [document[name]], least, most)[0]


def _require_budget(mechanism: Mechanism, many: int, epsilon: float) -> None:
    fits = Fraction(mechanism.epsilon) * many <= Fraction(epsilon)
    need(fits, f"{many} reports of a user must spend at most {epsilon}, got {mechanism.epsilon} each")


def _salt(value: Any) -> bytes | None:
    if value is None:
        return None
    digits = as_text("the salt", value)
    need(re.fullmatch("[0-9a-f]{32}", digits) is not None, "the salt must be 32 hexadecimal digits")
    return bytes.fromhex(digits)


def _shares(value: Any, periods: int, reports: int, span: int | None) -> tuple[int, ...] | None:
    if value is None:
        return None
    shares = as_wholes("shares", value, 0, 2**31 - 1)
    fits = len(shares) == periods and reports == 1 and span is None and 0 < sum(shares) < 2**31
    need(fits, f"there must be a share for each of {periods} periods of one report, of a sum below 2^31")
    return tuple(shares)
