"""The least variance that can be guaranteed while the prior may be wrong: over a whole set of priors.

What a mechanism guarantees is computed from its variances by sorting or by one-dimensional duality, not taken from the
solver. The certificate is the certified bound for the worst prior that was found: as that prior may be the true one,
nobody guarantees less.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from threadpoolctl import threadpool_limits

from ...mechanisms.errors import InputError
from ...mechanisms.exactness.make_exact import exact_if_possible
from ...mechanisms.table.provenance import Provenance
from ...mechanisms.table.table import TabulatedMechanism
from ...mechanisms.units import squared, units_label
from ...solvers import Status
from ...solvers.robust.robust_program import RobustProgram
from ...solvers.robust.saddle_point import solve_robust
from ..priors.ambiguity import AMBIGUITIES, Ambiguity
from ..priors.prior import Prior
from .base import Objective, Problem, Solution, Told
from .registry import Asker
from .variance import Variance


@dataclass(frozen=True, eq=False)
class GuaranteeEvidence:
    """What a design for a prior that may be wrong shows beside its guarantee; variances in squared units.

    Attributes
    ----------
    worst_prior : (n,) ndarray
        The member of the set behind the bound; the best expected variance under it is the least guarantee.
    guaranteed_anywhere : float
        The guarantee for data anywhere between the knots: rounding adds at most h^2/4, h their largest distance.
    nominal_variance, nominal_guarantee : float
        Expected variance and guarantee of the optimum for the prior as given.
    price_of_robustness : float
        Expected variance under the prior as given, over that of the optimum for it: at least about one.
    gain_of_robustness : float
        Share by which the guarantee is below that of the optimum for the prior as given.
    is_minimax : bool
        Whether the set holds every prior, so that this is the minimax design.
    """

    worst_prior: np.ndarray
    guaranteed_anywhere: float
    nominal_variance: float
    nominal_guarantee: float
    price_of_robustness: float
    gain_of_robustness: float
    is_minimax: bool


@dataclass(frozen=True)
class Guarantee(Objective):
    """The largest expected variance over the priors of a set, plus the rounding of the prior as given; rounded up.

    It bounds the variance for all data whose knot prior lies in the set and whose rounding adds no more. The lower
    bound leaves the rounding out, because the worst prior of the set need not admit as much rounding as the given one.

    Parameters
    ----------
    ambiguity : Ambiguity
        How far the prior may be wrong: `RelativeAmbiguity`, `TotalVariationAmbiguity`, `WassersteinAmbiguity`,
        `BoxAmbiguity`.
    every_prior : bool
        Whether the set may hold every prior on the knots: the design is then minimax.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import Guarantee, Prior
    >>> from optldp.designer import TotalVariationAmbiguity, design
    >>> prior = Prior.on_knots(np.linspace(-1, 1, 11), [0, 0, 1, 4, 9, 12, 9, 4, 1, 0, 0], source="public")
    >>> safe = design(prior, 2.0, objective=Guarantee(TotalVariationAmbiguity(0.1)))
    >>> round(safe.value, 4), round(safe.evidence.nominal_guarantee, 4)  # that of the optimum for the prior as given
    (0.6714, 0.6754)
    >>> round(safe.evidence.price_of_robustness, 3)
    1.002
    """

    ambiguity: Ambiguity
    every_prior: bool = False
    of_variance = True

    @classmethod
    def of_options(cls, options: Mapping[str, Any], asker: Asker) -> Self:
        if (assumed := options.get("assumed")) is not None:
            return cls(assumed)
        kinds = ", ".join(AMBIGUITIES)
        if options.get("ambiguity") is None or options.get("radius") is None:
            raise InputError(
                f"--objective robust needs an ambiguity, one of {kinds}, and a radius: write robust:tv,radius=0.1, or "
                "let optldp design take --assume shape=1.1"
            )
        if options["ambiguity"] not in AMBIGUITIES:
            raise InputError(f"ambiguity must be one of {kinds}, got {options['ambiguity']!r}")
        return cls(AMBIGUITIES[options["ambiguity"]](options["radius"]))

    @property
    def key(self) -> str:
        return "robust"

    @property
    def label(self) -> str:
        return f"the prior may be wrong: {self.ambiguity.label}"

    def quantity(self, units: str) -> str:
        return units_label("guaranteed variance of one report", squared(units))

    def check(self, problem: Problem) -> None:
        self.ambiguity.around(problem.prior)
        if self.every_prior or not self.ambiguity.contains_every(problem.prior):
            return
        radius = _radius(self.ambiguity)
        what = "the ambiguity" if radius is None else f"ambiguity radius {radius:.9g}"
        raise InputError(
            f"{what} contains every prior on the knots: the design is then minimax, "
            "use --objective minimax / WorstCase()"
        )

    def solve(self, problem: Problem, progress: Told = None) -> Solution:
        prior, priors = problem.prior, self.ambiguity.around(problem.prior)
        nominal = Variance().solve(problem, progress)
        origin = Provenance("robust", {"unbiased": True, "ambiguity": self.ambiguity.label})
        if self.ambiguity.is_single(prior):
            found = nominal
            if not np.array_equal(priors.some_prior, problem.solved.weights):  # a box around another prior
                alone = Prior.on_knots(prior.knots, priors.some_prior, source=prior.source, units=prior.units)
                found = Variance().solve(replace(problem, prior=alone, uniform_share=0.0), progress)
            multipliers = {"worst": priors.some_prior, **found.multipliers}
            table, status, solver = found.mechanism, found.status, found.solver
        else:
            (multipliers, table, status), solver = self._solved(problem, progress), "saddle-point"
        tables = [made.with_provenance(origin) for made in (table, nominal.mechanism)]
        return Solution(tables[0], multipliers, status, (tables[1],), {"nominal": nominal.mechanism}, solver)

    def _solved(self, problem: Problem, progress: Told) -> tuple[Mapping[str, Any], TabulatedMechanism, Status]:
        program = RobustProgram(problem.unit.knots, problem.inner_ratio, self.ambiguity.around(problem.prior))
        with threadpool_limits(1, user_api="blas"):  # as in `Variance`
            best = solve_robust(program, tolerance=problem.tolerance, progress=progress)
        return best.multipliers, problem.table(*best.solution, Provenance("robust", {})), best.status

    def value(self, mechanism: TabulatedMechanism, problem: Problem) -> float:
        worst = self.ambiguity.around(problem.prior).largest(mechanism.knot_variances)[0]
        return worst + problem.prior.rounding_variance

    def bound(self, problem: Problem, multipliers: Mapping[str, np.ndarray]) -> float:
        program = RobustProgram(problem.unit.knots, problem.ratio, self.ambiguity.around(problem.prior))
        return problem.unit.half**2 * program.bound(**multipliers) + problem.prior.rounding_variance

    def evidence(self, problem: Problem, mechanism: TabulatedMechanism, solution: Solution) -> GuaranteeEvidence:
        prior, nominal = problem.prior, solution.aside["nominal"]
        nominal = exact_if_possible(nominal) if mechanism.exact else nominal
        value, other = self.value(mechanism, problem), self.value(nominal, problem)
        expected, usual = (table.expected_variance(prior.knot_prior) for table in (mechanism, nominal))
        return GuaranteeEvidence(
            worst_prior=solution.multipliers["worst"],
            guaranteed_anywhere=value - prior.rounding_variance + float(np.diff(prior.knots).max()) ** 2 / 4,
            nominal_variance=usual,
            nominal_guarantee=other,
            price_of_robustness=expected / usual,
            gain_of_robustness=1 - value / other,
            is_minimax=self.ambiguity.contains_every(prior),
        )

    def parameters(self) -> dict[str, Any]:
        names = (name for name, kind in AMBIGUITIES.items() if isinstance(self.ambiguity, kind))
        return {"ambiguity": next(names, None), "radius": _radius(self.ambiguity)}

    def facts(self, made: Any) -> dict[str, Any]:
        return {
            "guaranteed_variance": made.value,
            "lower_bound": made.bound,
            "guaranteed_anywhere": made.evidence.guaranteed_anywhere,
            "expected_variance": made.expected_variance,
            "price_of_robustness": made.evidence.price_of_robustness,
            "nominal_variance": made.evidence.nominal_variance,
            "nominal_guarantee": made.evidence.nominal_guarantee,
        }


def _radius(ambiguity: Ambiguity) -> float | None:
    """How far off a prior may be, of a set that one number says."""
    return getattr(ambiguity, "radius", getattr(ambiguity, "psi", None))
