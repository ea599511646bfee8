"""What `bounds` finds: at every budget the least variance that is possible, and that of every known mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...mechanisms import FAMILIES, TabulatedMechanism
from ...mechanisms.display.display import Shown
from ...mechanisms.display.summary import Told
from ...mechanisms.units import literal
from ..designs.result import Design
from ..methods.registry import NAMES
from ..objectives.base import Objective
from ..plots.objective_lines import objective as objective_figure
from ..plots.variance_lines import variance
from ..priors.prior import Prior
from .row import Row, columns_of, line_of, told_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COARSE = 0.01
"""Gap to the continuum from which more knots are advised: a percent can be seen in the figures."""

MINIMAX = "minimax"
"""Name of the least worst case beside the methods."""


@dataclass(frozen=True)
class BudgetBounds:
    """All that is found at one budget.

    Attributes
    ----------
    epsilon : float
    rows : tuple of Row
        A method each, "optimal" first, failures included.
    minimax : Row
        The least worst case: by the objective "minimax", but for `ratio_to_optimal`, which is of the expected variance
        as in `rows`.
    judged : tuple of Row
        By every further objective: its best under its own key, then the methods.
    """

    epsilon: float
    rows: tuple[Row, ...]
    minimax: Row
    judged: tuple[Row, ...] = ()

    def row(self, method: str) -> Row:
        """Return the row of a method, "minimax" among them; KeyError for one that was not asked for."""
        return {row.method: row for row in (*self.rows, self.minimax)}[method]

    @property
    def rivals(self) -> tuple[Row, ...]:
        """The solved rows of published mechanisms, all but the optimum, least expected variance first."""
        rivals = [row for row in self.rows if row.method != "optimal" and row.expected_variance is not None]
        return tuple(sorted(rivals, key=lambda row: row.expected_variance or 0.0))

    @property
    def closed_forms(self) -> tuple[Row, ...]:
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


@dataclass(frozen=True, eq=False, repr=False)
class BoundsResult(Shown):
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

    Example
    -------
    >>> from optldp.designer import bounds
    >>> prior = Prior.on_knots([0, 5, 10], [2, 2, 1], source="public")
    >>> bounds(prior, [1.0], methods=["duchi"])
    BoundsResult(rows=3, epsilon='1', methods='optimal, duchi, minimax', failed=0)
    """

    prior: Prior
    budgets: tuple[BudgetBounds, ...]
    detail: BudgetDetail
    methods: tuple[str, ...]
    uniform_share: float
    tolerance: float
    objectives: tuple[Objective, ...] = ()

    def by(self, objective: Objective) -> tuple[Row, ...]:
        """Return the rows of an objective, by budget; within one the best and then the methods."""
        return tuple(row for budget in self.budgets for row in budget.judged if row.objective == objective.key)

    def _line(self) -> dict[str, Any]:
        return line_of(self.rows)

    def _told(self) -> Told:
        return told_of(self.rows)

    def _columns(self) -> dict[str, Any]:
        return columns_of([*self.rows, *self.judged])

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
    def judged(self) -> tuple[Row, ...]:
        """The rows of all further objectives, by budget."""
        return tuple(row for budget in self.budgets for row in budget.judged)

    @property
    def rows(self) -> tuple[Row, ...]:
        """Every row, by budget; within one the methods and then the minimax."""
        return tuple(row for budget in self.budgets for row in (*budget.rows, budget.minimax))

    @property
    def failures(self) -> tuple[Row, ...]:
        """The rows without a mechanism; each says why in `error`."""
        return tuple(row for row in self.rows if not row.solved)

    @property
    def coarsest(self) -> Row | None:
        """The row of the widest gap to the continuum, if that is wide enough to be seen: more knots would help."""
        gaps = [row for row in self.rows if (row.continuum_gap or 0.0) > COARSE]
        return max(gaps, key=lambda row: row.continuum_gap or 0.0, default=None)

    def at(self, epsilon: float) -> BudgetBounds:
        """Return what was found at a budget; KeyError for another."""
        return {budget.epsilon: budget for budget in self.budgets}[epsilon]

    @property
    def opened(self) -> tuple[Row, ...]:
        """The rows of the best whose certificates stayed open; nobody expects that a closed form is the best."""
        return tuple(row for row in self.rows if row.status == "gap-open" and row.method in ("optimal", MINIMAX))


def in_order(methods: tuple[str, ...]) -> tuple[str, ...]:
    """Return methods in the order of `METHODS`, each once, with "optimal" even if it was not named: it is the measure.

    Example
    -------
    >>> in_order(("piecewise", "laplace", "laplace"))
    ('optimal', 'laplace', 'piecewise')
    """
    return tuple(method for method in NAMES if method == "optimal" or method in methods)
