"""Does a table keep its promise? Recomputed from its numbers alone, never from how it was made."""

from dataclasses import dataclass

import numpy as np

from .budget import check_epsilon
from .errors import TableError
from .exact_proof import prove
from .table import TabulatedMechanism

MAX_ROW_SUM_ERROR = 1e-12
"""Summing 1e4 doubles that ought to give one errs by about 1e-14; more is a table that was not normalised."""

MAX_BIAS = 1e-9
"""Largest bias of a table that claims to be unbiased, as a share of the domain: below any sampling error."""

MEAN_ROUNDING = 2.0**-46
"""Rounding error of a mean, as a share of the largest report: at epsilon 1e-6 they are 1e6 domains wide."""


@dataclass(frozen=True)
class Verification:
    """What `verify` found.

    Attributes
    ----------
    ok : bool
        Whether there are no failures.
    epsilon : float
        The budget that was verified.
    max_log_ratio : float
        Logarithm of the largest ratio of two rows' densities at any report: the epsilon really kept.
    max_abs_bias : float
        Largest distance between a knot and the mean of its reports; input units.
    max_row_sum_error : float
    expected_variance : float or None
        Under the table's own prior, None where it carries none; squared units.
    worst_case_variance : float
        Over the whole domain, between knots too; squared units.
    failures : tuple of str
        Each broken requirement, with where and how much.
    """

    ok: bool
    epsilon: float
    max_log_ratio: float
    max_abs_bias: float
    max_row_sum_error: float
    expected_variance: float | None
    worst_case_variance: float
    failures: tuple[str, ...]


def verify(table: TabulatedMechanism, *, epsilon: float | None = None) -> Verification:
    """Recompute a table's row sums, largest log-ratio, bias and variances, and say what fails.

    The log-ratio must not exceed epsilon, without tolerance; between knots the law is a mixture of two rows,
    so what holds at the knots holds everywhere. What an exact table fails is decided by whole numbers, see `prove`.

    Parameters
    ----------
    table : TabulatedMechanism
    epsilon : float, optional
        The budget to verify; the one that the table claims by default.

    Returns
    -------
    Verification

    Raises
    ------
    InputError
        An epsilon that is not usable.

    Example
    -------
    >>> table = TabulatedMechanism.from_points([0, 1], [0, 1], [[0.75, 0.25], [0.25, 0.75]], 1.1)
    >>> result = verify(table)
    >>> result.ok, round(result.max_log_ratio, 6)
    (True, 1.098612)
    >>> verify(table, epsilon=1.0).failures
    ('the log-ratio must be at most 1, got 1.0986122886681098 at output 0',)
    """
    budget = table.epsilon if epsilon is None else check_epsilon(epsilon)
    ratios = log_ratios(table)
    row_errors = np.abs(table.probabilities.sum(axis=1) - 1)
    bias = np.abs(table.knot_bias)
    failures = prove(table, epsilon=budget).failures if table.exact else _failures(table, budget, ratios, row_errors)
    return Verification(
        ok=not failures,
        epsilon=budget,
        max_log_ratio=float(ratios.max()),
        max_abs_bias=float(bias.max()),
        max_row_sum_error=float(row_errors.max()),
        expected_variance=None if table.prior is None else table.expected_variance(table.prior),
        worst_case_variance=table.worst_case_variance()[0],
        failures=failures,
    )


def _failures(table: TabulatedMechanism, budget: float, ratios: np.ndarray, row_errors: np.ndarray) -> tuple[str, ...]:
    """What a table in doubles breaks."""
    failures, bias = [], np.abs(table.knot_bias)
    if ratios.max() > budget:
        j = int(np.argmax(ratios))
        failures.append(f"the log-ratio must be at most {budget:g}, got {ratios[j]} at output {j}")
    if row_errors.max() > MAX_ROW_SUM_ERROR:
        i = int(np.argmax(row_errors))
        failures.append(f"rows must sum to 1 within {MAX_ROW_SUM_ERROR:g}, got an error of {row_errors[i]} in row {i}")
    if table.provenance.claims_unbiased and bias.max() > _bias_limit(table):
        i = int(np.argmax(bias))
        failures.append(f"the table claims to be unbiased, got a bias of {bias[i]} at knot {i}")
    return tuple(failures)


def require_private(table: TabulatedMechanism) -> Verification:
    """Return the verification of a table that passes it, or raise TableError with the first failure.

    Example
    -------
    >>> table = TabulatedMechanism.from_points([0, 1], [0, 1], [[0.75, 0.25], [0.25, 0.75]], 1.1)
    >>> require_private(table).ok
    True
    """
    result = verify(table)
    if not result.ok:
        raise TableError(result.failures[0])
    return result


def log_ratios(table: TabulatedMechanism) -> np.ndarray:
    """Return, per output, the logarithm of the largest ratio of two rows' densities anywhere in the output.

    Zero where no row can produce the output; infinite where some rows can and others cannot.

    Example
    -------
    >>> table = TabulatedMechanism.from_points([0, 1], [0, 1], [[0.5, 0.5], [0.5, 0.5]], 1.0)
    >>> log_ratios(table).tolist()
    [0.0, 0.0]
    """
    ends = table.within.end_densities(table.low, table.high, table.probabilities)
    return np.maximum(*(_log_ratio(density) for density in ends))


def _log_ratio(density: np.ndarray) -> np.ndarray:
    """log(largest / smallest) per column, through their difference: accurate for ratios near one."""
    largest, smallest = density.max(axis=0), density.min(axis=0)
    with np.errstate(over="ignore"):  # beyond the largest double is infinite enough
        excess = np.divide(largest - smallest, smallest, out=np.where(largest > 0, np.inf, 0.0), where=smallest > 0)
        return np.log1p(excess)


def _bias_limit(table: TabulatedMechanism) -> float:
    low, high = table.domain
    reports = table.output_mean[:, np.any(table.probabilities > 0, axis=0)]
    return MAX_BIAS * (high - low) + MEAN_ROUNDING * float(np.abs(reports).max())
