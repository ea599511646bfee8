"""Small personalised mechanisms, the exact law of their reports, and counts drawn from it."""

import numpy as np
from optldp.estimators import PersonalisedCounts
from optldp.mechanisms import PersonalisedMechanism
from optldp.mechanisms.categorical import CategoricalTable, basic_rappor, categorical_grr, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.subset_selection import subset_selection
from optldp.mechanisms.combinators.personalised import PersonalisedReports


def hashing(categories, epsilon):
    return local_hashing(categories, epsilon, n_values=2)


def subsets(categories, epsilon):
    """Sets of all but one: with two categories randomised response."""
    return subset_selection(categories, epsilon, n_chosen=len(categories) - 1)


def any_table(categories, epsilon):
    """A table with more outputs than categories and no symmetry."""
    size = len(categories)
    rows = np.array([[1.0 + (i * j) % 3 for j in range(size + 2)] for i in range(size)])
    rows = 1.0 + np.expm1(epsilon) * (rows - 1.0) / 4.0
    return CategoricalTable.from_probabilities(categories, rows / rows.sum(axis=1, keepdims=True), epsilon)


PURE = (categorical_grr, basic_rappor, optimised_unary, hashing, subsets)
ALL = (*PURE, any_table)


def personalised(family, epsilons=(0.5, 1.5), level_epsilon: float | None = 0.8, categories="abc"):
    return PersonalisedMechanism([family(categories, epsilon) for epsilon in epsilons], level_epsilon)


def protocols():
    """Protocols for two levels' own reports: of two reports, of four, and of a table without symmetry."""
    return [optimised_unary("01", 0.8), hashing("01", 0.8), any_table("01", 0.8)]


def pair_law(mechanism):
    """(t, K, m D) probability of every pair of reports under every level and category, by enumeration."""
    values = np.array([level.pmf(level.all_reports()).T for level in mechanism.levels])
    law = mechanism.level_response[:, None, :, None] * values[:, :, None, :]
    return law.reshape(*law.shape[:2], -1)


def counts_of(mechanism, seen):
    """Counts in which every pair, in the order of `pair_law`, was sent so often."""
    reports = mechanism.levels[0].all_reports()
    many = mechanism.level_report.n_reports
    levels = np.repeat(np.arange(many), len(reports))
    every = np.tile(reports, (many, *[1] * (reports.ndim - 1)))
    kept = np.flatnonzero(seen)
    alone = PersonalisedCounts.from_reports(mechanism, PersonalisedReports(levels[kept], every[kept]))
    order = {(level, bytes(report)): n for level, report, n in zip(levels[kept], every[kept], seen[kept], strict=True)}
    counts = [order[level, bytes(report)] for level, report in zip(alone.levels, alone.reports, strict=True)]
    return PersonalisedCounts(mechanism, alone.levels, alone.reports, np.array(counts, dtype=np.int64))


def expected_counts(mechanism, shares, frequencies, n=10**12):
    """Counts as they are on average over so many users, to the nearest whole number."""
    law = np.einsum("i,j,ijo->o", shares, frequencies, pair_law(mechanism))
    return counts_of(mechanism, np.rint(n * law).astype(np.int64))


def drawn_counts(mechanism, shares, frequencies, n, rng):
    """Counts of n users who are drawn from a population."""
    law = np.einsum("i,j,ijo->o", shares, frequencies, pair_law(mechanism))
    return counts_of(mechanism, rng.multinomial(n, law / law.sum()))
