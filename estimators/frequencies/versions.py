r"""Frequencies of one list of categories from several versions of their mechanism, of other users or of the same.

Each version's reports are estimated by its own law, without bias. Version j has n_j of n reports, the estimate f_j and
its covariance C_j, and

    f = sum_j w_j f_j,    C = sum_j w_j^2 C_j + sum_{i != j} w_i w_j (m_ij / (n_i n_j)) (V_i + V_j) / 2,

with V_j = diag(f_j) - f_j f_j' and m_ij the users that versions i and j have in common. Noise of two reports is
independent given the values, so that estimates of a population covary by those of the common users' values alone: for
any numbers a of the categories, Cov(a' f_i, a' f_j) = (m_ij / (n_i n_j)) Cov(a_X, a_Y), where X and Y are what such a
user had at i and at j. Where nobody changed that is a' V a; else it is at most the mean of a' V_i a and a' V_j a, as
2 Cov(A, B) <= Var A + Var B. So C is the covariance where values last, and not less where they changed. About the
users themselves, who are given, nothing covaries.

With w_j = n_j / n the frequencies are those of all reports together. Where users are alike in all versions any weights
do, and those of least total variance are w ~ T^-1 1, T_ij the trace of the covariance of f_i and f_j: generalised
least squares. Of versions without common users these are 1 / trace C_j.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...mechanisms.errors import InputError
from .frequencies import FrequencyEstimate

METHOD = "unbiased"
"""The method whose estimates may be averaged: their errors are noise alone, which averages out."""


def version_weights(
    parts: Sequence[FrequencyEstimate], *, alike: bool = False, common: np.ndarray | None = None
) -> np.ndarray:
    """Return the weight (J,) of each version's estimate: its share of the reports, or that of least total variance.

    Parameters are those of `join_frequencies`.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import CategoryCounts, estimate_frequencies
    >>> from optldp.estimators.frequencies import join_frequencies
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> reports = np.repeat([0, 1, 2], [500, 300, 200])
    >>> counts = [CategoryCounts.from_reports(categorical_grr("abc", epsilon), reports) for epsilon in (1.0, 3.0)]
    >>> parts = [estimate_frequencies(each) for each in counts]
    >>> version_weights(parts), version_weights(parts, alike=True).round(2)
    (array([0.5, 0.5]), array([0.15, 0.85]))
    >>> version_weights(parts, alike=True, common=np.full((2, 2), 1000)).round(2)
    array([0.08, 0.92])
    """
    if not alike:
        told = np.array([float(part.n) for part in parts])
        return told / told.sum()
    own = np.array([float((part.std_error**2).sum()) for part in parts])
    scatter = np.array([float((held * (1 - held)).sum()) for held in map(_held, parts)])
    between = _shares(parts, common) * (scatter[:, None] + scatter) / 2
    weights = np.linalg.solve(np.diag(own) + between, np.ones(len(parts)))
    if (weights < 0).any():  # of three versions or more; what is shared is bounded for weights above 0 alone
        weights = 1.0 / own
    return weights / weights.sum()


def _held(part: FrequencyEstimate) -> np.ndarray:
    """Frequencies (K,) that users can have, next to the estimated ones."""
    held = np.clip(part.value, 0.0, None)
    return held / held.sum() if held.sum() > 0 else np.full(held.size, 1.0 / held.size)


def _shares(parts: Sequence[FrequencyEstimate], common: np.ndarray | None) -> np.ndarray:
    """What common users' values are multiplied by in covariances, m_ij / (n_i n_j) (J, J), 0 on the diagonal."""
    if common is None or parts[0].target == "users":
        return np.zeros((len(parts), len(parts)))
    many = np.array([float(part.n) for part in parts])
    return np.where(np.eye(many.size, dtype=bool), 0.0, np.asarray(common, dtype=float) / np.outer(many, many))


def join_frequencies(
    parts: Sequence[FrequencyEstimate],
    *,
    alike: bool = False,
    common: np.ndarray | None = None,
    users: int | None = None,
) -> FrequencyEstimate:
    """Return the frequencies of the users of all versions of a mechanism, who reported by one of them or by several.

    Parameters
    ----------
    parts : sequence of FrequencyEstimate
        By "unbiased", of the reports of one version each, for the same categories in the same order.
    alike : bool
        Whether the users of all versions are draws of one population: versions are then weighted by their precision.
    common : (J, J) array of int, optional
        How many users each two versions have in common, of a report in each; default: none.
    users : int, optional
        How many users there are in all. Default: the sum over versions.

    Returns
    -------
    estimate : FrequencyEstimate

    Raises
    ------
    InputError
        Other methods, other categories, or estimates about different targets.

    Source: generalised least squares, Aitken (1936); the covariances are derived above.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import CategoryCounts, estimate_frequencies
    >>> from optldp.estimators.frequencies import join_frequencies
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> reports = np.repeat([0, 1, 2], [500, 300, 200])
    >>> counts = [CategoryCounts.from_reports(categorical_grr("abc", epsilon), reports) for epsilon in (1.0, 3.0)]
    >>> parts = [estimate_frequencies(each) for each in counts]
    >>> print(join_frequencies(parts, alike=True))
    unbiased estimate of 2,000 users, 95% intervals, about the population
      a: 0.565883 +- 0.017 [0.532837, 0.598929]
      b: 0.286823 +- 0.015 [0.256562, 0.317085]
      c: 0.147294 +- 0.014 [0.12077, 0.173817]
    """
    if not parts:
        raise InputError("versions must be at least one, got none")
    first = parts[0]
    for part in parts:
        if part.method != METHOD:
            raise InputError(f"versions must be estimated by method {METHOD}, got {part.method!r}: leave it out")
        if part.target != first.target:
            raise InputError(f"versions must be estimated about one target, got {first.target} and {part.target}")
        require_same_categories(first, part)
    weights = version_weights(parts, alike=alike, common=common)
    shared, held = weights * (_shares(parts, common) @ weights), np.array(list(map(_held, parts)))
    variances = weights**2 @ np.array([part.std_error**2 for part in parts]) + shared @ (held * (1 - held))
    covariances = [part.covariance for part in parts if part.covariance is not None]
    whole = len(covariances) == len(parts)
    return FrequencyEstimate(
        first.categories,
        weights @ np.array([part.value for part in parts]),
        np.sqrt(variances),
        np.einsum("j,jkl->kl", weights**2, covariances) + np.diag(shared @ held) - (held.T * shared) @ held
        if whole
        else None,
        first.target,
        METHOD,
        sum(part.n for part in parts) if users is None else users,
        None,
        first.components,
    )


def require_same_categories(first: FrequencyEstimate, other: FrequencyEstimate) -> None:
    """Raise InputError for estimates of other categories, or of the same in another order.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import CategoryCounts, estimate_frequencies
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> found = [estimate_frequencies(CategoryCounts.from_reports(categorical_grr(labels, 1.0), np.arange(3)))
    ...     for labels in ("abc", "abd")]
    >>> try:
    ...     require_same_categories(*found)
    ... except ValueError as error:
    ...     print(str(error)[:51])
    versions must have the same categories in one order
    """
    ours, theirs = tuple(first.categories.labels), tuple(other.categories.labels)
    if len(ours) != len(theirs):
        raise InputError(
            f"versions must have the same categories, got {len(ours)} and {len(theirs)}: estimate each by itself"
        )
    for one, two in zip(ours, theirs, strict=True):
        if one != two:
            raise InputError(
                f"versions must have the same categories in one order, got {one!r} and {two!r} at one place: estimate "
                "each by itself"
            )
