"""The objectives that options ask for, the same in every command: --objective, and what goes with it, declared once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .....mechanisms.errors import InputError
from ....objectives.registry import AskedObjective
from ..prior import PriorOptions
from ..shared import CONFIDENCE, Confidence, checked_confidence, people

if TYPE_CHECKING:
    from ....objectives.base import Objective
    from ....priors.trust import MeasuredTrust

PANEL = "Objectives"

OF_MEAN, OF_CLASS = "error", "robust"
"""The objectives that assume something of how far the prior is off: a factor, and whatever intervals assume."""


@dataclass(frozen=True, kw_only=True)
class ObjectiveOptions(PriorOptions):
    """What goes with --objective; a command says itself whether it takes one or several."""

    n: Annotated[
        int | None,
        people("People who will report, once each, for the error of their mean.", rich_help_panel=PANEL),
    ] = None
    confidence: Confidence = CONFIDENCE
    assume: Annotated[
        list[str] | None,
        typer.Option(
            "--assume",
            metavar="NAME=NUMBER",
            help="With --objective error: each weight of the prior is right within a factor, such as trust=3. With "
            "--objective robust: any assumption of estimate's --assume, near this prior, such as "
            "shape=1.1,exempt=0.01 or monotone=50. Repeat it to assume several at once.",
        ),
    ] = None
    assume_from: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            "--assume-from",
            metavar="OLD OLDER",
            help="With --objective error: the same, with the factor measured between two earlier years of the column.",
        ),
    ] = None

    @property
    def users(self) -> int | None:
        """The number of users that the error of a mean is for."""
        return self.n

    @property
    def sure(self) -> float:
        """In what share of cases a mean is no further off than is said; InputError where none is spoken of."""
        if self.n is None:
            self.refuse("for how far off the mean of --n people may be", "--confidence")
        return checked_confidence(self.confidence)

    @cached_property
    def measurements(self) -> list[MeasuredTrust]:
        """The trusts that objectives had measured so far."""
        return []

    def trust_of(self, last: Path, before: Path) -> float:
        """Measure a trust; InputError for files that cannot be read or say too little."""
        from ...output.trust import measured_trust

        self.measurements.append(measured_trust(last, before, self.column, self.domain, self.drop_missing))
        return self.measurements[-1].factor

    @property
    def objective_notes(self) -> list[str]:
        """What there is to say of trusts that were measured."""
        from ...output.trust import trust_note

        return [trust_note(each) for each in self.measurements]

    def objectives_named(self, texts: Sequence[str], questions: Sequence[str] = ()) -> list[Objective]:
        """Return the objectives that are asked for, each once, and those that answer questions best.

        Raises
        ------
        InputError
            A question that there is not, or an assumption that no objective takes.
        """
        from ....objectives.questions.asked import question_asked

        asked = [question_asked(text) for text in dict.fromkeys(questions)]
        asked += [AskedObjective.read(text) for text in dict.fromkeys(texts)]
        if all(one.name not in (OF_MEAN, OF_CLASS) for one in asked):
            self.refuse(f"for --objective {OF_MEAN} and {OF_CLASS}", "--assume", "--assume-from")
        return [self.with_assumed(one).made(self) for one in asked]

    def with_assumed(self, asked: AskedObjective) -> AskedObjective:
        """Return an objective told what is assumed of the prior, if it takes that.

        Raises
        ------
        InputError
            An assumption that it is told already, or that designs do not make.
        """
        if asked.name not in (OF_MEAN, OF_CLASS) or (self.assume is None and self.assume_from is None):
            return asked
        if asked.told:
            raise InputError(f"an assumption is told twice, got --objective {asked} beside --assume: leave one out")
        from ..assumed import ambiguity_asked, factor_of

        if asked.name == OF_CLASS:
            self.refuse(f"for --objective {OF_MEAN}", "--assume-from")
            return AskedObjective(asked.name, {"assumed": ambiguity_asked(self.assume or ())})
        if self.assume is None:
            return AskedObjective(asked.name, dict(zip(("last", "before"), self.assume_from or (), strict=True)))
        if self.assume_from is not None:
            raise InputError("--assume names a factor, and --assume-from measures it: leave one out")
        if len(self.assume) > 1:
            raise InputError(
                f"--objective {OF_MEAN} assumes one factor, got {len(self.assume)} of them: take {OF_CLASS}"
            )
        return AskedObjective(asked.name, {"trust": factor_of(self.assume[0])})
