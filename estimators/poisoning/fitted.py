"""What a few poisoned reports do to a fitted distribution: the influence function of its maximum, at the fit."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ...solvers.likelihood.mixture import MixtureLikelihood
from ...solvers.one_thread import one_thread
from ..counting.counts import ReportCounts
from ..distributions.covariance import ems_response, maximum_response
from ..distributions.distribution import DistributionEstimate
from ..distributions.likelihood import likelihood_of
from .influence import Influence


@one_thread()
def fitted_influence(
    counts: ReportCounts, estimate: DistributionEstimate, coefficients: ArrayLike | None = None
) -> Influence:
    r"""Return the first-order influence of one report on the mean of a fitted distribution, or any linear functional.

    With weights w that maximise the log-likelihood, s_o the score of a report in output o, (L[o, k] /
    (L w)_o)_k, and R the derivative of w in the mean score (implicit function theorem, `maximum_response`), replacing a
    report in o by one in q moves a . w by

        a . R (s_q - s_o) / n    +    terms in 1 / n^2,

    The largest value over all outputs that the table makes is returned, before division by n.  The weights of "smooth"
    are a posterior mean, so their derivative is a posterior covariance, computed from the draws. cov(w, log (L w)_q -
    log (L w)_o) then replaces R (s_q - s_o) / n, with smoothness and masses fitted anew.  It holds for few
    reports, **at this fit**. For many reports it bounds the estimate only by the domain. The number of steps of
    stopped EM is held fixed.

    Parameters
    ----------
    counts : ReportCounts
        Counts of one service, from which the estimate was made.
    estimate : DistributionEstimate
        By "smooth", "em" or "ems".
    coefficients : (K,) array_like, optional
        a, of the grid's weights. Default: the grid's points, whose functional is the mean.

    Returns
    -------
    found : Influence
        As of `influence`, to first order.

    Raises
    ------
    InputError
        Several services, an estimate by another method or of other reports, or coefficients of another shape.

    Source: Hampel (1974), "The influence curve and its role in robust estimation"; Huber (1981), "Robust statistics",
    section 3.2, for M-estimators; Gustafson (1996), "Local sensitivity of posterior expectations", for the covariance.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import ReportCounts, fitted_influence
    >>> from optldp.estimators import estimate_distribution
    >>> from optldp.mechanisms.families.grr import grr
    >>> counts = ReportCounts.from_reports(grr([0.0, 1.0, 2.0], 3.0), np.repeat([0.0, 1.0, 2.0], [500, 300, 200]))
    >>> found = fitted_influence(counts, estimate_distribution(counts, method="em"))
    >>> found.times_n.round(3), found.reports_per_std_error.round(1)
    (array([2.314]), array([12.3]))
    """
    counts.require_one_time("the influence of a fit")
    if len(counts.services) != 1:
        raise InputError(f"influence of a fit is known for one service, got {len(counts.services)}")
    if estimate.n != counts.n_users:
        raise InputError(f"the estimate must be of these {counts.n_users} reports, got one of {estimate.n}")
    grid, table = estimate.grid, counts.mechanisms[0]
    functional = grid.points if coefficients is None else np.asarray(coefficients, dtype=np.float64)
    if functional.shape != (grid.size,) or not np.isfinite(functional).all():
        raise InputError(f"coefficients must be {grid.size} finite numbers, got shape {functional.shape}")
    rows = grid.rows(table)[:, table.possible]
    if estimate.smooth is not None:
        draws = estimate.smooth.draws
        logs = np.log(np.maximum(draws @ rows, np.finfo(float).tiny))
        numbers = draws @ functional
        moves = estimate.n * (numbers - numbers.mean()) @ logs / len(draws)
        moves -= moves @ (estimate.value @ rows)
    else:
        likelihood = likelihood_of(counts, grid)
        answer = functional @ _response(likelihood, estimate)
        pull = likelihood.gradient(likelihood.mix(estimate.value))
        moves = (answer @ rows) / (estimate.value @ rows) - answer @ pull
    return Influence(
        ("mean" if coefficients is None else "functional",),
        np.array([moves.min()]),
        np.array([moves.max()]),
        np.array([np.ptp(functional)]),
        estimate.n,
        np.array([estimate.functional(functional).std_error]),
        first_order=True,
        units=table.units,
    )


def _response(likelihood: MixtureLikelihood, estimate: DistributionEstimate) -> np.ndarray:
    """(K, K) derivative of the estimate's weights in the mean score."""
    weights = estimate.value
    if estimate.method == "ems":
        return ems_response(likelihood, weights)
    if estimate.method == "em":
        return maximum_response(
            likelihood, weights, em_steps=estimate.fit.iterations if estimate.fit.method == "em" else None
        )
    raise InputError(f"influence of a fit is known for smooth, em and ems, got {estimate.method}")
