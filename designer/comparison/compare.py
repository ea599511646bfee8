"""Every method beside the certified optimum, one row per method and budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from ...estimators import influence
from ...mechanisms.budget import check_epsilon
from ...mechanisms.errors import InputError
from ...mechanisms.table.table import TabulatedMechanism
from ...solvers import Progress
from ..methods.registry import METHODS, check_methods
from ..objectives.base import DEFAULT_TOLERANCE
from ..plots.variance_lines import variance
from ..priors.prior import DEFAULT_UNIFORM_SHARE, Prior
from .case import solve_methods

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class ComparisonRow:
    """One method at one budget; variances in squared units, rounding between knots included.

    `ratio_to_optimal` is the expected variance over that of the "optimal" design, both under the prior as given. That
    design is optimal for the prior with the uniform share, so a ratio can fall below one unless that is 0: by about the
    share times the ratio of its variance under a uniform prior to that under this one, which large budgets make large.

    `one_report_times_n` is the most that one report of n moves the mean, times n, see `influence`; None for a table
    from which no unbiased mean can be had.
    """

    method: str
    epsilon: float
    expected_variance: float
    worst_case_variance: float
    ratio_to_optimal: float
    one_report_times_n: float | None = None


@dataclass(frozen=True)
class Comparison(Sequence[ComparisonRow]):
    """The rows of a comparison, by budget and then in the order of the methods that were asked for."""

    rows: tuple[ComparisonRow, ...]
    units: str = ""

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> ComparisonRow: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[ComparisonRow, ...]: ...
    def __getitem__(self, index: int | slice) -> ComparisonRow | tuple[ComparisonRow, ...]:
        return self.rows[index]

    def plot(self, ax: Axes | None = None, *, worst_case: bool = False, relative: bool = False) -> Axes:
        """Draw the variances against the budget, as `plots.variance` does."""
        return variance(self.rows, ax, worst_case=worst_case, relative=relative, units=self.units)


def compare(
    prior: Prior,
    epsilons: Iterable[float],
    *,
    methods: Iterable[str] = METHODS,
    uniform_share: float = DEFAULT_UNIFORM_SHARE,
    tolerance: float = DEFAULT_TOLERANCE,
    progress: Callable[[float, Progress | None], None] | None = None,
) -> Comparison:
    """Build every method at every budget; the optimum is solved once per budget.

    Parameters
    ----------
    prior : Prior
    epsilons : iterable of float
    methods : iterable of str
        Out of `METHODS`.
    uniform_share, tolerance : float
        As in `design`.
    progress : callable, optional
        Called with the budget and the solver's progress after each of its steps, None when the budget is done.

    Raises
    ------
    InputError
        No budget, no method, or one that is not usable.

    Example
    -------
    >>> from optldp.designer import Prior
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public")
    >>> [(row.method, row.ratio_to_optimal >= 1) for row in compare(prior, [1.0], methods=["duchi", "piecewise"])]
    [('duchi', True), ('piecewise', True)]
    """
    budgets, chosen = [check_epsilon(epsilon) for epsilon in epsilons], list(methods)
    if not budgets or not chosen:
        raise InputError("compare needs at least one epsilon and one method, got none")
    check_methods(chosen)
    rows: list[ComparisonRow] = []
    for epsilon in budgets:
        rows += _rows(prior, epsilon, chosen, uniform_share, tolerance, progress)
        if progress is not None:
            progress(epsilon, None)
    return Comparison(tuple(rows), prior.units)


def _rows(
    prior: Prior,
    epsilon: float,
    methods: list[str],
    uniform_share: float,
    tolerance: float,
    progress: Callable[[float, Progress | None], None] | None,
) -> list[ComparisonRow]:
    """One budget's rows; a method that cannot be built raises its error."""
    case = solve_methods(
        prior,
        epsilon,
        methods,
        uniform_share=uniform_share,
        tolerance=tolerance,
        progress=None if progress is None else lambda step: progress(epsilon, step),
    )
    for error in case.failures.values():
        raise error
    least = case.best.expected_variance
    return [
        ComparisonRow(
            method,
            epsilon,
            made.expected_variance,
            made.worst_case_variance,
            made.expected_variance / least,
            _one_report_times_n(made.mechanism),
        )
        for method, made in case.designs.items()
    ]


def _one_report_times_n(mechanism: TabulatedMechanism) -> float | None:
    try:
        return float(influence(mechanism).times_n[0])
    except InputError:
        return None
