"""The families of the papers as methods, relabelled where their reports are biased so that their average is not.

For the error of a mean, which forgives a bias that pays, each is clipped and shifted as is best for it (`clipped`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...estimators.means.unbiasing import affine_unbiasing
from ...mechanisms.errors import InputError
from ...mechanisms.families.grr import grr_variance
from ...mechanisms.families.ptt import ptt
from ...mechanisms.families.ptt2 import ptt2
from ...mechanisms.families.registry import FAMILIES
from ...mechanisms.table.table import TabulatedMechanism
from ...solvers.biased import Clip, ErrorProgram
from ..objectives.base import Objective, Problem, Solution
from ..objectives.error import Error
from .base import Built, Method
from .clipped import PLACES, Clipping, Variances, at_knots, scaled_variances, spread_rows, variances_by_knots

WITH_PARAMETER = {"ptt": ptt, "ptt2": ptt2}
"""Families whose best parameter depends on the prior's second moment."""

ROUNDS = 4
"""Times that their parameter is chosen for the worst prior of the last clip, and the clip for it; the first is for the
worst case, and the best of all is taken."""


@dataclass(frozen=True)
class ClosedForm(Method):
    """A family by its name in `FAMILIES`; PTT with the parameter that is best for the objective.

    Parameters
    ----------
    name : str
    worst_case : bool
        Of PTT: the best parameter for the worst case, under every objective.
    eta : float, optional
        Of PTT: the parameter itself, above 1.

    Raises
    ------
    InputError
        An unknown name, an option that it does not have, or both a parameter and how to choose it.

    Example
    -------
    >>> from optldp.designer import Prior, design
    >>> from optldp.designer.methods import ClosedForm
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public")
    >>> mean, worst = ClosedForm("ptt"), ClosedForm("ptt", worst_case=True)
    >>> [round(design(prior, 1.0, method=method).value, 3) for method in (mean, worst)]
    [4.385, 4.4]
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
        if isinstance(objective, Error):
            return self._clipped(problem, objective)
        return Built(self.unbiased(problem, objective.uses_prior))

    def unbiased(self, problem: Problem, uses_prior: bool = True) -> TabulatedMechanism:
        """Return the unbiased table of the problem, for which nothing is solved."""
        known = uses_prior and not self.worst_case
        moment = min(float(problem.solved.weights @ problem.unit.knots**2), 1.0) if known else 1.0
        return self._table(problem.prior.knots, problem.epsilon, moment)

    def _table(self, knots: np.ndarray, epsilon: float, moment: float) -> TabulatedMechanism:
        """The unbiased table on these knots; PTT's for a mean squared value, the domain put to [-1, 1]."""
        if self.name not in WITH_PARAMETER:
            return without_bias(FAMILIES[self.name](knots, epsilon))
        if self.eta is not None:
            return WITH_PARAMETER[self.name](knots, epsilon, eta=self.eta)
        return WITH_PARAMETER[self.name](knots, epsilon, second_moment=moment)

    def _clipped(self, problem: Problem, objective: Error) -> Built:
        """The table of least error that was found, clipped and shifted; its evidence is the `Clip`."""
        priors, unit = objective.priors(problem), problem.unit
        search = Clipping.of(ErrorProgram(unit.knots, problem.ratio, priors, objective.n))
        moment, tried = 1.0, []
        for _ in range(ROUNDS if self.name in WITH_PARAMETER and self.eta is None else 1):
            error, clip, worst = search.best(self._variances(problem.epsilon, moment))
            tried.append((error, clip, moment))
            where = (2 * np.clip(unit.knots, clip.low, clip.high) - clip.low - clip.high) / (clip.high - clip.low)
            moment = 1.0 if self.worst_case else min(float(worst @ where**2), 1.0)
        _, clip, moment = min(tried, key=lambda each: each[0])
        low, high = at_knots(unit.values(np.array([clip.low, clip.high])), problem.prior.knots)
        clip = Clip(float(low), float(high), unit.half * clip.shift)
        table = self._table(np.unique(np.clip(problem.prior.knots, clip.low, clip.high)), problem.epsilon, moment)
        return Built(spread_rows(table, problem.prior.knots, clip), clip)

    def _variances(self, epsilon: float, moment: float) -> Variances:
        """The family's variances on any interval; only randomised response depends on where the knots are."""
        if self.name != "grr":
            return scaled_variances(self._table(np.linspace(-1, 1, PLACES), epsilon, moment))
        told = np.expm1(epsilon)
        return variances_by_knots(lambda at: grr_variance(at, epsilon) * ((told + len(at)) / told) ** 2)


def without_bias(mechanism: TabulatedMechanism) -> TabulatedMechanism:
    """Return the table with its reports scaled and shifted so that they are unbiased; InputError where none are."""
    if mechanism.provenance.parameters.get("unbiased") is True:
        return mechanism
    unbiasing = affine_unbiasing(mechanism)
    if unbiasing is None:
        low, high = mechanism.domain
        raise InputError(
            f"the domain must not be narrow and far from zero, where {mechanism.provenance.method} cannot be unbiased, "
            f"got [{low:.15g}, {high:.15g}]: subtract an offset from the values"
        )
    scale, shift = unbiasing
    mechanism = mechanism.affine(1 / scale, -shift / scale)
    provenance = mechanism.provenance
    return mechanism.with_provenance(replace(provenance, parameters={**provenance.parameters, "unbiased": True}))
