"""What `bounds` finds: at every budget the least variance that is possible, and that of every known mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from ...mechanisms import FAMILIES, TabulatedMechanism
from ...mechanisms.units import literal
from ..designs.result import Design
from ..methods.registry import METHODS
from ..objectives.base import Objective
from ..plots.objective_lines import objective as objective_figure
from ..plots.variance_lines import variance
from ..priors.prior import Prior
from .objective_rows import ObjectiveRow
from .table import FAILED, SweepRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COARSE = 0.01
"""Gap to the continuum from which more knots are advised: a percent can be seen in the figures."""

MINIMAX = "minimax"
"""Name of the least worst case beside the methods."""


@dataclass(frozen=True)
class BoundRow(SweepRow):
    """One method at one budget, as in a sweep, with the privacy of its table.

    A row of "minimax" is judged by its worst case: `program_variance` is then the largest variance at a knot,
    `lower_bound` the certified least worst case of all unbiased mechanisms, and `relative_gap` between those two.

    Attributes
    ----------
    max_log_ratio : float or None
        The largest of the table, at most epsilon; None where there is no table.
    continuum_bound : float or None
        For "optimal": certified for mechanisms on the whole interval, not only those on the knots.
    """

    max_log_ratio: float | None = None
    continuum_bound: float | None = None

    @classmethod
    def failed(cls, prior: str, epsilon: float, method: str, reason: str) -> BoundRow:
        """Return the row of a case that has no mechanism."""
        return cls(**asdict(SweepRow.failed(prior, epsilon, method, reason)))

    @property
    def continuum_gap(self) -> float | None:
        """(program variance - continuum bound) / program variance: what any mechanism on the interval could gain."""
        if self.continuum_bound is None or self.program_variance is None:
            return None
        return (self.program_variance - self.continuum_bound) / self.program_variance

    @property
    def solved(self) -> bool:
        """Whether there is a mechanism."""
        return self.status != FAILED


@dataclass(frozen=True)
class BudgetBounds:
    """All that is found at one budget.

    Attributes
    ----------
    epsilon : float
    rows : tuple of BoundRow
        A method each, "optimal" first, failures included.
    minimax : BoundRow
        The least worst case.
    judged : tuple of ObjectiveRow
        By every further objective: the best of it, then the methods.
    """

    epsilon: float
    rows: tuple[BoundRow, ...]
    minimax: BoundRow
    judged: tuple[ObjectiveRow, ...] = ()

    def row(self, method: str) -> BoundRow:
        """Return the row of a method, "minimax" among them; KeyError for one that was not asked for."""
        return {row.method: row for row in (*self.rows, self.minimax)}[method]

    @property
    def rivals(self) -> tuple[BoundRow, ...]:
        """The solved rows of published mechanisms, all but the optimum, least expected variance first."""
        rivals = [row for row in self.rows if row.method != "optimal" and row.expected_variance is not None]
        return tuple(sorted(rivals, key=lambda row: row.expected_variance or 0.0))

    @property
    def closed_forms(self) -> tuple[BoundRow, ...]:
        """Those of the rivals that need no program: all but "aaa"."""
        return tuple(row for row in self.rivals if row.method in FAMILIES)


@dataclass(frozen=True, eq=False)
class BudgetDetail:
    """The mechanisms themselves at one budget.

    Attributes
    ----------
    epsilon : float
    mechanisms : mapping of str to TabulatedMechanism
        Those that could be built, by method, "optimal" first; all on the prior's knots but "aaa", maybe.
    trade_off : tuple of Design
        Points of the Pareto front, weight of the worst case rising; the last is the minimax.
    failures : mapping of str to str
        Why what is missing is missing.
    """

    epsilon: float
    mechanisms: Mapping[str, TabulatedMechanism]
    trade_off: tuple[Design, ...]
    failures: Mapping[str, str] = field(default_factory=dict)

    @property
    def minimax(self) -> Design | None:
        """The design of least worst case, with its least favourable prior; None where it could not be solved."""
        return self.trade_off[-1] if self.trade_off and self.trade_off[-1].objective.worst == 1.0 else None


@dataclass(frozen=True, eq=False)
class BoundsResult:
    """The least variances that are possible, every known mechanism beside them, and how they were found.

    Attributes
    ----------
    prior : Prior
    budgets : tuple of BudgetBounds
        By epsilon.
    detail : BudgetDetail
    methods : tuple of str
        In the order of `METHODS`, "optimal" among them.
    uniform_share, tolerance : float
    objectives : tuple of Objective
        What was asked for beside expected and worst-case variance.
    """

    prior: Prior
    budgets: tuple[BudgetBounds, ...]
    detail: BudgetDetail
    methods: tuple[str, ...]
    uniform_share: float
    tolerance: float
    objectives: tuple[Objective, ...] = ()

    def by(self, objective: Objective) -> tuple[ObjectiveRow, ...]:
        """Return the rows of an objective, by budget; within one the best and then the methods."""
        return tuple(row for budget in self.budgets for row in budget.judged if row.objective == objective.key)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        objective: Objective | None = None,
        worst_case: bool = False,
        relative: bool = False,
    ) -> Axes:
        """Draw the variances, as `plots.variance` does, or the values of an objective, as `plots.objective` does."""
        units = self.prior.units
        if objective is None:
            rows = self.rows if worst_case else [row for budget in self.budgets for row in budget.rows]
            return variance(rows, ax, worst_case=worst_case, relative=relative, units=units)
        return objective_figure(
            self.by(objective),
            ax,
            quantity=objective.quantity(literal(units)),
            nobody=objective.nobody,
            more_is_better=objective.more_is_better,
        )

    @property
    def judged(self) -> tuple[ObjectiveRow, ...]:
        """The rows of all further objectives, by budget."""
        return tuple(row for budget in self.budgets for row in budget.judged)

    @property
    def rows(self) -> tuple[BoundRow, ...]:
        """Every row, by budget; within one the methods and then the minimax."""
        return tuple(row for budget in self.budgets for row in (*budget.rows, budget.minimax))

    @property
    def failures(self) -> tuple[BoundRow, ...]:
        """The rows without a mechanism; each says why in `error`."""
        return tuple(row for row in self.rows if not row.solved)

    @property
    def coarsest(self) -> BoundRow | None:
        """The row of the widest gap to the continuum, if that is wide enough to be seen: more knots would help."""
        gaps = [row for row in self.rows if (row.continuum_gap or 0.0) > COARSE]
        return max(gaps, key=lambda row: row.continuum_gap or 0.0, default=None)

    def at(self, epsilon: float) -> BudgetBounds:
        """Return what was found at a budget; KeyError for another."""
        return {budget.epsilon: budget for budget in self.budgets}[epsilon]


def in_order(methods: tuple[str, ...]) -> tuple[str, ...]:
    """Return methods in the order of `METHODS`, each once, with "optimal" even if it was not named: it is the floor.

    Example
    -------
    >>> in_order(("piecewise", "laplace", "laplace"))
    ('optimal', 'laplace', 'piecewise')
    """
    return tuple(method for method in METHODS if method == "optimal" or method in methods)
