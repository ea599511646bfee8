"""The frequency program: the table of least expected squared frequency error under a prior, and bounds for all tables.

K categories with prior pi, a table Q (K, m) with columns q_y.  Among the linear estimators (1/n) sum_u D[:, y_u] that
are unbiased for every distribution (Q D^T = I), weighted least squares is best at pi, with total expected squared error

    tr(M^-1) - |pi|^2  per report,   M = sum_y q_y q_y^T / (pi . q_y).

q -> q q^T / (pi . q) is homogeneous and subadditive, so cutting a column into extreme rays of the cone of columns that
privacy allows never hurts: columns are c s with staircase patterns s in {1, E}^K, and the program is convex:

    minimise tr M(c)^-1   over c >= 0 with sum_s c_s s = 1.

Dual: tr M^-1 >= 2 tr H - tr(H M H) for every symmetric H, with equality at H = M^-1.  So for every H and lambda with

    s^T H^2 s <= (lambda . s)(pi . s)  for all patterns s,                                                          (*)

no private table of any size has tr M^-1 < 2 tr H - sum(lambda).  (*) is checked pattern by pattern for few categories;
for many, it follows if (lambda . s)(pi . s) - s^T H^2 s, less terms that no pattern makes negative, is a positive
semidefinite quadratic: `Certificate` carries their weights.

Errors of some combinations of frequencies may count more than others': with an importance C, positive definite, the
program minimises tr(C M^-1).  That is the same program for columns R^-1 s with R = C^(1/2), so H^2 above becomes
W = R^-1 H^2 R^-1, with H = R M^-1 R at the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ..arrays import Array
from .classes import WeightClasses
from .pattern_search import MOST_SEARCHED, searched_violation

MOST_ENUMERATED = 18
"""Categories up to which all patterns are looked at: 262 143 of them, half a second."""

BLOCK = 2**14
"""Patterns formed at a time."""

SUM_TOLERANCE = 1e-9
"""How far the sum of a prior may lie from 1."""

ROUNDING = 2.0**-52
"""Spacing of doubles at one; sums of K terms err by at most K such parts of their largest term."""


@dataclass(frozen=True, eq=False)
class FrequencyProgram:
    """Prior and ratio.

    Parameters
    ----------
    prior : (K,) array_like
        Non-negative, summing to 1; K >= 2. Zeros are welcome: the error counts every category alike.
    ratio : float
        E = e^epsilon > 1.
    importance : (K, K) array_like, optional
        C, symmetric and positive definite; the identity by default.

    Raises
    ------
    InputError
        Not a prior, not a ratio, or not an importance.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers import FrequencyProgram
    >>> program = FrequencyProgram([0.5, 0.5], 3.0)
    >>> round(program.error(np.array([[0.75, 0.25], [0.25, 0.75]])), 9)   # randomised response, epsilon = ln 3
    2.0
    """

    prior: Array
    ratio: float
    importance: Array | None = None

    def __post_init__(self) -> None:
        prior = checked_prior(self.prior, self.ratio, "categories")
        object.__setattr__(self, "prior", prior)
        if self.importance is not None:
            object.__setattr__(self, "importance", _checked_importance(self.importance, prior.size))

    @property
    def size(self) -> int:
        """Number of categories K."""
        return len(self.prior)

    @cached_property
    def square(self) -> float:
        """Return |pi|^2, with an importance pi^T C pi."""
        weighted = self.prior if self.importance is None else self.importance @ self.prior
        return float(self.prior @ weighted)

    @cached_property
    def sampling_trace(self) -> float:
        """Return tr(C M^-1) of reports that tell the value itself, M = diag(1 / pi): nothing private has less."""
        return 1.0 if self.importance is None else float(np.diag(self.importance) @ self.prior)

    @cached_property
    def roots(self) -> tuple[Array, Array]:
        """Return R = C^(1/2) and R^-1."""
        if self.importance is None:
            return np.eye(self.size), np.eye(self.size)
        values, vectors = np.linalg.eigh(self.importance)
        return (vectors * np.sqrt(values)) @ vectors.T, (vectors / np.sqrt(values)) @ vectors.T

    def seen(self, columns: Array) -> Array:
        """Return columns (K, m) as the trace sees them, R^-1 q."""
        return columns if self.importance is None else self.roots[1] @ columns

    def squared(self, root: Array) -> Array:
        """Return W = R^-1 H^2 R^-1 of a symmetric H."""
        if self.importance is None:
            return root @ root
        half = root @ self.roots[1]
        return half.T @ half

    def patterns(self, marks: Array) -> Array:
        """Return the staircase patterns (K, m): E where marked 1, 1 where marked 0."""
        return 1 + (self.ratio - 1) * marks

    def information(self, columns: Array) -> Array:
        """Return M (K, K) = sum_y q_y q_y^T / (pi . q_y) of positive columns (K, m)."""
        scaled = columns / np.sqrt(self.prior @ columns)
        return scaled @ scaled.T

    def error(self, columns: Array) -> float:
        """Return tr(C M^-1) - pi^T C pi; infinite where no estimator is unbiased."""
        return self.trace_inverse(columns) - self.square

    def trace_inverse(self, columns: Array) -> float:
        """Return tr(C M^-1), infinite where M is singular."""
        values, vectors = np.linalg.eigh(self.information(columns))
        if not values[0] > self.size * ROUNDING * values[-1]:
            return math.inf
        if self.importance is None:
            return float(np.sum(1 / values))
        return float(np.sum((vectors * (self.importance @ vectors)).sum(0) / values))


def checked_prior(prior: ArrayLike, ratio: float, what: str) -> Array:
    """Return a read-only prior that sums to 1, or raise InputError; the ratio is checked with it."""
    made = np.array(prior, dtype=np.float64)
    if made.ndim != 1 or made.size < 2:
        raise InputError(f"a prior must be one number for each of at least 2 {what}, got shape {made.shape}")
    if not (np.all(made >= 0) and abs(made.sum() - 1) <= SUM_TOLERANCE):
        raise InputError(
            f"a prior must be non-negative and sum to 1, got a sum of {made.sum():.15g} and a least of "
            f"{made.min():g}: divide by the sum"
        )
    if not 1 < ratio < math.inf:
        raise InputError(f"the ratio e^epsilon must be finite and above 1, got {ratio!r}")
    made /= made.sum()
    made.setflags(write=False)
    return made


def _checked_importance(importance: ArrayLike, size: int) -> Array:
    matrix = np.array(importance, dtype=np.float64)
    if matrix.shape != (size, size) or not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T):
        raise InputError(f"an importance must be symmetric, finite, of shape {(size, size)}, got shape {matrix.shape}")
    matrix = (matrix + matrix.T) / 2
    values = np.linalg.eigvalsh(matrix)
    if not values[0] > size * ROUNDING * values[-1]:
        raise InputError(
            f"an importance must be positive definite, got eigenvalues from {values[0]:g} to {values[-1]:g}: add a "
            "matrix of equal numbers, which changes no error"
        )
    matrix.setflags(write=False)
    return matrix


@dataclass(frozen=True, eq=False)
class Certificate:
    """What proves (*) of this module.

    Attributes
    ----------
    root : (K, K) ndarray
        H, symmetric, for columns as the program sees them.
    multipliers : (K,) ndarray
        lambda.
    diagonal : (K,) ndarray
        Weights of (s_x - 1)(s_x - E), which is zero for every pattern; of any sign. Used for many categories only.
    groups, levels, weights : (C, K) ndarray of {0, 1}, (C,) ndarray of int, (C,) ndarray
        Non-negative weights of (k - d)(k - d - 1), where k is how many categories of the group are marked and d the
        level: products of neighbouring whole numbers are never negative. Used for many categories only.
    """

    root: Array
    multipliers: Array
    diagonal: Array
    groups: Array
    levels: Array
    weights: Array


def certified_frequency_bound(
    prior: ArrayLike, ratio: float, certificate: Certificate, importance: ArrayLike | None = None
) -> float:
    """Return a lower bound on the error of every private table, whatever the certificate's numbers.

    Where (*) is violated by at most t (pi . s)^2, lambda + t pi obeys it; and the best scale a of (a H, a^2 lambda)
    gives (tr H)^2 / sum(lambda). Nor is the error ever below 1 - |pi|^2, that of the values themselves
    (sum_x C_xx pi_x - pi^T C pi with an importance).

    Parameters
    ----------
    prior : (K,) array_like
    ratio : float
        E = e^epsilon.
    certificate : Certificate
    importance : (K, K) array_like, optional
        Of the program that the certificate is for.

    Returns
    -------
    float
        Expected squared error per report; no epsilon-LDP table with an unbiased linear estimator has less. Costs
        O(2^K K^2) up to 18 categories, beyond O(K^3 + C K^2). If few weights differ, the averages of root and
        multipliers are also priced by counts (`classes`), and the better bound is returned.

    Raises
    ------
    InputError
        Not a prior or not a ratio; a certificate that does not fit the prior.

    Source: weak duality for A-optimal design; Pukelsheim (1993), "Optimal Design of Experiments", chapter 7.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers import certified_frequency_bound
    >>> from optldp.solvers.frequency.frequency_program import Certificate
    >>> nothing = np.zeros(2)
    >>> H = np.array([[1.25, -0.75], [-0.75, 1.25]])  # inverse information of randomised response at epsilon = ln 3
    >>> proof = Certificate(H, np.full(2, 1.25), nothing, np.zeros((0, 2)), np.zeros(0), np.zeros(0))
    >>> round(certified_frequency_bound([0.5, 0.5], 3.0, proof), 6)
    2.0
    """
    program = FrequencyProgram(np.asarray(prior), ratio, None if importance is None else np.asarray(importance))
    _check_certificate(certificate, program.size)
    root, multipliers = (certificate.root + certificate.root.T) / 2, certificate.multipliers
    squared = program.squared(root)
    classes = WeightClasses(program.prior, program.ratio)
    by_counts = classes.few and importance is None and program.size > MOST_ENUMERATED
    find = relaxed_violation if by_counts else violation
    proofs = [(root, multipliers, find(program, squared, certificate))]
    if by_counts:
        root, multipliers = classes.averaged(root), classes.averaged_line(multipliers)
        proofs.append((root, multipliers, classes.violation(root, multipliers)))
    # Reports that tell the value itself have M = diag(1 / pi), and processing them only lowers M.
    least = program.sampling_trace
    for root, multipliers, shift in proofs:
        trace, total = float(np.trace(root)), float(multipliers.sum()) + shift
        if trace > 0 and total > 0:
            least = max(least, trace**2 / total * (1 - 2 * program.size * ROUNDING))
    return least - program.square


def _check_certificate(certificate: Certificate, size: int) -> None:
    count = len(certificate.levels)
    shapes = (size, size), (size,), (size,), (count, size), (count,), (count,)
    for (name, value), shape in zip(vars(certificate).items(), shapes, strict=True):
        if np.shape(value) != shape or not np.isfinite(value).all():
            raise InputError(f"{name} must be finite numbers of shape {shape}, got shape {np.shape(value)}")
    if not (np.isin(certificate.groups, (0, 1)).all() and (certificate.levels == np.floor(certificate.levels)).all()):
        raise InputError("groups must be of zeros and ones, and levels whole: other products may be negative")
    if (certificate.weights < 0).any():
        raise InputError(f"weights must not be negative, got a least of {certificate.weights.min()}")


def violation(program: FrequencyProgram, squared: Array, certificate: Certificate) -> float:
    """Return max over s of (s^T W s - (lambda . s)(pi . s)) / (pi . s)^2 or a bound on it, infinite if none is had.

    Patterns are enumerated where they are few, searched where a certificate has no terms, and otherwise relaxed.
    """
    if program.size <= MOST_ENUMERATED:
        return enumerated_violation(program, squared, certificate)
    if program.size <= MOST_SEARCHED and not certificate.diagonal.any() and not len(certificate.levels):
        return searched_violation(program.prior, program.ratio, squared, certificate.multipliers)
    return relaxed_violation(program, squared, certificate)


def all_marks(size: int) -> Iterator[Array]:
    """Yield the marks (K, b) of all patterns but the all-E one, which is the all-1 one again, in blocks."""
    bits = np.arange(size)[:, None]
    for start in range(0, 2**size - 1, BLOCK):
        numbers = np.arange(start, min(start + BLOCK, 2**size - 1))
        yield ((numbers >> bits) & 1).astype(np.float64)


def enumerated_violation(program: FrequencyProgram, squared: Array, certificate: Certificate) -> float:
    """Return max over s of (s^T W s - (lambda . s)(pi . s)) / (pi . s)^2, rounding included."""
    worst = -math.inf
    for marks in all_marks(program.size):
        s = program.patterns(marks)
        mean, quadratic = program.prior @ s, np.einsum("xs,xs->s", s, squared @ s)
        charge = certificate.multipliers @ s
        rounding = program.size * ROUNDING * (np.abs(quadratic) + np.abs(charge * mean))
        worst = max(worst, float(((quadratic - charge * mean + 8 * rounding) / mean**2).max()))
    return worst


def signed_basis(program: FrequencyProgram) -> Array:
    """Return T with (s, 1) = T (v, 1) where v is 1 for marked and -1 for unmarked categories: |(v, 1)|^2 = K + 1."""
    half = (program.ratio - 1) / 2
    basis = np.diag(np.append(np.full(program.size, half), 1.0))
    basis[:-1, -1] = 1 + half
    return basis


def relaxed_violation(program: FrequencyProgram, squared: Array, certificate: Certificate) -> float:
    """Return a bound on the same maximum from the least eigenvalue of a quadratic, rounding included."""
    first, second = valid_factors(program, certificate.groups, certificate.levels)
    factors = np.concatenate([certificate.multipliers, certificate.diagonal, certificate.weights])
    basis = signed_basis(program)
    quadratic = (first * factors) @ second.T
    quadratic[:-1, :-1] -= squared
    sizes = np.abs(first * factors) @ np.abs(second).T
    sizes[:-1, :-1] += np.abs(squared)
    least = np.linalg.eigvalsh(basis.T @ (quadratic + quadratic.T) @ basis / 2)[0]
    rounding = (factors.size + 4 * program.size) * ROUNDING * np.linalg.norm(basis.T @ sizes @ basis)
    # (pi . s)^2 is at least 1.
    return (program.size + 1) * max(0.0, float(rounding - least))


def valid_factors(program: FrequencyProgram, groups: Array, levels: Array) -> tuple[Array, Array]:
    """Return affine forms (K + 1, 2 K + C) of (s, 1) whose products make up the quadratic of a `Certificate`.

    Product j, times weight j, summed: (lambda . s)(pi . s), the diagonal terms, and minus the group terms.
    """
    size, ratio = program.size, program.ratio
    eye, ones = np.eye(size), np.ones(size)
    first = [np.vstack([eye, 0 * ones]), np.vstack([eye, -ones])]
    second = [np.vstack([np.outer(program.prior, ones), 0 * ones]), np.vstack([eye, -ratio * ones])]
    if len(levels):
        counts = np.vstack([groups.T, -groups.sum(1)]) / (ratio - 1)  # how many of the group are marked
        lower, upper = counts.copy(), counts
        lower[-1] -= levels
        upper[-1] -= levels + 1
        first.append(-lower)
        second.append(upper)
    return np.hstack(first), np.hstack(second)
