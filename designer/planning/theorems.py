"""What the papers prove of errors before anyone is asked, each in the form that holds."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from ...estimators.means.decoder import mean_decoder
from ...estimators.means.unbiasing import normalised
from ...mechanisms import InputError, TabulatedMechanism
from ...mechanisms.budget import check_epsilon
from ...mechanisms.table.moments import largest_variance


def mean_deviation(
    mechanism: TabulatedMechanism, n: int, chance: float, *, attributes: int = 1, sampled: int = 1
) -> float:
    r"""Return the error that the average of n decoded reports exceeds with at most this probability, for all values.

    With V the largest variance of a decoded report over all inputs, R how far one can lie from its input and
    L = ln(2 / chance), Bernstein's inequality gives, for every n,

        gamma = (R L / 3 + sqrt((R L / 3)^2 + 2 n V L)) / n.

    Where each user reports k of d attributes, drawn at random, and the average is of (d / k) times the decoded report,
    from the domain's middle and 0 for those who do not report, V, R and L become

        max over x of (d / k) (V(x) + x^2) - x^2,    (d / k) max |report| + max |x|,    ln(2 d / chance),

    Here gamma holds for all attributes at once; all of them have this mechanism.

    Parameters
    ----------
    mechanism : TabulatedMechanism
        Mechanism of the reports; for attributes the one with budget epsilon / k.
    n : int
        Users.
    chance : float
        beta of the paper, in (0, 1).
    attributes, sampled : int
        d and k.

    Returns
    -------
    gamma : float
        In the units of the inputs.

    Raises
    ------
    InputError
        Numbers out of range, or reports without a bound.

    Source
    ------
    OPTT (Ma, Zhu and Wang), theorems 5 and 11, whose orders sqrt(ln(1 / beta)) / (epsilon sqrt n) and
    sqrt(d ln(d / beta)) / (epsilon sqrt n) hold for small epsilon and n epsilon^2 large alone: their proof drops the
    term of R. Here both terms stand, for any table.

    Example
    -------
    >>> from optldp.designer.planning import mean_deviation
    >>> from optldp.mechanisms import duchi
    >>> round(mean_deviation(duchi([-1.0, 1.0], 1.0), 10_000, 0.05), 4)
    0.0592
    """
    for name, value, least in (("n", n, 1), ("sampled", sampled, 1), ("attributes", attributes, sampled)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise InputError(f"{name} must be a whole number of at least {least}, got {value!r}")
    if not 0.0 < chance < 1.0:
        raise InputError(f"chance must lie strictly between 0 and 1, got {chance!r}")
    decoder, knots = mean_decoder(mechanism), mechanism.knots
    ends = mechanism.low[mechanism.possible], mechanism.high[mechanism.possible]
    if decoder.values is None and not np.isfinite(ends).all():
        raise InputError("reports must be bounded, got tails that are averaged raw: use fewer knots")
    middle, half = (knots[0] + knots[-1]) / 2, (knots[-1] - knots[0]) / 2
    places, times = knots - middle, attributes / sampled
    farthest = max(abs(extreme.value - middle) for extreme in decoder.extremes)
    second = decoder.knot_variances + places**2  # straight between knots, as moments are
    spread = largest_variance(knots, places, times * second - places**2)[0]
    reach, log = times * farthest + half, math.log(2.0 * attributes / chance)
    term = reach * log / 3
    return float(term + math.sqrt(term**2 + 2.0 * n * spread * log)) / n


def ptt_worst_case_bound(epsilon: float) -> float:
    r"""Return a lower bound on the worst-case variance of every type I PTT on [-1, 1], tight as epsilon falls.

    With u = 1 / (E - 1) the worst-case variance is, from k = 1 + eta u and a = k / (eta - 1),

        eta^4 u^2 / (3 (eta - 1)^2) + [eta + (eta^3 + eta) / (3 (eta - 1)^2)] u + 1 / (3 (eta - 1)^2),

    whose first two coefficients are at least theta_1 = 16/3, at eta = 2, and theta_2 = 5.1527, at eta = 2.3247:

        theta_1 / (E - 1)^2 + theta_2 / (E - 1).

    Parameters
    ----------
    epsilon : float

    Returns
    -------
    bound : float

    Source
    ------
    OPTT (Ma, Zhu and Wang), equation (43), whose theta_1 = 9/4 and theta_2 = 3.3256 follow from bounds (35) of a that
    leave normalisation out. The least worst case itself is `ptt_variance(1, epsilon, optimal_eta(epsilon))`.

    Example
    -------
    >>> from optldp.designer.planning import ptt_worst_case_bound
    >>> from optldp.mechanisms.families.ptt import optimal_eta, ptt_variance
    >>> [round(float(ptt_variance(1, e, optimal_eta(e))) / ptt_worst_case_bound(e), 3) for e in (0.01, 0.1, 1.0)]
    [1.0, 1.004, 1.054]
    """
    excess = math.expm1(check_epsilon(epsilon))
    return (16 / 3) / excess**2 + _theta_2() / excess


def _theta_2() -> float:
    found = minimize_scalar(_linear_coefficient, bounds=(1.5, 4.0), method="bounded", options={"xatol": 1e-9})
    return float(found.fun)


def _linear_coefficient(eta: float) -> float:
    return eta + (eta**3 + eta) / (3 * (eta - 1) ** 2)


def reduction_error(rows: ArrayLike, weights: ArrayLike, member: ArrayLike, n: int) -> tuple[float, float]:
    r"""Return the mean squared error of weights that are spread evenly in groups, split into noise and spreading.

    The groups' weights W are fitted to n reports by maximum likelihood with the averages of their rows, R, and J is
    the information of one report, J = R diag(1 / (W R)) R^T.  To first order

        noise = sum over groups of (J^-1 - W W^T)_gg / (n h_g K),    spreading = sum over groups of h_g sigma_g^2 / K,

    h_g the components of a group and sigma_g^2 the variance of their true weights; J^-1 - W W^T is the Cramer-Rao bound
    of weights that add up to one.  With every component by itself the noise is that of EM at its maximum. It holds for
    groups chosen without the reports, if no weight is near zero. Groups chosen by the estimate, as in mixture
    reduction, collect weights that noise made small, and err more: "EM-MR, claim by claim", 8.

    Parameters
    ----------
    rows : (K, m) array_like of float
        Probability of each report under each component.
    weights : (K,) array_like of float
        The true ones; divided by their sum.
    member : (K,) array_like of int
        The group 0..G-1 of each component.
    n : int
        Reports.

    Returns
    -------
    (noise, spreading) : tuple of float

    Raises
    ------
    InputError
        Shapes that do not go together, or rows that cannot tell the groups apart.

    Source
    ------
    Ye, Wang, Zhang and Feng (2025), proposition 1, whose first term, K' / K times the error of EM, takes all weights to
    err alike and independently: for randomised response at even weights the factor is (K' - 1) / (K - 1).

    Example
    -------
    >>> import numpy as np
    >>> from optldp.designer.planning import reduction_error
    >>> grr = np.full((4, 4), 0.2) + np.diag(np.full(4, 0.2))
    >>> single, pairs = (reduction_error(grr, np.ones(4), member, 1000) for member in ([0, 1, 2, 3], [0, 0, 1, 1]))
    >>> round(pairs[0] / single[0], 3), pairs[1]  # K' / K is 0.5
    (0.333, 0.0)
    """
    table, groups = np.asarray(rows, dtype=np.float64), np.asarray(member, dtype=np.int64)
    if table.ndim != 2 or groups.shape != (len(table),):
        raise InputError(f"rows and member must be of one length, got shapes {table.shape} and {groups.shape}")
    true = normalised("weights", len(table), weights)
    sizes = np.bincount(groups)
    if (sizes == 0).any() or n < 1:
        raise InputError(f"no group may be empty and n must be at least 1, got sizes {sizes.tolist()} and n = {n!r}")
    shares = np.bincount(groups, true)
    averaged = np.zeros((sizes.size, table.shape[1]))
    np.add.at(averaged, groups, table / sizes[groups, None])
    chance = shares @ averaged
    information = (averaged[:, chance > 0] / chance[chance > 0]) @ averaged[:, chance > 0].T
    if np.linalg.matrix_rank(information) < sizes.size:
        raise InputError("rows must tell the groups apart, got a singular information: merge more of them")
    variances = np.diag(np.linalg.inv(information)) - shares**2
    noise = float(np.sum(variances / sizes)) / (n * len(table))
    return noise, float(np.mean((true - (shares / sizes)[groups]) ** 2))


def variance_range(mechanism: TabulatedMechanism, relative_error: float) -> tuple[float, float]:
    r"""Return the least and the largest expected variance if the table's prior is off by this relative error.

    With |p_i - p^_i| <= psi p_i for the true prior p and the table's p^, p_i lies within p^_i / (1 + psi) and
    p^_i / (1 - psi) and adds up to one; the expected variance V is linear over these, so filling up from one end finds
    its extremes.  It follows that

        -psi / (1 - psi) <= (V^ - V) / V^ <= psi / (1 + psi).

    Parameters
    ----------
    mechanism : TabulatedMechanism
        With a prior; its variances are those at knots.
    relative_error : float
        psi, in [0, 1).

    Returns
    -------
    (least, most) : tuple of float
        Squared units of the inputs.

    Raises
    ------
    InputError
        A table without a prior, or a relative error outside [0, 1).

    Source
    ------
    Wei et al. (2024), claim 3, whose bound of |phi|, the smaller of psi / (1 + psi) and psi / (1 - psi), holds on one
    side alone: the larger one is what bounds both.

    Example
    -------
    >>> from optldp.designer.planning import variance_range
    >>> from optldp.mechanisms import piecewise
    >>> from optldp.mechanisms.table.knot_prior import KnotPrior
    >>> table = piecewise([-1.0, 0.0, 1.0], 1.0).with_prior(KnotPrior([0.2, 0.6, 0.2], [0.0, 0.0], "public"))
    >>> [round(one, 3) for one in variance_range(table, 0.5)]
    [4.093, 4.607]
    """
    if mechanism.prior is None:
        raise InputError("a table with its prior is needed, got one without: use with_prior")
    if not 0.0 <= relative_error < 1.0:
        raise InputError(f"relative_error must lie in [0, 1), got {relative_error!r}")
    prior = mechanism.prior.weights
    order = np.argsort(mechanism.knot_variances, kind="stable")
    least, most = (_filled(prior[way], mechanism.knot_variances[way], relative_error) for way in (order, order[::-1]))
    return least, most


def _filled(prior: np.ndarray, variances: np.ndarray, psi: float) -> float:
    """Return the sum of variances under the prior whose first values have as much as they may."""
    low, high = prior / (1 + psi), prior / (1 - psi)
    room = np.clip(1.0 - low.sum() - np.append(0.0, np.cumsum(high - low)[:-1]), 0.0, high - low)
    return float((low + room) @ variances)
