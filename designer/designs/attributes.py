"""Several attributes and one budget: how many of them each user should report, and with which tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...mechanisms import InputError, duchi, ptt, three_outputs
from ...mechanisms.budget import check_epsilon
from ...mechanisms.composed.attributes import AttributeSampling, attribute_budget
from ...solvers import Progress
from ..priors.prior import DEFAULT_FLOOR, Prior
from .design import DEFAULT_TOLERANCE, METHODS, Design, design

BUDGET_OF_ONE = 2.5
"""Budget of each reported attribute in the rule of Wang et al. (2019)."""

LEAST_SHARE = 1.0
"""Budgets below it are not looked at: there the variance falls by a factor of about four with twice the budget, so that
one attribute beats two; the tests try it on priors of every kind."""

AttributeProgress = Callable[[str, int, Progress], None]
"""Told the attribute, the number of sampled attributes and the solver's progress, after each solver step."""


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
class AttributeDesign:
    """A mechanism for several attributes, and why it samples as many as it does.

    Attributes
    ----------
    mechanism : AttributeSampling
    designs : mapping of str to Design
        The table of each attribute and its certificate.
    choices : tuple of SampledChoice
        Every number of sampled attributes that was looked at, in order.
    rule_of_thumb : int
        k by Wang et al. (2019): max(1, min(d, floor(epsilon / 2.5))).
    data_variances : mapping of str to float
        Variance of the values under each prior, squared units.
    """

    mechanism: AttributeSampling
    designs: dict[str, Design]
    choices: tuple[SampledChoice, ...]
    rule_of_thumb: int
    data_variances: dict[str, float]

    def predicted_variances(self, users: int) -> dict[str, float]:
        """Return the variance of each estimated mean of so many users, squared units.

        (V + (1 - k/d) S^2) / (n k / d), V the expected variance of the table and S^2 that of the data.
        """
        share = self.mechanism.sampled / len(self.designs)
        return {
            name: predicted_variance(made.expected_variance, self.data_variances[name], share) / users
            for name, made in self.designs.items()
        }


def design_attributes(
    priors: Mapping[str, Prior],
    epsilon: float,
    *,
    sampled: int | Literal["auto"] = "auto",
    method: str = "optimal",
    weights: Mapping[str, float] | None = None,
    floor: float = DEFAULT_FLOOR,
    tolerance: float = DEFAULT_TOLERANCE,
    progress: AttributeProgress | None = None,
) -> AttributeDesign:
    r"""Design a table for each of d attributes, and choose how many of them a user reports.

    With k of d attributes at epsilon / k each, the mean of attribute j over n users has the variance

        (V_j(epsilon / k) + (1 - k/d) S_j^2) / (n k / d),

    V_j the expected variance of its table and S_j^2 that of its values.  The weighted sum over j is minimised over k:
    all k that leave budgets of at least 1 are screened with closed forms, then tables are designed at the best k and at
    its neighbours, and at theirs while the sum falls.

    Parameters
    ----------
    priors : mapping of str to Prior
        What is known of each attribute.
    epsilon : float
        Privacy budget of a user, all attributes together.
    sampled : int or "auto"
        k, from 1 to d.
    method : str
        One of `METHODS`, for every attribute.
    weights : mapping of str to float, optional
        How much the variance of each mean matters, positive. Default: one over the squared half-width of its domain,
        so that all count alike on [-1, 1].
    floor, tolerance : float
        As in `design`.
    progress : callable, optional
        Called as `AttributeProgress` says.

    Raises
    ------
    InputError
        No attribute, or a budget, number, method, weight or option that is not usable.
    SolverError
        No solution was found.

    Source
    ------
    Wang et al. (2019), section IV, for the worst case without S^2; their rule is `rule_of_thumb`.

    Example
    -------
    >>> priors = {name: Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public") for name in "abc"}
    >>> made = design_attributes(priors, 3.0)
    >>> made.mechanism, made.rule_of_thumb, [choice.designed is None for choice in made.choices]
    (AttributeSampling(attributes=3, sampled=1, epsilon=3), 1, [False, False, True])
    """
    if not priors:
        raise InputError("there must be at least one attribute, got none")
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    check_epsilon(epsilon)
    candidates = _candidates(sampled, epsilon, len(priors))
    importance = _checked_weights(priors, weights)
    spread = {name: prior.second_moment - prior.mean**2 for name, prior in priors.items()}

    def total(variances: Mapping[str, float], k: int) -> float:
        share = k / len(priors)
        return sum(importance[name] * predicted_variance(variances[name], spread[name], share) for name in priors)

    screened = {k: total(_screened(priors, attribute_budget(epsilon, k)), k) for k in candidates}
    designed: dict[int, dict[str, Design]] = {}

    def cost(k: int) -> float:
        if k not in designed:
            designed[k] = _designed(priors, epsilon, k, method, floor, tolerance, progress)
        return total({name: made.expected_variance for name, made in designed[k].items()}, k)

    best = _descend(cost, candidates, min(candidates, key=lambda k: screened[k]))
    tables = {name: made.mechanism for name, made in designed[best].items()}
    choices = tuple(
        SampledChoice(k, attribute_budget(epsilon, k), screened[k], cost(k) if k in designed else None)
        for k in candidates
    )
    thumb = rule_of_thumb(epsilon, len(priors))
    return AttributeDesign(AttributeSampling.of(tables, best, epsilon), designed[best], choices, thumb, spread)


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
        low, high = prior.domain
        centred = (prior.knots - 0.5 * (low + high)) / (0.5 * (high - low))
        tables = (
            duchi(prior.knots, epsilon),
            three_outputs(prior.knots, epsilon),
            ptt(prior.knots, epsilon, second_moment=float(prior.weights @ centred**2)),
        )
        least[name] = min(table.expected_variance(prior.knot_prior) for table in tables)
    return least


def _designed(
    priors: Mapping[str, Prior],
    epsilon: float,
    k: int,
    method: str,
    floor: float,
    tolerance: float,
    progress: AttributeProgress | None,
) -> dict[str, Design]:
    share, made = attribute_budget(epsilon, k), {}
    for name, prior in priors.items():

        def told(step: Progress, name: str = name) -> None:
            if progress is not None:
                progress(name, k, step)

        made[name] = design(prior, share, method=method, floor=floor, tolerance=tolerance, progress=told)
    return made


def _descend(cost: Callable[[int], float], candidates: list[int], start: int) -> int:
    """The candidate that costs less than its neighbours, reached downhill from a start."""
    best = start
    while True:
        near = [k for k in (best - 1, best + 1) if candidates[0] <= k <= candidates[-1]]
        better = min([best, *near], key=cost)
        if better == best:
            return best
        best = better
