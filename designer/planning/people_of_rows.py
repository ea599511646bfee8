"""How far the mean of n people may be off by each row of a comparison, as facts, as columns and in a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...estimators.intervals import CONFIDENCE
from ...estimators.reading.formats.axis import TEMPORAL
from ...solvers.biased.error_program import MeanError
from ..comparison.row import Row
from ..objectives.base import Objective
from ..objectives.error import Error
from ..objectives.guarantee import Guarantee
from ..priors.ambiguity import FactorAmbiguity
from .people import FACTS, MeanWithin, mean_within, promised_within, sentence, shown


def row_facts(
    row: Row, objective: Objective | None, people: int | None, *, confidence: float = CONFIDENCE
) -> dict[str, Any]:
    """Return the facts of `row_mean_within`, None for a row that holds no mean; nothing without a number of people."""
    if people is None:
        return {}
    found = row_mean_within(row, objective, people, confidence=confidence)
    return dict.fromkeys(FACTS) if found is None else found.facts


def row_mean_within(
    row: Row, objective: Objective | None, people: int, *, confidence: float = CONFIDENCE
) -> MeanWithin | None:
    """Return how far the mean of n people may be off by a row of a comparison, under what its objective goes by.

    Without an objective it is under the prior. None for a row that holds no mean: without a value, or with an error of
    another number of people.

    Example
    -------
    >>> from optldp.designer import Prior, Variance, compare
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public")
    >>> for row in compare(prior, [1.0], methods=["duchi"]):
    ...     print(row_mean_within(row, Variance(), 10_000))
    with 10,000 people: mean within 0.04009 (95%) if their values follow the prior, within 0.04242 whatever they are
    """
    if isinstance(objective, Error):
        trusted = objective.ambiguity
        if row.noise is None or row.bias_bound is None or row.value is None or objective.n != people:
            return None
        if not isinstance(trusted, FactorAmbiguity):
            return None
        return promised_within(
            people, MeanError(row.value, row.noise, row.bias_bound), trusted.trust, confidence=confidence
        )
    if row.expected_variance is None:  # no unbiased table: its variances are no errors
        return None
    if isinstance(objective, Guarantee) and row.value is not None:
        under = f"the prior is right within {objective.ambiguity.label}"
        return mean_within(people, row.value, row.worst_case_variance, confidence=confidence, under=under)
    return mean_within(people, row.expected_variance, row.worst_case_variance, confidence=confidence)


def add_people(
    objective: Objective | None,
    rows: Sequence[Row],
    people: int | None,
    header: list[str],
    cells: list[list[str]],
    *,
    confidence: float = CONFIDENCE,
    units: str = "",
) -> list[str]:
    """Add to a table how far the mean of so many people may be off, and return sentences for the best at each budget;
    nothing if that was not asked."""
    if people is None:
        return []
    best: dict[float, tuple[float, str]] = {}
    header += ["mean within", "any values"]
    for row, line in zip(rows, cells, strict=True):
        found = row_mean_within(row, objective, people, confidence=confidence)
        ends = (None, None) if found is None else (found.within, found.any_values)
        line += ["none" if end is None else shown(end, units if units in TEMPORAL else "") for end in ends]
        if found is not None and found.within < best.get(row.epsilon, (math.inf, ""))[0]:
            best[row.epsilon] = found.within, f"epsilon {row.epsilon:g}, {row.method}: {sentence({'': found}, units)}"
    return [said for _, said in best.values()]
