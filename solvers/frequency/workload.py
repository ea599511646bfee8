r"""The table from whose reports given linear queries of the frequencies are answered best, with its certificate.

Queries W (q, K) of frequencies f are answered by W f^, f^ linear in the reports and unbiased. With C = W^T W and M the
information of the frequency program (`frequency_program`), the least sum of squared errors at the prior, per report, is
tr(C M^-1) - pi^T C pi about the population's answers. The values' own sampling has sum_x C_xx pi_x - pi^T C pi of it
whatever is reported, so that privacy costs

    tr(C M^-1) - sum_x C_xx pi_x,

the error about the answers for the very users who reported.

*Values that all queries treat alike are one.* A mechanism of these classes is one of the values; and of a mechanism of
the values, with a value of each class drawn by the prior, there is one of the classes that errs as little.

*A bound without an inverse.* For every symmetric G, tr(C M^-1) >= 2 tr(C G) - tr(C G M G), so that with

    s^T G C G s <= (lambda . s)(pi . s)  for all patterns s

no private table has tr(C M^-1) < tr(C G)^2 / sum(lambda). C may be singular: M of the best table is then nearly so, and
the program is solved for C + delta I with several small delta, of which the best table and the best bound are kept.

*Up to 40 values* all patterns are searched for what violates the inequality (`pattern_search`), where a relaxation
leaves several hundredths of dense queries open. *Where epsilon is large* most of the error is the sampling of users,
and the program is solved to a smaller tolerance.

*Few queries of many values* are answered first by points of as many numbers (`few_queries`): patterns are then priced
all at once, where the relaxation leaves a tenth open.

Source: McKenna, Maity, Mazumdar and Miklau (2020), "A workload-adaptive mechanism for linear queries under local
differential privacy", for the problem; the bound is ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError, SolverError
from ..arrays import Array, Indices
from ..certificate import Optimum, Progress, relative_gap
from .few_bound import MOST_QUERIES, RANK, FewCertificate, certified_few_bound
from .few_queries import solve_few_queries
from .frequency_program import (
    MOST_ENUMERATED,
    ROUNDING,
    Certificate,
    FrequencyProgram,
    violation,
)
from .optimal_sets import solve_frequency
from .pattern_search import MOST_SEARCHED

DELTAS = (1e-6, 1e-4, 1e-7)
"""Added to a singular C, as shares of its mean diagonal, until one suffices: less brings the table nearer, and rounding
too."""

ANSWERABLE = 1e-7
"""Share of a query that may lie where reports tell nothing: rounding."""


def solve_workload(
    prior: ArrayLike,
    ratio: float,
    queries: ArrayLike,
    *,
    tolerance: float = 1e-2,
    max_columns: int = 4000,
    progress: Callable[[Progress], None] | None = None,
) -> Optimum[Array]:
    """Derive the table that answers linear queries with the least sum of squared errors.

    Parameters
    ----------
    prior : (K,) array_like
        Non-negative, summing to 1.
    ratio : float
        E = e^epsilon.
    queries : (q, K) array_like
        W: the answers are W f for frequencies f.
    tolerance : float
        Relative gap to reach.
    max_columns : int
        As for `solve_frequency`.
    progress : callable, optional

    Returns
    -------
    found : Optimum of (K, m) ndarray
        Probabilities; rows of values that all queries treat alike are equal. Its value is `workload_cost`, its bound
        the `certified_workload_bound` of its multiplier `certificate`, whose root is G of this module.

    Raises
    ------
    InputError
        Not a prior, a ratio, or queries; queries that treat all values alike.
    SolverError
        Rounding defeats the solver.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.frequency.workload import solve_workload
    >>> cut = np.r_[np.ones(5), np.zeros(7)][None]  # the share of the first five of twelve values
    >>> found = solve_workload(np.full(12, 1 / 12), np.exp(1.0), cut)
    >>> round(found.value, 4), round(found.bound, 4)  # E / (E - 1)^2, of randomised response on the cut
    (0.9207, 0.9207)
    """
    weights, matrix = checked_queries(prior, queries)
    which, merged, classes = merged_values(weights, matrix)
    importance = classes.T @ classes
    best: Optimum[Array] | None = None
    bound, certificate = -math.inf, None
    if _are_few(merged, classes):
        with suppress(SolverError):  # numbers lost: the frequency program loses none
            best = solve_few_queries(merged, ratio, classes, tolerance, progress)
            certificate = best.multipliers["certificate"]
            bound = certified_workload_bound(weights, ratio, matrix, certificate)
    near = best is not None and relative_gap(best.value, bound) <= tolerance
    searched = merged.size <= MOST_SEARCHED
    nearer = tolerance * (_share_of_privacy(merged, ratio, classes) if searched else 1)
    for added in () if near else _importances(importance):
        try:
            found = solve_frequency(
                merged, ratio, importance=added, tolerance=nearer, max_columns=max_columns, progress=progress
            )
        except (SolverError, np.linalg.LinAlgError):  # singular to rounding: the next delta is another program
            continue
        value = workload_cost(merged, found.solution, classes)
        if best is None or value < best.value:
            best = replace(found, value=value)
        proof = _without_inverse(FrequencyProgram(merged, ratio, added), found.multipliers["certificate"])
        if (proved := certified_workload_bound(weights, ratio, matrix, proof)) > bound:
            bound, certificate = proved, proof
        if relative_gap(best.value, bound) <= tolerance:
            break
    if best is None or certificate is None or not math.isfinite(best.value):
        raise SolverError("no table from whose reports the queries can be answered was found: raise epsilon")
    return replace(
        best, solution=best.solution[which], bound=bound, multipliers={"certificate": certificate}, tolerance=tolerance
    )


def workload_cost(prior: ArrayLike, probabilities: Array, queries: ArrayLike) -> float:
    """Return the sum of squared errors of the answers about those of the very users, per report, at the prior.

    Parameters
    ----------
    prior : (K,) array_like
    probabilities : (K, m) ndarray
        Of any table.
    queries : (q, K) array_like

    Returns
    -------
    float
        tr(W M^-1 W^T) - sum_x |W_x|^2 pi_x; infinite where reports do not tell some answer.

    Example
    -------
    >>> response = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> workload_cost([0.5, 0.5], response, [[1, 0]])  # 3 / (3 - 1)^2 at epsilon = ln 3
    0.75
    """
    weights, matrix = checked_queries(prior, queries)
    made = probabilities[:, weights @ probabilities > 0]
    values, vectors = np.linalg.eigh(FrequencyProgram(weights, math.e).information(made))
    seen = values > weights.size * ROUNDING * values[-1]
    turned = matrix @ vectors
    unseen = np.abs(turned[:, ~seen]).max(initial=0.0)
    if unseen > ANSWERABLE * np.abs(matrix).max():
        return math.inf
    return float((turned[:, seen] ** 2 / values[seen]).sum() - (matrix**2).sum(0) @ weights)


def sampling_error(prior: ArrayLike, queries: ArrayLike) -> float:
    """Return what the answers of a sample differ by from the population's, squared and summed, times its size.

    Example
    -------
    >>> sampling_error([0.5, 0.5], [[1, 0]])
    0.25
    """
    weights, matrix = checked_queries(prior, queries)
    answers = matrix @ weights
    return float((matrix**2).sum(0) @ weights - answers @ answers)


def certified_workload_bound(
    prior: ArrayLike, ratio: float, queries: ArrayLike, certificate: Certificate | FewCertificate
) -> float:
    """Return what privacy costs the answers at least, with any private table, whatever the certificate's numbers.

    Parameters
    ----------
    prior : (K,) array_like
    ratio : float
        E = e^epsilon.
    queries : (q, K) array_like
    certificate : Certificate or FewCertificate
        Of the classes of values that queries treat alike, in the order of `merged_values`; its root is G. Where its
        inequality is violated by at most t (pi . s)^2, lambda + t pi obeys it.
    """
    weights, matrix = checked_queries(prior, queries)
    _, merged, classes = merged_values(weights, matrix)
    program, importance = FrequencyProgram(merged, ratio), classes.T @ classes
    sampling = float(np.diag(importance) @ merged)
    if isinstance(certificate, FewCertificate):
        centred = classes - (classes @ merged)[:, None]  # equal numbers change no error
        _check_shapes(certificate, centred)
        least = certified_few_bound(merged, ratio, centred, certificate) * (1 - 4 * program.size * ROUNDING)
        return max(0.0, least - float((centred**2).sum(0) @ merged))
    root = (certificate.root + certificate.root.T) / 2
    if root.shape != importance.shape:
        raise InputError(f"the certificate must be of {merged.size} classes of values, got {len(root)}")
    importance, added = _lifted(importance)
    squared = root @ importance @ root
    total = float(certificate.multipliers.sum()) + violation(program, squared, certificate)
    trace = float((importance * root).sum())
    if not (trace > 0 and total > 0):
        return 0.0
    return max(0.0, trace**2 / total * (1 - 4 * program.size * ROUNDING) - added - sampling)


def checked_queries(prior: ArrayLike, queries: ArrayLike) -> tuple[Array, Array]:
    """Return prior (K,) and queries (q, K) as doubles; InputError for queries that are none, or ask nothing."""
    weights, matrix = np.asarray(prior, dtype=np.float64), np.asarray(queries, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] != weights.size or not len(matrix) or not np.isfinite(matrix).all():
        raise InputError(f"queries must be finite, a column for each of {weights.size} values, got {matrix.shape}")
    if not np.ptp(matrix, axis=1).any():
        raise InputError("queries must tell values apart, got ones that treat all values alike: add one that does not")
    return weights, matrix


def merged_values(weights: Array, queries: Array) -> tuple[Indices, Array, Array]:
    """Return which class each value is of (K,), the classes' weights (k,), and the queries of them (q, k).

    Example
    -------
    >>> merged_values(np.array([0.2, 0.3, 0.5]), np.array([[1.0, 0.0, 0.0]]))
    (array([1, 0, 0]), array([0.8, 0.2]), array([[0., 1.]]))
    """
    columns, which = np.unique(queries, axis=1, return_inverse=True)
    which = which.ravel()
    return which, np.bincount(which, weights).astype(np.float64), columns


def _are_few(prior: Array, queries: Array) -> bool:
    """Return whether queries are few, equal numbers aside, of more values than have patterns that can be listed."""
    sizes = np.linalg.svd(queries - (queries @ prior)[:, None], compute_uv=False)
    rank = int((sizes > RANK * sizes[0]).sum())
    return rank <= MOST_QUERIES and prior.size > MOST_ENUMERATED


def _share_of_privacy(prior: Array, ratio: float, queries: Array) -> float:
    """Return about which part of the whole error is privacy's cost, one unless most is the sampling of users.

    By randomised response, which costs more than the best table, but where sampling is most not much more.
    """
    response = (np.ones((prior.size, prior.size)) + (ratio - 1) * np.eye(prior.size)) / (prior.size - 1 + ratio)
    cost = workload_cost(prior, response, queries)
    return min(1.0, 2 * cost / (cost + sampling_error(prior, queries)))


def _check_shapes(certificate: FewCertificate, queries: Array) -> None:
    wanted = queries.T.shape, queries.shape[1:]
    for name, shape in zip(("numbers", "multipliers"), wanted, strict=True):
        value = getattr(certificate, name)
        if value.shape != shape or not np.isfinite(value).all():
            raise InputError(f"{name} must be finite numbers of shape {shape}, got shape {value.shape}")


def _lifted(importance: Array) -> tuple[Array, float]:
    """Return C, with equal numbers added if it is singular, and their number: M^-1 of them sums to one in any table."""
    scale = float(np.trace(importance)) / len(importance)
    if np.linalg.eigvalsh(importance)[0] > max(DELTAS) * scale:
        return importance, 0.0
    return importance + scale / len(importance), scale / len(importance)


def _importances(importance: Array) -> Iterator[Array]:
    """Yield C as `_lifted` has it and, if that is singular, with a little of I."""
    lifted, scale = _lifted(importance)[0], float(np.trace(importance)) / len(importance)
    if np.linalg.eigvalsh(lifted)[0] > max(DELTAS) * scale:
        yield lifted
        return
    for delta in DELTAS:
        yield lifted + delta * scale * np.eye(len(importance))


def _without_inverse(program: FrequencyProgram, certificate: Certificate) -> Certificate:
    """Return a certificate with G = R^-1 H R^-1 as its root."""
    back = program.roots[1]
    return replace(certificate, root=back @ certificate.root @ back)
