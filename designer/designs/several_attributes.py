"""Several attributes and one budget: how many of them each user should report, and with which tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ...mechanisms import InputError, duchi, ptt, three_outputs
from ...mechanisms.combinators.attribute_sampling import AttributeSampling, attribute_budget
from ...mechanisms.display.display import Shown
from ...mechanisms.display.summary import Dots, Told
from ...mechanisms.promise import Promise, Pure
from ...mechanisms.table.unit_interval import UnitInterval
from ...solvers import Progress, Status
from ...solvers.certificate import relative_gap
from ..methods.base import Method
from ..objectives.error import Error
from ..objectives.variance import Variance
from ..priors.prior import Prior
from .judging import design_table, promise_for
from .result import Checked, Design

BUDGET_OF_ONE = 2.5
"""Budget of each reported attribute in the rule of Wang et al. (2019)."""

LEAST_SHARE = 1.0
"""Budgets below it are not looked at: there the variance falls by a factor of about four with twice the budget, so that
one attribute beats two; the tests try it on priors of every kind."""


@dataclass(frozen=True)
class AttributesVariance(Variance):
    """Weighted sum of the variances of the attributes' means, times the number of users."""

    nobody = "no unbiased mechanism on these knots, with as many attributes sampled,"
    promises = (Pure,)

    @property
    def label(self) -> str:
        return "least variance of all means"

    def quantity(self, units: str) -> str:
        return "weighted sum of the means' variances, times n"


@dataclass(frozen=True)
class AttributesError(Error):
    """Weighted sum of the largest squared errors of the attributes' means, times the number of users."""

    nobody = "no mechanism on these knots, biased or not, with as many attributes sampled,"

    @property
    def label(self) -> str:
        return f"least error of all means of {self.n:,} users, bias allowed, {self.ambiguity.label}"

    def quantity(self, units: str) -> str:
        return "weighted sum of the means' squared errors, times n"

    def reporting(self, share: float) -> Error:
        """Return what is wanted of an attribute's table, to which this share of the users report."""
        return Error(max(1, int(self.n * share)), self.ambiguity)


@dataclass(frozen=True)
class AttributeStep:
    """What a progress callback is told: the attribute, the number of sampled ones, and the solver's progress."""

    attribute: str
    sampled: int
    step: Progress


@dataclass(frozen=True, eq=False, repr=False)
class Attributes(Shown):
    """The priors of several attributes of one user, who reports some of them; `design` takes them as one prior.

    Parameters
    ----------
    priors : mapping of str to Prior
        Of each attribute.
    sampled : int or "auto"
        k, how many a user reports, from 1 to d.
    weights : mapping of str to float, optional
        How much the variance of each mean matters, positive. Default: one over the squared half-width of its domain,
        so that all count alike on [-1, 1].

    Raises
    ------
    InputError
        No attribute, or a number or weight that is not usable.

    Example
    -------
    >>> from optldp import Attributes, Prior
    >>> age = Prior.on_knots([0, 50, 100], [2, 2, 1], source="public", units="years")
    >>> Attributes({"age": age, "hours": Prior.even([0, 20, 40])}, sampled=1)
    Attributes(attributes=2, sampled=1)
    """

    priors: Mapping[str, Prior]
    sampled: int | Literal["auto"] = "auto"
    weights: Mapping[str, float] | None = None

    def _line(self) -> dict[str, Any]:
        return {"attributes": len(self.priors), "sampled": self.sampled}

    def _told(self) -> Told:
        names, spread = list(self.priors), self.data_variances
        columns = {
            "attribute": names,
            "knots": [prior.knots.size for prior in self.priors.values()],
            "mean": [prior.mean for prior in self.priors.values()],
            "std_dev": [math.sqrt(max(spread[name], 0.0)) for name in names],
            "units": [prior.units for prior in self.priors.values()],
        }
        wide = [np.ptp(prior.knots) for prior in self.priors.values()]
        shares = np.array(columns["std_dev"]) / wide
        return Told(self._line(), columns, Dots(names, shares, "standard deviation, as a share of the domain"))

    def __post_init__(self) -> None:
        if not isinstance(self.priors, Mapping) or not all(isinstance(prior, Prior) for prior in self.priors.values()):
            raise InputError("attributes must be given by name with a Prior each, got something else")
        if not self.priors:
            raise InputError("there must be at least one attribute, got none")
        object.__setattr__(self, "priors", dict(self.priors))
        object.__setattr__(self, "weights", _checked_weights(self.priors, self.weights))
        _candidates(self.sampled, 1.0, len(self.priors))

    @property
    def data_variances(self) -> dict[str, float]:
        """Variance of the values under each prior, squared units."""
        return {name: prior.second_moment - prior.mean**2 for name, prior in self.priors.items()}

    def total(self, variances: Mapping[str, float], sampled: int) -> float:
        """Return the weighted sum of the means' variances, times the number of users, if so many are sampled.

        Parameters
        ----------
        variances : mapping of str to float
            Expected variance of a report of each attribute, squared units.
        sampled : int
            k.
        """
        share, spread, weights = sampled / len(self.priors), self.data_variances, self.weights or {}
        return sum(weights[name] * predicted_variance(variances[name], spread[name], share) for name in self.priors)


