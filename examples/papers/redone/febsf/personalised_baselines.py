"""What others do with personalised budgets: levels in the clear (RCF, APLDP), or budgets that are not sent (PPDA)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from optldp.estimators import CategoryCounts, FrequencyEstimate, PersonalisedCounts
from optldp.estimators.frequencies import frequency_decoder, norm_sub
from optldp.estimators.personalised.reports import categories_of
from optldp.mechanisms import CategoricalMechanism, Categories, InputError
from optldp.mechanisms.categorical import basic_rappor, categorical_grr
from optldp.mechanisms.categorical.mechanism import PureProtocol
from optldp.mechanisms.categorical.oracle_choice import total_error
from optldp.mechanisms.sampling.domain import numbers


def split_levels(counts: PersonalisedCounts) -> list[CategoryCounts]:
    """Return the counts of each level by themselves.

    Raises
    ------
    InputError
        Levels that are not in the clear, or reports of numbers.
    """
    if counts.mechanism.level_epsilon is not None:
        raise InputError(
            f"levels must be reported in the clear, got level_epsilon {counts.mechanism.level_epsilon:g}: "
            "use auem or personalised_mle"
        )
    categories_of(counts.mechanism)  # raises where values are numbers
    each = [counts.levels == i for i in range(len(counts.mechanism.levels))]
    return [
        CategoryCounts(level, counts.reports[mine], counts.counts[mine])
        for level, mine in zip(counts.mechanism.levels, each, strict=True)
    ]


def combine_levels(groups: Sequence[CategoryCounts]) -> FrequencyEstimate:
    r"""Average the unbiased estimates of groups of users, by the inverse of their variances.

    Group i of n_i users has weight n_i / v_i, v_i the mechanism's mean variance for categories that nobody has, so
    that weights depend on no report and the average is unbiased.  With one mechanism for all levels it is what RCF does
    without its recycling step, `recycle`; with `apldp_levels`, APLDP.

    Parameters
    ----------
    groups : sequence of CategoryCounts
        Of the same categories; those without reports do not count.

    Raises
    ------
    InputError
        No reports, groups of different categories, or a mechanism that has no decoder.

    Source
    ------
    Nie et al. (2019), "A utility-optimized framework for personalized private histogram estimation" (RCF), and Song et
    al. (2024), "APLDP", both as Wu et al. (2024), appendix A.5, describe them.

    Example
    -------
    >>> grr = [categorical_grr(["yes", "no"], epsilon) for epsilon in (1.0, 2.0)]
    >>> groups = [CategoryCounts.from_reports(made, np.repeat([0, 1], [60, 40])) for made in grr]
    >>> combine_levels(groups).value.round(3)
    array([0.645, 0.355])
    """
    seen = [group for group in groups if group.counts.size]
    if not seen:
        raise InputError("there must be at least one report, got none: there is nothing to estimate from")
    categories = seen[0].mechanism.categories
    if any(group.mechanism.categories != categories for group in seen):
        raise InputError("groups must be of the same categories, got different ones")
    decoders = [frequency_decoder(group.mechanism) for group in seen]
    weights = np.array([g.n_users / d.noise().mean() for g, d in zip(seen, decoders, strict=True)])
    weights /= weights.sum()
    found = weights @ [d.frequencies(g) for g, d in zip(seen, decoders, strict=True)]
    place = norm_sub(found)
    own = np.diag(place) - np.outer(place, place)
    covariance = np.zeros_like(own)
    for weight, group, decoder in zip(weights, seen, decoders, strict=True):
        covariance += weight**2 / group.n_users * (decoder.covariance(place) + own)
    errors, n = np.sqrt(np.diag(covariance)), sum(group.n_users for group in seen)
    return FrequencyEstimate(categories, found, errors, covariance, "population", "unbiased", n, None, len(categories))


def recycle(groups: Sequence[CategoryCounts], rng: np.random.Generator) -> np.ndarray:
    r"""Return the frequencies (K,) of RCF with its recycling step, levels in the clear and basic RAPPOR at each.

    A report of a larger budget, its bits flipped once more, is a report of a smaller one, so level i estimates from the
    users of all larger budgets too: e_i, from N_i users.  The estimates share users, and given a user's own report two
    that are made of it are independent, so for levels i < l, V_m being the variance of a report of level m,

        Var(e_i) = V_i / N_i,    Cov(e_i, e_l) = sum over m >= l of n_m V_m / (N_i N_l),

    and the weights are those of least variance, C^-1 1 / (1^T C^-1 1).  It serves who asks for one level alone; all
    levels together gain nothing, since recycled reports know no more than those that they were made of.  Only sums
    of bits are drawn, never users.

    Parameters
    ----------
    groups : sequence of CategoryCounts
        One for each level, by increasing budget, of basic RAPPOR.
    rng : numpy.random.Generator

    Source
    ------
    Nie et al. (2019), "A utility-optimized framework for personalized private histogram estimation", which was not at
    hand, as Wu et al. (2024) name it; the covariances are derived here.

    Example
    -------
    >>> made = [basic_rappor(["yes", "no"], epsilon) for epsilon in (2.0, 4.0)]
    >>> groups = [CategoryCounts.from_reports(m, m.sample(["yes", "no"] * 5000)) for m in made]
    >>> bool(abs(recycle(groups, np.random.default_rng(1)) - 0.5).max() < 0.05)
    True
    """
    users = np.array([group.n_users for group in groups], dtype=np.float64)
    ones = np.array([group.support_counts() for group in groups])
    decoders = [frequency_decoder(group.mechanism) for group in groups]
    variances = np.array([decoder.noise().mean() for decoder in decoders])
    made = [group.mechanism for group in groups if isinstance(group.mechanism, PureProtocol)]
    gains = np.array([one.own_support - one.other_support for one in made])
    reached = np.cumsum(users[::-1])[::-1]  # of this level or a larger budget
    found = np.zeros(ones.shape)
    for i, gain in enumerate(gains):
        flip = (1 - gain / gains[i:, None]) / 2
        drawn = rng.binomial(ones[i:], 1 - flip) + rng.binomial(users[i:, None].astype(np.int64) - ones[i:], flip)
        found[i] = (drawn.sum(axis=0) / reached[i] - (1 - gain) / 2) / gain
    shared = np.cumsum((users * variances)[::-1])[::-1]
    later = np.maximum.outer(np.arange(gains.size), np.arange(gains.size))
    covariance = shared[later] / np.outer(reached, reached)
    np.fill_diagonal(covariance, variances / reached)
    weights = np.linalg.solve(covariance, np.ones(gains.size))
    return weights @ found / weights.sum()


def apldp_levels(
    categories: Categories | Sequence[object], epsilons: Sequence[float]
) -> tuple[CategoricalMechanism, ...]:
    """Return, for each budget, k-ary randomised response or basic RAPPOR, whichever errs less.

    By the sum of the variances over all categories.  Reports of the two are of different kinds, so levels must be in
    the clear: users of each level make a group of their own for `combine_levels`.

    Raises InputError for categories or budgets that are not usable.

    Source: Song et al. (2024), as Wu et al. (2024), section 7.1, describe it.

    Example
    -------
    >>> [made.provenance.method for made in apldp_levels("abcdef", (0.1, 4.0))]
    ['rappor', 'grr']
    """
    names = Categories.of(categories)
    chosen = []
    for epsilon in epsilons:
        table, bits = categorical_grr(names, epsilon), basic_rappor(names, epsilon)
        own, other = table.probabilities[0, :2]
        of_table = total_error(len(names), own, other)
        of_bits = total_error(len(names), bits.own_support, bits.other_support)
        chosen.append(table if of_table <= of_bits else bits)
    return tuple(chosen)


def ppda(ones: ArrayLike, n_users: int, n_categories: int) -> np.ndarray:
    """Return frequencies from vectors of bits to which zeros were appended, whose budgets nobody sent.

    Every user appends zeros to the K bits of the one-hot code and flips each bit as basic RAPPOR does at a budget of
    their own.  The share q of ones among the appended bits estimates the users' mean probability of a flip, and the
    frequencies are (s_k - q) / (1 - 2 q), s_k the share of ones of bit k.

    The paper of PPDA was not at hand; this is what Wu et al. say of it.  Budgets are not sent but not hidden either: a
    user's number of ones among many zeros shows the budget.

    Parameters
    ----------
    ones : (K + zeros,) array_like of int
        How many users sent a one at each bit; the appended zeros last.
    n_users, n_categories : int

    Returns
    -------
    (K,) ndarray of float
        Approximately unbiased if budgets do not depend on values; they may be negative.

    Raises
    ------
    InputError
        No user, no appended bit, or as many ones as zeros among them.

    Source
    ------
    Wang et al. (2015), "Personalized privacy-preserving data aggregation for histogram estimation", as Wu et al.
    (2024), appendix A.5, describe it.

    Example
    -------
    >>> ppda([60, 40, 30, 30, 30], 100, 2)
    array([0.75, 0.25])
    """
    seen = numbers("ones", ones)
    if n_users < 1 or not 1 <= n_categories < seen.size:
        raise InputError(
            f"there must be users and bits beyond the categories', got {n_users} users and {seen.size} bits for "
            f"{n_categories} categories: append zeros"
        )
    flipped = float(seen[n_categories:].mean()) / n_users
    if flipped == 0.5:
        raise InputError("fewer or more than half of the appended bits must be ones, got half: they tell nothing")
    return (seen[:n_categories] / n_users - flipped) / (1.0 - 2.0 * flipped)
