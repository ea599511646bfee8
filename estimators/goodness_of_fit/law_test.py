r"""Whether counts can be of a mixture of known laws: the likelihood ratio of the best mixture to the counts themselves.

With N of n users in cell o, a law P (K, m) and weights w on the simplex,

    G = 2 min_w sum_o N_o log(N_o / (n (P^T w)_o)).

At the true weights it is larger, so that its law there, near chi-squared of m - 1 degrees, is above that of G whatever
the true weights are, on an edge of the simplex or not: no degrees are taken off for weights that were fitted. The
minimum need not be found: what may be missing to it is taken off instead.
"""

from __future__ import annotations

import hashlib
import math

import numpy as np
from scipy.special import chdtrc, xlogy

from ...solvers.likelihood.dense import DenseLikelihood
from ...solvers.likelihood.fit import MixtureFit, fit_mixture

LEVEL = 1e-4
"""Probability below which counts are said not to fit."""

MANY = 20.0
"""Users expected in each cell from which on G over Williams' factor is chi-squared: 1.2e-4 of draws at most are beyond
the level then, at the true weights, and fewer for the best ones (measured)."""

DRAWS, ENOUGH = 19_999, 20
"""Tables of counts drawn at most where a cell has fewer users, and how many of them as far off are enough to stop."""

AT_ONCE, MOST_DRAWN = 2**19, 2**27
"""Numbers drawn at once, and in all."""

FEW_LAWS = 129
"""Laws that are fitted at first, of more of them evenly chosen; those that others miss are added."""

ROUNDS, ADDED = 12, 32
"""How often some are added, and how many."""

SMALL_GAP = 0.05
"""Log-likelihood, in nats, that may be missing to the best mixture."""

RANK_NUMBERS = 2**18
"""Size of a matrix up to which its rank is computed; of a larger one it is taken to be full."""


def law_p_value(law: np.ndarray, counts: np.ndarray) -> float | None:
    """Return at most how probable counts as far from every mixture of laws are; None where nothing can be tested.

    That is so where mixtures have as many free values as there are cells, and counts are not beyond them all.

    Parameters
    ----------
    law : (K, m) ndarray of float
        Probabilities of m cells under each of K laws.
    counts : (m,) ndarray
        Of users, each in one cell.

    Returns
    -------
    p_value : float, optional
        Of a conservative test: below 1e-4 at most once in 10,000 times where the counts are of a mixture.

    Source: Williams (1976), "Improved likelihood ratio tests for complete contingency tables"; Agrawal (2020),
    "Finite-sample concentration of the multinomial in relative entropy", theorem 1.2; Besag and Clifford (1991),
    "Sequential Monte Carlo p-values".

    Example
    -------
    >>> law = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
    >>> law_p_value(law, np.array([400, 310, 290])) > 0.01, law_p_value(law, np.array([400, 200, 400])) < 1e-4
    (True, True)
    >>> law_p_value(law[:, [0, 2]] / 0.7, np.array([500, 500])) is None
    True
    """
    possible = law.any(axis=0)
    if counts[~possible].any():
        return 0.0
    law, counts = law[:, possible], np.asarray(counts, dtype=np.float64)[possible]
    if not counts.any() or counts.size < 2:
        return None
    p_value = _p_value(law, counts)
    return p_value if p_value < LEVEL or _rank(law) < counts.size else None


def _rank(law: np.ndarray) -> int:
    return int(np.linalg.matrix_rank(law)) if law.size <= RANK_NUMBERS else min(law.shape)


def _p_value(law: np.ndarray, counts: np.ndarray) -> float:
    """Fit few laws, then those that are missed, until the best mixture is known well enough, or is seen to fit."""
    many, total, p_value = len(law), counts.sum(), 1.0
    active = np.unique(np.linspace(0, many - 1, min(many, FEW_LAWS)).astype(np.int64))
    for _ in range(ROUNDS):
        likelihood = DenseLikelihood([law[active]], counts)
        fit = fit_mixture(likelihood)
        mixed = likelihood.mix(fit.weights)
        gains = law @ (likelihood.ratio(mixed) / total) - 1.0
        gap = total * math.log1p(max(0.0, float(gains.max())))
        deviance = 2.0 * float(np.sum(xlogy(counts, counts / (total * mixed))))
        p_value = _beyond(max(0.0, deviance - 2.0 * gap), total * mixed, counts)
        if gap <= SMALL_GAP or p_value < LEVEL or len(active) == many:
            break
        active = _with_missed(active, fit, gains)
    return p_value


def _with_missed(active: np.ndarray, fit: MixtureFit, gains: np.ndarray) -> np.ndarray:
    """The laws that have a weight, and those that would gain most where they are better than their neighbours."""
    padded = np.concatenate([[-np.inf], gains, [-np.inf]])
    peaks = np.flatnonzero((gains > 0) & (gains >= padded[:-2]) & (gains >= padded[2:]))
    missed = peaks[np.argsort(-gains[peaks])][:ADDED]
    return np.unique(np.concatenate([active[fit.weights > 0], missed]))


def _beyond(deviance: float, expected: np.ndarray, counts: np.ndarray) -> float:
    """Return at most how probable a larger G is, of counts that are expected to be these."""
    degrees, total = expected.size - 1, expected.sum()
    if expected.min() >= MANY:
        factor = 1.0 + (float(np.sum(total / expected)) - 1.0) / (6.0 * total * degrees)
        return float(chdtrc(degrees, deviance / factor))
    half = 0.5 * deviance
    if half > degrees and (bound := math.exp(degrees - half + degrees * math.log(half / degrees))) < LEVEL:
        return bound
    return _drawn_beyond(deviance, expected, counts)


def _drawn_beyond(deviance: float, expected: np.ndarray, counts: np.ndarray) -> float:
    """Return the share of drawn counts whose own G, at the law that they are drawn by, is as large."""
    rng = np.random.default_rng(int.from_bytes(hashlib.sha256(counts.tobytes()).digest()))
    total = int(counts.sum())
    law = expected / expected.sum()
    most = min(DRAWS, MOST_DRAWN // law.size)
    drawn, beyond, each = 0, 0, 2 * ENOUGH  # most counts are nothing strange, and seen to be soon
    while drawn < most and beyond < ENOUGH:
        tables = rng.multinomial(total, law, min(each, most - drawn))
        found = 2.0 * xlogy(tables, tables / (total * law)).sum(axis=1)
        # A drawn table like the one observed has its deviance but for the order of sums: it is as far out.
        drawn, beyond = drawn + len(tables), beyond + int(np.count_nonzero(found >= deviance * (1 - 1e-12)))
        each = min(2 * each, max(1, AT_ONCE // law.size))
    return (1 + beyond) / (1 + drawn)
