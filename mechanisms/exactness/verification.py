"""Does a table keep its promise? Recomputed from its numbers alone, never from how it was made."""

from dataclasses import dataclass
from enum import StrEnum
from functools import singledispatch
from typing import Any

import numpy as np

from ..display.display import Shown
from ..display.summary import Dots, Told
from ..errors import InputError, TableError, unwired
from ..integers.exponential import exponential_below
from ..promise import Approximate, OfPairs, Promise, Pure, as_promise
from ..sampling.law import RowFreeLaw
from ..table.table import TabulatedMechanism
from .promises import fault_of, tightest
from .proof import ExactProof, prove, require_numbers

MAX_ROW_SUM_ERROR = 1e-12
"""Summing 1e4 doubles that ought to give one errs by about 1e-14; more is a table that was not normalised."""

MAX_BIAS = 1e-9
"""Largest bias of a table that claims to be unbiased, as a share of the domain: below any sampling error."""

MEAN_ROUNDING = 2.0**-46
"""Rounding error of a mean, as a share of the largest report: at epsilon 1e-6 they are 1e6 domains wide."""

LOG_ROUNDING = 2.0**-50
"""Relative error of each part of a log-ratio, generously; it is added to what is compared with epsilon."""

NEAR = 1e-9
"""A log-ratio in doubles this much below epsilon, relatively, needs no rational numbers to be decided."""


class Verdict(StrEnum):
    """What can be said of a table's privacy; each member is the sentence for people."""

    PROVED = "proved"
    """The table is exact, and whole-number arithmetic shows that it keeps its promise."""

    NOT_PROVED = "not proved"
    """Nothing is broken as far as doubles can tell; what is drawn from them is not what was looked at."""

    BROKEN = "broken"
    """The table does not keep its promise, or it cannot be told that it does."""


@dataclass(frozen=True, eq=False, repr=False)
class Verification(Shown):
    """Result of `verify`.

    Attributes
    ----------
    verdict : Verdict
    promise : Promise
        The promise that was verified.
    kept : float
        The least number that would still be a true promise: the epsilon of `Pure`, the delta of `Approximate` at its
        epsilon, or the epsilon per unit of `Metric`. For other promises of pairs it is epsilon times the largest used
        share of a pair's limit. Rounded to a double.
    max_log_ratio : float
        Logarithm of the largest ratio of two rows' densities at any report: the pure epsilon actually kept. Infinite
        where there is none or it is unknown. For an exact table it is rounded to a double; for laws that differ between
        rows it is rounded up.
    max_abs_bias : float
        Largest distance between a knot and the mean of its reports; input units.
    max_row_sum_error : float
    expected_variance : float or None
        Under the table's own prior, None where it carries none; squared units.
    worst_case_variance : float
        Over the whole domain, between knots too; squared units.
    failures : tuple of str
        Each broken requirement, with where and how much.

    Example
    -------
    >>> from optldp import TabulatedMechanism, verify
    >>> verify(TabulatedMechanism([0, 1], [0, 1], [0, 1], [[0.75, 0.25], [0.25, 0.75]], 1.1, exact=True))
    Verification(verdict='proved', promise='epsilon 1.1', kept=1.09861, max_log_ratio=1.09861, max_abs_bias=0.25)
    """

    verdict: Verdict
    promise: Promise
    kept: float
    max_log_ratio: float
    max_abs_bias: float
    max_row_sum_error: float
    expected_variance: float | None
    worst_case_variance: float
    failures: tuple[str, ...]

    def _line(self) -> dict[str, Any]:
        return {
            "verdict": str(self.verdict),
            "promise": str(self.promise),
            "kept": self.kept,
            "max_log_ratio": self.max_log_ratio,
            "max_abs_bias": self.max_abs_bias,
            "failures": "; ".join(self.failures) or None,
        }

    def _told(self) -> Told:
        more = {"expected_variance": self.expected_variance, "worst_case_variance": self.worst_case_variance}
        names, values = ["epsilon of the promise", "largest log-ratio"], [self.epsilon, self.max_log_ratio]
        return Told(self._line() | more, picture=Dots(names, np.array(values), "epsilon"))

    @property
    def epsilon(self) -> float:
        """The budget of the promise."""
        return self.promise.epsilon

    @property
    def ok(self) -> bool:
        """Whether the promise is proved to be kept."""
        return self.verdict is Verdict.PROVED


