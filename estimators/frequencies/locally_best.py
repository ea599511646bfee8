r"""The unbiased estimates that vary least where frequencies are thought to be, and their variance at any others.

With L the probabilities of reports under the categories, up to a factor for each report, and m = L w at a place w,
every user adds the scores phi_k = L_ok / m_o, whose mean under frequencies theta is G theta with

    G = sum_o m_o phi_o phi_o^T.

So u = w + G^-1 (mean score - 1) is unbiased, whatever w is, and at theta = w no unbiased estimate varies less.  Where
the reports can be listed G is summed over all of them; else over those that were made, and u is a step of Newton's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ...mechanisms.statistics import Outputs, Supports, unread
from ...solvers.likelihood.fit import MOST_COMPONENTS
from ...solvers.one_thread import one_thread
from ..methods import Target
from .category_counts import CategoryCounts
from .consistency import norm_sub
from .decoder import FrequencyDecoder, TableDecoder, frequency_decoder
from .score import Score
from .shrinkage import shrunk
from .support_counts import SupportCounts

MOST_NUMBERS = 2**25
"""Reports times categories whose scores are written down, 256 MiB."""

MOST_OPERATIONS = 2**35
"""R K^2 for the information, a few seconds; beyond, support counts are all that is used."""

USERS_PER_CATEGORY = 20
"""Users for each category from which their reports stand for all possible ones: the information errs by about the root
of one over this number, and the estimate by the product of two such errors."""

MOST_EVEN = 0.05
"""Of even frequencies in the place, at most; one over the root of n where that is less, as a step of Newton's from
there
errs by its square."""

LEAST_SHARE = 1e-9
"""Of even frequencies where variances are taken: enough for others to be there when one category has all."""


class Scores(NamedTuple):
    """Of all categories.

    Attributes
    ----------
    score : Score
    covariance : (K, K) ndarray, or None
        Of its values; None where support counts alone were used, and of more than 4096 categories.
    """

    score: Score
    covariance: np.ndarray | None


def locally_best_scores(
    counts: CategoryCounts | SupportCounts, *, at: np.ndarray | None = None, target: Target = "population"
) -> Scores:
    """Return scores for the intervals of the frequencies of all categories, of the estimates that vary least.

    Of support counts, and where the information would take too long, they are `plain_scores`; else the estimates are
    best at the shrunken frequencies.

    Parameters
    ----------
    counts : CategoryCounts or SupportCounts
    at : (K,) ndarray of float, optional
        Frequencies on the simplex at which variances are taken. Default: the shrunken ones.
    target : {"users", "population"}

    Raises
    ------
    InputError
        No reports, or a table whose reports cannot tell the categories apart.

    Example
    -------
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> counts = CategoryCounts.from_reports(categorical_grr("abc", 1.0), np.repeat([0, 1, 2], [560, 250, 190]))
    >>> score, covariance = locally_best_scores(counts)
    >>> score.value.round(3), np.sqrt(np.diag(covariance)).round(3)
    (array([ 0.956,  0.105, -0.06 ]), array([0.043, 0.037, 0.036]))
    """
    counts.require_reports()
    place = _place(counts)
    at = _inside(place if at is None else at, LEAST_SHARE)
    if isinstance(counts, CategoryCounts):
        place = inside(place, counts.n_users)
        match counts.mechanism.statistic:
            case Outputs() as outputs:
                return plain_scores(TableDecoder(outputs, place), counts, at, target)
            case Supports() as supports:
                with one_thread():
                    found = _of_reports(counts, supports, place, at, target)
                if found is not None:
                    return found
            case statistic:
                raise unread(statistic)
    return plain_scores(frequency_decoder(counts.mechanism), counts, at, target)._replace(covariance=None)


def plain_scores(
    decoder: FrequencyDecoder, counts: CategoryCounts | SupportCounts, at: np.ndarray, target: Target
) -> Scores:
    """Return the scores of a decoder's estimates; those of a pure protocol are exact, of binomial law.

    Example
    -------
    >>> from optldp.mechanisms.categorical.unary_encoding import optimised_unary
    >>> counts = SupportCounts(optimised_unary("abc", 1.0), np.array([300, 290, 500]), 1000)
    >>> found = plain_scores(frequency_decoder(counts.mechanism), counts, np.array([0.0, 0.0, 1.0]), "population")
    >>> found.score.interval(0.95).low.round(3)
    array([0.015, 0.   , 0.866])
    """
    at = _inside(at, LEAST_SHARE)
    own, others = decoder.second_moments(at)
    covariance = decoder.covariance(at) if at.size <= MOST_COMPONENTS else None
    if target == "population" and covariance is not None:
        covariance = covariance + np.diag(at) - np.outer(at, at)
    score = score_of_moments(decoder.frequencies(counts), own, others, counts.n_users, target)
    return Scores(score, None if covariance is None else covariance / counts.n_users)


def _place(counts: CategoryCounts | SupportCounts) -> np.ndarray:
    """The plain decoder's estimates, shrunken."""
    decoder = frequency_decoder(counts.mechanism)
    plain = decoder.frequencies(counts)
    near = norm_sub(plain)
    variances = decoder.variances(near) + near * (1.0 - near)
    return shrunk(plain, np.sqrt(np.maximum(variances, LEAST_SHARE) / counts.n_users))