@dataclass(frozen=True)
class SampledChoice:
    """What is predicted for one number of sampled attributes.

    Attributes
    ----------
    sampled : int
        k.
    epsilon : float
        Budget of each reported attribute.
    screened : float
        Weighted sum over the attributes of the variances times the number of users, by the best closed form each.
    designed : float or None
        The same by the tables that were designed; None where the screening ruled k out.
    """

    sampled: int
    epsilon: float
    screened: float
    designed: float | None


@dataclass(frozen=True, eq=False)
class AttributesEvidence:
    """Why a design for several attributes samples as many as it does, and its tables.

    Attributes
    ----------
    sampled : int
        How many attributes a user reports.
    designs : mapping of str to Design
        The table of each attribute and its certificate.
    choices : tuple of SampledChoice
        Every number of sampled attributes that was looked at, in order.
    rule_of_thumb : int
        k by Wang et al. (2019): max(1, min(d, floor(epsilon / 2.5))).
    data_variances : mapping of str to float
        Variance of the values under each prior, squared units.
    users : int, optional
        Those that an error was designed for.
    """

    sampled: int
    designs: dict[str, Design]
    choices: tuple[SampledChoice, ...]
    rule_of_thumb: int
    data_variances: dict[str, float]
    users: int | None = None

    def predicted_variances(self, users: int) -> dict[str, float]:
        """Return the variance of each estimated mean of so many users, squared units.

        (V + (1 - k/d) S^2) / (n k / d), V the expected variance of the table and S^2 that of the data. Designed for an
        error it is the largest squared error, R^2 in place of the first term, for those users alone: bias does not
        fall with their number.

        Raises
        ------
        InputError
            Other users than an error was designed for.
        """
        if self.users not in (None, users):
            raise InputError(f"these tables are for the error of {self.users:,} users, got {users:,}: design for those")
        share = self.sampled / len(self.designs)
        return {
            name: predicted_variance(_of_a_report(made, share, users), self.data_variances[name], share) / users
            for name, made in self.designs.items()
        }


def _of_a_report(made: Design, share: float, users: int) -> float:
    """The variance of a report that the error of a mean of so many users, of whom a share report, amounts to."""
    return made.value**2 * users * share if isinstance(made.objective, Error) else made.expected_variance