def verify(table: TabulatedMechanism, *, epsilon: Promise | float | None = None) -> Verification:
    """Recompute a table's row sums, largest log-ratio, bias and variances, and list what fails.

    Only an exact table can be proved, by whole numbers (see `prove`). For one in doubles the verdict is "not proved"
    at best: a double has an exact value, but samplers do not draw exactly by it. Even so its log-ratio must not exceed
    epsilon, without tolerance: ratios of probabilities are compared with e^epsilon as exact rational numbers, and
    densities within cells by their logarithms, rounded up. Between knots the law is a mixture of two rows, so what
    holds at the knots holds everywhere.

    Parameters
    ----------
    table : TabulatedMechanism
    epsilon : float or Promise, optional
        The promise to verify; a number means `Pure`. Default: the table's own.

    Returns
    -------
    Verification

    Raises
    ------
    InputError
        An epsilon that is not usable, or a promise of other knots.

    Example
    -------
    >>> from optldp import TabulatedMechanism, verify
    >>> matrix = [[0.75, 0.25], [0.25, 0.75]]
    >>> table = TabulatedMechanism([0, 1], [0, 1], [0, 1], matrix, 1.1, exact=True)
    >>> result = verify(table)
    >>> result.ok, str(result.verdict), round(result.max_log_ratio, 6)
    (True, 'proved', 1.098612)
    >>> str(verify(TabulatedMechanism.from_points([0, 1], [0, 1], matrix, 1.1)).verdict)
    'not proved'
    >>> verify(table, epsilon=1.0).failures[0].split(",")[0]
    'the log-ratio must be at most 1'
    """
    require_numbers(table)
    promise = table.promise if epsilon is None else as_promise(epsilon)
    if misfit := promise.misfit(table.knots):
        raise InputError(misfit)
    ratios = log_ratios(table)
    row_errors = np.abs(table.probabilities.sum(axis=1) - 1)
    proof = prove(table, epsilon=promise) if table.exact else None
    kept = _kept(table, promise, ratios, proof)
    failures = _failures(table, promise, ratios, kept, row_errors) if proof is None else proof.failures
    return Verification(
        verdict=Verdict.BROKEN if failures else Verdict.PROVED if table.exact else Verdict.NOT_PROVED,
        promise=promise,
        kept=kept,
        max_log_ratio=float(ratios.max()),
        max_abs_bias=float(np.abs(table.knot_bias).max()),
        max_row_sum_error=float(row_errors.max()),
        expected_variance=None if table.prior is None else table.expected_variance(table.prior),
        worst_case_variance=table.worst_case_variance()[0],
        failures=failures,
    )


def _kept(table: TabulatedMechanism, promise: Promise, ratios: np.ndarray, proof: ExactProof | None) -> float:
    """The least number that would keep the promise true, in doubles."""
    if isinstance(promise, Approximate):
        if proof is not None and proof.divergence is not None:
            return float(proof.divergence)
        return largest_divergence_in_doubles(table.probabilities, promise.epsilon)
    if isinstance(promise, OfPairs):
        return promise.epsilon * tightest(promise, promise.said(table.knots), table.probabilities).share
    if isinstance(promise, Pure):
        return float(ratios.max())
    raise unwired("promise", promise)


