"""What a user may ask of `optldp design`, and which of it makes sense for what is to be designed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from .command_options import FLOOR, TOLERANCE
from .command_output import refuse_given
from .command_prior import read_prior

if TYPE_CHECKING:
    from .prior import Prior
    from .privacy_levels import Budgets

Kind = Literal["one table of numbers", "levels of numbers", "categories", "levels of categories", "pairs", "attributes"]

_NUMERIC = ("--range", "--knots", "--floor", "--worst-case", "--intervals", "--window", "--tail-ratio", "--tolerance")
_ONE_COLUMN = ("--column", "--prior", "--units")

USES: dict[Kind, tuple[str, ...]] = {
    "one table of numbers": (*_NUMERIC, *_ONE_COLUMN, "--omit-prior"),
    "levels of numbers": (*_NUMERIC, *_ONE_COLUMN, "--levels", "--level-epsilon"),
    "categories": ("--column", "--prior", "--categorical", "--tolerance"),
    "levels of categories": ("--column", "--prior", "--categorical", "--levels", "--level-epsilon"),
    "pairs": (
        "--column", "--prior", "--categorical", "--value-column", "--value-method", "--padding", "--range", "--knots",
        "--units",
    ),
    "attributes": ("--attribute", "--sampled", "--knots", "--floor", "--tolerance"),
}  # fmt: skip
"""Options beside DATA, the budget, the method, --public and --drop-missing, which all have a use for."""


@dataclass(frozen=True, kw_only=True)
class DesignOptions:
    """The options as they were given; see the command's help."""

    data: Path | None
    epsilon: float | None
    column: str | None
    domain: tuple[float, float] | None
    prior_file: Path | None
    knots: int | None
    method: str | None
    categorical: bool
    value_column: str | None
    value_method: str | None
    padding: int | None
    levels: str | None
    level_epsilon: float | None
    attributes: list[str] | None
    sampled: int | None
    floor: float
    tolerance: float | None
    worst_case: bool
    intervals: int | None
    window: int | None
    tail_ratio: float | None
    omit_prior: bool
    public: bool
    drop_missing: bool
    units: str

    @property
    def kind(self) -> Kind:
        """What is to be designed."""
        if self.attributes is not None:
            return "attributes"
        if self.value_column is not None:
            return "pairs"
        if self.levels is not None:
            return "levels of categories" if self.categorical else "levels of numbers"
        return "categories" if self.categorical else "one table of numbers"

    @cached_property
    def budgets(self) -> Budgets:
        """The budgets; InputError for none, or ones that make no sense."""
        from .privacy_levels import budgets_of

        return budgets_of(self.epsilon, self.levels, self.level_epsilon)

    @property
    def gap(self) -> float:
        """The relative gap that a program for numbers must reach."""
        return TOLERANCE if self.tolerance is None else self.tolerance

    def refuse_useless(self) -> None:
        """Raise InputError for budgets that make no sense, and for an option that would be ignored."""
        from ..mechanisms.errors import InputError

        given = {
            "--column": self.column, "--range": self.domain, "--prior": self.prior_file, "--knots": self.knots,
            "--categorical": self.categorical or None, "--value-column": self.value_column,
            "--value-method": self.value_method, "--padding": self.padding, "--levels": self.levels,
            "--level-epsilon": self.level_epsilon, "--attribute": self.attributes, "--sampled": self.sampled,
            "--floor": None if self.floor == FLOOR else self.floor, "--tolerance": self.tolerance,
            "--worst-case": self.worst_case or None, "--intervals": self.intervals, "--window": self.window,
            "--tail-ratio": self.tail_ratio, "--omit-prior": self.omit_prior or None, "--units": self.units or None,
        }  # fmt: skip
        _ = self.budgets
        useless = {name: value for name, value in given.items() if name not in USES[self.kind]}
        refuse_given(f"of no use to {self.kind}", useless)
        if self.kind == "pairs" and not self.categorical:
            raise InputError("pairs need --categorical, as their keys are categories: add it")

    def prior(self, column: str | None = None) -> tuple[Prior, list[str]]:
        """Read the prior of numbers: of --column or --prior, or of another column of DATA."""
        mine = (self.column, self.prior_file, self.drop_missing) if column is None else (column, None, True)
        name, file, drop_missing = mine
        return read_prior(self.data, name, self.domain, file, self.knots, self.public, drop_missing, self.units)
