"""The objectives that options ask for, the same in every command: --objective, and what goes with it, declared once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import CONFIDENCE, Confidence, checked_confidence, people
from .prior import PriorOptions

if TYPE_CHECKING:
    from ...objectives.base import Objective
    from ...priors.trust import MeasuredTrust

INFORMATION = "mutual-information"
"""Criterion of --objective information, if none is named; as of `Information`."""

DETAILS: dict[str, tuple[str, ...]] = {
    "expected": (),
    "minimax": (),
    "trade-off": ("--expected", "--worst"),
    "robust": ("--ambiguity", "--radius"),
    "information": ("--criterion", "--patterns"),
    "error": ("--n", "--trust", "--trust-from"),
}
"""Values of --objective, each with the options that it alone has a use for."""

OBJECTIVES = tuple(DETAILS)

KINDS = (
    "expected, minimax, trade-off, robust, information or error. That is: the least expected variance, the least "
    "worst case, something between the two, the least expected variance under the worst prior near this one, the "
    "most information, or the least error of the mean of --n users, bias allowed"
)

PANEL = "Objectives"


@dataclass(frozen=True, kw_only=True)
class ObjectiveOptions(PriorOptions):
    """What goes with --objective; a command says itself whether it takes one or several."""

    expected: Annotated[
        float | None,
        typer.Option("--expected", help="For trade-off: weight of the expected variance.", rich_help_panel=PANEL),
    ] = None
    worst: Annotated[
        float | None,
        typer.Option("--worst", help="For trade-off: weight of the worst case, in (0, 1].", rich_help_panel=PANEL),
    ] = None
    ambiguity: Annotated[
        str | None,
        typer.Option(
            "--ambiguity", help="For robust: relative, tv or wasserstein distance of the priors.", rich_help_panel=PANEL
        ),
    ] = None
    radius: Annotated[
        float | None,
        typer.Option(
            "--radius", help="For robust: how far off the prior may be; wasserstein: in units.", rich_help_panel=PANEL
        ),
    ] = None
    criterion: Annotated[
        str | None,
        typer.Option(
            "--criterion",
            help="For information: mutual-information (default), fisher or cumulative.",
            rich_help_panel=PANEL,
        ),
    ] = None
    patterns: Annotated[
        str | None,
        typer.Option(
            "--patterns",
            help="For information: values that a report may favour, interval (default) or any.",
            rich_help_panel=PANEL,
        ),
    ] = None

    n: Annotated[
        int | None,
        people("People who will report, once each: how far off may their mean be?", rich_help_panel=PANEL),
    ] = None
    confidence: Confidence = CONFIDENCE
    trust: Annotated[
        float | None,
        typer.Option(
            "--trust", help="For error: factor by which the prior may be off. Default: 3.", rich_help_panel=PANEL
        ),
    ] = None
    trust_from: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            "--trust-from",
            metavar="OLD OLDER",
            help="For error: measure the factor: files with the column's values of last year and of the year before.",
            rich_help_panel=PANEL,
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
    def measured(self) -> MeasuredTrust | None:
        """The trust of --trust-from; None without it. InputError for files that cannot be read or say too little."""
        from ....mechanisms.errors import InputError
        from ..said.trust import measured_trust

        if self.trust_from is None:
            return None
        if self.trust is not None:
            raise InputError("--trust-from measures what --trust says: leave one of them out")
        return measured_trust(*self.trust_from, self.column, self.domain, self.drop_missing)

    @property
    def trust_notes(self) -> list[str]:
        """What there is to say of a measured trust."""
        from ..said.trust import trust_note

        return [] if self.measured is None else [trust_note(self.measured)]

    @property
    def used_besides(self) -> tuple[str, ...]:
        """Options of an objective that the command has another use for."""
        return ()

    def objective_named(self, name: str) -> Objective:
        """Return the objective of that name with its options; InputError for what is not known, or what it lacks."""
        from ....mechanisms.errors import InputError, unwired
        from ...objectives.error import Error
        from ...objectives.guarantee import Guarantee
        from ...objectives.information import Information
        from ...objectives.variance import Variance
        from ...objectives.worst_case import TradeOff, WorstCase
        from ...priors.ambiguity import AMBIGUITIES, FactorAmbiguity

        if name not in OBJECTIVES:
            raise InputError(f"--objective must be one of {', '.join(OBJECTIVES)}, got {name!r}")
        if name == "expected":
            return Variance()
        if name == "minimax":
            return WorstCase()
        if name == "trade-off":
            worst = self.worst
            if worst is None and self.expected is None:
                raise InputError("--objective trade-off needs --worst W in (0, 1], the worst case's weight: add it")
            return TradeOff(1 - (self.expected or 0.0) if worst is None else worst, self.expected)
        if name == "information":
            # What is not one of the criteria or patterns is refused by the objective itself.
            return Information(self.criterion or INFORMATION, self.patterns or "interval")  # pyright: ignore[reportArgumentType]
        if name == "error":
            if self.users is None:
                raise InputError("the error of a mean needs --n N, the users who will report: add it")
            trust = self.trust if self.measured is None else self.measured.factor
            return Error(self.users) if trust is None else Error(self.users, FactorAmbiguity(trust))
        if name != "robust":
            raise unwired("objective", name)
        if self.ambiguity is None or self.radius is None:
            raise InputError(
                f"--objective robust needs --ambiguity, one of {', '.join(AMBIGUITIES)}, and --radius R: add them"
            )
        if self.ambiguity not in AMBIGUITIES:
            raise InputError(f"--ambiguity must be one of {', '.join(AMBIGUITIES)}, got {self.ambiguity!r}")
        return Guarantee(AMBIGUITIES[self.ambiguity](self.radius))

    def objectives_named(self, names: Sequence[str]) -> list[Objective]:
        """Return the objectives of these names, each once; InputError also for an option that none has a use for."""
        made = [self.objective_named(name) for name in dict.fromkeys(names)]
        self.refuse_details_of_others(names)
        return made

    def refuse_details_of_others(self, names: Sequence[str]) -> None:
        """Raise InputError for an option of an objective that is not among these."""
        for name, options in DETAILS.items():
            if name not in names:
                self.refuse(f"for --objective {name}", *(each for each in options if each not in self.used_besides))
