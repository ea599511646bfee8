"""What mechanisms can be judged by beside their variance: a guarantee while the prior may be wrong, and information.

A criterion knows the certified best at a budget, and the value of any table on the prior's knots.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

from ...mechanisms import TabulatedMechanism
from ...mechanisms.errors import InputError, OptldpError
from ..designs.information import Criterion as InformationKind
from ..designs.information import Patterns, design_information, table_information, table_trace
from ..designs.robust import design_robust
from ..priors.ambiguity import Ambiguity
from ..priors.prior import Prior
from ..priors.units import squared, units_label
from .table import FAILED

OTHER_KNOTS = "not comparable", "its knots are not the prior's"
NOTHING_TOLD = "infinite", "its reports cannot tell all distributions on the knots apart"


@dataclass(frozen=True)
class CriterionRow:
    """One mechanism at one budget by one criterion.

    Attributes
    ----------
    criterion : str
        The criterion's `key`, which is also the `method` of the best.
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

    criterion: str
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
        return abs(self.value - self.bound) / self.value


class BoundsCriterion(ABC):
    """A number by which tables on a prior's knots are judged, and the least, or most, that is possible."""

    @property
    def more_is_better(self) -> bool:
        """Whether large numbers are good ones."""
        return False

    @property
    def nobody(self) -> str:
        """Whom the bound of the best holds for."""
        return "no mechanism on these knots"

    @property
    @abstractmethod
    def key(self) -> str:
        """A short name of letters and hyphens, for the best mechanism and for ids."""

    @property
    @abstractmethod
    def label(self) -> str:
        """What is asked, for people to read."""

    @abstractmethod
    def quantity(self, units: str) -> str:
        """What the number is, with its units."""

    def more(self, best: CriterionRow) -> str:
        """Return what else is proved of the best, as a sentence; empty for nothing."""
        return ""

    @abstractmethod
    def check(self, prior: Prior) -> None:
        """Raise InputError where the criterion makes no sense for the prior."""

    @abstractmethod
    def best(self, prior: Prior, epsilon: float, floor: float, tolerance: float) -> tuple[float, float, str]:
        """Return the value of the best mechanism, the certified bound, and how the solver ended."""

    @abstractmethod
    def of(self, mechanism: TabulatedMechanism, prior: Prior, floor: float) -> float:
        """Return the value of a table on the prior's knots."""


@dataclass(frozen=True)
class GuaranteeCriterion(BoundsCriterion):
    """The largest expected variance over all priors near the given one; squared units, see `design_robust`.

    Example
    -------
    >>> from optldp.designer import TotalVariationAmbiguity
    >>> GuaranteeCriterion(TotalVariationAmbiguity(0.1)).label
    'the prior may be wrong: total variation 0.1'
    """

    ambiguity: Ambiguity

    @property
    def nobody(self) -> str:
        return "no unbiased mechanism on these knots"

    @property
    def key(self) -> str:
        return "robust"

    @property
    def label(self) -> str:
        return f"the prior may be wrong: {self.ambiguity.label}"

    def quantity(self, units: str) -> str:
        return units_label("guaranteed variance of one report", squared(units))

    def check(self, prior: Prior) -> None:
        self.ambiguity.around(prior)
        if self.ambiguity.contains_every(prior):
            raise InputError(
                f"the ambiguity must leave some prior out, got {self.ambiguity.label}, which contains every prior on "
                "the knots: the design is then minimax, which is among the bounds anyway"
            )

    def best(self, prior: Prior, epsilon: float, floor: float, tolerance: float) -> tuple[float, float, str]:
        made = design_robust(prior, epsilon, self.ambiguity, tolerance=tolerance, exact=False)
        return made.guaranteed_variance, made.lower_bound, str(made.status)

    def of(self, mechanism: TabulatedMechanism, prior: Prior, floor: float) -> float:
        return self.ambiguity.around(prior).largest(mechanism.knot_variances)[0] + prior.rounding_variance


