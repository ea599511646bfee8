r"""What all categories have together that are not shown, although their estimates decided which are shown.

The u_k that are below a limit c are low by chance, too: with the error e_k of u_k normal, of standard deviation s_k,

    E sum (u_k - f_k) 1(u_k < c) = - sum s_k phi((c - f_k) / s_k) = - sum s_k^2 p_k(c),

p_k the density of u_k.  A kernel of half a standard deviation estimates p_k(c) by the estimates near c themselves, so
the sum is corrected where many categories crowd about the limit, and left alone where there is a gap.
"""

from __future__ import annotations

import numpy as np

from ...mechanisms.errors import InputError
from ..estimate import NumberEstimate, check_target
from ..frequencies.category_counts import CategoryCounts
from ..methods import Target
from .report_numbers import category_numbers
from .tally import Tally
from .weighted import WeightedFrequencies, estimate_weighted

KERNEL = 0.5
"""Width of the kernel, in standard deviations of an estimate: narrow against what it is to find, and some estimates
wide."""


def estimate_others(
    counts: CategoryCounts | Tally, shown: np.ndarray, *, target: Target = "population"
) -> NumberEstimate:
    """Estimate the total frequency of the categories that are not shown, given that the largest are shown.

    Parameters
    ----------
    counts : CategoryCounts, or Tally of categories
    shown : (K,) ndarray of bool
        The categories of the largest estimates; not all.
    target : {"population", "users"}
        Whose share it is. For these very users their sampling variance, s (1 - s) for a share s, is taken out.

    Returns
    -------
    together : NumberEstimate
        It uses unbiased numbers for every method, because a sum of biased ones has no interval.

    Raises
    ------
    InputError
        All categories are shown, or none, or fewer than two users.

    Source: Efron (2011), "Tweedie's formula and selection bias", for the effect of chance on those selected.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import CategoryCounts
    >>> from optldp.estimators.differences import estimate_others
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> grr = categorical_grr(["red", "green", "blue"], 3.0)
    >>> counts = CategoryCounts.from_reports(grr, np.repeat([0, 1, 2], [500, 300, 200]))
    >>> print(estimate_others(counts, np.array([True, False, False])))
    0.473802 +- 0.018 [0.437923, 0.509681]
      unbiased estimate of 1,000 users, 95% intervals, about the population
    """
    check_target(target)
    if shown.all() or not shown.any():
        raise InputError(f"some categories must be shown and some not, got {shown.sum()} of {shown.size}")
    tally = Tally.of(counts)
    n, total = tally.n_users, tally.weights.sum()
    if n < 2:
        raise InputError(f"reports must be at least 2 for a standard error, got {n}")
    numbers = category_numbers(tally)
    found = estimate_weighted(tally, numbers=numbers)
    assert isinstance(found, WeightedFrequencies)
    totals = numbers.decoder.totals(tally.reports, ~shown)
    value = float(tally.weights @ totals / total)
    variance = n / (n - 1) * float((tally.squares / total**2) @ (totals - value) ** 2)
    unbiased, deviations = found.value, found.std_error
    if target == "users":
        own = min(max(value, 0.0), 1.0)
        variance = max(variance - own * (1.0 - own) / tally.effective_n, 0.0)
    limit = 0.5 * (unbiased[shown].min() + unbiased[~shown].max())
    apart = (limit - unbiased) / (KERNEL * deviations)
    missed = deviations * np.exp(-0.5 * apart**2) / (KERNEL * np.sqrt(2 * np.pi))
    error = float(np.sqrt(variance + missed @ missed))
    return NumberEstimate(value + float(missed.sum()), error, n, "unbiased", target, least=0.0, most=1.0)
