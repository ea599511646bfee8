"""AUEM: frequencies by one inversion with the estimated mixture of all levels' laws, and how they scatter."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.combinators.personalised import PersonalisedMechanism
from ...mechanisms.cost import require_affordable, table_cost
from ...mechanisms.errors import InputError
from ...mechanisms.sampling.domain import numbers
from ...mechanisms.statistics import as_supports
from ...solvers.likelihood.bits import BitLikelihood
from ..estimate import check_target
from ..frequencies.consistency import norm_sub
from ..methods import Target
from .counts import PersonalisedCounts, require_pure
from .estimate import PersonalisedFrequencies, level_shares
from .reports import categories_of

SHARE_SUM = 1e-9
"""How far shares may be from a sum of one: rounding."""


def auem(counts: PersonalisedCounts, *, target: Target = "population") -> PersonalisedFrequencies:
    r"""Return the approximately unbiased frequencies and their standard errors.

    With rho the unbiased shares of the levels, p* = sum_i rho_i p_i, q* = sum_i rho_i q_i and s_j the share of the
    users whose report supports category j,

        f_j = (s_j - q*) / (p* - q*),

    a function of averages over the users.  To first order user u moves it by psi_u / n with

        psi_u = (S_uj - Q(l_u) - f_j (P(l_u) - Q(l_u))) / (p* - q*),   P = T^-1 p, Q = T^-1 q,

    Here T^-1 is the decoder of the level's report, l_u that report and S_uj the support of the value's report; both
    depend on the true level. The variance is the average of psi^2 over the counts, divided by n.  This holds for a
    population. Given the users' own values, E[psi | x] = 1{x = j} - f_j; its covariance (diag(f) - f f^T) / n is
    subtracted for these users' shares.

    It is unbiased up to the curvature of the ratio, which is large where p* - q* is uncertain (small `level_epsilon`).
    Neither the estimate nor its standard errors are then useful.  Costs O(R K^2) for R distinct pairs of reports.

    Parameters
    ----------
    counts : PersonalisedCounts
        Of pure protocols or randomised response, chosen independently of the values.
    target : {"users", "population"}
        Whose frequencies the standard errors refer to.

    Returns
    -------
    estimate : PersonalisedFrequencies
        Of the K categories, with the shares of the levels.

    Raises
    ------
    InputError
        No reports, levels that are not pure, or estimated shares for which p* = q*.

    Source
    ------
    Wu, Zhu, Zhang and Xie (2024), section 5.2.  Their theorem 5.3 for the variance mixes counts and frequencies and
    leaves the covariances out; this is derived anew.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import PersonalisedCounts, auem
    >>> from optldp.mechanisms.categorical.unary_encoding import basic_rappor
    >>> from optldp.mechanisms.combinators.personalised import PersonalisedMechanism
    >>> made = PersonalisedMechanism([basic_rappor(["a", "b", "c"], e) for e in (1.0, 2.0)], 2.0)
    >>> values, levels = np.repeat(["a", "b", "c"], [6000, 3000, 1000]), np.arange(10_000) % 2
    >>> sent = made.sample(values, levels, np.random.default_rng(1))
    >>> found = auem(PersonalisedCounts.from_reports(made, sent))
    >>> found.value.round(2), found.std_error.round(2)  # the truth is 0.6, 0.3 and 0.1
    (array([0.61, 0.31, 0.09]), array([0.01, 0.01, 0.01]))
    """
    check_target(target)
    size = len(categories_of(counts.mechanism))
    require_affordable(f"the covariance of {size} frequencies", table_cost(size, size), "use fewer categories")
    shares = level_shares(counts)
    own, other = require_pure(counts.mechanism)
    found = invert_supports(counts, shares.value)
    inverse = counts.mechanism.level_report.decoder
    scale = float(shares.value @ (own - other))
    reach, floor = inverse @ (own - other), inverse @ other  # P - Q and Q, by reported level
    n = counts.n_users
    covariance = _influence(counts, found, reach, floor) / (n * scale**2)
    if target == "users":
        near = norm_sub(found)
        covariance -= (np.diag(near) - np.outer(near, near)) / n
    categories = categories_of(counts.mechanism)
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return PersonalisedFrequencies(
        categories, found, errors, covariance, target, "unbiased", n, None, len(categories), level_shares=shares
    )


def auem_variance(
    mechanism: PersonalisedMechanism, shares: ArrayLike, frequencies: ArrayLike, *, target: Target = "population"
) -> np.ndarray:
    r"""Return the variance of each of `auem`'s frequencies before anything is collected, times the number of users.

    With rho the shares, f the frequencies, m_ij = f_j p_i + (1 - f_j) q_i the probability that a report of level i
    supports category j, and c_lj = Q_l + f_j (P_l - Q_l) as in `auem`,

        n var(f_j) = sum_i rho_i sum_l T[i, l] (m_ij (1 - 2 c_lj) + c_lj^2) / (p* - q*)^2,

    It is the mean of psi_u^2 to first order, less f_j (1 - f_j) for the frequencies of the users themselves.

    Parameters
    ----------
    mechanism : PersonalisedMechanism
        Of pure protocols or randomised response.
    shares : (t,) array_like
        Of the users at each level, summing to 1.
    frequencies : (K,) array_like
        Of the categories, from 0 to 1; each counts by itself, so that a list of zeros stands for rare categories.
    target : {"users", "population"}

    Returns
    -------
    (K,) ndarray

    Raises
    ------
    InputError
        Levels that are not pure, shares or frequencies of another size or out of range, or shares with which reports
        carry no information.

    Source
    ------
    Wu, Zhu, Zhang and Xie (2024), theorem 5.3, corrected: as printed it leaves out what the shares' estimate has in
    common with the supports.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.personalised import auem_variance
    >>> from optldp.mechanisms.categorical.unary_encoding import optimised_unary
    >>> from optldp.mechanisms.combinators.personalised import PersonalisedMechanism
    >>> made = PersonalisedMechanism([optimised_unary(["a", "b", "c"], e) for e in (1.0, 2.0)], 1.0)
    >>> planned = auem_variance(made, [0.5, 0.5], [0.6, 0.3, 0.1])
    >>> np.sqrt(planned / 10_000).round(3)
    array([0.016, 0.015, 0.014])
    """
    check_target(target)
    own, other = require_pure(mechanism)
    rho, f = numbers("shares", shares), numbers("frequencies", frequencies)
    if rho.shape != own.shape or (rho < 0).any() or abs(rho.sum() - 1) > SHARE_SUM:
        raise InputError(f"shares must be {own.size} numbers from 0 to 1 that sum to 1, got {shares!r:.80}")
    size = len(categories_of(mechanism))
    if f.shape != (size,) or (f < 0).any() or (f > 1).any():
        raise InputError(f"frequencies must be {size} numbers from 0 to 1, got {frequencies!r:.80}")
    scale = _scale(rho, own - other)
    response, inverse = mechanism.level_response, mechanism.level_report.decoder
    supported = other[:, None] + (own - other)[:, None] * f  # m (t, K)
    place = (inverse @ other)[:, None] + (inverse @ (own - other))[:, None] * f  # c (t, K)
    spread = supported * (1 - 2 * (response @ place)) + response @ place**2
    own_sampling = f * (1 - f) if target == "users" else 0.0
    return rho @ spread / scale**2 - own_sampling


def invert_supports(counts: PersonalisedCounts, shares: ArrayLike) -> np.ndarray:
    """Return the frequencies (K,) that the supports show if the levels had these shares.

    With the true shares it is unbiased; where they are public and levels are not reported at all, it is all that
    can be done (PBP).

    Parameters
    ----------
    counts : PersonalisedCounts
    shares : (t,) array_like of float

    Raises
    ------
    InputError
        No reports, levels that are not pure, shares of another size or with which reports tell nothing.

    Source: Wu, Zhu, Zhang and Xie (2024), equation (3); Takagi, Cao and Yoshikawa (2020), "Data collection via local
    differential privacy with secret parameters", for two levels of public shares.

    Example
    -------
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> from optldp.mechanisms.combinators.personalised import PersonalisedMechanism, PersonalisedReports
    >>> made = PersonalisedMechanism([categorical_grr(["yes", "no"], e) for e in (0.5, 1.0)], 0.1)
    >>> reports = PersonalisedReports(np.zeros(100, dtype=int), np.repeat([0, 1], [60, 40]))
    >>> invert_supports(PersonalisedCounts.from_reports(made, reports), [0.5, 0.5]).round(3)
    array([0.783, 0.217])
    """
    counts.require_reports()
    own, other = require_pure(counts.mechanism)
    rho = numbers("shares", shares)
    if rho.shape != own.shape:
        raise InputError(f"shares must be {own.size} numbers, one for each level, got {rho.size}")
    return (counts.support_counts().sum(axis=0) / counts.n_users - rho @ other) / _scale(rho, own - other)


def _scale(shares: np.ndarray, differences: np.ndarray) -> float:
    """Return p* - q*; InputError where it says nothing."""
    scale = float(shares @ differences)
    if scale == 0.0 or not np.isfinite(scale):
        raise InputError("shares must leave reports some meaning, got ones whose supports say nothing: use others")
    return scale


def clipped(frequencies: ArrayLike) -> np.ndarray:
    """Return frequencies with the negative ones set to zero, divided by their sum; even ones if none is positive.

    All are negative where the estimated p* - q* has the wrong sign, which happens at small `level_epsilon`.

    Source: what Wu, Zhu, Zhang and Xie's (2024) experiments do to AUEM; see `norm_sub` for the projection.

    Example
    -------
    >>> clipped([0.6, 0.6, -0.2])
    array([0.5, 0.5, 0. ])
    """
    kept = np.maximum(numbers("frequencies", frequencies), 0.0)
    return kept / kept.sum() if kept.any() else np.full(kept.size, 1.0 / kept.size)


def _influence(counts: PersonalisedCounts, found: np.ndarray, reach: np.ndarray, floor: np.ndarray) -> np.ndarray:
    """Average over the users (K, K) of the products of S_uj - Q(l_u) - f_j (P(l_u) - Q(l_u)) over categories j."""
    supports = counts.support_counts()
    place = floor[:, None] + reach[:, None] * found  # (t, K)
    cross = supports.T @ place
    alone = (place.T * counts.level_counts) @ place
    return (_joint_supports(counts, supports) - cross - cross.T + alone) / counts.n_users


def _joint_supports(counts: PersonalisedCounts, supports: np.ndarray) -> np.ndarray:
    """How many users' reports (K, K) support both of two categories."""
    if (statistic := as_supports(counts.mechanism.levels[0].statistic)) is None:  # randomised response
        return np.diag(supports.sum(axis=0))
    bits, size = statistic.support(counts.reports), supports.shape[1]
    return BitLikelihood(bits, counts.counts, size, low=0.0, high=1.0).curvature(counts.counts.astype(np.float64))
