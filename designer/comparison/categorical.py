"""The designed table beside the frequency oracles that need no prior: responses, unary encodings, hashing, subsets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from ...estimators.frequencies import frequency_decoder
from ...mechanisms.budget import check_epsilon
from ...mechanisms.categorical.local_hashing import local_hashing
from ...mechanisms.categorical.mechanism import PureProtocol
from ...mechanisms.categorical.oracle_choice import oracle_error
from ...mechanisms.categorical.subset_selection import subset_selection
from ...mechanisms.categorical.unary_encoding import basic_rappor, optimised_unary
from ...mechanisms.display.display import Shown
from ...mechanisms.display.summary import Dots, Told
from ...mechanisms.spaces.categories import Categories
from ...solvers.arrays import Array
from ...solvers.frequency.frequency_program import FrequencyProgram
from ..designs.design import design
from ..objectives.frequencies import Frequencies
from ..priors.categorical import CategoricalPrior

MOST_LINEAR = 12
"""Categories up to which the best linear estimator of an oracle with 2^K reports is computed."""

PURE: dict[str, Callable[[Categories, float], PureProtocol]] = {
    "grr": partial(subset_selection, n_chosen=1),  # it has a table, and is this
    "rappor": basic_rappor,
    "oue": optimised_unary,
    "olh": local_hashing,
    "subset": subset_selection,
}
"""The oracles as pure protocols."""


@dataclass(frozen=True, eq=False, repr=False)
class OracleError(Shown):
    """One mechanism at one budget.

    Attributes
    ----------
    method : str
    error : float
        Expected squared frequency error, summed over categories, times the number of reports, of the estimator that
        goes with it: the pure protocol's from support counts, the best linear one for "optimal".
    linear_error : float or None
        The same with the best linear unbiased estimator at the prior; None where there are too many reports.
    ratio_to_optimal : float or None
        `error` over that of the designed table; None where there are too many categories to design one.
    lower_bound : float or None
        Of the designed table's row: certified of any mechanism.
    status : str
        Of the designed table: "optimal", or "gap-open".
    one_report_times_n : float
        The most that one report of n moves a frequency, times n, with that estimator; see `influence`.

    Example
    -------
    >>> row = compare_categorical([0.5, 0.3, 0.2], 1.0)[2]
    >>> row.method, round(row.error, 2)
    ('rappor', 12.37)
    """

    method: str
    error: float
    linear_error: float | None
    ratio_to_optimal: float | None
    one_report_times_n: float
    lower_bound: float | None = None
    status: str = "optimal"

    def _told(self) -> Told:
        return Told(self._line(), picture=Dots([self.method], np.array([self.error]), "error, times n"))


@dataclass(frozen=True, eq=False, repr=False)
class OracleErrors(Shown, Sequence[OracleError]):
    """The mechanisms of one comparison, the designed one first.

    Example
    -------
    >>> compare_categorical([0.5, 0.3, 0.2], 1.0)
    OracleErrors(methods='optimal, grr, rappor, oue, olh, subset', least=4.98009)
    """

    rows: tuple[OracleError, ...]

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> OracleError: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[OracleError, ...]: ...
    def __getitem__(self, index: int | slice) -> OracleError | tuple[OracleError, ...]:
        return self.rows[index]

    def _line(self) -> dict[str, Any]:
        methods = [row.method for row in self.rows]
        return {"methods": ", ".join(methods), "least": min(row.error for row in self.rows)}

    def _told(self) -> Told:
        columns = {each.name: [getattr(row, each.name) for row in self.rows] for each in fields(OracleError)}
        picture = Dots(columns["method"], np.array(columns["ratio_to_optimal"]), "ratio to the designed table")
        return Told(self._line(), columns, picture)


def compare_categorical(
    prior: ArrayLike, epsilon: float, *, tolerance: float | None = None, objective: Frequencies | None = None
) -> OracleErrors:
    """Return the errors of the designed table, GRR, RAPPOR, OUE, OLH and subset selection at a prior, in this order.

    The designed table is left out beyond `Frequencies.most_categories` categories.

    A pure protocol supports the own category with probability p, others with q; its estimator (support share - q) /
    (p - q) has total error (K q (1 - q) + (p - q)(1 - p - q)) / (p - q)^2 + 1 - |prior|^2, where the last two terms
    hold for values drawn from the prior. All are the mechanisms that `design` makes.

    Parameters
    ----------
    prior : (K,) array_like
        Non-negative, with a positive sum; divided by it.
    epsilon : float
    tolerance, objective : as in `design`.

    Returns
    -------
    rows : OracleErrors
        A row for each mechanism: its `method`, and its `error`, n times the squared error summed over the categories.

    Raises
    ------
    InputError
        A prior, an epsilon or an option that is not usable.

    Source: Wang, Blocki, Li and Jha (2017), "Locally differentially private protocols for frequency estimation".

    Example
    -------
    >>> from optldp import compare_categorical
    >>> rows = compare_categorical([0.5, 0.3, 0.2], 1.0)
    >>> [(row.method, round(row.error, 2)) for row in rows]
    [('optimal', 4.98), ('grr', 4.98), ('rappor', 12.37), ('oue', 12.67), ('olh', 4.98), ('subset', 4.98)]
    """
    budget = check_epsilon(epsilon)
    numbered = CategoricalPrior([str(number) for number in range(np.size(prior))], prior)
    weights = numbered.weights
    size, sampling = weights.size, 1 - float(weights @ weights)
    rows: list[OracleError] = []
    if size <= (objective or Frequencies()).most_categories:
        best = design(numbered, budget, objective=objective, tolerance=tolerance)
        value, ends = best.value, frequency_decoder(best.mechanism, weights).extremes()
        influence = float((ends[1] - ends[0]).max())
        rows = [OracleError("optimal", value, value, 1.0, influence, best.bound, str(best.status))]
    designed = rows[0].error if rows else None
    for method, make in PURE.items():
        made = make(numbered.categories, budget)
        error = oracle_error(made) + sampling
        linear = error if method == "grr" else _linear_error(made, weights)
        ratio = None if designed is None else error / designed
        rows.append(OracleError(method, error, linear, ratio, 1 / (made.own_support - made.other_support)))
    return OracleErrors(tuple(rows))


def _linear_error(made: PureProtocol, weights: Array) -> float | None:
    """Error of the best linear unbiased estimator, from all reports; None of more than 12 categories."""
    if weights.size > MOST_LINEAR:
        return None
    return FrequencyProgram(weights, made.support_ratio).error(made.pmf(made.all_reports()).T)
