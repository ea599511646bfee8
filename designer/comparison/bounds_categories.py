"""The least error of frequencies that is possible at each budget, and how far the known mechanisms are from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...mechanisms.budget import check_epsilon
from ...mechanisms.errors import InputError
from ...solvers.certificate import relative_gap
from ..objectives.frequencies import Frequencies
from ..plots.objective_lines import objective as objective_figure
from ..priors.categorical import CategoricalPrior
from .categorical import compare_categorical
from .row import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class CategoryBounds:
    """The least errors of frequencies that are possible, and the known oracles beside them.

    Attributes
    ----------
    prior : CategoricalPrior
    rows : tuple of Row
        By budget; within one the certified optimum first. Values are expected squared errors, summed over categories,
        times the number of reports.
    """

    prior: CategoricalPrior
    rows: tuple[Row, ...]

    @property
    def epsilons(self) -> tuple[float, ...]:
        """The budgets, rising."""
        return tuple(dict.fromkeys(row.epsilon for row in self.rows))

    def at(self, epsilon: float) -> tuple[Row, tuple[Row, ...]]:
        """Return the optimum at a budget, and the others, the least error first; KeyError for another budget."""
        rows = [row for row in self.rows if row.epsilon == epsilon]
        if not rows:
            raise KeyError(epsilon)
        return rows[0], tuple(sorted(rows[1:], key=lambda row: row.value or 0.0))

    @property
    def opened(self) -> tuple[Row, ...]:
        """The rows of the optimum whose certificates stayed open."""
        return tuple(row for row in self.rows if row.status == "gap-open")

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the errors against epsilon, what is certified as impossible shaded."""
        return objective_figure(
            self.rows, ax, quantity="squared error of all frequencies, times n", nobody=Frequencies.nobody
        )


def bounds_categories(
    prior: CategoricalPrior,
    epsilons: Iterable[float],
    *,
    tolerance: float | None = None,
    progress: Callable[[float, bool], None] | None = None,
) -> CategoryBounds:
    """Find the least error of the frequencies at every budget, and judge the known frequency oracles against it.

    Parameters
    ----------
    prior : CategoricalPrior
        Of at most as many categories as `Frequencies` finds the optimum for, 799.
    epsilons : iterable of float
        Budgets; one that is named twice counts once.
    tolerance : float, optional
        As in `design`.
    progress : callable, optional
        Called with each budget before (False) and after (True) it is solved.

    Raises
    ------
    InputError
        No budget, too many categories, or an argument that is not usable.

    Example
    -------
    >>> found = bounds_categories(CategoricalPrior("abc", [5, 3, 2]), [0.5, 1.0])
    >>> best, others = found.at(1.0)
    >>> best.bound <= best.value, others[0].method, round(others[0].ratio_to_optimal, 3)
    (True, 'grr', 1.0)
    """
    budgets = sorted({check_epsilon(epsilon) for epsilon in epsilons})
    if not budgets:
        raise InputError("bounds need at least one epsilon, got none")
    most = Frequencies().most_categories
    if len(prior.categories) > most:
        raise InputError(
            f"bounds are found for at most {most} categories, got {len(prior.categories)}: merge rare ones"
        )
    rows = []
    for epsilon in budgets:
        if progress is not None:
            progress(epsilon, False)
        for found in compare_categorical(prior.weights, epsilon, tolerance=tolerance):
            best = found.lower_bound is not None
            rows.append(
                Row(
                    epsilon=epsilon,
                    objective="frequencies",
                    method=found.method,
                    value=found.error,
                    bound=found.lower_bound,
                    relative_gap=relative_gap(found.error, found.lower_bound) if best else None,  # pyright: ignore[reportArgumentType] -- known
                    ratio_to_optimal=found.ratio_to_optimal,
                    status=found.status if best else "",
                    one_report_times_n=found.one_report_times_n,
                )
            )
        if progress is not None:
            progress(epsilon, True)
    return CategoryBounds(prior, tuple(rows))
