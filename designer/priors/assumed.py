"""What an interval assumes of a distribution is a set of priors of a design, and the other way round where both exist.

A `Factor` without exempt people is `FactorAmbiguity`, and one of the prior itself, with a share of people exempt,
`TotalVariationAmbiguity`. Any other assumption is an `AssumedAmbiguity`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...estimators.assumptions.base import Assumption
from ...estimators.assumptions.near_prior import Factor, Shape
from ...estimators.assumptions.needed import exempt_needed
from ...mechanisms import InputError
from ...solvers.robust.declared import DeclaredSet
from ...solvers.robust.sets import PriorSet
from .ambiguity import Ambiguity, FactorAmbiguity, TotalVariationAmbiguity
from .prior import Prior

NEAR = 1e-12
"""Slack in weights within which a prior meets an assumption: what dividing by their sum leaves behind."""


@dataclass(frozen=True, eq=False)
class AssumedAmbiguity(Ambiguity):
    """The priors that meet an assumption, except for its share of exempt people, for every prior of the design.

    Parameters
    ----------
    assumption : Assumption
        Of `optldp.estimators.assumptions`; an assumption near a prior has its own prior, on the knots of the design's.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import Guarantee, Prior
    >>> from optldp.designer import design
    >>> from optldp.designer.priors import AssumedAmbiguity
    >>> from optldp.estimators.assumptions import Monotone
    >>> falling = Prior.on_knots(range(5), [5, 4, 3, 2, 1], source="public")
    >>> safe = design(falling, 1.0, objective=Guarantee(AssumedAmbiguity(Monotone(0.0))))
    >>> bool(safe.value < safe.evidence.nominal_guarantee)
    True
    """

    assumption: Assumption

    @property
    def label(self) -> str:
        return f"assuming {self.assumption.label}"

    def around(self, prior: Prior) -> DeclaredSet:
        return DeclaredSet(self.assumption.rows(prior.knots), self.assumption.exempt)

    def is_single(self, prior: Prior) -> bool:
        """A class of one prior has no inside, which `around` refuses."""
        return False

    def contains_every(self, prior: Prior) -> bool:
        """The farthest priors are point masses."""
        masses = np.eye(prior.knots.size)
        most = self.assumption.exempt + NEAR
        return all(exempt_needed(self.assumption, prior.knots, mass) <= most for mass in masses)


@dataclass(frozen=True)
class AmbiguityOnceKnown(Ambiguity):
    """A set of priors that is made when a design's prior is known, near which assumptions are.

    Parameters
    ----------
    assumed : str
        What is assumed, for people.
    near : callable
        From the design's prior to the set.

    Example
    -------
    >>> from optldp import Prior
    >>> from optldp.designer.priors.assumed import AmbiguityOnceKnown
    >>> AmbiguityOnceKnown("trust=2", lambda prior: FactorAmbiguity(2.0)).is_single(Prior.even([0, 1]))
    False
    """

    assumed: str
    near: Callable[[Prior], Ambiguity]

    @property
    def label(self) -> str:
        return f"assuming {self.assumed}"

    def around(self, prior: Prior) -> PriorSet:
        return self.near(prior).around(prior)

    def is_single(self, prior: Prior) -> bool:
        return self.near(prior).is_single(prior)

    def contains_every(self, prior: Prior) -> bool:
        return self.near(prior).contains_every(prior)


def ambiguity_of(assumption: Assumption) -> Ambiguity:
    """Return the set of priors of a design that corresponds to an assumption of intervals.

    Parameters
    ----------
    assumption : Assumption

    Returns
    -------
    ambiguity : Ambiguity
        With the same members.

    Example
    -------
    >>> from optldp import Prior
    >>> from optldp.designer.priors import ambiguity_of
    >>> from optldp.estimators.assumptions import Factor
    >>> ambiguity_of(Factor(Prior.even([0, 1, 2]), 3.0))
    FactorAmbiguity(trust=3.0)
    """
    if isinstance(assumption, Factor) and assumption.exempt == 0.0:
        return FactorAmbiguity(assumption.trust)
    if (isinstance(assumption, Factor) and assumption.trust == 1.0) or (
        isinstance(assumption, Shape) and assumption.rate == 1.0
    ):
        return TotalVariationAmbiguity(assumption.exempt)
    return AssumedAmbiguity(assumption)


def assumption_of(ambiguity: Ambiguity, prior: Prior) -> Assumption:
    """Return the assumption of intervals that corresponds to a design's set of priors around a prior.

    Parameters
    ----------
    ambiguity : Ambiguity
    prior : Prior
        The set's centre, with weight at every knot.

    Returns
    -------
    assumption : Assumption
        With the same members.

    Raises
    ------
    InputError
        A set without a corresponding assumption.

    Example
    -------
    >>> from optldp import Prior
    >>> from optldp.designer import TotalVariationAmbiguity
    >>> from optldp.designer.priors import assumption_of
    >>> assumption_of(TotalVariationAmbiguity(0.02), Prior.even([0, 1, 2])).label
    'trust=1,exempt=0.02'
    """
    if isinstance(ambiguity, AssumedAmbiguity):
        return ambiguity.assumption
    if isinstance(ambiguity, FactorAmbiguity):
        return Factor(prior, ambiguity.trust)
    if isinstance(ambiguity, TotalVariationAmbiguity) and ambiguity.radius < 1.0:
        return Factor(prior, 1.0, exempt=ambiguity.radius)
    raise InputError(
        "an interval assumes a factor, a total variation below 1 or an assumption, got another set of priors: "
        f"{ambiguity.label}"
    )
