r"""Frequencies of one list of categories from several versions of their mechanism, whose users differ.

Each version's reports are estimated by its own law, without bias. Version j has n_j of n users, the estimate f_j and
its covariance C_j, and as no user is in two versions,

    f = sum_j w_j f_j,    C = sum_j w_j^2 C_j.

With w_j = n_j / n the frequencies are those of all users together, whoever reported by which version. Where users are
alike in all versions any weights do, and those of least total variance are w_j ~ 1 / trace C_j.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...mechanisms.errors import InputError
from .frequencies import FrequencyEstimate

METHOD = "unbiased"
"""The method whose estimates may be averaged: their errors are noise alone, which averages out."""


def version_weights(parts: Sequence[FrequencyEstimate], *, alike: bool = False) -> np.ndarray:
    """Return the weight (J,) of each version's estimate: its share of the users, or its precision.

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
    """
    told = [1.0 / float((part.std_error**2).sum()) if alike else float(part.n) for part in parts]
    return np.array(told) / sum(told)


def join_frequencies(parts: Sequence[FrequencyEstimate], *, alike: bool = False) -> FrequencyEstimate:
    """Return the frequencies of the users of all versions of a mechanism, where each user reported by one version.

    Parameters
    ----------
    parts : sequence of FrequencyEstimate
        By "unbiased", of the reports of one version each, for the same categories in the same order.
    alike : bool
        Whether the users of all versions are draws of one population: versions are then weighted by their precision.

    Returns
    -------
    estimate : FrequencyEstimate

    Raises
    ------
    InputError
        Other methods, other categories, or estimates about different targets.

    Source: the variance of a sum of independent estimates, which weights in proportion to 1 / v_j make least.

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
    weights = version_weights(parts, alike=alike)
    variances = weights**2 @ np.array([part.std_error**2 for part in parts])
    covariances = [part.covariance for part in parts if part.covariance is not None]
    whole = len(covariances) == len(parts)
    return FrequencyEstimate(
        first.categories,
        weights @ np.array([part.value for part in parts]),
        np.sqrt(variances),
        np.einsum("j,jkl->kl", weights**2, covariances) if whole else None,
        first.target,
        METHOD,
        sum(part.n for part in parts),
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
