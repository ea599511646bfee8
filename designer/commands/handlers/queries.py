"""`optldp estimate --of queries`: linear queries of the distribution, from reports of numbers or of categories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....estimators.intervals import each_of
from ....mechanisms.errors import InputError
from ....mechanisms.spaces.places import Places
from ....mechanisms.table.unit_interval import UnitInterval
from ...objectives.losses.named import known_or_read
from ...objectives.questions.queries import NAMES, queries_of
from ..options.assumed import assumed_by
from .bundle import found_rows
from .kind import Found, split

if TYPE_CHECKING:
    from ....estimators import CategoryCounts, ReportCounts, SupportCounts
    from ....estimators.distributions import QueriesEstimate
    from .options import EstimateOptions


def queries_found(counts: ReportCounts, asked: EstimateOptions, facts: dict[str, Any]) -> Found:
    """Return the answers to the workload that is asked for, in its order."""
    from ....estimators.distributions import estimate_queries

    _refuse(asked)
    table = counts.mechanisms[0]
    known = known_or_read(asked.workload, NAMES, "a workload")
    matrix = queries_of(known, UnitInterval.of(table.knots).knots)
    assume = assumed_by(asked.assume, asked.prior_file, counts, asked.assume_from)
    return _answers(estimate_queries(counts, matrix, target=asked.target, assume=assume), known, asked, facts)


def category_queries_found(counts: CategoryCounts | SupportCounts, asked: EstimateOptions) -> Found:
    """Return the answers to the workload that is asked for, of labels in the order of their list, or of places."""
    from ....estimators.frequencies import estimate_category_queries

    _refuse(asked)
    asked.refuse("for queries of numbers", "--assume", "--assume-from")
    known = known_or_read(asked.workload, NAMES, "a workload")
    named = counts.mechanism.categories
    places = isinstance(named, Places)
    matrix = queries_of(known, named.points if places else np.arange(len(named)), labels=not places)
    return _answers(estimate_category_queries(counts, matrix, target=asked.target), known, asked, {})


def _refuse(asked: EstimateOptions) -> None:
    if asked.method is not None:
        raise InputError(f"queries are answered without bias, got --method {asked.method}: leave it out")
    asked.refuse(
        "of no use to queries", "--between", "--above", "--cells", "--plot", "--winsorise", "--raw", "--alike", "--top"
    )


def _answers(answers: QueriesEstimate, known: str | np.ndarray, asked: EstimateOptions, facts: dict[str, Any]) -> Found:
    confidence = each_of(asked.confidence, answers.value.size) if asked.simultaneous else asked.confidence
    told, columns = split(answers, confidence)
    at_once = {"confidence": asked.confidence, "simultaneous": asked.simultaneous}
    said = told | at_once | {"workload": known if isinstance(known, str) else "own"} | facts
    return found_rows(f"answers to {answers.value.size} queries", said, columns)
