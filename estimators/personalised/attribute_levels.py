"""Several attributes at budgets of the users' own: for each attribute, counts as of levels of it alone, and means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from ...mechanisms.combinators.personalised import PersonalisedMechanism, PersonalisedReports
from ...mechanisms.errors import InputError
from ...mechanisms.spaces.columns import naming
from ..attributes.counts import ByAttribute, drawn_columns
from ..means.means_of_attributes import AttributeMeans
from ..methods import Target
from .counts import PersonalisedCounts
from .numeric_levels import personalised_mean


@dataclass(frozen=True, eq=False, repr=False)
class PersonalisedAttributeCounts(ByAttribute[PersonalisedCounts]):
    """Counts by attribute: `personalised_mean` and `personalised_distribution` take ``counts["age"]``.

    A user's drawn attributes depend neither on values nor on the level. Users of one attribute are thus a random share
    of all users at each level, and their reports are those of levels for that attribute alone.

    Parameters
    ----------
    by_attribute : mapping of str to PersonalisedCounts
        Of the users who have drawn the attribute.
    n_users : int
        All users.

    Raises
    ------
    InputError
        No attribute, or a number of users that is invalid or below that of an attribute.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.personalised import PersonalisedAttributeCounts
    >>> from optldp.mechanisms import AttributeSampling, duchi, make_exact
    >>> from optldp.mechanisms.combinators.personalised import PersonalisedMechanism
    >>> def at(epsilon):
    ...     table = make_exact(duchi([0.0, 1.0], epsilon)).mechanism
    ...     return AttributeSampling(["age", "pay"], [table, table], 1, epsilon)
    >>> made = PersonalisedMechanism([at(1.0), at(2.0)])
    >>> sent = made.sample(np.full((100, 2), 0.5), np.arange(100) % 2, np.random.default_rng(1))
    >>> counts = PersonalisedAttributeCounts.from_reports(made, sent)
    >>> counts["age"].n_users + counts["pay"].n_users, (counts + counts).n_users
    (100, 200)
    """

    @classmethod
    def from_reports(cls, mechanism: PersonalisedMechanism, sent: PersonalisedReports) -> Self:
        """Count reports, (N, d) or (N,) by attribute, NaN where one was not drawn.

        Raises
        ------
        InputError
            Columns that do not match the attributes, users without exactly k reports, levels or reports that the
            mechanism cannot make, or lists of different lengths.
        """
        levels = mechanism.checked_level_reports(sent.levels)
        columns, drawn = drawn_columns(mechanism.levels[0], sent.reports)
        if levels.size != columns[0].size:
            raise InputError(f"levels and reports must be as many, got {levels.size} and {columns[0].size}")
        found = {}
        for (name, alone), column, mine in zip(mechanism.by_column.items(), columns, drawn, strict=True):
            with naming(name):
                found[name] = PersonalisedCounts.from_reports(alone, PersonalisedReports(levels[mine], column[mine]))
        return cls(found, levels.size)


def personalised_attribute_means(
    counts: PersonalisedAttributeCounts, *, target: Target = "population"
) -> AttributeMeans:
    """Estimate the mean of every attribute from those who have drawn it, at all levels.

    Each is that of `personalised_mean`. Levels in the clear, or on common outputs, are weighted by their variances, and
    the mean is unbiased. Otherwise it is that of the joint likelihood of values and levels, unbiased for many users
    only.

    Parameters
    ----------
    counts : PersonalisedAttributeCounts
    target : {"population", "users"}
        Whose means they are: those of all users, including those who have not drawn an attribute, or those of their
        population.

    Returns
    -------
    means : AttributeMeans
        ``means["age"]`` is the estimate of that attribute.

    Raises
    ------
    InputError
        What `personalised_mean` raises, with the attribute.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.personalised import PersonalisedAttributeCounts
    >>> from optldp.estimators.personalised import personalised_attribute_means
    >>> from optldp.mechanisms import AttributeSampling, duchi, make_exact
    >>> from optldp.mechanisms.combinators.personalised import PersonalisedMechanism
    >>> def at(epsilon):
    ...     tables = [make_exact(duchi(ends, epsilon)).mechanism for ends in ([0.0, 100.0], [0.0, 80.0])]
    ...     return AttributeSampling(["age", "hours"], tables, 1, epsilon)
    >>> made = PersonalisedMechanism([at(1.0), at(2.0)])
    >>> sent = made.sample(np.tile([30.0, 40.0], (9000, 1)), np.arange(9000) % 2, np.random.default_rng(1))
    >>> found = personalised_attribute_means(PersonalisedAttributeCounts.from_reports(made, sent))
    >>> found.value.round(), found.std_error.round(1)
    (array([30., 40.]), array([1.2, 1. ]))
    """
    means = []
    for name, mine in counts.items():
        with naming(name):
            means.append(personalised_mean(mine, target=target, drawn_from=counts.n_users))
    return AttributeMeans(tuple(counts), tuple(means), target, means[0].method)
