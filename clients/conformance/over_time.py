"""Lives of a user in each way over time but directions: what is sent with a state that crashes and is lost."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from optldp.mechanisms import TabulatedMechanism
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.categorical.subset_selection import subset_selection
from optldp.mechanisms.documents.bundle import Bundle
from optldp.mechanisms.errors import InputError
from optldp.mechanisms.files.bundle import document_of
from optldp.mechanisms.files.checksum import checksum
from optldp.mechanisms.files.json_text import to_json
from optldp.mechanisms.ledger import PeriodState
from optldp.mechanisms.ledger.period_book import PeriodFile
from optldp.mechanisms.ledger.period_mark import PeriodMark
from optldp.mechanisms.over_time import HistoryRows, Memoised, Panel, Tree
from optldp.mechanisms.over_time.signs import Signs
from optldp.mechanisms.over_time.way import Way

from .categories import SEED

SALT = "0123456789abcdef" * 2
USERS = ("ann", "Zoe\u0308", "\u767d")
COLOURS = ("red", "green", "blue")
ROWS = [[0.25] * 4 + [0.0] * 8, [0.0, 0.5, -0.5, 1e-9, 0.7] + [0.0] * 7, [0.0] * 5 + [1.0] + [0.0] * 6]
SIGNS = Signs(3, 2, 5, 2)
LIVES = 6
"""Of each way."""

STEPS = 14
MANY_WORDS = 16

OTHER = "bo"
"""Who asks with a state that is not hers."""

Step = dict[str, Any]


class CrashError(Exception):
    """What stops a device in the middle."""


def ways(numbers: TabulatedMechanism) -> dict[str, Way]:
    """Return ways over time by name, of categories and of a table of a budget of 1."""
    colours = categorical_grr(COLOURS, 1.0)
    return {
        "one report": Panel(colours, 12, 1, 1.0, SALT),
        "four of twelve": Panel(colours, 12, 4, 4.0, SALT),
        "by shares": Panel(colours, 4, 1, 1.0, SALT, [1, 0, 5, 2]),
        "in any five": Panel(numbers, 52, 2, 2.0, SALT, span=5),
        "drawn by devices": Panel(subset_selection(COLOURS, 1.0, n_chosen=1), 6, 2, 2.0, None),
        "numbers remembered": Memoised(numbers, 12, 2, 2.0),
        "colours remembered": Memoised(colours, 12, 2, 2.0),
        "sums of a history": HistoryRows(numbers, ROWS, [1, 2, 3], [2.0, 2.0, 3.5], 1.0, SALT),
        "values of one period": Tree(numbers, 12, [1] * 12 + [0], [(1, SIGNS)], 5.0, 1.0, SALT),
        "signs of each period": Tree(numbers, 12, [0] * 12 + [1], [(1, SIGNS)], 5.0, 1.0, SALT),
        "signs of blocks": Tree(numbers, 12, [1] * 12 + [9, 9], [(2, SIGNS), (3, Signs(1, 1, 5, 2))], 5.0, 1.0, SALT),
    }


def file_of(way: Bundle) -> str:
    """Return the text of a way's file."""
    document = document_of(way)
    return to_json(document | {"checksum": checksum(document)})


