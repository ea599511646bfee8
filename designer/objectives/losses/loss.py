"""What one report is worth: the least expected or worst loss, biased or not, under any privacy.

With prior p, losses l(x, y) of reporting y for x, and a share w of the worst value's loss, the table P is to make

    (1 - w) sum_x p(x) v(x) + w max_x v(x)  least,    v(x) = sum_y l(x, y) P(y | x),

by the channel program of `optldp.solvers.channel`: any table on these outputs that keeps the promise is worth at least
the bound. Unbiased reports of least squared error need no outputs: they are found, and the bound is for all real ones.
Elsewhere outputs are given, and reports may be biased: it is often better to report nearer the middle than to be right
on average. A biased table's reports are estimated from by its law, never averaged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ....mechanisms.categorical.table import CategoricalTable
from ....mechanisms.errors import InputError
from ....mechanisms.promise import OfPairs, Pure
from ....mechanisms.spaces.places import Places
from ....mechanisms.table.provenance import PERIOD, Provenance
from ....mechanisms.units import squared, units_label
from ....solvers import Status
from ....solvers.channel import ChannelProgram, LinePrices, solve_at_most, solve_channel, solve_free_outputs
from ....solvers.cone import Cone
from ...priors.categorical import CategoricalPrior
from ...priors.prior import Prior
from ..base import Objective, Problem, Solution, Told
from ..cones import cone_of, spared_of
from ..promised import promise_facts, promise_notes
from ..registry import Asker
from .custom_table import as_mechanism, channel_program, on_outputs, ready_for_integers
from .named import CIRCULAR, LOSSES, Losses, best_readings, known_or_read, losses_of

TREES = "(pure, metric along a line, blocks, sensitive, by-value by the average)"
"""Privacies whose limits have no circle of pairs, as messages say."""

FEW_VALUES = 33
"""Values for which outputs are found where limits are no tree: each price on the line is then a linear program."""

FREE = 0.5
"""Share of the tolerance to which outputs are found: what is left is for exactness."""

PROVED = 0.05
"""Share of it by which their bound may miss what the multipliers could prove."""

NEVER = 1e-15
"""Probability below which an output is never reported: less than what is left unspent can bear."""


@dataclass(frozen=True, eq=False)
class LossEvidence:
    """What an analyst who knows the prior makes of one report.

    Attributes
    ----------
    remap : (m,) ndarray
        The output of least expected loss, once each output is reported.
    posterior_risk : float
        Expected loss if reports are read so.
    """

    remap: np.ndarray
    posterior_risk: float


@dataclass(frozen=True, eq=False)
class Loss(Objective):
    """The least loss of one report, biased or not, under pure privacy or any promise of pairs.

    Outputs must be given, except for unbiased reports of squared loss, whose best outputs are found. For values on a
    circle and for places, which have no means, the values themselves are the outputs unless others are given.

    Parameters
    ----------
    loss : str, callable or (n, m) array_like
        "absolute", "squared" or "zero-one"; a function of values (n, 1) and outputs (m,), that returns (n, m); or the
        losses themselves, in the order of values and outputs. Of categories, reports are the numbers 0, ..., m - 1.
        Distance between places is Euclidean. On a circle it is the shorter way round, and "circular" another name of
        "absolute".
    worst : float
        Share of the worst value's loss in the objective, from 0 to 1; the rest is the expected loss.
    unbiased : bool
        Whether the mean of each knot's reports must be the knot.

    Raises
    ------
    InputError
        In a design: missing outputs, losses that are no numbers or do not fit, unbiased reports of categories or on a
        circle, or outputs between which no unbiased mechanism is private.
    SolverError
        In a design: no table is found.

    Source: for privacy by distance Bordenabe, Chatzikokolakis and Palamidessi (2014), "Optimal geo-indistinguishable
    mechanisms for location privacy", and libqif; the cone and the bound: solvers/cone, solvers/channel.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import Prior, design
    >>> from optldp.designer.objectives import Loss
    >>> prior = Prior.on_knots(np.linspace(-1, 1, 17), np.ones(17), source="public")
    >>> made = design(prior, 1.0, objective=Loss("squared", worst=1.0), outputs=np.arange(-16, 17) / 16)
    >>> round(made.value, 3), made.bound <= made.value, round(made.gap, 5)
    (0.787, True, 0.0)
    >>> from optldp.mechanisms import Metric
    >>> free = design(prior, Metric(2.0), objective=Loss("squared", unbiased=True))
    >>> round(free.value, 4), round(free.bound, 4)
    (0.4241, 0.4241)
    """

    loss: Losses = "squared"
    worst: float = 0.0
    unbiased: bool = False

    nobody = "no mechanism of the kind"
    takes = (Prior, CategoricalPrior)
    of_distance = True
    takes_outputs = True
    takes_most = True
    has_general = True
    promises = (Pure, OfPairs)

    @classmethod
    def of_options(cls, options: Mapping[str, Any], asker: Asker) -> Loss:
        return cls(
            known_or_read(options.get("loss", "squared"), LOSSES, "a loss"),
            options.get("worst", 0.0),
            not options.get("biased", False),
        )

    @property
    def key(self) -> str:
        return "loss"

    @property
    def name(self) -> str:
        """What the loss is called."""
        return self.loss if isinstance(self.loss, str) else "own"

    @property
    def which(self) -> str:
        """Whose loss is least."""
        return "worst" if self.worst == 1 else "mixed" if self.worst else "expected"

    @property
    def label(self) -> str:
        return f"least {self.which} {self.name} loss"

    def quantity(self, units: str) -> str:
        of = {"absolute": units, CIRCULAR: units, "squared": squared(units)}.get(self.name, "")
        return units_label(f"{self.name} loss of one report", of)

    def check(self, problem: Problem) -> None:
        if self._free(problem):
            return
        if problem.most is not None:
            raise InputError(
                "few outputs are placed for unbiased reports, squared loss, and a privacy whose limits are a tree "
                f"{TREES}, got {self.label}, {'un' * self.unbiased}biased, at "
                f"{problem.privacy}: give the outputs themselves"
            )
        self._program(problem)

    def solve(self, problem: Problem, progress: Told = None) -> Solution:
        tolerance, spared = problem.tolerance, spared_of(problem.privacy)
        cone = cone_of(problem, spared)
        with threadpool_limits(1, user_api="blas"):  # as in `Variance`
            if self._free(problem):
                knots, weights = problem.prior.knots, problem.solved.weights
                best = solve_free_outputs(cone, weights, knots, share=self.worst, tolerance=FREE * tolerance)
                outputs, matrix = best.solution
                if problem.most is not None and problem.most < outputs.size:
                    few = solve_at_most(cone, weights, knots, problem.most, share=self.worst)
                    outputs, matrix = few.rows
                problem = replace(problem, outputs=outputs)
            else:
                solver = "highs" if problem.general else "choose"
                best = solve_channel(self._program(problem, spared), tolerance=tolerance, solver=solver)
                matrix = best.solution
        matrix = ready_for_integers(np.where(matrix.max(0) > NEVER, matrix, 0.0), cone, problem, self.unbiased)
        told: dict[str, Any] = {"unbiased": self.unbiased, "loss": self.name, "worst": self.worst}
        round_ = {} if (period := _period(problem)) is None else {PERIOD: period}
        origin = Provenance("optimal", told | round_)
        return Solution(
            as_mechanism(matrix, problem, origin),
            best.multipliers,
            Status.of(best.gap, tolerance),
            solver=best.solver,
        )

    def value(self, mechanism: Any, problem: Problem) -> float:
        placed = self._placed(problem, mechanism)
        return self._program(placed).value(on_outputs(mechanism, _outputs(placed)))

    def require_outputs(self, mechanism: Any, problem: Problem) -> None:
        """Raise InputError for a mechanism that reports something else than the outputs given."""
        if problem.outputs is not None:
            on_outputs(mechanism, problem.outputs)

    def bound(self, problem: Problem, multipliers: Mapping[str, np.ndarray]) -> float:
        if not self._free(problem):
            return self._program(problem).bound(**multipliers)
        knots, weights = problem.prior.knots, problem.solved.weights
        prices = LinePrices(cone_of(problem), weights, knots, self.worst, **multipliers)
        return prices.over_the_line(PROVED * problem.tolerance * abs(float(prices.lam.sum()))).bound

    def evidence(self, problem: Problem, mechanism: Any, solution: Solution) -> LossEvidence:
        problem = self._placed(problem, mechanism)
        outputs = _outputs(problem)
        found = best_readings(on_outputs(mechanism, outputs), problem.solved.weights, self._losses(problem))
        return LossEvidence(outputs[found.best], float(found.cost.sum()))

    def title(self, made: Any) -> str:
        return f"table of {self.label}, {'un' * self.unbiased}biased"

    def notes(self, made: Any) -> list[str]:
        biased = (
            "note: reports are biased: estimate inverts their law, and nobody should average them; --of reports reads "
            "each by itself"
        )
        said = _merged(made.mechanism) if isinstance(made.prior, CategoricalPrior) else []
        return ([] if self.unbiased else [biased]) + promise_notes(made) + said

    def parameters(self) -> dict[str, Any]:
        return {"loss": self.name, "worst": self.worst, "biased": not self.unbiased}

    def facts(self, made: Any) -> dict[str, Any]:
        promise = promise_facts(made)
        if isinstance(made.prior, Prior) and made.prior.period is not None:
            promise[PERIOD] = made.prior.period
        worth = {f"{self.which}_loss": made.value, "lower_bound": made.bound}
        return {**promise, **worth, "posterior_risk": made.evidence.posterior_risk}

    def _free(self, problem: Problem) -> bool:
        """Whether outputs are to be found."""
        wanted = self.unbiased and isinstance(self.loss, str) and self.loss == "squared"
        wanted = wanted and problem.outputs is None and isinstance(problem.prior, Prior) and _period(problem) is None
        return wanted and _places_outputs(cone_of(problem), few=problem.most is not None)

    def _placed(self, problem: Problem, mechanism: Any) -> Problem:
        """The problem with a mechanism's own outputs, where none were given."""
        return replace(problem, outputs=mechanism.low) if self._free(problem) else problem

    def _program(self, problem: Problem, spared: float = 0.0) -> ChannelProgram:
        """The program with a share of the budget unspent; InputError for what does not fit."""
        return channel_program(problem, self._losses(problem), spared, self.worst, self.unbiased)

    def _losses(self, problem: Problem) -> np.ndarray:
        labels, values = isinstance(problem.prior, CategoricalPrior), problem.values
        if labels and isinstance(problem.prior.categories, Places):
            labels, values = False, problem.prior.categories.points
        return losses_of(self.loss, values, _outputs(problem), labels=labels, period=_period(problem))