def largest_divergence_in_doubles(probabilities: np.ndarray, epsilon: float) -> float:
    """Return the largest sum over columns of max(0, P_i - e^epsilon P_k), of all pairs of rows (n, m), in doubles.

    Example
    -------
    >>> largest_divergence_in_doubles(np.array([[0.75, 0.25], [0.25, 0.75]]), np.log(2))
    0.25
    """
    ratio = np.exp(epsilon)
    return max(float(np.maximum(probabilities - ratio * row, 0.0).sum(axis=1).max()) for row in probabilities)


def _failures(
    table: TabulatedMechanism, promise: Promise, ratios: np.ndarray, kept: float, row_errors: np.ndarray
) -> tuple[str, ...]:
    """What a table in doubles breaks."""
    failures, bias = [], np.abs(table.knot_bias)
    if not (isinstance(promise, Pure) or isinstance(table.within, RowFreeLaw)):
        failures.append(f"{promise} is verified of laws within outputs that are the same for all rows alone")
    elif isinstance(promise, OfPairs):
        said = promise.said(table.knots)
        if (tight := tightest(promise, said, table.probabilities)).share > 1:
            pair = (float(table.probabilities[knot, tight.j]) for knot in (tight.i, tight.k))
            failures.append(fault_of(tight, said, *pair))
    elif isinstance(promise, Approximate):
        if kept > promise.delta:
            failures.append(f"the divergence must be at most {promise.delta:g}, got {kept}")
    elif (above := _outputs_above(table, promise.epsilon, ratios)).size:
        j = int(above[np.argmax(ratios[above])])
        failures.append(f"the log-ratio must be at most {promise.epsilon:g}, got {ratios[j]} at output {j}")
    if row_errors.max() > MAX_ROW_SUM_ERROR:
        i = int(np.argmax(row_errors))
        failures.append(f"rows must sum to 1 within {MAX_ROW_SUM_ERROR:g}, got an error of {row_errors[i]} in row {i}")
    if table.provenance.claims_unbiased and bias.max() > _bias_limit(table):
        i = int(np.argmax(bias))
        failures.append(f"the table claims to be unbiased, got a bias of {bias[i]} at knot {i}")
    return tuple(failures)


def _outputs_above(table: TabulatedMechanism, budget: float, ratios: np.ndarray) -> np.ndarray:
    """Return the outputs whose ratio exceeds e^budget: decided by rational numbers where the law is row-free."""
    above = np.flatnonzero(ratios > budget)
    if not isinstance(table.within, RowFreeLaw):
        return above
    p, q = exponential_below(budget).as_integer_ratio()
    near = np.flatnonzero(ratios > budget * (1 - NEAR))
    largest, smallest = (end(table.probabilities[:, near], axis=0).tolist() for end in (np.max, np.min))
    ends = [(a.as_integer_ratio(), b.as_integer_ratio()) for a, b in zip(largest, smallest, strict=True)]
    over = [a * d * q > b * c * p for (a, c), (b, d) in ends]
    return near[np.array(over, dtype=bool)]


@singledispatch
def verification_of(mechanism: Any) -> Verification | None:
    """Return what is verified of a mechanism for one number: what `verify` says of a table, of its short form too.

    None for other mechanisms, whose `failures` tell all.

    Example
    -------
    >>> table = TabulatedMechanism.from_points([0, 1], [0, 1], [[0.75, 0.25], [0.25, 0.75]], 1.1)
    >>> verification_of(table).max_abs_bias, verification_of("something else")
    (0.25, None)
    """
    return None


@verification_of.register
def _(mechanism: TabulatedMechanism) -> Verification:
    return verify(mechanism)


def require_private(table: TabulatedMechanism) -> Verification:
    """Return the verification of a table that is not broken, or raise TableError with the first failure.

    For research: whatever clients are to draw from must pass `require_proved`.

    Example
    -------
    >>> table = TabulatedMechanism.from_points([0, 1], [0, 1], [[0.75, 0.25], [0.25, 0.75]], 1.1)
    >>> str(require_private(table).verdict)
    'not proved'
    """
    result = verify(table)
    if result.failures:
        raise TableError(result.failures[0])
    return result