@dataclass(frozen=True, eq=False)
class AttributesCertificate:
    """The certificates of all tables, and how their variances add up; see `Certificate`."""

    attributes: Attributes
    designs: Mapping[str, Design]
    sampled: int
    objective: AttributesVariance | AttributesError

    def check(self) -> Checked:
        """Recompute value and bound: that of the tables for this number of sampled attributes."""
        found = {name: made.certificate.check() for name, made in self.designs.items()}
        value = self.total({name: each.value for name, each in found.items()})
        bound = self.total({name: each.bound for name, each in found.items()})
        failures = tuple(f"attribute {name!r}: {said}" for name, each in found.items() for said in each.failures)
        return Checked(value, bound, relative_gap(value, bound), None, failures)

    def against(self, prior: Any) -> float:
        """Return the value under other priors, weighed as before and without any uniform share."""
        priors = prior.priors if isinstance(prior, Attributes) else prior
        if not isinstance(priors, Mapping) or set(priors) != set(self.designs):
            got = ", ".join(map(str, priors)) or "none" if isinstance(priors, Mapping) else type(priors).__name__
            raise InputError(f"there must be a prior for each of {', '.join(self.designs)}, by name, got {got}")
        others = replace(self, attributes=replace(self.attributes, priors=priors))
        return others.total({name: made.against(priors[name]) for name, made in self.designs.items()})

    def total(self, found: Mapping[str, float]) -> float:
        """Return the weighted sum, for these values of the attributes' own objectives: variances, or errors."""
        attributes, objective = self.attributes, self.objective
        if not isinstance(objective, AttributesError):
            return attributes.total(found, self.sampled)
        reports = objective.n * self.sampled / len(self.designs)
        return attributes.total({name: error**2 * reports for name, error in found.items()}, self.sampled)


def design_attributes(
    attributes: Attributes,
    privacy: Promise | float,
    method: Method | None,
    *,
    error: Error | None,
    uniform_share: float | None,
    tolerance: float | None,
    exact: bool,
    progress: Callable[[AttributeStep], None] | None,
) -> Design:
    r"""Design a table for each of d attributes, and choose how many of them a user reports.

    With k of d attributes at epsilon / k each, the mean of attribute j over n users has the variance

        (V_j(epsilon / k) + (1 - k/d) S_j^2) / (n k / d),

    V_j the expected variance of its table and S_j^2 that of its values. The weighted sum over j is minimised over k:
    all k that leave budgets of at least 1 are screened with closed forms, then tables are designed at the best k and at
    its neighbours, and at theirs while the sum falls. The value is that sum, times n, under the priors solved for; the
    bound is for any unbiased tables and the k chosen.

    With an error, V_j / (n k / d) is the largest squared error of the mean of the n k / d users who report j, for which
    its table is designed, each with its own clip; the bound is then for tables that may be biased.

    Parameters
    ----------
    attributes : Attributes
    privacy : Promise or float
        Budget of a user, all attributes together.
    error : Error, optional
        Of all n users, in place of the least variance.
    method, uniform_share, tolerance, exact, progress
        As in `design`, for every attribute.

    Source
    ------
    Wang et al. (2019), section IV, for the worst case without S^2; their rule is `rule_of_thumb`.

    Example
    -------
    >>> from optldp.designer import design
    >>> priors = {name: Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public") for name in "abc"}
    >>> made = design(priors, 3.0)
    >>> found = made.evidence
    >>> made.mechanism, found.rule_of_thumb, [choice.designed is None for choice in found.choices]
    (AttributeSampling(attributes=3, sampled=1, epsilon=3), 1, [False, False, True])
    """
    epsilon, priors = promise_for(privacy, AttributesVariance()).epsilon, attributes.priors
    candidates = _candidates(attributes.sampled, epsilon, len(priors))
    screened = {k: attributes.total(_screened(priors, attribute_budget(epsilon, k)), k) for k in candidates}
    designed: dict[int, dict[str, Design]] = {}
    asked = AttributesVariance() if error is None else AttributesError(error.n, error.ambiguity)
    users = None if error is None else error.n

    def cost(k: int) -> float:
        share = k / len(priors)
        if k not in designed:
            designed[k] = {}
            for name, prior in priors.items():
                designed[k][name] = design_table(
                    prior,
                    attribute_budget(epsilon, k),
                    asked.reporting(share) if isinstance(asked, AttributesError) else None,
                    method,
                    uniform_share=uniform_share,
                    tolerance=tolerance,
                    exact=exact,
                    progress=None if progress is None else _told(progress, name, k),
                )
        of_reports = {name: _of_a_report(made, share, users or 1) for name, made in designed[k].items()}
        return attributes.total(of_reports, k)

    best = _descend(cost, candidates, min(candidates, key=lambda k: screened[k]))
    chosen = designed[best]
    choices = tuple(
        SampledChoice(k, attribute_budget(epsilon, k), screened[k], cost(k) if k in designed else None)
        for k in candidates
    )
    rule, spread = rule_of_thumb(epsilon, len(priors)), attributes.data_variances
    certificate = AttributesCertificate(attributes, chosen, best, asked)
    return Design(
        prior=attributes,
        privacy=Pure(epsilon),
        objective=asked,
        method=next(iter(chosen.values())).method,
        mechanism=AttributeSampling.of({name: made.mechanism for name, made in chosen.items()}, best, epsilon),
        value=certificate.total({name: made.value for name, made in chosen.items()}),
        bound=certificate.total({name: made.bound for name, made in chosen.items()}),
        status=Status.OPTIMAL if all(made.status == Status.OPTIMAL for made in chosen.values()) else Status.GAP_OPEN,
        certificate=certificate,
        evidence=AttributesEvidence(best, chosen, choices, rule, spread, users),
        verification=None,
        seconds=0.0,
    )


