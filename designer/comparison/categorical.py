"""The designed table beside the frequency oracles that need no prior: randomised response, unary encodings, hashing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from ...estimators.frequencies import frequency_decoder
from ...mechanisms.budget import check_epsilon
from ...mechanisms.categorical.oracle_choice import total_error
from ...mechanisms.shown.shown import Shown
from ...mechanisms.shown.told import Dots, Told
from ...solvers.arrays import Array
from ...solvers.frequency.program import FrequencyProgram, all_marks
from ..designs.design import design
from ..objectives.frequencies import Frequencies
from ..priors.categorical import CategoricalPrior

MOST_LINEAR = 12
"""Categories up to which the best linear estimator of an oracle with 2^K reports is computed."""


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
    OracleErrors(methods='optimal, grr, rappor, oue, olh', least=4.98009)
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
    """Return the errors of the designed table, GRR, basic RAPPOR, OUE and OLH at a prior, the designed one first.

    Of more categories than the designed table is found for (`Frequencies.most_categories`) it is left out.

    A pure protocol supports the own category with probability p, others with q; its estimator (support share - q) /
    (p - q) has total error (K q (1 - q) + (p - q)(1 - p - q)) / (p - q)^2 + 1 - |prior|^2, the last two terms for
    values that are drawn from the prior. OLH is taken with ideal hash functions.

    Parameters
    ----------
    prior : (K,) array_like
        Non-negative, with a positive sum; divided by it.
    epsilon : float
    tolerance, objective : as in `design`.

    Raises
    ------
    InputError
        A prior, an epsilon or an option that is not usable.

    Source: Wang, Blocki, Li and Jha (2017), "Locally differentially private protocols for frequency estimation".

    Example
    -------
    >>> rows = compare_categorical([0.5, 0.3, 0.2], 1.0)
    >>> [(row.method, round(row.error, 2)) for row in rows]
    [('optimal', 4.98), ('grr', 4.98), ('rappor', 12.37), ('oue', 12.67), ('olh', 12.91)]
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
    for method, (own, other) in _supports(size, math.exp(budget)).items():
        error = total_error(size, own, other) + sampling
        linear = error if method == "grr" else _linear_error(weights, budget, method)
        ratio = None if designed is None else error / designed
        rows.append(OracleError(method, error, linear, ratio, 1 / (own - other)))
    return OracleErrors(tuple(rows))


def hash_values(ratio: float) -> int:
    """Return the number of hash values of OLH, E + 1 to the nearest whole number."""
    return max(2, round(ratio + 1))


def _supports(size: int, ratio: float) -> dict[str, tuple[float, float]]:
    """Probabilities p and q of supporting the own category and another one."""
    root, values = math.sqrt(ratio), hash_values(ratio)
    return {
        "grr": (ratio / (ratio + size - 1), 1 / (ratio + size - 1)),
        "rappor": (root / (root + 1), 1 / (root + 1)),
        "oue": (0.5, 1 / (ratio + 1)),
        "olh": (ratio / (ratio + values - 1), 1 / values),
    }


def _linear_error(weights: Array, epsilon: float, method: str) -> float | None:
    """Error of the best linear unbiased estimator, from all 2^K reports taken as sets of supported categories."""
    size, ratio = weights.size, math.exp(epsilon)
    if size > MOST_LINEAR:
        return None
    program, chance = FrequencyProgram(weights, ratio), _set_chances(size, ratio)[method]
    columns = [program.patterns(marks) * chance(marks.sum(0)) for marks in all_marks(size)]
    everything = np.full((size, 1), ratio * float(chance(np.array([size]))[0]))
    return program.error(np.hstack([*columns, everything]))


def _set_chances(size: int, ratio: float) -> dict[str, Callable[[Array], Array]]:
    """Probability of a set of k supported categories, for a user whose own is not among them.

    Unary: each other bit for itself, and the own one unset. OLH: some value's preimage, in which ideal hashing
    puts each category with probability 1 / g, reported by those outside with probability 1 / (E + g - 1).
    """
    root, values = math.sqrt(ratio), hash_values(ratio)

    def unary(own: float, other: float) -> Callable[[Array], Array]:
        return lambda k: (1 - own) * other**k * (1 - other) ** (size - 1 - k)

    def hashed(k: Array) -> Array:
        return (1 / values) ** k * (1 - 1 / values) ** (size - k) * values / (ratio + values - 1)

    return {"rappor": unary(root / (root + 1), 1 / (root + 1)), "oue": unary(0.5, 1 / (ratio + 1)), "olh": hashed}