def require_proved(table: TabulatedMechanism, *, epsilon: Promise | float | None = None) -> None:
    """Raise TableError unless whole-number arithmetic proves that a table keeps its promise, or this one.

    Parameters
    ----------
    table : TabulatedMechanism
    epsilon : Promise or float, optional
        The promise to prove; default: the table's own.

    Example
    -------
    >>> from optldp import TabulatedMechanism
    >>> from optldp.mechanisms.exactness import require_proved
    >>> require_proved(TabulatedMechanism.from_points([0, 1], [0, 1], [[0.75, 0.25], [0.25, 0.75]], 1.1))
    Traceback (most recent call last):
        ...
    optldp.mechanisms.errors.TableError: a table must be exact to be proved, got doubles: make it exact with make_exact
    """
    if not table.exact:
        raise TableError("a table must be exact to be proved, got doubles: make it exact with make_exact")
    if failures := prove(table, epsilon=epsilon).failures:
        raise TableError(failures[0])


def require_usable(table: TabulatedMechanism, *, allow_unproved: bool) -> None:
    """Raise TableError unless a table is proved or, where that is allowed, in doubles and not broken."""
    if allow_unproved and not table.exact:
        require_private(table)
    else:
        require_proved(table)


def log_ratios(table: TabulatedMechanism) -> np.ndarray:
    """Return, per output, the logarithm of the largest ratio of two rows' densities anywhere in the output.

    Zero where no row can produce the output; infinite where some rows can and others cannot, and where a density is
    zero although the probability is not: no ratio can be told from it.

    Example
    -------
    >>> table = TabulatedMechanism.from_points([0, 1], [0, 1], [[0.5, 0.5], [0.5, 0.5]], 1.0)
    >>> log_ratios(table).tolist()
    [0.0, 0.0]
    """
    if isinstance(table.within, RowFreeLaw):
        return _log_ratio(table.probabilities.max(axis=0), table.probabilities.min(axis=0))
    ends = table.within.log_end_densities(table.low, table.high, table.knots.size)
    return np.maximum(*(_log_density_ratio(table.probabilities, end) for end in ends))


def _log_ratio(largest: np.ndarray, smallest: np.ndarray) -> np.ndarray:
    """log(largest / smallest), through their difference: accurate for ratios near one."""
    with np.errstate(over="ignore"):  # beyond the largest double is infinite enough
        excess = np.divide(largest - smallest, smallest, out=np.where(largest > 0, np.inf, 0.0), where=smallest > 0)
        return np.log1p(excess)


def _log_density_ratio(probabilities: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """The same for densities p e^s, of which p and s are given, rounded up.

    Every row is compared with the first, so that an error is relative to ratios, not to the size of a logarithm.
    """
    possible = probabilities.max(axis=0) > 0
    told = (probabilities.min(axis=0) > 0) & np.isfinite(logs).all(axis=0)
    p, s = np.where(told, probabilities, 1.0), np.where(told, logs, 0.0)
    masses = np.where(p >= p[0], 1, -1) * _log_ratio(np.maximum(p, p[0]), np.minimum(p, p[0]))
    rounding = 2 * LOG_ROUNDING * (np.abs(masses).max(axis=0) + np.abs(s).max(axis=0))
    found = np.where(np.ptp(masses, axis=0) + np.ptp(s, axis=0) > 0, np.ptp(masses + s, axis=0) + rounding, 0.0)
    return np.where(told, found, np.where(possible, np.inf, 0.0))


def is_unbiased(table: TabulatedMechanism) -> bool:
    """Return whether the mean of each knot's reports is the knot, up to rounding."""
    return bool(np.abs(table.knot_bias).max() <= _bias_limit(table))


def _bias_limit(table: TabulatedMechanism) -> float:
    low, high = table.domain
    reports = table.output_mean[:, np.any(table.probabilities > 0, axis=0)]
    return MAX_BIAS * (high - low) + MEAN_ROUNDING * float(np.abs(reports).max())
