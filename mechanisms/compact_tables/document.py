"""A floor form as the members of a document and back; the form checks its numbers."""

from collections.abc import Mapping
from typing import Any

from ..documents.table import (
    as_number,
    as_object,
    as_text,
    numbers_from_document,
    prior_from_document,
    prior_to_document,
    provenance_from_document,
    provenance_to_document,
    require_keys,
)
from ..errors import TableError

KEYS = ("units", "epsilon", "ratio", "knots", "step", "places", "floor", "starts", "provenance", "prior")
"""The members, all of them required."""

MOST_DIGITS = 49
"""Of a ratio over 2^128 that is at most e^16."""


def members_of(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members for the fields of a form; its ratio, which no double holds, as the text of its digits."""
    written = {
        "ratio": str(fields["ratio"]),
        "provenance": provenance_to_document(fields["provenance"]),
        "prior": prior_to_document(fields["prior"]),
    }
    return {key: written[key] if key in written else fields[key] for key in KEYS}


def fields_of(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a form from its members; TableError or InputError at the first that is none."""
    require_keys("a floor form", members, KEYS)
    ratio = as_text("ratio", members["ratio"])
    if not (ratio.isascii() and ratio.isdigit() and len(ratio) <= MOST_DIGITS and ratio[0] != "0"):
        raise TableError(f"ratio must be the digits of a whole number, got {ratio!r:.60}")
    return {
        "knots": numbers_from_document("knots", members["knots"]),
        **{name: members[name] for name in ("places", "floor", "starts")},
        "step": as_number("step", members["step"]),
        "ratio": int(ratio),
        "epsilon": as_number("epsilon", members["epsilon"]),
        "provenance": provenance_from_document(as_object("provenance", members["provenance"])),
        "prior": prior_from_document(members["prior"]),
        "units": as_text("units", members["units"]),
    }
