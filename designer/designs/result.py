"""What `design` returns: a mechanism, what was recomputed from it, and the proof of how good it is."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...mechanisms.compact_tables import FloorForm
from ...mechanisms.display.display import Shown
from ...mechanisms.display.summary import Dots, Told
from ...mechanisms.errors import InputError, SolverError
from ...mechanisms.exactness.verification import Verdict, Verification, verification_of
from ...mechanisms.promise import Promise
from ...mechanisms.table.table import TabulatedMechanism
from ...solvers import Status
from ...solvers.certificate import relative_gap
from ..levels import Levels
from ..methods.registry import OPTIMAL
from ..objectives.base import Objective, Problem
from ..priors.prior import Prior

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class Checked(Shown):
    """What a certificate proves, computed again.

    Attributes
    ----------
    value, bound : float
        The objective's, of the mechanism, and what no mechanism can better.
    gap : float
        |value - bound| / |value|.
    verification : Verification or None
        Of the table; None for what is no table of numbers.
    failures : tuple of str
        What breaks the promise of privacy, of whatever mechanism, by whole numbers where it is exact; empty for none.

    Example
    -------
    >>> from optldp.designer import Prior, design
    >>> prior = Prior.on_knots([0, 5, 10], [2, 2, 1], source="public")
    >>> checked = design(prior, 1.0).certificate.check()
    >>> checked.failures, str(checked.verification.verdict), checked.gap < 1e-6
    ((), 'proved', True)
    """

    value: float
    bound: float
    gap: float
    verification: Verification | None
    failures: tuple[str, ...]

    def _line(self) -> dict[str, Any]:
        more = {"failures": "; ".join(self.failures) or None}
        return {"value": self.value, "bound": self.bound, "gap": self.gap} | more

    def _told(self) -> Told:
        return Told(self._line(), picture=Dots(["value", "bound"], np.array([self.value, self.bound]), "objective"))


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Shown):
    """A problem, a mechanism and multipliers: enough to prove how good the mechanism is, without trusting any solver.

    Attributes
    ----------
    problem : Problem
    objective : Objective
    mechanism : TabulatedMechanism or CategoricalTable
    multipliers : mapping of str to array

    Example
    -------
    >>> from optldp.designer import Prior, design
    >>> prior = Prior.on_knots([0, 5, 10], [2, 2, 1], source="public")
    >>> made = design(prior, 1.0)
    >>> made.certificate.check().bound == made.bound
    True
    """

    problem: Problem
    objective: Objective
    mechanism: Any
    multipliers: Mapping[str, Any]

    def _line(self) -> dict[str, Any]:
        return {"objective": self.objective.key, "mechanism": repr(self.mechanism)}

    def _told(self) -> Told:
        return Told(self._line(), picture=self.mechanism._told().picture)

    def bound(self) -> float:
        """Recompute the bound alone."""
        return self.objective.bound(self.problem, self.multipliers)

    def check(self) -> Checked:
        """Recompute value and bound, and verify the table, from what is kept here alone."""
        value, bound = self.objective.value(self.mechanism, self.problem), self.bound()
        gap = relative_gap(value, bound)
        made = self.mechanism
        verification = verification_of(made)
        return Checked(
            value, bound, gap, verification, made.failures() if verification is None else verification.failures
        )

    @cached_property
    def as_given(self) -> Certificate:
        """The same mechanism with what proves how good it is under the prior as given, without a uniform share.

        A bound for the prior with its share says nothing of variances under the prior as given, which are mostly a
        little lower: multipliers are solved for anew, and the mechanism stays what it is.

        Example
        -------
        >>> from optldp.designer import Prior, design
        >>> made = design(Prior.on_knots([0, 5, 10], [8, 1, 1], source="public"), 1.0)
        >>> made.expected_variance < made.bound, made.certificate.as_given.check().bound <= made.expected_variance
        (True, True)
        """
        if self.problem.uniform_share == 0.0:
            return self
        plain, multipliers = replace(self.problem, uniform_share=0.0), self.multipliers
        with suppress(SolverError):  # those of the prior with its share prove a bound too, only a lower one
            multipliers = self.objective.solve(plain).multipliers
        return replace(self, problem=plain, multipliers=multipliers)

    def against(self, prior: Any) -> float:
        """Return the value under another prior, without any uniform share; see `Design.against`."""
        known = self.problem.prior
        if not isinstance(prior, type(known)):
            raise InputError(f"the other prior must be a {type(known).__name__} too, got {type(prior).__name__}")
        if isinstance(prior, Prior):
            if not same_knots(self.mechanism, prior):
                raise InputError("the prior must be on the knots of the mechanism: give prior.on(made.mechanism.knots)")
        elif prior.categories != known.categories:
            raise InputError("the prior must be of the mechanism's categories, in their order: make it of those")
        return self.objective.value(self.mechanism, replace(self.problem, prior=prior, uniform_share=0.0))


@dataclass(frozen=True, eq=False, repr=False)
class Design(Shown):
    """A mechanism for a problem, with value, bound and facts recomputed from it.

    Attributes
    ----------
    prior : Prior or CategoricalPrior
        As given, without any uniform share.
    privacy : Promise or Levels
    objective : Objective
    method : str
        "optimal", or the key of the method that built the mechanism.
    mechanism : TabulatedMechanism, FloorForm, CategoricalTable or a bundle
    value : float
        The objective's, under the prior that was solved for, uniform share included.
    bound : float
        Certified: no mechanism of its kind has a better value. `objective.nobody` names the kind: mechanisms on the
        prior's knots, and for a `KnotChoice` on the whole interval.
    status : Status
        OPTIMAL when the gap is within the tolerance asked for, GAP_OPEN otherwise, as it mostly is for a closed form.
    certificate : Certificate, AttributesCertificate or LevelsCertificate
        The proof: its `check()` computes value, bound and verification again.
    evidence : object or None
        Facts that only this objective, or this method, adds.
    verification : Verification or None
        Verification of the returned table; None for mechanisms other than tables of numbers.
    seconds : float
        Wall time of this design, the bound included.
    solver : str
        Name of the solver, such as "barrier", "tree" or "highs": the fastest that takes the problem. Value and bound
        are recomputed, not taken from it.

    Example
    -------
    >>> from optldp.designer import Prior, design
    >>> made = design(Prior.on_knots([0, 5, 10], [2, 2, 1], source="public", units="hours"), 1.0)
    >>> made.solver
    'barrier'
    >>> made.mechanism
    TabulatedMechanism('optimal', epsilon=1, knots=3, outputs=6)
    >>> made.gap < 1e-6, made.bound <= made.value
    (True, True)
    """

    prior: Any
    privacy: Promise | Levels
    objective: Any
    method: str
    mechanism: Any
    value: float
    bound: float
    status: Status
    certificate: Any
    evidence: Any
    verification: Verification | None
    seconds: float = field(compare=False)
    solver: str = ""

    def _line(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "privacy": str(self.privacy),
            "objective": self.objective.key,
            "value": self.value,
            "bound": self.bound,
            "gap": self.gap,
            "status": str(self.status),
        }

    def _told(self) -> Told:
        told, line = self.mechanism._told(), self._line()
        about = {name: fact for name, fact in told.facts.items() if name not in ("method", "promise", "epsilon")}
        return Told(line | {"kept": self._promise()} | about, picture=told.picture)

    @property
    def epsilon(self) -> float:
        """The budget; of levels the largest."""
        return self.privacy.epsilon

    @property
    def gap(self) -> float:
        """|value - bound| / |value|: how far from the best this can be at most."""
        return relative_gap(self.value, self.bound)

    @property
    def expected_variance(self) -> float:
        """Of one report under the prior as given, rounding between knots included; squared units."""
        table, prior = self._table(), self.prior
        own = prior if len(table.knots) == len(prior.knots) else prior.coarsened(table.knots)
        return table.expected_variance(own.knot_prior)

    @property
    def worst_case_variance(self) -> float:
        """Of one report, largest over the whole domain, between knots too; squared units."""
        return self._verified().worst_case_variance

    @property
    def max_log_ratio(self) -> float:
        """Largest log-ratio of the table as returned, see `Verification`."""
        return self._verified().max_log_ratio

    @property
    def max_abs_bias(self) -> float:
        """Largest absolute bias of the table as returned, see `Verification`; units."""
        return self._verified().max_abs_bias

    def against(self, prior: Any) -> float:
        """Return the objective's value of this mechanism under another prior, without any uniform share.

        Parameters
        ----------
        prior : Prior, CategoricalPrior, Attributes or mapping of str to Prior
            As the design's own: on the mechanism's knots, or of its categories, or one of each attribute.

        Raises
        ------
        InputError
            A prior of another kind, other knots, other categories, other attributes.
        """
        return self.certificate.against(prior)

    def summary(self) -> str:
        """Return in a few lines what this is, how good it is, and who says so."""
        units = getattr(self.prior, "units", "")
        lines = [
            f"{self.method} mechanism at {self.privacy}: {self.objective.label}",
            f"  {self.objective.quantity(units)}: {self.value:.6g}",
            f"  {self.objective.nobody} has {'more' if self.objective.more_is_better else 'less'} than "
            f"{self.bound:.6g} (gap {self.gap:.1e}, {self.status})",
        ]
        if self.method == OPTIMAL and (more := self.objective.more(self.evidence)):
            lines.append(f"  {more}")
        return "\n".join([*lines, f"  {self._promise()}"])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the mechanism, a table of numbers as `plots.heat_map` does, and return the axes."""
        from ..plots.mechanism_mesh import drawn

        return drawn(self.mechanism, ax)

    def _promise(self) -> str:
        """What is proved of the mechanism's privacy; of a bundle by whole numbers."""
        made = self.mechanism
        if self.verification is not None:
            return f"{self.verification.verdict}: largest log-ratio {self.max_log_ratio:.9g}"
        if failures := made.failures():
            return f"{Verdict.BROKEN}: {failures[0]}"
        kept = made.max_log_ratio
        kept = "every table keeps its budget" if kept is None else f"largest log-ratio {kept:.9g}"
        return f"{Verdict.PROVED}: {kept}"

    def _table(self) -> TabulatedMechanism | FloorForm:
        if self.verification is None:
            raise InputError(f"only tables of numbers have variances of a report, got {type(self.mechanism).__name__}")
        return self.mechanism

    def _verified(self) -> Verification:
        self._table()
        assert self.verification is not None  # every table's is kept
        return self.verification


def same_knots(mechanism: TabulatedMechanism, prior: Prior) -> bool:
    """Whether a table is on a prior's knots."""
    return mechanism.knots.size == prior.knots.size and bool((mechanism.knots == prior.knots).all())
