"""Runs a client on vectors, a line of JSON each, and judges what it answers."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from typing import Any

from .vectors import Vector

TIME_LIMIT = 300.0
"""Seconds that a client has for all vectors together."""


def faults(command: Sequence[str], asked: Sequence[Vector]) -> list[str]:
    """Return what is wrong with a client's answers, a line each; none where it is right.

    Raises
    ------
    OSError
        The client cannot be started.
    subprocess.TimeoutExpired
        It took too long.
    """
    lines = "".join(json.dumps(vector.asked) + "\n" for vector in asked)
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=TIME_LIMIT)
    answers = done.stdout.splitlines()
    found = [
        f"{vector.name}: {fault}"
        for vector, line in zip(asked, answers, strict=False)
        if (fault := fault_of(vector, line))
    ]
    if len(answers) != len(asked):
        found.append(
            f"a client must answer each line by one, got {len(answers)} for {len(asked)}: {done.stderr[-400:]!r}"
        )
    if done.returncode:
        found.append(f"a client must end with status 0, got {done.returncode}")
    return found


def fault_of(vector: Vector, line: str) -> str:
    """Say what is wrong with one answer; "" if nothing is.

    Example
    -------
    >>> refused = Vector("a sum one above", "tables", {"do": "read"}, accepted=False)
    >>> fault_of(refused, '{"accepted": true}')
    'must be refused, got accepted'
    >>> fault_of(refused, '{"accepted": false, "reason": "row 0 must sum to 2^53 exactly"}')
    ''
    """
    try:
        answer: Any = json.loads(line)
    except ValueError:
        return "an answer must be JSON, got something else"
    if not isinstance(answer, dict):
        return "an answer must be an object, got something else"
    if "skipped" in answer:
        return f"skipped: {answer['skipped']}"
    if vector.asked["do"] == "draw":
        return _fault_of_draws(vector, answer)
    if vector.answers is not None:
        return _fault_of_life(vector.answers, answer.get("answers"))
    if answer.get("accepted") is not vector.accepted:
        wanted, got = ("refused", "accepted")[:: -1 if vector.accepted else 1]
        return f"must be {wanted}, got {got if answer.get('accepted') is (not vector.accepted) else 'no verdict'}"
    reason = answer.get("reason")
    if not vector.accepted and not (isinstance(reason, str) and reason and "\n" not in reason):
        return "a refusal must have a reason of one line, got none"
    return ""


def _fault_of_draws(vector: Vector, answer: dict[str, Any]) -> str:
    if vector.reports is None:
        return (
            "" if answer == {"stopped": True} else "a generator that gives too little must stop the draw, got a report"
        )
    reports = answer.get("reports")
    if not isinstance(reports, list) or len(reports) != len(vector.reports):
        return "a draw must have a report for each value, got another answer"
    pairs = enumerate(zip(reports, vector.reports, strict=True))
    wrong = [place for place, (got, due) in pairs if not _same(got, due)]
    return f"reports must be those of the library, got others at {len(wrong)} places, first {wrong[0]}" if wrong else ""


def _fault_of_life(due: tuple[dict[str, Any], ...], got: object) -> str:
    if not isinstance(got, list) or len(got) != len(due):
        return "a life must have an answer for each step, got another answer"
    wrong = [place for place, each in enumerate(due) if got[place] != each]
    return f"steps must be answered as the library does, got others at {len(wrong)}, first {wrong[0]}" if wrong else ""


def _same(got: object, due: float | str) -> bool:
    """Whether a report is the very one: of categories text, of numbers a number, be it written as a whole one."""
    if isinstance(due, str):
        return got == due
    return isinstance(got, int | float) and not isinstance(got, bool) and float(got) == due  # 1e20 may be whole
