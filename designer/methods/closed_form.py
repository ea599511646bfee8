"""The families of the papers as methods, relabelled where their reports are biased so that their average is not."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...estimators.means.unbiasing import affine_unbiasing
from ...mechanisms.errors import InputError
from ...mechanisms.families.ptt import ptt
from ...mechanisms.families.ptt2 import ptt2
from ...mechanisms.families.registry import FAMILIES
from ...mechanisms.table.table import TabulatedMechanism
from ..objectives.base import Objective, Problem, Solution
from ..priors.prior import Prior
from .base import Built, Method

WITH_PARAMETER = {"ptt": ptt, "ptt2": ptt2}
"""Families whose best parameter depends on the prior's second moment."""


@dataclass(frozen=True)
class ClosedForm(Method):
    """A family by its name in `FAMILIES`; PTT with the parameter that is best for the objective.

    Parameters
    ----------
    name : str
    worst_case : bool
        Of PTT: the parameter that is best for the worst case, whatever the objective.
    eta : float, optional
        Of PTT: the parameter itself, above 1.

    Raises
    ------
    InputError
        A name that there is not, an option that it does not have, or both a parameter and how to choose it.

    Example
    -------
    >>> from optldp.designer import design
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public")
    >>> design(prior, 1.0, method=ClosedForm("ptt")).value == design(prior, 1.0, method="ptt").value
    True
    """

    name: str
    worst_case: bool = False
    eta: float | None = None

    def __post_init__(self) -> None:
        if self.name not in FAMILIES:
            raise InputError(f"a closed form must be one of {', '.join(FAMILIES)}, got {self.name!r}")
        for option, given in (("worst_case", self.worst_case), ("eta", self.eta is not None)):
            if given and self.name not in WITH_PARAMETER:
                raise InputError(f"{option} is an option of {' and '.join(WITH_PARAMETER)}, got method {self.name!r}")
        if self.worst_case and self.eta is not None:
            raise InputError(f"worst_case chooses the parameter, got eta {self.eta!r} too: leave one of them out")

    @property
    def key(self) -> str:
        return self.name

    def build(self, problem: Problem, objective: Objective, solution: Solution) -> Built:
        if self.name not in WITH_PARAMETER:
            return Built(_unbiased(FAMILIES[self.name](problem.prior.knots, problem.epsilon), problem.prior))
        if self.eta is not None:
            return Built(WITH_PARAMETER[self.name](problem.prior.knots, problem.epsilon, eta=self.eta))
        known = objective.uses_prior and not self.worst_case
        moment = min(float(problem.solved.weights @ problem.unit.knots**2), 1.0) if known else 1.0
        return Built(WITH_PARAMETER[self.name](problem.prior.knots, problem.epsilon, second_moment=moment))


def _unbiased(mechanism: TabulatedMechanism, prior: Prior) -> TabulatedMechanism:
    if mechanism.provenance.parameters.get("unbiased") is True:
        return mechanism
    unbiasing = affine_unbiasing(mechanism)
    if unbiasing is None:
        low, high = prior.domain
        raise InputError(
            f"the domain must be wide enough for its distance from zero that {mechanism.provenance.method} can be "
            f"unbiased, got [{low:.9g}, {high:.9g}]: subtract an offset from the values"
        )
    scale, shift = unbiasing
    mechanism = mechanism.affine(1 / scale, -shift / scale)
    provenance = mechanism.provenance
    return mechanism.with_provenance(replace(provenance, parameters={**provenance.parameters, "unbiased": True}))