@dataclass(frozen=True)
class InformationCriterion(BoundsCriterion):
    """What reports tell of the distribution, under the prior with its floor; see `design_information`.

    Parameters
    ----------
    kind : {"cumulative", "fisher", "mutual-information"}
    patterns : {"interval", "any"}
        What the best is made of; its bound is for mechanisms of any.
    """

    kind: InformationKind = "cumulative"
    patterns: Patterns = "interval"

    @property
    def more_is_better(self) -> bool:
        return self.kind == "mutual-information"

    @property
    def key(self) -> str:
        return "information"

    @property
    def label(self) -> str:
        return {
            "cumulative": "the distribution function is wanted",
            "fisher": "the frequency of every knot is wanted",
            "mutual-information": "the reports are to tell most",
        }[self.kind]

    def quantity(self, units: str) -> str:
        return {
            "cumulative": units_label("squared error of the distribution, times n", units),
            "fisher": "squared error of all frequencies, times n",
            "mutual-information": "mutual information of value and report [nats]",
        }[self.kind]

    def more(self, best: CriterionRow) -> str:
        if self.patterns == "any" or best.status != "optimal":
            return ""
        return (
            "Of the tables whose columns rise to one peak and fall, as those of all closed forms do, the design is the "
            "best, by a certificate of its own; to do better a report must favour several separate sets of values."
        )

    def check(self, prior: Prior) -> None:
        pass

    def best(self, prior: Prior, epsilon: float, floor: float, tolerance: float) -> tuple[float, float, str]:
        made = design_information(
            prior,
            epsilon,
            criterion=self.kind,
            patterns=self.patterns,
            floor=floor,
            tolerance=tolerance,
            exact=False,
        )
        return made.objective, made.bound, str(made.status)

    def of(self, mechanism: TabulatedMechanism, prior: Prior, floor: float) -> float:
        solved = prior.floored(floor)
        if self.kind == "mutual-information":
            return table_information(mechanism.probabilities, solved)
        return table_trace(mechanism.probabilities, solved, self.kind)


def criterion_rows(
    criterion: BoundsCriterion,
    prior: Prior,
    epsilon: float,
    mechanisms: Mapping[str, TabulatedMechanism],
    *,
    floor: float,
    tolerance: float,
) -> tuple[CriterionRow, ...]:
    """Judge mechanisms at one budget by a criterion, the certified best first; what fails is a row that says why.

    Example
    -------
    >>> from optldp.designer import TotalVariationAmbiguity
    >>> from optldp.mechanisms import duchi
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public")
    >>> asked, known = GuaranteeCriterion(TotalVariationAmbiguity(0.1)), {"duchi": duchi([-1, 0, 1], 1.0)}
    >>> rows = criterion_rows(asked, prior, 1.0, known, floor=0.0, tolerance=1e-6)
    >>> [(row.method, row.ratio_to_best >= 1) for row in rows]
    [('robust', True), ('duchi', True)]
    """
    try:
        value, bound, status = criterion.best(prior, epsilon, floor, tolerance)
    except OptldpError as error:
        names = (criterion.key, *mechanisms)
        return tuple(_without(criterion, epsilon, name, FAILED, f"no optimum: {error}") for name in names)
    rows = [CriterionRow(criterion.key, epsilon, criterion.key, value, bound, 1.0, status)]
    for name, table in mechanisms.items():
        if table.knots.size != prior.knots.size or (table.knots != prior.knots).any():
            rows.append(_without(criterion, epsilon, name, *OTHER_KNOTS))
            continue
        found = criterion.of(table, prior, floor)
        if math.isfinite(found):
            rows.append(CriterionRow(criterion.key, epsilon, name, found, None, found / value, status))
        else:
            rows.append(_without(criterion, epsilon, name, *NOTHING_TOLD))
    return tuple(rows)


def _without(criterion: BoundsCriterion, epsilon: float, method: str, status: str, why: str) -> CriterionRow:
    return CriterionRow(criterion.key, epsilon, method, None, None, None, status, why)
