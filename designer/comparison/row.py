"""What every comparison is made of: one mechanism at one budget for one prior, judged by one objective."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from ...mechanisms.display.display import Shown
from ...mechanisms.display.summary import Dots, Told

FAILED = "failed"
"""Status of a row without a mechanism; the others are those of a design, or say why there is no value."""

OTHER_KNOTS = "not comparable", "its knots are not the prior's"
BIASED = "not comparable", "its reports are biased, so that their variance is not their error"
NOTHING_TOLD = "infinite", "its reports cannot tell all distributions on the knots apart"


@dataclass(frozen=True, repr=False, kw_only=True)
class Row(Shown):
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
    expected_bound : float or None
        By the least expected variance: what `expected_variance` of no mechanism on these knots is below, certified
        under the prior as given, which `bound` is not for.
    noise, bias_bound : float or None
        By the error of a mean: what the value consists of, see `MeanError`.

    Example
    -------
    >>> Row(epsilon=1.0, method="duchi", value=4.68, bound=4.5)
    Row(epsilon=1, objective='expected', method='duchi', value=4.68, bound=4.5, status='optimal')
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
    noise: float | None = None
    bias_bound: float | None = None
    expected_bound: float | None = None

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

    def _line(self) -> dict[str, Any]:
        return {name: value for name in COLUMNS if (value := getattr(self, name)) not in (None, "")}

    def _told(self) -> Told:
        known = {name: getattr(self, name) for name in ("bound", "value") if getattr(self, name) is not None}
        return Told(self._line(), picture=Dots(list(known), np.array(list(known.values())), self.objective))

    def _columns(self) -> dict[str, list[str] | list[float]]:
        return columns_of([self])

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


SEEN = ("prior", "epsilon", "objective", "method", "value", "bound", "ratio_to_optimal", "status")
"""Those that stand in a notebook; a data frame has all."""


def columns_of(rows: Sequence[Row]) -> dict[str, list[str] | list[float]]:
    """Return rows by columns, as data frames take them; numbers that there are not are NaN.

    Example
    -------
    >>> columns_of([Row.failed("flat", 1.0, "expected", "aaa", "no such luck")])["value"]
    [nan]
    """
    cells = {name: [getattr(row, name) for row in rows] for name in COLUMNS}
    return {
        name: values if name in TEXT_COLUMNS else [math.nan if value is None else value for value in values]
        for name, values in cells.items()
    }


def line_of(rows: Sequence[Row]) -> dict[str, Any]:
    """Return what one line says of many rows: how many, of which budgets and methods, and how many failed."""
    return {
        "rows": len(rows),
        "epsilon": ", ".join(f"{budget:g}" for budget in dict.fromkeys(row.epsilon for row in rows)),
        "methods": ", ".join(dict.fromkeys(row.method for row in rows)),
        "failed": sum(not row.solved for row in rows),
    }


def told_of(rows: Sequence[Row]) -> Told:
    """Return what a notebook shows of many rows: how many times worse than the best each is."""
    columns = columns_of(rows)
    several = len(set(columns["prior"])) > 1
    names = [f"{f'{row.prior} ' if several else ''}{row.method}, {row.epsilon:g}" for row in rows]
    ratios = np.array(columns["ratio_to_optimal"], dtype=float)
    picture = Dots(names, ratios, "ratio to the best, by method and epsilon")
    return Told(line_of(rows), {name: columns[name] for name in SEEN if name != "prior" or several}, picture)


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