def inside(place: np.ndarray, n: float) -> np.ndarray:
    """Return frequencies of which n users' reports cannot say that they are others, and none is zero or one.

    Example
    -------
    >>> inside(np.array([1.0, 0.0]), 10_000)
    array([0.995, 0.005])
    """
    return _inside(place, min(MOST_EVEN, n**-0.5))


def _inside(place: np.ndarray, share: float) -> np.ndarray:
    """Frequencies, with a share of even ones: none of them is zero or one."""
    return (1.0 - share) * place + share / place.size


def _of_reports(
    counts: CategoryCounts, made: Supports, place: np.ndarray, at: np.ndarray, target: Target
) -> Scores | None:
    """By the scores of the reports, if they are not too many, and not too few to stand for all possible ones."""
    size, n, listed = place.size, counts.n_users, made.n_listed is not None
    many = counts.counts.size if made.n_listed is None else made.n_listed
    if size > MOST_COMPONENTS or many * size > MOST_NUMBERS or many * size**2 > MOST_OPERATIONS:
        return None
    if not listed and n < USERS_PER_CATEGORY * size:
        return None
    supports = made.support(made.all_reports()) if listed else counts.supports
    scores = np.unpackbits(supports, axis=1, count=size).astype(np.float64)
    scores *= made.support_ratio - 1.0
    scores += 1.0
    mixed, elsewhere = scores @ place, scores @ at
    scores /= mixed[:, None]
    seen = np.zeros(many)
    seen[counts.reports if listed else slice(None)] = counts.counts / n
    # Listed reports are as likely under frequencies as their supports' shares say, up to one factor for all.
    chance, there = (mixed / mixed.sum(), elsewhere / elsewhere.sum()) if listed else (seen, seen)
    try:
        factor = cho_factor((scores.T * chance) @ scores, lower=True)
    except LinAlgError:
        return None
    inverse = cho_solve(factor, np.eye(size))
    along = inverse.sum(axis=1)
    inverse -= np.outer(along, along) / along.sum()  # frequencies add up to one
    value = place + inverse @ (seen @ scores)
    numbers = scores @ inverse + place
    squares = numbers**2
    own = np.einsum("o,ok,ok->k", there * mixed / elsewhere, scores, squares)
    others = (there @ squares - at * own) / (1.0 - at)
    covariance = (numbers.T * there) @ numbers - np.outer(at, at)
    if target == "users":
        covariance -= np.diag(at) - np.outer(at, at)
    return Scores(score_of_moments(value, own, others, n, target), covariance / n)


def score_of_moments(value: np.ndarray, own: np.ndarray, others: np.ndarray, n: int, target: Target) -> Score:
    """Return the score of values (K,), by the mean squares of a category's numbers for its own users and others'.

    Example
    -------
    >>> found = score_of_moments(np.array([0.3]), np.array([1.0]), np.array([0.0]), 100, "population")
    >>> found.variances(np.array([0.3]))
    array([0.21])
    """
    if target == "users":
        return Score(value, others, own - others - 1.0, 0.0, n)
    return Score(value, others, own - others, -1.0, n)
