"""What `optldp bounds` may be asked, and the command line that asks for it again."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ....mechanisms.errors import InputError
from ...objectives.registry import in_words
from ..output.output import require_place
from ..output.prior import on_own_steps
from .designs.objective import PANEL, ObjectiveOptions
from .shared import (
    EPSILONS,
    TOLERANCE,
    UNIFORM_SHARE,
    Categorical,
    Force,
    Json,
    Methods,
    Plot,
    Tolerance,
    UniformShare,
    Units,
)

if TYPE_CHECKING:
    from ...objectives.base import Objective
    from ...priors.prior import Prior

BUDGETS = "0.25:4:0.25"
"""What is looked at if no budget is named."""

KNOTS = 65

NOT_REPEATED = ("--epsilon", "--knots", "--out", "--plot", "--force", "--results", "--workers", "--theory", "--json")
"""Options that the command in a report shows always, or that do not change what it says."""

SUFFIXES = (".html", ".htm", ".tex")


@dataclass(frozen=True, kw_only=True)
class BoundsOptions(ObjectiveOptions):
    """The options of `optldp bounds`."""

    epsilons: Annotated[list[str] | None, EPSILONS] = None
    knots: Annotated[
        int | None,
        typer.Option("--knots", help=f"Equally spaced knots. Default: {KNOTS}, or the values' own few equal steps."),
    ] = None
    methods: Methods = None
    at: Annotated[
        float | None, typer.Option("--at", help="Budget to show in detail. Default: the one nearest to 1.")
    ] = None
    uniform_share: UniformShare = UNIFORM_SHARE
    tolerance: Tolerance = TOLERANCE
    units: Units = ""
    objectives: Annotated[
        list[str] | None,
        typer.Option(
            "--objective",
            help=f"Further objectives beside expected and minimax; repeat for several. There are {in_words()}",
            rich_help_panel=PANEL,
        ),
    ] = None
    categorical: Categorical = False
    attributes: Annotated[
        list[str] | None,
        typer.Option(
            "--attribute",
            metavar="NAME=LO:HI",
            help="Use it repeatedly instead of --column and --range: the folder --out gets a report each, and an "
            "index.",
        ),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Report to write, .html, or .tex for LaTeX; of several --attribute a folder."),
    ] = None
    plot: Plot = None
    force: Force = False
    results: Annotated[
        Path | None,
        typer.Option("--results", help="File of finished results, to go on after a stop."),
    ] = None
    workers: Annotated[int, typer.Option("--workers", "-j", help="Processes; -1 for every core.")] = 1
    theory: Annotated[
        bool, typer.Option("--theory", help="Add bounds on worst cases from papers, beside the certified least one.")
    ] = False
    as_json: Json = False

    @property
    def budgets(self) -> str:
        """The budgets, as one text."""
        return ",".join(self.epsilons or [BUDGETS])

    @cached_property
    def asked(self) -> list[Objective]:
        """What mechanisms are to be judged by; InputError for options that are lacking or of no use."""
        return self.objectives_named(self.objectives or [])

    def refuse_for_categories(self) -> None:
        """Raise InputError for an option that only numbers have a use for."""
        numeric = (
            "--range", "--clip", "--knots", "--method", "--at", "--uniform-share", "--units", "--objective",
            "--results", "--workers", "--confidence", "--attribute", "--plot", "--assume", "--assume-from", "--theory",
        )  # fmt: skip
        self.refuse("of no use to categories", *numeric)

    def prior(self) -> tuple[Prior, list[str]]:
        """Read the prior, and what there is to say of it; without --knots on the values' own steps, as a design."""
        if self.knots is not None:
            return self.prior_on(self.knots, self.units)
        prior, notes = self.prior_on(KNOTS, self.units)
        return on_own_steps(prior), notes

    def command(self, out: Path) -> str:
        """Return the command line that makes this report, without what does not change it.

        Example
        -------
        >>> asked = BoundsOptions(
        ...     data=Path("ages.csv"), column="age", domain=(18.0, 90.0), epsilons=["0.5,1"], public=True
        ... )
        >>> asked.command(Path("ages.html"))
        'optldp bounds ages.csv --column age --range 18 90 --epsilon 0.5,1 --public --out ages.html'
        """
        words = ["optldp", "bounds"] + ([] if self.data is None else [str(self.data)])
        always: dict[str, object] = {"--epsilon": self.budgets}
        always |= {} if self.knots is None else {"--knots": self.knots}
        given = {name: value for name, value in self.given().items() if value is not None}
        source = {name: given.pop(name) for name in ("--column", "--range", "--prior") if name in given}
        given = {name: value for name, value in given.items() if name not in NOT_REPEATED}
        for name, value in (source | always | given).items():
            for each in value if isinstance(value, list) else [value]:
                words += [name, *_words(each)]
        from ....estimators.reading.formats.overrides import written_as

        return shlex.join([*words, *written_as(), "--out", str(out)])


def _words(value: object) -> list[str]:
    """An option's value as the command line has it; a flag has none."""
    if value is True:
        return []
    if isinstance(value, tuple):
        return [f"{end:.17g}" if isinstance(end, float) else str(end) for end in value]
    return [repr(value) if isinstance(value, float) else str(value)]


def require_places(out: Path | None, results: Path | None, *, force: bool) -> None:
    """Refuse files that could not be written once all is computed; results are added to those that are there.

    Raises
    ------
    InputError
        A folder that is missing or may not be written to, a report that is no page or is a folder, one file for both.
    """
    require_place(out, SUFFIXES, force=force)
    require_place(results, force=True)
    for path in (out, results):
        if path is not None and not os.access(path.parent, os.W_OK):
            raise InputError(f"the output's folder must be writable, got {str(path)!r}: name another")
    if out is not None and results is not None and out.resolve() == results.resolve():
        raise InputError(f"report and results must be two files, got {str(out)!r} for both: name another")
