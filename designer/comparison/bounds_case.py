"""One budget of a report on bounds: every method against the certified optimum, and the least worst case.

Each objective is solved once, whether the budget is shown in detail or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from threadpoolctl import threadpool_limits

from ...mechanisms.errors import OptldpError
from ..designs.design import design
from ..designs.result import Design
from ..designs.trade_off import DEFAULT_WEIGHTS
from ..objectives.base import Objective
from ..objectives.worst_case import TradeOff, WorstCase
from ..priors.prior import Prior
from .bounds_result import MINIMAX, BudgetBounds, BudgetDetail
from .judging import Case, rows_beside, rows_without_optimum, solve_methods
from .row import Row

PRIOR_NAME = "prior"
"""What the one prior of a report is called in its rows."""

DRAWN = 1e-4
"""Relative gap within which points between the least expected and the least worst-case variance are solved, if no
larger one is asked for: they are drawn, where a thousandth can be seen; each has its certified bound."""


def solve_budget(
    prior: Prior,
    epsilon: float,
    methods: Sequence[str],
    *,
    uniform_share: float,
    tolerance: float,
    objectives: Sequence[Objective] = (),
    in_detail: bool = False,
) -> tuple[BudgetBounds, BudgetDetail | None]:
    """Judge every method at one budget, on one thread; what cannot be built is a row that says why.

    Parameters
    ----------
    prior : Prior
    epsilon : float
        Budget, already checked.
    methods : sequence of str
        Out of `METHODS`, "optimal" among them, already checked.
    uniform_share, tolerance : float
        As in `design`.
    objectives : sequence of Objective
        What else to judge by, already checked.
    in_detail : bool
        Whether the mechanisms are wanted too, and the trade-off.

    Example
    -------
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public")
    >>> found, _ = solve_budget(prior, 1.0, ["optimal", "duchi"], uniform_share=1e-3, tolerance=1e-6)
    >>> [(row.method, row.status) for row in (*found.rows, found.minimax)]
    [('optimal', 'optimal'), ('duchi', 'gap-open'), ('minimax', 'optimal')]
    """
    with threadpool_limits(1):
        solved = _Solved.at(prior, epsilon, methods, uniform_share, tolerance)
        found = solved.rows(objectives)
        rows, judged = tuple(found[: len(methods)]), tuple(found[len(methods) :])
        budget = BudgetBounds(epsilon, rows, solved.minimax_row(rows[0].expected_variance), judged)
        return budget, solved.detail() if in_detail else None


def solve_detail(
    prior: Prior, epsilon: float, methods: Sequence[str], *, uniform_share: float, tolerance: float
) -> BudgetDetail:
    """Build the mechanisms of one budget and the trade-off between expected and worst case; as `solve_budget`.

    Example
    -------
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public")
    >>> found = solve_detail(prior, 1.0, ["optimal", "duchi"], uniform_share=1e-3, tolerance=1e-6)
    >>> list(found.mechanisms), len(found.trade_off), found.minimax.objective.worst
    (['optimal', 'duchi'], 7, 1.0)
    """
    with threadpool_limits(1):
        return _Solved.at(prior, epsilon, methods, uniform_share, tolerance).detail()


@dataclass(frozen=True, eq=False)
class _Solved:
    """The optimum with every method beside it, and the least worst case; or why there is none."""

    prior: Prior
    epsilon: float
    methods: tuple[str, ...]
    uniform_share: float
    tolerance: float
    case: Case | OptldpError
    minimax: Design | OptldpError

    @classmethod
    def at(
        cls, prior: Prior, epsilon: float, methods: Sequence[str], uniform_share: float, tolerance: float
    ) -> _Solved:
        try:
            case = solve_methods(prior, epsilon, methods, uniform_share=uniform_share, tolerance=tolerance)
        except OptldpError as error:
            case = error
        try:
            minimax = solve_methods(prior, epsilon, (), objective=WorstCase(), tolerance=tolerance).best
        except OptldpError as error:
            minimax = error
        return cls(prior, epsilon, tuple(methods), uniform_share, tolerance, case, minimax)

    def rows(self, objectives: Sequence[Objective]) -> list[Row]:
        """Every method by the least expected variance, then by the further objectives with their best."""
        if isinstance(self.case, OptldpError):
            return rows_without_optimum(PRIOR_NAME, self.epsilon, self.methods, None, objectives, self.case)
        asked = self.uniform_share, self.tolerance
        try:
            return rows_beside(PRIOR_NAME, self.prior, self.case, self.methods, objectives, *asked)
        except OptldpError as error:
            return rows_without_optimum(PRIOR_NAME, self.epsilon, self.methods, None, objectives, error)

    def minimax_row(self, best: float | None) -> Row:
        """The least worst case, judged under the prior too: beside the least expected variance."""
        if isinstance(self.minimax, OptldpError):
            return Row.failed(PRIOR_NAME, self.epsilon, MINIMAX, MINIMAX, str(self.minimax))
        try:
            (row,) = rows_beside(PRIOR_NAME, self.prior, Case(self.minimax, {MINIMAX: self.minimax}), [MINIMAX])
        except OptldpError as error:
            return Row.failed(PRIOR_NAME, self.epsilon, MINIMAX, MINIMAX, str(error))
        ratio = None if best is None or row.expected_variance is None else row.expected_variance / best
        return replace(row, ratio_to_optimal=ratio)

    def detail(self) -> BudgetDetail:
        """The mechanisms, and the designs between the two objectives."""
        curve, failures, mechanisms = [], {}, {}
        if isinstance(self.case, OptldpError):
            failures = dict.fromkeys(self.methods, str(self.case))
        else:
            mechanisms = {method: made.mechanism for method, made in self.case.designs.items()}
            failures = {method: str(error) for method, error in self.case.failures.items()}
        between = max(self.tolerance, DRAWN)
        for weight in DEFAULT_WEIGHTS:
            try:
                curve.append(
                    self._minimax()
                    if weight == 1
                    else design(self.prior, self.epsilon, objective=TradeOff(weight), tolerance=between, exact=False)
                )
            except OptldpError as error:
                failures[f"trade-off at weight {weight:g}"] = str(error)
        return BudgetDetail(self.epsilon, mechanisms, tuple(curve), failures)

    def _minimax(self) -> Design:
        """The end of the trade-off: the least worst case with the prior, of which its table says nothing."""
        if isinstance(self.minimax, OptldpError):
            raise self.minimax
        return replace(self.minimax, mechanism=self.minimax.mechanism.with_prior(self.prior.knot_prior))