def _told(progress: Callable[[AttributeStep], None], name: str, sampled: int) -> Callable[[Progress], None]:
    return lambda step: progress(AttributeStep(name, sampled, step))


def predicted_variance(noise: float, data: float, share: float) -> float:
    """Return n times the variance of a mean to which a share of n users report: (noise + (1 - share) data) / share.

    Example
    -------
    >>> predicted_variance(4.0, 0.5, 0.5)
    8.5
    """
    return (noise + (1 - share) * data) / share


def rule_of_thumb(epsilon: float, attributes: int) -> int:
    """Return the number of sampled attributes that Wang et al. (2019) advise: max(1, min(d, floor(epsilon / 2.5))).

    Example
    -------
    >>> [rule_of_thumb(epsilon, 3) for epsilon in (1.0, 5.0, 16.0)]
    [1, 2, 3]
    """
    return max(1, min(attributes, int(epsilon / BUDGET_OF_ONE)))


def _candidates(sampled: int | str, epsilon: float, attributes: int) -> list[int]:
    """The numbers of sampled attributes to look at, increasing and without gaps."""
    if sampled == "auto":
        return list(range(1, max(1, min(attributes, int(epsilon / LEAST_SHARE))) + 1))
    if type(sampled) is not int or not 1 <= sampled <= attributes:
        raise InputError(f"sampled must be 'auto' or a whole number from 1 to {attributes}, got {sampled!r}")
    return [sampled]


def _checked_weights(priors: Mapping[str, Prior], weights: Mapping[str, float] | None) -> Mapping[str, float]:
    if weights is None:
        return {name: 4.0 / float(np.ptp(prior.domain)) ** 2 for name, prior in priors.items()}
    if set(weights) != set(priors):
        raise InputError(f"weights must be for {', '.join(priors)}, got ones for {', '.join(weights) or 'none'}")
    for name, weight in weights.items():
        if not (np.isfinite(weight) and weight > 0):
            raise InputError(f"weights must be positive, got {weight!r} for {name!r}: leave the attribute out")
    return weights


def _screened(priors: Mapping[str, Prior], epsilon: float) -> dict[str, float]:
    """The least expected variance of three closed forms, one of which is near the optimum at every budget."""
    least = {}
    for name, prior in priors.items():
        tables = (
            duchi(prior.knots, epsilon),
            three_outputs(prior.knots, epsilon),
            ptt(prior.knots, epsilon, second_moment=float(prior.weights @ UnitInterval.of(prior.knots).knots ** 2)),
        )
        least[name] = min(table.expected_variance(prior.knot_prior) for table in tables)
    return least


def _descend(cost: Callable[[int], float], candidates: list[int], start: int) -> int:
    """The candidate that costs less than its neighbours, reached downhill from a start."""
    best = start
    while True:
        near = [k for k in (best - 1, best + 1) if candidates[0] <= k <= candidates[-1]]
        better = min([best, *near], key=cost)
        if better == best:
            return best
        best = better
