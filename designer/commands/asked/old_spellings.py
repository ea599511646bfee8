"""Options that objectives had of their own before --objective took them: they work for one version more, unseen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.models import OptionInfo

from .prior import PriorOptions

OLD: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "--expected": ("trade-off", ("expected",)),
    "--worst": ("trade-off", ("worst",)),
    "--ambiguity": ("robust", ("ambiguity",)),
    "--radius": ("robust", ("radius",)),
    "--criterion": ("information", ("criterion",)),
    "--patterns": ("information", ("patterns",)),
    "--trust": ("error", ("trust",)),
    "--trust-from": ("error", ("last", "before")),
}
"""The objective of each, and what it is told."""


def spellings_of(objective: str) -> tuple[str, ...]:
    """Return the old options of an objective.

    Example
    -------
    >>> spellings_of("robust"), spellings_of("minimax")
    (('--ambiguity', '--radius'), ())
    """
    return tuple(option for option, (name, _) in OLD.items() if name == objective)


def _old(name: str) -> OptionInfo:
    objective, keys = OLD[name]
    return typer.Option(name, hidden=True, help=f"Write --objective {objective},{keys[0]}=... instead.")


@dataclass(frozen=True, kw_only=True)
class OldSpellings(PriorOptions):
    """The options that --objective takes the place of."""

    expected: Annotated[float | None, _old("--expected")] = None
    worst: Annotated[float | None, _old("--worst")] = None
    ambiguity: Annotated[str | None, _old("--ambiguity")] = None
    radius: Annotated[float | None, _old("--radius")] = None
    criterion: Annotated[str | None, _old("--criterion")] = None
    patterns: Annotated[str | None, _old("--patterns")] = None
    trust: Annotated[float | None, _old("--trust")] = None
    trust_from: Annotated[tuple[Path, Path] | None, _old("--trust-from")] = None

    def told_of_old(self, objective: str) -> dict[str, Any]:
        """Return what old options tell an objective, by its own names for it."""
        given, found = self.given(), dict[str, Any]()
        for option in spellings_of(objective):
            if (value := given[option]) is not None:
                found |= zip(OLD[option][1], value if isinstance(value, tuple) else (value,), strict=True)
        return found

    def refuse_old_of_others(self, names: tuple[str, ...]) -> None:
        """Raise InputError for an old option of an objective that is not among these."""
        for option, (name, _) in OLD.items():
            if name not in names:
                self.refuse(f"for --objective {name}", option)
