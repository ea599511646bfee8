"""What one report can do, in the words that commands print beside variances and standard errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....estimators import fitted_influence, influence
from ....mechanisms import (
    AttributeSampling,
    CategoricalMechanism,
    InputError,
    KeyValueMechanism,
    PersonalisedMechanism,
    TabulatedMechanism,
)
from ..output import number

if TYPE_CHECKING:
    from ....estimators import DistributionEstimate, ReportCounts
    from ....mechanisms.documents.bundle import Bundle


def one_report_times_n(mechanism: TabulatedMechanism | Bundle) -> float | list[float] | None:
    """Return the most that one report of n moves an estimate, times n; None where that is not known.

    For tables the mean's, for categories and pairs the largest of a frequency's, for attributes each mean's; for levels
    that are tables each level's, if all users were of that level.

    Example
    -------
    >>> from ....mechanisms.categorical.table import categorical_grr
    >>> from ....mechanisms import duchi
    >>> round(one_report_times_n(duchi([0, 10], 1.0)), 2), round(one_report_times_n(categorical_grr("abc", 1.0)), 2)
    (21.64, 2.75)
    """
    try:
        if isinstance(mechanism, PersonalisedMechanism):
            return [float(influence(table).times_n[0]) for table in mechanism.tables] or None
        found = influence(mechanism).times_n
    except InputError:  # no unbiased estimate, so none that one report's share of could be told
        return None
    return found.tolist() if isinstance(mechanism, AttributeSampling) else float(found.max())


def of_n_reports(mechanism: TabulatedMechanism | Bundle, amount: float | list[float]) -> str:
    """Return what `one_report_times_n` found as a fact to print.

    Example
    -------
    >>> from ....mechanisms import duchi
    >>> of_n_reports(duchi([0, 10], 1.0), 21.64)
    'of n moves the mean by at most 21.64/n'
    """
    amounts = ", ".join(f"{number(each)}/n" for each in (amount if isinstance(amount, list) else [amount]))
    if isinstance(mechanism, CategoricalMechanism | KeyValueMechanism):
        return f"of n moves a frequency by at most {amounts}"
    if isinstance(mechanism, AttributeSampling):
        return f"of n moves the means by at most {amounts}"
    if isinstance(mechanism, PersonalisedMechanism):
        return f"of n, all of one level, moves the mean by at most {amounts}"
    return f"of n moves the mean by at most {amounts}"


def moves_by(amount: float, n: int, what: str = "the mean") -> str:
    """Return the influence of one report of n as a fact to print.

    Example
    -------
    >>> moves_by(0.41234, 20_000)
    'moves the mean by at most 0.4123 (of 20,000)'
    """
    return f"moves {what} by at most {amount:.4g} (of {n:,})"


def fitted_one_report(counts: ReportCounts, estimate: DistributionEstimate) -> float | None:
    """Return the first-order influence of one report on the mean of a fit; None where there is none known."""
    try:
        found = float(fitted_influence(counts, estimate).one_report[0])
    except InputError:
        return None
    return found if np.isfinite(found) else None
