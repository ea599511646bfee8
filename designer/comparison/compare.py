"""Every method beside the certified optimum, one row per method, budget and objective."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from ...mechanisms.budget import check_epsilon
from ...mechanisms.display.display import Shown
from ...mechanisms.display.summary import Told
from ...mechanisms.errors import InputError
from ...mechanisms.table.table import TabulatedMechanism
from ...solvers import Progress
from ..methods.base import Method
from ..methods.few_outputs import FewOutputs
from ..methods.given_table import Given
from ..methods.registry import METHODS, NAMES, check_methods
from ..objectives.at_most import AtMost
from ..objectives.base import Objective
from ..objectives.variance import Variance
from ..plots.variance_lines import variance
from ..priors.prior import Prior
from .judging import check_objectives, judged_rows
from .row import Row, columns_of, line_of, told_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown, Sequence[Row]):
    """The rows of a comparison: by budget; within one by objective, the one that decides first, and then as asked.

    Example
    -------
    >>> prior = Prior.on_knots([0, 5, 10], [2, 2, 1], source="public")
    >>> compare(prior, [1.0], methods=["optimal", "duchi"])
    Comparison(rows=2, epsilon='1', methods='optimal, duchi', failed=0)
    """

    rows: tuple[Row, ...]
    units: str = ""

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, index: int | slice) -> Row | tuple[Row, ...]:
        return self.rows[index]

    def _line(self) -> dict[str, Any]:
        return line_of(self.rows)

    def _told(self) -> Told:
        return told_of(self.rows)

    def _columns(self) -> dict[str, Any]:
        return columns_of(self.rows)

    def plot(self, ax: Axes | None = None, *, worst_case: bool = False, relative: bool = False) -> Axes:
        """Draw the variances as `plots.variance` does: by the objective that decides; worst cases beside every best."""
        rows = self.rows if worst_case else [row for row in self.rows if row.objective == self.rows[0].objective]
        return variance(rows, ax, worst_case=worst_case, relative=relative, units=self.units)


def compare(
    prior: Prior,
    epsilons: Iterable[float],
    *,
    methods: Iterable[str] = METHODS,
    tables: Mapping[str, TabulatedMechanism] | None = None,
    outputs: Iterable[AtMost] = (),
    objective: Objective | None = None,
    objectives: Iterable[Objective] = (),
    uniform_share: float | None = None,
    tolerance: float | None = None,
    progress: Callable[[float, Progress | None], None] | None = None,
) -> Comparison:
    """Build every method at every budget and judge it; each objective is solved once per budget.

    Parameters
    ----------
    prior : Prior
    epsilons : iterable of float
    methods : iterable of str
        Out of `METHODS`, with settings or without: "ptt:eta=1.5". A method that cannot be built gets a row that gives
        the reason.
    tables : mapping of str to TabulatedMechanism, optional
        Your own tables by the names of their rows: proved, on the prior's knots, see `own_table`. A table that exceeds
        a budget gets a row there that states this.
    outputs : iterable of AtMost
        Limits on the number of outputs; each adds a row such as "at-most-8", which shows the cost of short reports.
    objective : Objective, optional
        The objective that decides, as in `design`: "optimal" is its best mechanism, and methods are built for it.
        Default: `Variance`.
    objectives : iterable of Objective
        Further objectives to judge every method by, one of a kind. Each adds its own best mechanism, under its own key,
        before the methods.
    uniform_share, tolerance : float, optional
        As in `design`; further objectives use the share if they need one.
    progress : callable, optional
        Called with the budget and the solver's progress after each of its steps, None when the budget is done.

    Returns
    -------
    Comparison
        A sequence of `Row`.

    Raises
    ------
    InputError
        No budget, no method, or one that is not usable; a name of a table that is taken.
    TableError
        A table that is not proved.
    SolverError
        The best by the objective that decides was not found.

    Example
    -------
    >>> from optldp import compare
    >>> from optldp.designer import Prior, WorstCase
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public")
    >>> rows = compare(prior, [1.0], methods=["optimal", "duchi", "piecewise"])
    >>> [(row.method, round(row.value, 3), round(row.ratio_to_optimal, 3)) for row in rows]
    [('optimal', 3.933, 1.0), ('duchi', 4.183, 1.064), ('piecewise', 4.453, 1.132)]
    >>> for row in compare(prior, [1.0], methods=["optimal", "duchi"], objective=WorstCase()):
    ...     print(row.objective, row.method, round(row.value, 3))
    minimax optimal 3.933
    minimax duchi 4.683
    """
    budgets, named, asked = [check_epsilon(epsilon) for epsilon in epsilons], list(methods), tuple(objectives)
    few = {limit.outputs: FewOutputs(limit) for limit in outputs}
    if not budgets or not (named or tables or few):
        raise InputError("compare needs at least one epsilon and one method, got none")
    check_methods(named)
    check_objectives(prior, budgets[0], objective, asked, uniform_share, tolerance)
    keys = [each.key for each in (objective or Variance(), *asked, *few.values())]
    chosen = [*named, *few.values(), *_given(tables or {}, keys)]
    rows: list[Row] = []
    for epsilon in budgets:
        rows += judged_rows(
            "",
            prior,
            epsilon,
            chosen,
            objective=objective,
            objectives=asked,
            uniform_share=uniform_share,
            tolerance=tolerance,
            progress=None if progress is None else lambda step, epsilon=epsilon: progress(epsilon, step),
        )
        if progress is not None:
            progress(epsilon, None)
    return Comparison(tuple(rows), prior.units)


def _given(tables: Mapping[str, TabulatedMechanism], keys: Sequence[str]) -> list[Method]:
    """The tables as methods; InputError for a name that other rows have."""
    for name in tables:
        if name in (*NAMES, *keys):
            raise InputError(f"a table needs a name of its own, got {name!r}, which other rows have: choose another")
    return [Given(table, name) for name, table in tables.items()]
