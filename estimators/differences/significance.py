"""Which categories are more frequent than noise alone would show, with all of them looked at together."""

from __future__ import annotations

import numpy as np
from scipy.special import betainc, ndtr

from ...mechanisms.statistics import Outputs, Supports, unread
from ..frequencies.category_counts import CategoryCounts
from ..frequencies.consistency import norm_sub
from ..frequencies.score import LEAST_VARIANCE
from ..frequencies.support_counts import SupportCounts, support_counts, supports_of
from ..intervals import CONFIDENCE, check_confidence
from .report_numbers import category_numbers
from .tally import SAME, Tally


def above_noise(counts: CategoryCounts | SupportCounts | Tally, *, confidence: float = CONFIDENCE) -> np.ndarray:
    """Return the categories (K,) that somebody holds, with this confidence for all of them at once.

    Each category's test computes the probability that at least so many reports support it if nobody has it. Holm's
    procedure goes through the K probabilities from the least on, and stops at the j-th that is above (1 - confidence) /
    (K + 1 - j). The probability that it returns any category that nobody has is at most 1 - confidence, under every
    dependence between the tests.

    A report of a pure protocol, or of randomised response, supports the category or not, so the number is binomial if
    nobody has it, and the probability is exact. Other tables, and users with different weights, use a normal law of the
    estimate with the noise at frequency zero.

    Parameters
    ----------
    counts : CategoryCounts, SupportCounts, or Tally of categories
    confidence : float
        Strictly between 0 and 1.

    Returns
    -------
    above : (K,) ndarray of bool

    Raises
    ------
    InputError
        A confidence outside (0, 1), or a table whose reports cannot tell the categories apart.

    Source: Holm (1979), "A simple sequentially rejective multiple test procedure".

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import CategoryCounts
    >>> from optldp.estimators.differences import above_noise
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> grr = categorical_grr(["red", "green", "blue"], 3.0)
    >>> above_noise(CategoryCounts.from_reports(grr, np.repeat([0, 1, 2], [900, 50, 50])))
    array([ True, False, False])
    """
    check_confidence(confidence)
    chances = _of_supports(counts) if isinstance(counts, SupportCounts) else tails(Tally.of(counts))
    order = np.argsort(chances, kind="stable")
    limits = (1.0 - confidence) / np.arange(chances.size, 0, -1)
    failed = chances[order] > limits
    passed = int(np.argmax(failed)) if failed.any() else chances.size
    above = np.zeros(chances.size, dtype=bool)
    above[order[:passed]] = True
    return above


def tails(tally: Tally) -> np.ndarray:
    """Return the chance (K,) of each category's reports, or more that speak for it, if nobody has it.

    Example
    -------
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> counts = CategoryCounts.from_reports(categorical_grr("ab", 1.0), np.repeat([0, 1], [30, 50]))
    >>> tails(Tally.of(counts)).round(4)  # of 80 reports, each with the chance 1 / (e + 1)
    array([0.0247, 0.    ])
    """
    numbers = category_numbers(tally)
    mechanism, decoder = numbers.mechanism, numbers.decoder
    match mechanism.statistic if tally.alike else None:
        case Supports() as supports:
            spoken = support_counts(supports.support(tally.reports), tally.users, len(mechanism.categories))
            return _binomial(spoken, tally.n_users, np.full(spoken.size, supports.other_support))
        case Outputs(law):
            speaking, chance = _two_valued(law, decoder.numbers(np.arange(law.shape[1])))
            if not np.isnan(chance).any():
                seen = np.bincount(tally.reports, tally.users, law.shape[1])
                return _binomial(speaking @ seen, tally.n_users, chance)
        case None:
            pass
        case statistic:
            raise unread(statistic)
    value = decoder.average(tally.reports, tally.weights / tally.weights.sum())
    place = norm_sub(decoder.average(tally.reports, tally.squares / tally.squares.sum()))
    others = decoder.second_moments(np.minimum(place, 1.0 - SAME))[1]
    return ndtr(-value / np.sqrt(np.maximum(others, LEAST_VARIANCE) / tally.effective_n))


def _of_supports(counts: SupportCounts) -> np.ndarray:
    chance = supports_of(counts.mechanism).other_support
    return _binomial(counts.supports, counts.n_users, np.full(counts.supports.size, chance))


def _binomial(spoken: np.ndarray, n: int, chance: np.ndarray) -> np.ndarray:
    """The chance of so many or more of n, each with a chance."""
    least = np.maximum(spoken, 1.0)
    return np.where(spoken > 0, betainc(least, n + 1.0 - least, chance), 1.0)


def _two_valued(probabilities: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which outputs (K, m) speak for each category, and how likely (K,) under all others; NaN where they are unlike."""
    high, low = numbers.max(axis=0), numbers.min(axis=0)
    off = SAME * (high - low)
    speaking = numbers >= high - off
    two = (speaking | (numbers <= low + off)).all(axis=0)
    under = probabilities @ speaking
    np.fill_diagonal(under, np.nan)
    most, least = np.nanmax(under, axis=0), np.nanmin(under, axis=0)
    return speaking.T.astype(float), np.where(two & (most - least <= SAME), most, np.nan)
