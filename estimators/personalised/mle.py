"""Frequencies of categories by maximum likelihood, jointly with the shares of the privacy levels."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...solvers.likelihood.dense import DenseLikelihood
from ...solvers.likelihood.fit import MixtureFit, fit_mixture, start_weights
from ..estimate import Target, check_target
from .counts import PersonalisedCounts
from .covariance import joint_covariance
from .estimate import LevelShares, PersonalisedFrequencies
from .fit import fit_jointly
from .likelihood import PersonalisedLikelihood, personalised_likelihood


def personalised_mle(
    counts: PersonalisedCounts,
    *,
    target: Target = "population",
    start: tuple[ArrayLike, ArrayLike] | None = None,
) -> PersonalisedFrequencies:
    r"""Maximise sum_o c_o log sum_i sum_j rho_i p_j T[i, l_o] Pr(y_o | i, j) over the shares rho and frequencies p.

    All that the reports say is used: reported levels, numbers of ones, and which categories are supported.  It assumes
    that users choose their level independently of their value.  The log-likelihood is concave in rho and in p, not in
    both; `JointFit` has what is proved of its maximum, `relaxation_bound` proves more.  Costs some ten steps of
    O(R (t + K)^2) for R distinct pairs of reports, whatever the number of users.

    Standard errors are those of the joint observed information, see `joint_covariance`.  A frequency that is fitted as
    zero has none: intervals of categories rarer than a standard error or two cover less than they claim.

    Parameters
    ----------
    counts : PersonalisedCounts
        Of categories.
    target : {"users", "population"}
        Whose frequencies the standard errors are about; see `joint_covariance`, and `auem` for what is subtracted.
    start : ((t,) array_like, (K,) array_like), optional
        Shares and frequencies to start from. Default: even ones.

    Raises
    ------
    InputError
        No reports, reports of numbers, or a start that is none.

    Example
    -------
    >>> from optldp.mechanisms.composed.personalised import PersonalisedMechanism
    >>> from optldp.mechanisms.categorical.unary_encoding import basic_rappor
    >>> made = PersonalisedMechanism([basic_rappor(["a", "b", "c"], e) for e in (1.0, 2.0)], 0.5)
    >>> values, levels = np.repeat(["a", "b", "c"], [6000, 3000, 1000]), np.arange(10_000) % 2
    >>> found = personalised_mle(
    ...     PersonalisedCounts.from_reports(made, made.sample(values, levels, np.random.default_rng(1)))
    ... )
    >>> bool((abs(found.value - [0.6, 0.3, 0.1]) < 4 * found.std_error).all())
    True
    """
    check_target(target)
    likelihood = personalised_likelihood(counts)
    many, size = likelihood.n_levels, likelihood.n_values
    rho, p = (None, None) if start is None else start
    fit = fit_jointly(likelihood, start_weights(rho, many), start_weights(p, size))
    covariance = joint_covariance(likelihood, fit.shares, fit.weights)
    own = covariance[many:, many:]
    if target == "users":
        own = own - (np.diag(fit.weights) - np.outer(fit.weights, fit.weights)) / counts.n_users
    errors = np.sqrt(np.maximum(np.diag(own), 0.0))
    made, n = counts.mechanism, counts.n_users
    shares = LevelShares(made.epsilons, fit.shares, covariance[:many, :many], n, "mle")
    return PersonalisedFrequencies(
        made.categories, fit.weights, errors, own, target, "mle", n, None, size, level_shares=shares, joint=fit
    )


def relaxation_bound(likelihood: PersonalisedLikelihood) -> tuple[float, MixtureFit]:
    """Return a bound on the log-likelihood of all shares and weights, and the fit that gives it.

    The pairs of a level and a value get weights of their own, t K of them, of which products rho_i w_j are a part; that
    log-likelihood is concave, and its maximum known within the fit's `gap_bound`.  It takes a matrix of R t K numbers
    and O(R (t K)^2) a step.

    Parameters
    ----------
    likelihood : PersonalisedLikelihood

    Example
    -------
    >>> from optldp.estimators.personalised.likelihood import TabledPersonalised
    >>> coin = np.array([[[0.6, 0.4], [0.4, 0.6]], [[0.8, 0.2], [0.2, 0.8]]])
    >>> seen = TabledPersonalised(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), [50, 50, 60, 40], np.eye(2), coin)
    >>> bound, _ = relaxation_bound(seen)
    >>> even = np.array([0.5, 0.5])
    >>> fit_jointly(seen, even, even).loglik < bound < fit_jointly(seen, even, even).loglik + 0.5
    True
    """
    size = likelihood.n_levels * likelihood.n_values
    rows = np.empty((size, likelihood.counts.size))
    for i in range(likelihood.n_levels):
        shares = np.eye(likelihood.n_levels)[i]
        even = np.full(likelihood.n_values, 1.0 / likelihood.n_values)
        place = slice(i * likelihood.n_values, (i + 1) * likelihood.n_values)
        for part in likelihood.parts():
            rows[place, part] = likelihood.rows(part, shares, even)[1].T
    fit = fit_mixture(DenseLikelihood([rows], likelihood.counts))
    return fit.loglik + fit.gap_bound + likelihood.offset, fit
