"""Answers the vectors of clients/conformance, a line of JSON each: `python -m clients.conformance python`."""

from __future__ import annotations

import json
import sys
from typing import Any

from optldp_client import TableError, drawing, read_table


def verdict(document: str) -> dict[str, Any]:
    """Say whether the document is taken."""
    try:
        read_table(document)
    except TableError as error:
        return {"accepted": False, "reason": str(error)}
    return {"accepted": True}


def drawn(document: str, draws: list[dict[str, Any]]) -> dict[str, Any]:
    """Draw by the words that are given; with none at all the generator gives nothing."""
    table, reports = read_table(document), []
    for draw in draws:
        words = b"".join(int(word, 16).to_bytes(8, "little") for word in draw["words"])
        drawing.random_bytes = lambda size, words=words: words[:size].ljust(size, b"\0") if words else b""
        try:
            reports.append(table.report(draw["value"]))
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
