"""Answers the vectors of clients/conformance, a line of JSON each: `python -m clients.conformance python`."""

from __future__ import annotations

import io
import json
import sys
from typing import Any

from optldp_client import Categories, Table, TableError, drawing, read_categories, read_table


def read(document: str) -> Categories | Table:
    """Read a file of either sort: bundles but the floor form are categories'."""
    try:
        file = json.loads(document)
    except (ValueError, RecursionError):
        return read_table(document)  # which says why it is no JSON
    bundle = isinstance(file, dict) and file.get("format") == "optldp-bundle/1" and file.get("kind") != "floor"
    return read_categories(document) if bundle else read_table(document)


def verdict(document: str) -> dict[str, Any]:
    """Say whether the document is taken."""
    try:
        read(document)
    except TableError as error:
        return {"accepted": False, "reason": str(error)}
    return {"accepted": True}


def drawn(document: str, draws: list[dict[str, Any]]) -> dict[str, Any]:
    """Draw by the words that are given; with none at all the generator gives nothing."""
    mechanism, reports = read(document), []
    for draw in draws:
        left = io.BytesIO(b"".join(int(word, 16).to_bytes(8, "little") for word in draw["words"]))
        fills = bool(draw["words"])
        drawing.random_bytes = lambda size, left=left, fills=fills: left.read(size).ljust(size * fills, b"\0")
        try:
            reports.append(mechanism.report(draw["value"]))
        except OSError:
            return {"stopped": True}
    return {"reports": reports}


for line in sys.stdin:
    asked = json.loads(line)
    if asked["do"] == "read":
        answer = verdict(asked["document"])
    elif asked["do"] == "draw":
        answer = drawn(asked["document"], asked["draws"])
    else:
        answer = {"skipped": f"a task unknown to this client: {asked['do']}"}
    sys.stdout.write(json.dumps(answer) + "\n")
