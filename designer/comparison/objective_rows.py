"""Mechanisms judged by another objective than the one they were made for, beside the best that it allows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ...mechanisms.errors import OptldpError
from ...mechanisms.table.table import TabulatedMechanism
from ...solvers.certificate import relative_gap
from ..designs.design import design
from ..designs.result import same_knots
from ..objectives.base import Objective
from ..priors.prior import Prior
from .table import FAILED

OTHER_KNOTS = "not comparable", "its knots are not the prior's"
NOTHING_TOLD = "infinite", "its reports cannot tell all distributions on the knots apart"


@dataclass(frozen=True)
class ObjectiveRow:
    """One mechanism at one budget by one objective.

    Attributes
    ----------
    objective : str
        The objective's `key`, which is also the `method` of the best.
    epsilon : float
    method : str
    value : float or None
        Under the prior that was solved for; None where there is none.
    bound : float or None
        Certified, in the row of the best: no mechanism has less, or, of information, more.
    ratio_to_best : float or None
        Value over that of the best: at least about one, or, of information, at most about one.
    status : {"optimal", "gap-open", "failed", "not comparable", "infinite"}
    error : str
        Why there is no value; empty otherwise.
    """

    objective: str
    epsilon: float
    method: str
    value: float | None
    bound: float | None
    ratio_to_best: float | None
    status: str
    error: str = ""

    @property
    def relative_gap(self) -> float | None:
        """|value - bound| / value: how far from the best of all mechanisms this can be at most."""
        if self.value is None or self.bound is None:
            return None
        return relative_gap(self.value, self.bound)


def objective_rows(
    objective: Objective,
    prior: Prior,
    epsilon: float,
    mechanisms: Mapping[str, TabulatedMechanism],
    *,
    uniform_share: float,
    tolerance: float,
) -> tuple[ObjectiveRow, ...]:
    """Judge mechanisms at one budget by an objective, the certified best first; what fails is a row that says why.

    The uniform share is for objectives that need one.

    Example
    -------
    >>> from optldp.designer import Guarantee, TotalVariationAmbiguity
    >>> from optldp.mechanisms import duchi
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public")
    >>> asked, known = Guarantee(TotalVariationAmbiguity(0.1)), {"duchi": duchi([-1, 0, 1], 1.0)}
    >>> rows = objective_rows(asked, prior, 1.0, known, uniform_share=0.0, tolerance=1e-6)
    >>> [(row.method, row.ratio_to_best >= 1) for row in rows]
    [('robust', True), ('duchi', True)]
    """
    share = uniform_share if objective.uniform_share else 0.0
    try:
        best = design(prior, epsilon, objective=objective, uniform_share=share, tolerance=tolerance, exact=False)
    except OptldpError as error:
        names = (objective.key, *mechanisms)
        return tuple(_without(objective, epsilon, name, FAILED, f"no optimum: {error}") for name in names)
    rows = [ObjectiveRow(objective.key, epsilon, objective.key, best.value, best.bound, 1.0, str(best.status))]
    for name, table in mechanisms.items():
        if not same_knots(table, prior):
            rows.append(_without(objective, epsilon, name, *OTHER_KNOTS))
            continue
        found = objective.value(table, best.certificate.problem)
        if math.isfinite(found):
            rows.append(ObjectiveRow(objective.key, epsilon, name, found, None, found / best.value, str(best.status)))
        else:
            rows.append(_without(objective, epsilon, name, *NOTHING_TOLD))
    return tuple(rows)


def _without(objective: Objective, epsilon: float, method: str, status: str, why: str) -> ObjectiveRow:
    return ObjectiveRow(objective.key, epsilon, method, None, None, None, status, why)
