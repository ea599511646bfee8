"""`optldp estimate --of queries`: linear queries of the distribution, answered from one table's reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....estimators.intervals import each_of
from ....mechanisms.errors import InputError
from ...objectives.losses import known_or_read
from ...objectives.questions.queries import QUERIES, queries_of
from .bundle import found_rows
from .kind import Found, split

if TYPE_CHECKING:
    from ....estimators import ReportCounts
    from .options import EstimateOptions


def queries_found(counts: ReportCounts, asked: EstimateOptions, facts: dict[str, Any]) -> Found:
    """Return the answers to the workload that is asked for, in its order."""
    from ....estimators.distributions import estimate_queries
    from ....mechanisms.table.unit_interval import UnitInterval

    if asked.method is not None:
        raise InputError(f"queries are answered without bias, got --method {asked.method}: leave it out")
    if len(counts.services) > 1:
        raise InputError(f"queries are answered from one service, got {len(counts.services)}: give one table")
    asked.refuse("of no use to queries", "--between", "--above", "--cells", "--plot", "--winsorise", "--raw", "--alike")
    table = counts.mechanisms[0]
    known = known_or_read(asked.workload, QUERIES, "a workload")
    matrix = queries_of(known, UnitInterval.of(table.knots).knots)
    answers = estimate_queries(counts, matrix, target=asked.target)
    confidence = each_of(asked.confidence, len(matrix)) if asked.simultaneous else asked.confidence
    told, columns = split(answers, confidence)
    at_once = {"confidence": asked.confidence, "simultaneous": asked.simultaneous}
    said = told | at_once | {"workload": known if isinstance(known, str) else "own"} | facts
    return found_rows(f"answers to {len(matrix)} queries", said, columns)
