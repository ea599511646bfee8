"""What `optldp bounds` was asked for, and the command line that asks for it again."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..options import TOLERANCE, UNIFORM_SHARE
from ..output import require_place
from ..prior import read_prior
from .objective import asked_objective, refuse_other_objectives

if TYPE_CHECKING:
    from ...objectives.base import Objective
    from ...priors.prior import Prior

ALWAYS = ("expected", "minimax")
"""Objectives that every report has."""

SUFFIXES = (".html", ".htm")


@dataclass(frozen=True)
class BoundsOptions:
    """The options that decide what a report says, under the names that the command line gives them."""

    data: Path | None
    column: str | None
    domain: tuple[float, float] | None
    prior_file: Path | None
    epsilon: str
    knots: int
    methods: tuple[str, ...]
    at: float | None
    uniform_share: float
    tolerance: float
    public: bool
    drop_missing: bool
    units: str
    objectives: tuple[str, ...] = ()
    ambiguity: str | None = None
    radius: float | None = None
    criterion: str | None = None

    def asked(self) -> tuple[Objective, ...]:
        """Return what else mechanisms are to be judged by; InputError for options that are lacking or of no use."""
        made = [
            asked_objective(
                name, ambiguity=self.ambiguity, radius=self.radius, criterion=self.criterion or "cumulative"
            )
            for name in dict.fromkeys(self.objectives)
        ]
        refuse_other_objectives(
            self.objectives, ambiguity=self.ambiguity, radius=self.radius, criterion=self.criterion, patterns=None
        )
        return tuple(objective for objective in made if objective.key not in ALWAYS)

    def prior(self) -> tuple[Prior, list[str]]:
        """Read the prior, and what there is to say of it."""
        return read_prior(
            self.data, self.column, self.domain, self.prior_file, self.knots, self.public, self.drop_missing, self.units
        )

    def command(self, out: Path) -> str:
        """Return the command line that makes this report, without what does not change it.

        Example
        -------
        >>> ages = Path("ages.csv"), "age", (18.0, 90.0), None, "0.5,1", 65, (), None, 1e-3, 1e-6, True, False, ""
        >>> BoundsOptions(*ages).command(Path("ages.html"))
        'optldp bounds ages.csv --column age --range 18 90 --epsilon 0.5,1 --knots 65 --public --out ages.html'
        """
        words = ["optldp", "bounds"] + ([] if self.data is None else [str(self.data)])
        words += [] if self.column is None else ["--column", self.column]
        words += [] if self.domain is None else ["--range", *(f"{end:.17g}" for end in self.domain)]
        words += [] if self.prior_file is None else ["--prior", str(self.prior_file)]
        words += ["--epsilon", self.epsilon, "--knots", str(self.knots)]
        for method in self.methods:
            words += ["--method", method]
        words += [] if self.at is None else ["--at", repr(self.at)]
        words += [] if self.uniform_share == UNIFORM_SHARE else ["--uniform-share", repr(self.uniform_share)]
        words += [] if self.tolerance == TOLERANCE else ["--tolerance", repr(self.tolerance)]
        words += (["--public"] if self.public else []) + (["--drop-missing"] if self.drop_missing else [])
        words += ["--units", self.units] if self.units else []
        for objective in self.objectives:
            words += ["--objective", objective]
        words += [] if self.ambiguity is None else ["--ambiguity", self.ambiguity, "--radius", repr(self.radius)]
        words += [] if self.criterion is None else ["--criterion", self.criterion]
        return shlex.join([*words, "--out", str(out)])


def require_places(out: Path | None, results: Path | None) -> None:
    """Refuse files that could not be written once all is computed.

    Raises
    ------
    InputError
        A folder that is missing or may not be written to, a report that is no page or is a folder, one file for both.
    """
    from ....mechanisms.errors import InputError

    require_place(out, SUFFIXES)
    require_place(results)
    for path in (out, results):
        if path is not None and path.is_dir():
            raise InputError(f"the output must be a file, got the folder {str(path)!r}")
        if path is not None and not os.access(path.parent, os.W_OK):
            raise InputError(f"the output's folder must be writable, got {str(path)!r}: name another")
    if out is not None and results is not None and out.resolve() == results.resolve():
        raise InputError(f"report and results must be two files, got {str(out)!r} for both: name another")
