"""What a user may ask of `optldp design`, and which of it makes sense for what is to be designed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast, get_args

from .options import FLOOR, TOLERANCE
from .output import refuse_given
from .prior import PriorAt, read_prior, read_prior_at

if TYPE_CHECKING:
    from ..priors.prior import Prior
    from .levels import Budgets

Objective = Literal["expected", "minimax", "robust", "information"]

Kind = Literal[
    "one table of numbers",
    "a minimax table",
    "a robust table",
    "an information-optimal table",
    "levels of numbers",
    "categories",
    "levels of categories",
    "pairs",
    "attributes",
]

TABLES: dict[Objective, Kind] = {
    "expected": "one table of numbers",
    "minimax": "a minimax table",
    "robust": "a robust table",
    "information": "an information-optimal table",
}

_NUMERIC = (
    "--range", "--knots", "--uniform-share", "--worst-case", "--intervals", "--window", "--tail-ratio", "--tolerance",
)  # fmt: skip
_ONE_COLUMN = ("--column", "--prior", "--units")
_OBJECTIVE = ("--objective", "--range", "--knots", "--tolerance", *_ONE_COLUMN)

USES: dict[Kind, tuple[str, ...]] = {
    "one table of numbers": ("--objective", "--method", *_NUMERIC, *_ONE_COLUMN, "--gap", "--omit-prior"),
    "a minimax table": (*_OBJECTIVE, "--gap"),
    "a robust table": (*_OBJECTIVE, "--ambiguity", "--radius", "--omit-prior"),
    "an information-optimal table": (*_OBJECTIVE, "--criterion", "--patterns", "--uniform-share", "--omit-prior"),
    "levels of numbers": ("--method", *_NUMERIC, *_ONE_COLUMN, "--levels", "--level-epsilon"),
    "categories": ("--method", "--column", "--prior", "--categorical", "--tolerance"),
    "levels of categories": ("--method", "--column", "--prior", "--categorical", "--levels", "--level-epsilon"),
    "pairs": (
        "--method", "--column", "--prior", "--categorical", "--value-column", "--value-method", "--padding",
        "--range", "--knots", "--units",
    ),
    "attributes": ("--method", "--attribute", "--sampled", "--knots", "--uniform-share", "--tolerance"),
}  # fmt: skip
"""Options beside DATA, the budget, --public and --drop-missing, which all have a use for."""


@dataclass(frozen=True, kw_only=True)
class DesignOptions:
    """The options as they were given; see the command's help."""

    data: Path | None
    epsilon: float | None
    column: str | None
    domain: tuple[float, float] | None
    prior_file: Path | None
    knots: str | None
    gap: float | None
    objective: str
    ambiguity: str | None
    radius: float | None
    criterion: str | None
    patterns: str | None
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
        """What is to be designed; InputError for an unknown objective."""
        from ...mechanisms.errors import InputError

        if self.attributes is not None:
            return "attributes"
        if self.value_column is not None:
            return "pairs"
        if self.levels is not None:
            return "levels of categories" if self.categorical else "levels of numbers"
        if self.categorical:
            return "categories"
        if self.objective not in get_args(Objective):
            raise InputError(f"--objective must be one of {', '.join(get_args(Objective))}, got {self.objective!r}")
        return TABLES[cast(Objective, self.objective)]

    @cached_property
    def budgets(self) -> Budgets:
        """The budgets; InputError for none, or ones that make no sense."""
        from .levels import budgets_of

        return budgets_of(self.epsilon, self.levels, self.level_epsilon)

    @property
    def automatic(self) -> bool:
        """Whether the number of knots is to be chosen."""
        return self.knots == "auto"

    @cached_property
    def knot_count(self) -> int | None:
        """The number of knots, None for the default; InputError for a text that is no number."""
        if self.knots is None or self.automatic:
            return None
        from ...mechanisms.errors import InputError

        try:
            return int(self.knots)
        except ValueError:
            raise InputError(f"--knots must be a whole number or auto, got {self.knots!r}") from None

    @property
    def precision(self) -> float:
        """The relative gap that a program for numbers must reach."""
        return TOLERANCE if self.tolerance is None else self.tolerance

    def refuse_useless(self) -> None:
        """Raise InputError for budgets that make no sense, and for an option that would be ignored."""
        from ...mechanisms.errors import InputError

        given = {
            "--column": self.column, "--range": self.domain, "--prior": self.prior_file, "--knots": self.knots,
            "--categorical": self.categorical or None, "--value-column": self.value_column,
            "--value-method": self.value_method, "--padding": self.padding, "--levels": self.levels,
            "--level-epsilon": self.level_epsilon, "--attribute": self.attributes, "--sampled": self.sampled,
            "--uniform-share": None if self.floor == FLOOR else self.floor, "--tolerance": self.tolerance,
            "--worst-case": self.worst_case or None, "--intervals": self.intervals, "--window": self.window,
            "--tail-ratio": self.tail_ratio, "--omit-prior": self.omit_prior or None, "--units": self.units or None,
            "--objective": None if self.objective == "expected" else self.objective, "--ambiguity": self.ambiguity,
            "--radius": self.radius, "--criterion": self.criterion,
            "--patterns": self.patterns, "--gap": self.gap, "--method": self.method,
        }  # fmt: skip
        _ = self.budgets
        if self.kind == "one table of numbers":
            refuse_given("for --objective robust", {"--ambiguity": self.ambiguity, "--radius": self.radius})
            chosen = {"--criterion": self.criterion, "--patterns": self.patterns}
            refuse_given("for --objective information", chosen)
        useless = {name: value for name, value in given.items() if name not in USES[self.kind]}
        refuse_given(f"of no use to {self.kind}", useless)
        if self.kind == "pairs" and not self.categorical:
            raise InputError("pairs need --categorical, as their keys are categories: add it")
        if self.automatic and "--gap" not in USES[self.kind]:
            raise InputError(f"--knots auto is of no use to {self.kind}: give a number")
        if self.gap is not None and not self.automatic:
            raise InputError(f"--gap {self.gap:g} says how many knots there must be: add --knots auto")
        _ = self.knot_count

    def prior(self, column: str | None = None) -> tuple[Prior, list[str]]:
        """Read the prior of numbers: of --column or --prior, or of another column of DATA."""
        mine = (self.column, self.prior_file, self.drop_missing) if column is None else (column, None, True)
        name, file, drop_missing = mine
        return read_prior(self.data, name, self.domain, file, self.knot_count, self.public, drop_missing, self.units)

    def prior_at(self) -> tuple[PriorAt, list[str]]:
        """Read the prior of --column or --prior for any number of knots."""
        return read_prior_at(
            self.data, self.column, self.domain, self.prior_file, self.public, self.drop_missing, self.units
        )
