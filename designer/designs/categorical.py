"""From a prior over categories and a budget to the frequency oracle that errs least, with its certificate."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from ...mechanisms.budget import check_epsilon, inner_epsilon
from ...mechanisms.categorical.categories import Categories
from ...mechanisms.categorical.local_hashing import local_hashing
from ...mechanisms.categorical.mechanism import CategoricalMechanism
from ...mechanisms.categorical.oracle_choice import frequency_oracle
from ...mechanisms.categorical.table import CategoricalTable, categorical_grr
from ...mechanisms.categorical.unary_encoding import basic_rappor, optimised_unary
from ...mechanisms.errors import InputError
from ...mechanisms.table.provenance import Provenance
from ...solvers.certificate import Progress, Status
from ...solvers.frequency.optimum import solve_frequency
from ...solvers.frequency.program import Certificate, FrequencyProgram, certified_frequency_bound

DEFAULT_TOLERANCE = 1e-3
"""Relative gap asked of the certificate: priors are not known better, and tables stay small."""

MAX_COLUMNS = 4000
"""Outputs of a table at most; below about 64 categories fewer suffice for the default tolerance."""


@dataclass(frozen=True, eq=False)
class CategoricalDesign:
    """A table for categories and what was recomputed from it.

    Attributes
    ----------
    mechanism : CategoricalTable
    error : float
        Expected squared error of the frequencies, summed over categories, times the number of reports, at the prior,
        by the best linear estimator that is unbiased for every distribution. For values drawn from the prior; about
        the frequencies among the users themselves it is less by `sampling`, for every mechanism.
    lower_bound : float
        Certified: no epsilon-LDP table has less.
    sampling : float
        1 - |prior|^2, the share of the error that there is without any privacy.
    certificate : Certificate
        For `certified_frequency_bound`.
    status : Status
    seconds : float
    """

    mechanism: CategoricalTable
    error: float
    lower_bound: float
    sampling: float
    certificate: Certificate
    status: Status
    seconds: float

    @property
    def relative_gap(self) -> float:
        """(error - lower bound) / error: how far from optimal this can be at most."""
        return (self.error - self.lower_bound) / self.error


def design_categorical(
    categories: Categories | Sequence[object],
    prior: ArrayLike,
    epsilon: float,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
    max_columns: int = MAX_COLUMNS,
    progress: Callable[[Progress], None] | None = None,
) -> CategoricalDesign:
    """Build the table that errs least on frequencies near a prior, and certify how good it is.

    No floor is mixed into the prior: the error sums over all categories alike, so that one of no mass is estimated as
    carefully as any other.

    Parameters
    ----------
    categories : Categories or sequence
        K of them.
    prior : (K,) array_like
        Non-negative, with a positive sum; divided by it.
    epsilon : float
    tolerance : float
        Relative gap of the certificate to reach.
    max_columns : int
        Outputs of the table at most, at least 5 K + 1. For few categories fewer are used; for a few hundred all.
    progress : callable, optional
        Called after each round.

    Raises
    ------
    InputError
        Categories, a prior, an epsilon or an option that are not usable.
    SolverError
        No table was found.

    Source: solvers/frequency/program.py.

    Example
    -------
    >>> made = design_categorical(["a", "b", "c", "d"], [0.7, 0.1, 0.1, 0.1], 1.0)
    >>> made.mechanism, made.relative_gap < 1e-3
    (CategoricalTable('optimal', epsilon=1, categories=4), True)
    """
    started = time.perf_counter()
    names, budget = Categories.of(categories), check_epsilon(epsilon)
    weights = category_weights(prior, len(names))
    # One thread: see `certified_optimum`.
    with threadpool_limits(1, user_api="blas"):
        found = solve_frequency(
            weights, math.exp(inner_epsilon(budget)), tolerance=tolerance, max_columns=max_columns, progress=progress
        )
        # The bound must hold for the whole budget, not for the slightly smaller one the table was built with.
        bound = certified_frequency_bound(weights, math.exp(budget), found.certificate)
    evidence = {"lower_bound": bound, "relative_gap": (found.error - bound) / found.error}
    origin = Provenance("optimal", {"objective": "frequencies", "tolerance": tolerance}, certificate=evidence)
    table = CategoricalTable.from_probabilities(names, found.probabilities, budget, provenance=origin)
    error = FrequencyProgram(weights, math.exp(budget)).error(table.probabilities)
    return CategoricalDesign(
        mechanism=table,
        error=error,
        lower_bound=bound,
        sampling=1 - float(weights @ weights),
        certificate=found.certificate,
        status=Status.OPTIMAL if error - bound <= tolerance * error else Status.GAP_OPEN,
        seconds=time.perf_counter() - started,
    )


def category_weights(prior: ArrayLike, size: int) -> np.ndarray:
    """Return the weights (K,) of a prior, summing to one, or raise InputError.

    Example
    -------
    >>> category_weights([3, 1], 2)
    array([0.75, 0.25])
    """
    weights = np.asarray(prior, dtype=np.float64)
    if weights.shape != (size,):
        raise InputError(f"a prior needs one weight for each of {size} categories, got shape {weights.shape}")
    if not (np.isfinite(weights).all() and (weights >= 0).all() and 0 < weights.sum() < np.inf):
        raise InputError(
            f"weights of a prior must be finite and non-negative with a positive sum, got a least of {weights.min()} "
            f"and a sum of {weights.sum()}"
        )
    return weights / weights.sum()


ORACLES: dict[str, Callable[[Categories, float], CategoricalMechanism]] = {
    "auto": frequency_oracle,
    "grr": categorical_grr,
    "olh": local_hashing,
    "oue": optimised_unary,
    "rappor": basic_rappor,
}
"""Categories and a budget in, a mechanism out; "auto" is GRR or OLH, whichever errs less."""


def oracle_of_levels(categories: Categories, epsilons: Sequence[float]) -> str:
    """Return the name of one oracle for several budgets: GRR if it errs less at the smallest of them, else OUE.

    GRR gains most from a larger budget; OUE's reports, unlike OLH's, are of the same kind at every budget.

    Example
    -------
    >>> oracle_of_levels(Categories(range(4)), [0.5, 1.0]), oracle_of_levels(Categories(range(40)), [0.5, 1.0])
    ('grr', 'oue')
    """
    return "grr" if isinstance(frequency_oracle(categories, min(epsilons)), CategoricalTable) else "oue"
