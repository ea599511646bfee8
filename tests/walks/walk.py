"""How a walk goes: command lines one after another in one folder, each with the sense that its answer must have."""

from __future__ import annotations

import json
import re
import shlex
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from optldp.designer.command_line import app
from typer.testing import CliRunner

UGLY = re.compile(r"Traceback|\bnan\b|\binf\b|None\b|np\.float|drop_missing \(|\\b |e\+0\d|[ \t]$", re.MULTILINE)
"""What no answer to a person may hold: programs' words, numbers that are none, and blanks at the ends of lines."""

POWERS = re.compile(r"\b\d\.?\d*e\+\d\d\b")
"""Variances are squares of what people know, and may be as large; so may sums of squares."""

SECONDS = 5.0
"""Of processor time that a step may take at 100,000 rows before it must show progress."""

Sense = Callable[[Mapping[str, Any]], object]
"""What the numbers of a JSON answer must be: true, or false where the answer makes no sense."""


@dataclass(frozen=True)
class Step:
    """A command line, and what its answer must say.

    Attributes
    ----------
    line : str
        As it is typed after `optldp`; names in braces are those of the column that is walked. `{next}` is what
        `describe` said to type next.
    says : tuple of str
        Phrases of the answer, in whatever lines they are broken.
    sense : callable, optional
        Of the answer as JSON; the line is then run with --json.
    fails : bool
        Whether the command is to refuse.
    """

    line: str
    says: tuple[str, ...] = ()
    sense: Sense | None = None
    fails: bool = False


@dataclass
class Walk:
    """One walk through the command line: what was said last, and the processor seconds of each step."""

    names: dict[str, object]
    took: list[tuple[str, float]] = field(default_factory=list)

    def go(self, steps: Iterable[Step]) -> None:
        """Take the steps; AssertionError, with the answer, at the first one that makes no sense."""
        for step in steps:
            self.take(step)

    def take(self, step: Step) -> None:
        """Take one step."""
        words = shlex.split(step.line.format_map(self.names))
        words += ["--json"] if step.sense is not None else []
        started = time.process_time()
        done = CliRunner().invoke(app, words, catch_exceptions=False)
        self.took.append((words[0], time.process_time() - started))
        said = f"$ optldp {shlex.join(words)}\n{done.output}"
        assert done.exit_code == (2 if step.fails else 0), said
        if step.sense is None:
            plain = POWERS.sub("0", done.output)
            assert not (found := UGLY.search(plain)), f"{found.group()!r} in {said}"
        else:
            assert step.sense(json.loads(done.stdout)), said
        told = " ".join(done.output.split())
        for phrase in step.says:
            assert phrase.format_map(self.names) in told, f"no {phrase.format_map(self.names)!r} in {said}"
        following = [line for line in done.stdout.splitlines() if line.startswith("next: optldp ")]
        if following:
            self.names["next"] = following[0].removeprefix("next: optldp ").replace("--out mech.json", "")


def holds(name: str, truth: Any) -> Callable[[Mapping[str, Any]], bool]:
    """Return the sense that the interval of an answer, or of its part of a name, holds the truth; NaN where that lies
    within a cell so wide that nobody can tell what part of it."""

    def sense(told: Mapping[str, Any]) -> bool:
        part = told[name] if name else told
        return part["low"] <= (part["value"] if np.isnan(truth) else truth) <= part["high"]

    return sense