def lives(way: Way) -> Iterator[tuple[str, list[Step], list[dict[str, Any]]]]:
    """Yield users, the steps of a life of each and what the library answers to each step.

    Example
    -------
    >>> way = Panel(categorical_grr(COLOURS, 1.0), 2, 2, 2.0, SALT)
    >>> user, steps, answers = next(lives(way))
    >>> user, sorted(steps[0]), len(answers) == len(steps)
    ('ann', ['period', 'value', 'words'], True)
    """
    rng = np.random.default_rng(SEED)
    for number in range(LIVES):
        user = USERS[number % len(USERS)]
        steps = _steps(way, rng, faults=number >= LIVES // 3)
        yield user, steps, _answers(way, user, steps)


def intrusions(way: Way, other: Way) -> tuple[list[Step], list[dict[str, Any]]]:
    """Return steps of a life in which another user, and one of another way, ask with its state, and answers to each.

    Example
    -------
    >>> grr = categorical_grr(COLOURS, 1.0)
    >>> steps, answers = intrusions(Panel(grr, 3, 2, 2.0, SALT), Memoised(grr, 3, 2, 2.0))
    >>> [sorted(answer) for answer in answers]
    [['sent'], ['refused'], ['sent'], ['refused'], ['sent']]
    """
    rng = np.random.default_rng(SEED)
    kinds: list[Step] = [{}, {"user": OTHER}, {}, {"document": file_of(other)}, {}]
    plain = _steps(way, rng, faults=False)[: len(kinds)]
    steps = [step | {"period": min(i + 1, 3)} | kinds[i] for i, step in enumerate(plain)]
    return steps, _answers(way, USERS[0], steps, other)


def _steps(way: Way, rng: np.random.Generator, faults: bool) -> list[Step]:
    made, period, kept = [], 0, False
    while len(made) < STEPS:
        on = [0, 1, 1, 2, -1] if way.periods < 20 else [0, 1, 2, 5, -1]
        again = made and "crash" in made[-1] and rng.integers(2) == 0
        period = min(max(period + (0 if again else int(rng.choice(on))), 1), way.periods)
        words = [
            f"{word:x}" for word in rng.integers(0, 2**64 - 1, MANY_WORDS, dtype=np.uint64, endpoint=True).tolist()
        ]
        step: Step = {"period": period, "value": _value(way, rng), "words": words}
        if faults:
            crash = rng.choice(["", "", "", "", "", "", "", "state", "mark", "report"])
            first = rng.choice(["", "", "", "keep", "restore" if kept else "keep", "lose" if len(made) > 8 else ""])
            kept |= first == "keep"
            step |= {"crash": str(crash)} if crash else {}
            step |= {"first": str(first)} if first else {}
            step["words"] = [] if not crash and rng.integers(6) == 0 else words
        made.append(step)
    return made


def _value(way: Way, rng: np.random.Generator) -> Any:
    table = way.table if isinstance(way, Tree) else way.mechanism
    if isinstance(table, TabulatedMechanism):
        low, high = table.domain
        return float(rng.choice([low, high, low + rng.random() * (high - low)]))
    return str(rng.choice(COLOURS))


def _answers(way: Way, user: str, steps: list[Step], other: Way | None = None) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder, "state")
        return [
            _answer((other if "document" in step else way) or way, step.get("user", user), step, state)
            for step in steps
        ]


def _answer(way: Way, user: str, step: Step, state: Path) -> dict[str, Any]:
    kept = state.with_name("kept")
    match step.get("first"):
        case "keep":
            kept.unlink(missing_ok=True)
            if state.exists():
                shutil.copy(state, kept)
        case "restore" if kept.exists():
            shutil.copy(kept, state)
        case "restore":
            state.unlink(missing_ok=True)
        case "lose":
            state.unlink(missing_ok=True)
    left = iter(step["words"])
    given = lambda size: b"".join(int(next(left), 16).to_bytes(8, "little") for _ in range(size // 8))  # noqa: E731
    crash = step.get("crash")
    try:
        opened = PeriodState(state, way, user=user)
        with (
            patch.object(os, "urandom", given),
            patch.object(PeriodFile, "_written", _crash if crash == "state" else staticmethod(PeriodFile._written)),
            patch.object(PeriodMark, "write", _crash if crash == "mark" else PeriodMark.write),
        ):
            (sent,) = opened.reports(step["period"], [user], [step["value"]]).reports
    except CrashError:
        return {"crashed": True}
    except InputError:
        return {"refused": True}
    except (StopIteration, RuntimeError):  # the words have run out
        return {"stopped": True}
    return {"crashed": True} if crash == "report" else {"sent": sent}


def _crash(*_: object) -> None:
    raise CrashError