def _places_outputs(cone: Cone, few: bool) -> bool:
    """Whether the solver of free outputs takes a cone: a tree, or finite limits between few values."""
    return cone.tree is not None or (not few and cone.values <= FEW_VALUES and bool(np.isfinite(cone.closed).all()))


def _merged(table: CategoricalTable) -> list[str]:
    """What there is to say of a table whose reports do not tell all categories apart."""
    rank, many = int(np.linalg.matrix_rank(table.probabilities)), len(table.categories)
    if rank == many:
        return []
    return [
        f"note: reports tell {rank} kinds of the {many} categories apart, as is best for one report's loss, so that "
        "the share of each cannot be estimated: --objective minimax makes tables that tell all apart"
    ]


def _period(problem: Problem) -> float | None:
    """The period of a circle that the values are on; None for a line or categories."""
    return problem.prior.period if isinstance(problem.prior, Prior) else None


def _outputs(problem: Problem) -> np.ndarray:
    if problem.outputs is None:
        raise InputError(
            "a Loss needs the reports that there may be, unless it is of unbiased reports, squared, and of a privacy "
            f"whose limits are a tree {TREES}, or finite between at most {FEW_VALUES} values: give --outputs "
            "LO:HI:STEP, or outputs=[...] to design"
        )
    return problem.outputs
