"""What every comparison is made of: one mechanism at one budget for one prior, judged by one objective."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

FAILED = "failed"
"""Status of a row without a mechanism; the others are those of a design, or say why there is no value."""

OTHER_KNOTS = "not comparable", "its knots are not the prior's"
NOTHING_TOLD = "infinite", "its reports cannot tell all distributions on the knots apart"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One mechanism at one budget for one prior, by one objective; variances in squared units of the values.

    Every number but `seconds` is the same in whatever order, process or thread it was computed; rows are compared
    without it. A row that failed has None for all numbers but `epsilon`.

    Attributes
    ----------
    prior : str
        Its name, where there are several.
    epsilon : float
    objective : str
        Key of the objective that the row is by.
    method : str
        Of the objective that decides "optimal" is its best; the best of any other has that objective's key.
    value, bound, relative_gap : float or None
        By the objective under the prior that was solved for: of this mechanism; certified of any mechanism; and how far
        from the best of all this one can be at most. None where there is no value.
    ratio_to_optimal : float or None
        Value over that of the objective's best: at least about one, or, of information in nats, at most about one. Of
        the least expected variance it is that of `expected_variance`, under the prior as given: the best is so for the
        prior with the uniform share, so this ratio can fall below one unless that share is 0, by about the share times
        the ratio of the best's variance under a uniform prior to that under this one, which large budgets make large.
    expected_variance, worst_case_variance : float or None
        Whatever the objective: under the prior as given, rounding between knots included; largest over the whole
        domain. None for a table whose reports are not unbiased.
    status : {"optimal", "gap-open", "failed", "not comparable", "infinite"}
        Whether the relative gap is within the tolerance; "failed" where there is no mechanism.
    error : str
        Why there is no value; empty otherwise.
    seconds : float or None
        Wall time of this mechanism alone; that of the solver is in the row of the best.
    max_log_ratio : float or None
        The largest of the table, at most epsilon.
    one_report_times_n : float or None
        The most that one report of n moves the mean, times n, see `influence`; None for a table from which no unbiased
        mean can be had.
    continuum_bound : float or None
        In the row of the least expected variance: certified for mechanisms on the whole interval, not only those on the
        knots.
    clip_low, clip_high, shift : float or None
        By the error of a mean: values are counted as clip(x, clip_low, clip_high) + shift on average, or, where they
        are not just that, these are the outermost means less the median bias, and it. None by other objectives.
    """

    prior: str = ""
    epsilon: float
    objective: str = "expected"
    method: str
    value: float | None = None
    bound: float | None = None
    relative_gap: float | None = None
    ratio_to_optimal: float | None = None
    expected_variance: float | None = None
    worst_case_variance: float | None = None
    status: str = "optimal"
    error: str = ""
    seconds: float | None = field(default=None, compare=False)
    max_log_ratio: float | None = None
    one_report_times_n: float | None = None
    continuum_bound: float | None = None
    clip_low: float | None = None
    clip_high: float | None = None
    shift: float | None = None

    @classmethod
    def failed(cls, prior: str, epsilon: float, objective: str, method: str, reason: str) -> Row:
        """Return the row of a case that has no mechanism.

        Example
        -------
        >>> Row.failed("flat", 1.0, "expected", "aaa", "no such luck").status
        'failed'
        """
        return cls(prior=prior, epsilon=epsilon, objective=objective, method=method, status=FAILED, error=reason)

    @property
    def key(self) -> tuple[str, float, str, str]:
        """Prior, budget, objective and method: what tells the rows of one comparison apart."""
        return self.prior, self.epsilon, self.objective, self.method

    @property
    def solved(self) -> bool:
        """Whether there is a mechanism."""
        return self.status != FAILED

    @property
    def continuum_gap(self) -> float | None:
        """(value - continuum bound) / value: what any mechanism on the interval could gain."""
        if self.continuum_bound is None or self.value is None:
            return None
        return (self.value - self.continuum_bound) / self.value


COLUMNS = tuple(column.name for column in fields(Row))
"""Names of the columns of a table of rows, in order."""

TEXT_COLUMNS = ("prior", "objective", "method", "status", "error")
"""Those that hold text; the others hold numbers."""


def row_of(found: Any, methods: Sequence[str]) -> Row | None:
    """Return the row that a line of a results file holds, None for what is none: its fields, their types, the method.

    Example
    -------
    >>> row = Row.failed("flat", 1.0, "expected", "aaa", "no such luck")
    >>> row_of(vars(row), ["aaa"]) == row, row_of(vars(row), ["duchi"])
    (True, None)
    """
    if not (isinstance(found, dict) and tuple(found) == COLUMNS):
        return None
    if not all(isinstance(found[name], str) for name in TEXT_COLUMNS):
        return None
    numbers = [found[name] for name in COLUMNS if name not in TEXT_COLUMNS]
    if not all(number is None or (isinstance(number, float) and math.isfinite(number)) for number in numbers):
        return None
    if found["epsilon"] is None or found["method"] not in (*methods, found["objective"]):
        return None
    return Row(**found)
