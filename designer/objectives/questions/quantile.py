r"""A quantile of n users: shares below the thresholds where it may lie, told with the least variance of the quantile.

The quantile at a share q is where the distribution function F is q, and its estimate has the variance
Var(F^(t)) / f(t)^2 at the threshold t, f the density. One threshold alone would be answered best by whether a value
lies below it, and nothing could be said of where the quantile is if the prior was wrong. So the thresholds t_k between
knots are weighed by how likely the quantile is found there: by a normal law around the prior's quantile, with the
variance

    s^2 = (E / (E - 1)^2 / n + q (1 - q) / n + off^2) / f^2

of the estimate from n users by randomised response on one cut, and of a prior whose F is off there by so much. That is
a workload of the queries sqrt(P(t_k)) / f(t_k) 1[x < t_k]; its value, with the sampling of users and over n, is the
expected variance.

Source: the variance of sample quantiles, for instance van der Vaart (1998), "Asymptotic Statistics", corollary 21.5.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ....mechanisms.errors import InputError
from ....mechanisms.promise import Pure
from ....mechanisms.table.provenance import Provenance
from ....mechanisms.units import squared, units_label
from ....solvers.frequency.workload import sampling_error
from ....solvers.lengths.length_program import RADIUS
from ...priors.prior import Prior
from ..base import Problem
from ..promised import promise_facts
from ..registry import Asker
from .question import mean_lengths, mean_note
from .workload import Workload, WorkloadEvidence

OFF = 0.05
"""What is thought of a prior unless one says so: the share below its quantile may be off by a twentieth."""

NEGLIGIBLE = 1e-6
"""Weight of a threshold, as a share of the largest, below which it is not asked for."""


@dataclass(frozen=True, eq=False)
class QuantileEvidence(WorkloadEvidence):
    """What a design for a quantile shows beside its value.

    Attributes
    ----------
    thresholds : (k,) ndarray
        Where the quantile may be found.
    weights : (k,) ndarray
        How likely, summing to 1.
    mean_length, mean_length_own : float or None
        As of `QuestionEvidence`; None but for pure privacy.
    """

    thresholds: np.ndarray
    weights: np.ndarray
    mean_length: float | None = None
    mean_length_own: float | None = None


@dataclass(frozen=True, eq=False)
class Quantile(Workload):
    """Expected variance of the estimate of a quantile from n users, who are a sample of the prior.

    Parameters
    ----------
    n : int
        Users.
    share : float
        Of the values below the quantile, strictly between 0 and 1; 0.5 for the median.
    within : tuple of float, optional
        Range in which the quantile is expected, in units of the values; all thresholds in it are equally likely. `off`
        is then not used.
    off : float
        Standard deviation by which the prior's share below the quantile may be off, from 0 to 1. With 0 and many users,
        reports distinguish only one threshold, and only the prior's quantile can be estimated.

    Raises
    ------
    InputError
        A number out of range. In a design: categories, or a prior without values about its quantile.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.designer import Prior, design
    >>> from optldp.designer.objectives import Quantile
    >>> made = design(Prior.even(np.arange(12.0)), 1.0, objective=Quantile(20_000, off=0.0))
    >>> round(made.value**0.5, 4), made.bound <= made.value, made.evidence.thresholds.tolist()
    (0.0918, True, [5.5])
    """

    n: int = 0
    share: float = 0.5
    off: float = OFF
    within: tuple[float, float] | None = None

    takes = (Prior,)

    def __init__(self, n: int, share: float = 0.5, off: float = OFF, within: tuple[float, float] | None = None) -> None:
        given = ("queries", "quantile"), ("n", n), ("share", share), ("off", off), ("within", within)
        for name, value in given:
            object.__setattr__(self, name, value)
        if within is not None and not within[0] < within[1]:
            raise InputError(f"a quantile lies within a range from low to high, got {within[0]:g} to {within[1]:g}")
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
            raise InputError(f"a quantile needs the number of users, a whole number of at least 1, got {n!r}")
        if not 0 < share < 1:
            raise InputError(f"a quantile's share must lie strictly between 0 and 1, got {share!r}")
        if not 0 <= off <= 1:
            raise InputError(f"off must be a share, from 0 to 1, got {off!r}")

    @classmethod
    def of_options(cls, options: Mapping[str, Any], asker: Asker) -> Quantile:
        if asker.users is None:
            raise InputError("a quantile needs --n N, the number of users: name it")
        told = dict(options)
        if (text := told.pop("within", None)) is not None:
            if "off" in told:
                raise InputError("off is of no use where a quantile is expected within a range: leave one out")
            told["within"] = _range_of(text)
        return cls(asker.users, **told)

    @property
    def key(self) -> str:
        return "quantile"

    @property
    def asks(self) -> str:
        return "the median" if self.share == 0.5 else f"the quantile at {self.share:g}"

    def interval_length(self, value: float) -> float:
        return 2 * RADIUS * math.sqrt(value)

    @property
    def label(self) -> str:
        return f"least variance of the quantile at {self.share:g}"

    def quantity(self, units: str) -> str:
        return units_label(f"variance of the quantile at {self.share:g}", squared(units))

    def value(self, mechanism: Any, problem: Problem) -> float:
        return self._of_users(super().value(mechanism, problem), problem)

    def bound(self, problem: Problem, multipliers: Mapping[str, Any]) -> float:
        return self._of_users(super().bound(problem, multipliers), problem)

    def evidence(self, problem: Problem, mechanism: Any, solution: Any) -> QuantileEvidence:
        places, weights, _ = self._thresholds(problem)
        known = super().evidence(problem, mechanism, solution)
        pure = isinstance(problem.privacy, Pure)
        lengths = mean_lengths(problem, mechanism, self.n) if pure else (None, None)
        return QuantileEvidence(known.queries, known.sampling, places, weights, *lengths)

    def notes(self, made: Any) -> list[str]:
        found = made.evidence
        if found.mean_length is None or found.mean_length_own is None:
            return super().notes(made)
        return [mean_note(self.n, found.mean_length, found.mean_length_own, made.prior.units), *super().notes(made)]

    def _origin(self, tolerance: float) -> Provenance:
        origin = super()._origin(tolerance)
        asked = {"question": self.key, "people": self.n, "share": self.share}
        return replace(origin, parameters={**origin.parameters, **asked})

    def title(self, made: Any) -> str:
        return f"table for the quantile at {self.share:g} of {self.n:,} users"

    def parameters(self) -> dict[str, Any]:
        if self.within is None:
            return {"share": self.share, "off": self.off}
        return {"share": self.share, "within": list(self.within)}

    def facts(self, made: Any) -> dict[str, Any]:
        places = made.evidence.thresholds
        return {
            **promise_facts(made),
            "quantile_error": math.sqrt(made.value),
            "quantile_error_at_least": math.sqrt(made.bound),
            "lower_bound": made.bound,
            "thresholds": f"{places.size} from {places[0]:g} to {places[-1]:g}",
        }

    def _of_users(self, cost: float, problem: Problem) -> float:
        """The variance of the quantile of n users who are a sample, of what privacy costs one."""
        return (cost + sampling_error(problem.solved.weights, self._queries(problem))) / self.n

    def _queries(self, problem: Problem) -> np.ndarray:
        places, weights, density = self._thresholds(problem)
        return (np.sqrt(weights) / density)[:, None] * (problem.prior.knots < places[:, None])

    def _thresholds(self, problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where the quantile may be found, how likely, and the density there."""
        knots, weights = problem.prior.knots, problem.solved.weights
        places, below = (knots[1:] + knots[:-1]) / 2, np.cumsum(weights)[:-1]
        density = (weights[1:] + weights[:-1]) / 2 / np.diff(knots)
        seen = density > 0
        places, below, density = places[seen], below[seen], density[seen]
        if self.within is not None:
            inside = (places > self.within[0]) & (places < self.within[1])
            if not inside.any():
                raise InputError(
                    f"a quantile must be expected where the prior has values on both sides of a cut, got "
                    f"{self.within[0]:g} to {self.within[1]:g}: widen within, or take more knots"
                )
            return places[inside], np.full(inside.sum(), 1 / inside.sum()), density[inside]
        at = int(np.abs(below - self.share).argmin())
        one = problem.ratio / (problem.ratio - 1) ** 2 + self.share * (1 - self.share)
        spread = math.sqrt(one / self.n + self.off**2) / density[at]
        likely = np.exp(-(((places - places[at]) / spread) ** 2) / 2)
        kept = likely > NEGLIGIBLE
        return places[kept], likely[kept] / likely[kept].sum(), density[kept]


def _range_of(text: str) -> tuple[float, float]:
    """Return the ends of LO:HI; InputError for another text.

    Example
    -------
    >>> _range_of("10:30")
    (10.0, 30.0)
    """
    low, colon, high = text.partition(":")
    try:
        found = float(low), float(high)
    except ValueError:
        colon, found = "", (0.0, 0.0)
    if not colon or not np.isfinite(found).all():
        raise InputError(f"within must be a range LO:HI, got {text!r}: write quantile:0.5,within=10:30")
    return found
