"""Frequencies of categories by maximum likelihood, jointly with the shares of the privacy levels."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...solvers.likelihood.dense import DenseLikelihood
from ...solvers.likelihood.fit import MixtureFit, fit_mixture, start_weights
from ..estimate import check_target
from ..frequencies.locally_best import Scores
from ..methods import Target
from .counts import PersonalisedCounts
from .covariance import joint_covariance
from .estimate import LevelShares, PersonalisedFrequencies
from .fit import JointFit, fit_jointly
from .likelihood import PersonalisedLikelihood, personalised_likelihood
from .reports import categories_of
from .score import joint_scores, shrunken


def personalised_mle(
    counts: PersonalisedCounts,
    *,
    target: Target = "population",
    start: tuple[ArrayLike, ArrayLike] | None = None,
) -> PersonalisedFrequencies:
    r"""Maximise sum_o c_o log sum_i sum_j rho_i p_j T[i, l_o] Pr(y_o | i, j) over the shares rho and frequencies p.

    The fit uses everything in the reports: reported levels, numbers of ones, and the supported categories.  It assumes
    that users choose their level independently of their value.  The log-likelihood is concave in rho and in p, not in
    both. `JointFit` has what is proved about its maximum; `relaxation_bound` proves more.  Costs some ten steps of O(R
    (t + K)^2) for R distinct pairs of reports, whatever the number of users.

    Standard errors and intervals are those of unbiased numbers from the same likelihood, see `joint_scores`. An
    interval that misses its fit is lengthened to hold it, so that rare categories are covered too.  Those of the
    levels' shares come from the joint observed information, see `joint_covariance`.

    Parameters
    ----------
    counts : PersonalisedCounts
        Of categories.
    target : {"users", "population"}
        Whose frequencies the standard errors refer to; see `auem` for the difference.
    start : ((t,) array_like, (K,) array_like), optional
        Shares and frequencies to start from. Default: even ones.

    Returns
    -------
    estimate : PersonalisedFrequencies
        Of the K categories, with the shares of the levels and the proved bounds on the maximum.

    Raises
    ------
    InputError
        No reports, reports of numbers, or a start that is none.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import PersonalisedCounts, personalised_mle
    >>> from optldp.mechanisms.categorical.unary_encoding import basic_rappor
    >>> from optldp.mechanisms.combinators.personalised import PersonalisedMechanism
    >>> made = PersonalisedMechanism([basic_rappor(["a", "b", "c"], e) for e in (1.0, 2.0)], 0.5)
    >>> values, levels = np.repeat(["a", "b", "c"], [6000, 3000, 1000]), np.arange(10_000) % 2
    >>> sent = made.sample(values, levels, np.random.default_rng(1))
    >>> found = personalised_mle(PersonalisedCounts.from_reports(made, sent))
    >>> found.value.round(2), found.std_error.round(2)  # the truth is 0.6, 0.3 and 0.1
    (array([0.61, 0.3 , 0.09]), array([0.01, 0.01, 0.01]))
    """
    likelihood, fit, scores = _fitted(counts, target, start)
    return _found(counts, likelihood, fit, fit.weights, scores, "mle", target)


def personalised_shrunk(counts: PersonalisedCounts, *, target: Target = "population") -> PersonalisedFrequencies:
    """Return frequencies by empirical Bayes from the joint likelihood, with the shares of its maximum.

    It draws the unbiased numbers behind the intervals of `personalised_mle` to zero, or to each other, as far as all of
    them together support; intervals are the same. It errs several times less for many rare categories.

    Parameters
    ----------
    counts : PersonalisedCounts
        Of categories.
    target : {"users", "population"}

    Returns
    -------
    estimate : PersonalisedFrequencies

    Raises
    ------
    InputError
        No reports, or reports of numbers.

    Source: `optldp.estimators.frequencies.shrinkage`.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import PersonalisedCounts
    >>> from optldp.estimators.personalised import personalised_shrunk
    >>> from optldp.mechanisms.categorical.unary_encoding import basic_rappor
    >>> from optldp.mechanisms.combinators.personalised import PersonalisedMechanism
    >>> made = PersonalisedMechanism([basic_rappor(["a", "b", "c"], e) for e in (1.0, 2.0)], 0.5)
    >>> values, levels = np.repeat(["a", "b", "c"], [6000, 3000, 1000]), np.arange(10_000) % 2
    >>> sent = made.sample(values, levels, np.random.default_rng(1))
    >>> found = personalised_shrunk(PersonalisedCounts.from_reports(made, sent))
    >>> found.value.round(2), found.std_error.round(2)  # the truth is 0.6, 0.3 and 0.1
    (array([0.61, 0.3 , 0.09]), array([0.01, 0.01, 0.01]))
    """
    likelihood, fit, scores = _fitted(counts, target, None)
    population = scores if target == "population" else joint_scores(likelihood, fit.shares, fit.weights)
    return _found(counts, likelihood, fit, shrunken(population), scores, "shrunk", target)


def _fitted(
    counts: PersonalisedCounts, target: Target, start: tuple[ArrayLike, ArrayLike] | None
) -> tuple[PersonalisedLikelihood, JointFit, Scores]:
    check_target(target)
    likelihood = personalised_likelihood(counts)
    rho, p = (None, None) if start is None else start
    fit = fit_jointly(likelihood, start_weights(rho, likelihood.n_levels), start_weights(p, likelihood.n_values))
    return likelihood, fit, joint_scores(likelihood, fit.shares, fit.weights, target)


def _found(
    counts: PersonalisedCounts,
    likelihood: PersonalisedLikelihood,
    fit: JointFit,
    frequencies: np.ndarray,
    scores: Scores,
    method: str,
    target: Target,
) -> PersonalisedFrequencies:
    made, n, many = counts.mechanism, counts.n_users, fit.shares.size
    assert scores.covariance is not None
    covariance = joint_covariance(likelihood, fit.shares, fit.weights)
    return PersonalisedFrequencies(
        categories_of(made),
        frequencies,
        np.sqrt(np.maximum(np.diag(scores.covariance), 0.0)),
        scores.covariance,
        target,
        method,
        n,
        None,
        frequencies.size,
        None,
        scores.score,
        level_shares=LevelShares(made.epsilons, fit.shares, covariance[:many, :many], n, "mle"),
        joint=fit,
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
