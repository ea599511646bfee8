"""Answers the vectors of clients/conformance, a line of JSON each: `python -m clients.conformance python`."""

from __future__ import annotations

import io
import json
import sys
from typing import Any

from optldp_client import (
    Categories,
    Combined,
    Table,
    TableError,
    Way,
    drawing,
    read_categories,
    read_combined,
    read_table,
    read_way,
)

Mechanism = Categories | Combined | Table | Way
COMBINED = ("key-value", "attributes", "personalised")
"""How the kinds begin that `read_combined` reads."""


def read(document: str) -> Mechanism:
    """Read a file of any sort; a bundle of a kind that is nobody's is refused with those of categories."""
    try:
        file = json.loads(document)
    except (ValueError, RecursionError):
        return read_table(document)  # which says why it is no JSON
    kind = file.get("kind") if isinstance(file, dict) and file.get("format") == "optldp-bundle/1" else "floor"
    if kind == "floor":
        return read_table(document)
    if kind in ("panel", "memoised", "rows", "tree"):
        return read_way(document)
    combined = isinstance(kind, str) and kind.startswith(COMBINED)
    return read_combined(document) if combined else read_categories(document)


def script(words: list[str]) -> None:
    """Put words in place of the secure generator; beyond them all are 0, with none at all it gives nothing."""
    left, fills = io.BytesIO(b"".join(int(word, 16).to_bytes(8, "little") for word in words)), bool(words)
    drawing.random_bytes = lambda size: left.read(size).ljust(size * fills, b"\0")


class CrashError(Exception):
    """What stops a device in the middle."""


class Memory:
    """A place of a device, which may be told to stop when it is written again, or at all."""

    text: str | None = None
    crashes = False

    def __init__(self, begins: bool) -> None:
        self.begins = begins  # whether there may be a first text in spite of that, as of a mark of nothing

    def read(self) -> str | None:
        """Return the text."""
        return self.text

    def write(self, text: str) -> None:
        """Keep the text."""
        if self.crashes and not (self.begins and self.text is None):
            raise CrashError
        self.text = text


def lived(document: str, user: str, steps: list[dict[str, Any]]) -> dict[str, Any]:
    """Report in periods, with a state that is kept, put back, lost, or not written."""
    way, state, mark, kept, answers = read(document), Memory(begins=False), Memory(begins=True), None, []
    for step in steps:
        first, crash = step.get("first"), step.get("crash")
        if first == "keep":
            kept = state.text
        elif first in ("restore", "lose"):
            state.text = kept if first == "restore" else None
        other, whose = step.get("document"), step.get("user", user)  # with the state of this way and user
        script(step["words"])
        state.crashes, mark.crashes = crash == "state", crash == "mark"
        asked = way if other is None else read(other)
        assert isinstance(asked, Way)
        try:
            sent = asked.report(whose, step["period"], step["value"], state, mark)
            answers.append({"crashed": True} if crash == "report" else {"sent": sent})
        except CrashError:
            answers.append({"crashed": True})
        except OSError:
            answers.append({"stopped": True})
        except ValueError:
            answers.append({"refused": True})
    return {"answers": answers}


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
    assert not isinstance(mechanism, Way)
    report = mechanism.line if isinstance(mechanism, Combined) else mechanism.report
    for draw in draws:
        script(draw["words"])
        try:
            reports.append(report(draw["value"]))
        except OSError:
            return {"stopped": True}
    return {"reports": reports}


for line in sys.stdin:
    asked = json.loads(line)
    if asked["do"] == "read":
        answer = verdict(asked["document"])
    elif asked["do"] == "draw":
        answer = drawn(asked["document"], asked["draws"])
    elif asked["do"] == "live":
        answer = lived(asked["document"], asked["user"], asked["steps"])
    else:
        answer = {"skipped": f"a task unknown to this client: {asked['do']}"}
    sys.stdout.write(json.dumps(answer) + "\n")
