"""One call from counted reports of categories to their estimated frequencies."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ...mechanisms.registered import registered
from ...solvers import Progress
from ..distributions.mixture_reduction import Operation
from ..estimate import check_target
from ..methods import FREQUENCIES, FrequencyMethod, Target
from .category_counts import CategoryCounts
from .frequencies import FrequencyEstimate
from .support_counts import SupportCounts
from .way import Way


def estimate_frequencies(
    counts: CategoryCounts | SupportCounts,
    *,
    method: FrequencyMethod = "unbiased",
    target: Target = "population",
    prior: ArrayLike | None = None,
    certificate: float | None = None,
    loglik_change: float | None = None,
    threshold: float | None = None,
    operation: Operation | None = None,
    preselect: float | None = None,
    least_components: int | None = None,
    bic_rise: float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> FrequencyEstimate:
    """Estimate the frequency of every category from reports of one mechanism.

    Parameters
    ----------
    counts : CategoryCounts or SupportCounts
        The latter for "unbiased", "norm-sub", "base-cut", "iiw" and "shrunk" alone.
    method : {"unbiased", "norm-sub", "base-cut", "iiw", "shrunk", "em", "mle", "mr"}
        "unbiased": the average of decoded reports, see `frequency_decoder`. "norm-sub", "base-cut" and "iiw" make it
        consistent or smooth, see `consistency`. "shrunk": empirical Bayes, which draws frequencies to zero or to each
        other as far as all of them together support, see `shrinkage`. "mle": the exact maximum likelihood. "em": EM
        that stops early, as the papers run it, which keeps it from overfitting. "mr": mixture reduction, which merges
        categories that chance may have made.
    target : {"population", "users"}
        Whether standard errors refer to a population of which the users are independent draws, or to the shares among
        these users. The latter count the mechanism's noise alone: variances are less by f (1 - f) / n. The latter is
        available for the unbiased estimate, those made from it, and "shrunk" alone.
    prior : (K,) array_like of float, optional
        Frequencies at which the total variance is least: of the unbiased estimate from tables, and of those made from
        it. Default: even.
    certificate : float, optional
        For "mle": stop when no frequencies can gain more log-likelihood than this per report. Default: 1e-8.
    loglik_change : float, optional
        For "em" and "mr": stop when an EM step changes the log-likelihood by less, in nats. Default: 1e-3.
    threshold : float, optional
        For "base-cut", see there. For "mr": frequency below which groups may be merged. Default: two standard errors of
        the unbiased estimate for a category that nobody has, averaged over the categories.
    operation : {"merge", "prune"}, optional
        For "mr": whether the categories chosen share their frequency evenly, the default, or have none. Those pruned
        have no standard error either.
    preselect : float, optional
        For "mr": reduce, before the first fit, the categories whose unbiased estimates lie below this many standard
        errors of an absent category: 0 for the negative ones, 1 or 2 for those near zero too. The fits are then smaller
        and faster. Default: none.
    least_components : int, optional
        For "mr": groups of categories below which no more are reduced. Default: a quarter of them.
    bic_rise : float, optional
        For "mr": a merge is kept where the criterion, BIC, rises by less than this. Default: 0.
    progress : callable, optional
        Called at the start of a fit and after each of its steps.

    Returns
    -------
    estimate : FrequencyEstimate

    Raises
    ------
    InputError
        No reports, an unknown method or target, a setting of another method, or a table whose reports cannot tell the
        categories apart.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import estimate_frequencies
    >>> from optldp.estimators import CategoryCounts
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> counts = CategoryCounts.from_reports(categorical_grr("abc", 1.0), np.repeat([0, 1, 2], [560, 250, 190]))
    >>> for method in ("unbiased", "norm-sub", "mle"):
    ...     print(estimate_frequencies(counts, method=method).value.round(3))
    [ 0.956  0.105 -0.06 ]
    [0.926 0.074 0.   ]
    [0.914 0.086 0.   ]
    """
    way = FREQUENCIES.get(method)
    if way is None:
        raise InputError(f"method must be one of {', '.join(FREQUENCIES)}, got {method!r}")
    check_target(target)
    if target == "users" and not way.of_supports:
        of_supports = [name for name, other in FREQUENCIES.items() if other.of_supports]
        raise InputError(f"target users is for {', '.join(of_supports)}, got method {method!r}: leave it out")
    settings = {
        "prior": prior,
        "certificate": certificate,
        "loglik_change": loglik_change,
        "threshold": threshold,
        "operation": operation,
        "preselect": preselect,
        "least_components": least_components,
        "bic_rise": bic_rise,
    }
    given = {name: value for name, value in settings.items() if value is not None}
    if useless := [name for name in given if name not in way.settings]:
        takers = [name for name, other in FREQUENCIES.items() if useless[0] in other.settings]
        raise InputError(f"{useless[0]} is for {', '.join(takers)}, got method {method!r}: leave it out")
    counts.require_reports()
    if isinstance(counts, SupportCounts) and not way.of_supports:
        raise InputError(f"method {method} needs whole reports, got support counts: use CategoryCounts")
    take: Way = registered("optldp.estimators.frequencies", way.at, "method", method)
    found = take(counts, target, given, progress)
    return FrequencyEstimate(
        counts.mechanism.categories,
        found.frequencies,
        np.sqrt(found.variances),
        found.covariance,
        target,
        method,
        counts.n_users,
        found.fit,
        found.components,
        given.get("prior"),
        found.score,
    )
