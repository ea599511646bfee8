"""What each way of collecting over time would cost and promise, so that the best that is made is chosen by numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ...mechanisms.budget import check_epsilon
from ...solvers.biased.error_program import check_users
from ...solvers.over_time import least_variance
from ..methods.oracles import ORACLES
from ..priors.categorical import CategoricalPrior
from .directions import plan_directions
from .memoised import memoised_values
from .noise import FrequencyNoise, Noise, correlations, within_users
from .panel import panel_reports, panel_variance
from .protocols import PROTOCOLS, longitudinal
from .repeated import OF, Repeated
from .rows import plan_rows
from .tree import plan_tree, tells

if TYPE_CHECKING:
    from ..priors.prior import Prior

KEPT_BY = {"life": ("life",), "pattern": ("life", "pattern"), "event": ("life", "event"), "span": ("life", "span")}
"""What protects enough where something is to be protected."""

NEARLY = 1.005
"""Standard deviations that differ by less, a percent of variances, are as good: then the simpler way is taken."""

SENT = "which reports were sent"
SIGNS = "the signs that it drew, its last sign, and how many changes it told"
HISTORY = "its values until it reports, and the report"

LIFE = "whatever a user's whole history, what is received is at most e^{epsilon:g} times likelier than under any other"
PATTERN = (
    "which values a user had is hidden by {epsilon:g} for {values} different ones; when they changed or came back is "
    "not"
)
FIRST = 0.5
"""Share of the budget of what is remembered that protocols of the field spend on a single report."""

REMEMBERED = "a draw for each value, and for each report a second one"

EVENT = "what a user's value was in {what} is hidden by {epsilon:g}; of a whole life it is {life:g}"


@dataclass(frozen=True)
class WayPlan:
    """Errors and promises of a way.

    Attributes
    ----------
    way : str
    error_per_period, error_of_average, error_of_change : float, optional
        Standard deviations about the means of these n users, in the values' units, averaged over periods; None where
        the way does not estimate it.
    floor : float, optional
        A lower bound for ways that average unbiased reports of single users with the same promise for a life. Each errs
        at least so much for some population of histories between the two ends of the range with so many changes. None
        where no bound is known.
    life_epsilon : float, optional
        Of a user's whole history; None where there is no promise of it.
    promise, device_keeps : str
    reports : int
        Of a user.
    made : bool
        Whether `optldp design` makes it; others are for comparison only.
    protects : str
        Scope of its promise, a word of `Repeated.protects`.

    Example
    -------
    >>> from optldp.designer import Prior
    >>> from optldp.designer.over_time import Repeated, plan_over_time
    >>> best = plan_over_time(Prior.even([-1.0, 0.0, 1.0]), 1.0, 10_000, Repeated(12))[0]
    >>> best.way, best.life_epsilon, best.device_keeps
    ('panel', 1.0, 'which reports were sent')
    """

    way: str
    error_per_period: float | None
    error_of_average: float | None
    error_of_change: float | None
    floor: float | None
    life_epsilon: float | None
    promise: str
    device_keeps: str
    reports: int
    made: bool
    protects: str = "life"

    def error(self, of: str) -> float:
        """Return the error of what is asked for, infinite where the way does not tell it."""
        name = {"each": "error_per_period", "average": "error_of_average", "change": "error_of_change"}[of]
        found = getattr(self, name)
        return math.inf if found is None else found


def plan_over_time(
    prior: Prior | CategoricalPrior,
    epsilon: float,
    n: int,
    asked: Repeated,
    *,
    only: str | None = None,
    made: Callable[[float], Any] | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[WayPlan]:
    """Return every way's plan: first the best that can be made and protects enough, then the others.

    Users' values are assumed to change exactly `asked.changes` times, at random times, each time to another draw of the
    prior. Directions, which answer at the end, are left out where answers are asked for on time.

    Parameters
    ----------
    prior : Prior or CategoricalPrior
        Of values in any period. For categories errors are root mean squares over the frequencies, and known protocols
        are listed among the others, with their promises.
    epsilon : float
        Budget of what `asked.protects`.
    n : int
        Number of users, for whose own means errors are given.
    asked : Repeated
    only : str, optional
        The one way to plan, whatever it protects; none if it cannot answer in time.
    made : callable, optional
        Function from a budget to its mechanism for categories. Default: the oracle that errs least.
    progress : callable, optional
        Called with each budget that is designed for.

    Returns
    -------
    ways : list of WayPlan

    Raises
    ------
    InputError
        An invalid budget or number of users.

    Example
    -------
    >>> from optldp.designer import Prior
    >>> from optldp.designer.over_time import Repeated, plan_over_time
    >>> ways = plan_over_time(Prior.even([-1.0, 0.0, 1.0]), 1.0, 10_000, Repeated(12, 1, answers="at-end"))
    >>> ways[0].way, sorted(way.way for way in ways[1:])
    ('tree', ['directions', 'fresh', 'memoised', 'panel', 'rows'])
    """
    check_epsilon(epsilon)
    check_users(n)
    if isinstance(prior, CategoricalPrior):
        oracle = made or (lambda budget: ORACLES["auto"](prior.categories, budget))
        ways, least = _ways_of_categories(FrequencyNoise(prior, oracle), epsilon, n, asked), None
    else:
        half = 0.5 * (prior.domain[1] - prior.domain[0])
        ways, floor = _ways(Noise(prior, progress), epsilon, n, asked, half), _floor(asked, epsilon)
        least = None if floor is None else half * math.sqrt(floor / n)
    planned = [way() for name, way in ways.items() if only in (None, name)]
    found = [replace(each, floor=least if each.protects == "life" else None) for each in planned]
    if only is not None:
        return found
    enough = KEPT_BY[asked.protects.partition(":")[0]]
    able = [way for way in found if way.made and way.protects in enough]
    least_error = min(way.error(asked.of) for way in able)
    best = next(way for way in able if way.error(asked.of) <= NEARLY * least_error)  # `_ways` has simple ones first
    return [best, *sorted((way for way in found if way is not best), key=lambda way: way.error(asked.of))]


def _floor(asked: Repeated, epsilon: float) -> float | None:
    if asked.of == "change" or not asked.protects.startswith("life"):
        return None
    return least_variance(asked.periods, asked.most_changes if asked.of == "each" else 0, epsilon)


def _ways(noise: Noise, epsilon: float, n: int, asked: Repeated, half: float) -> dict[str, Callable[[], WayPlan]]:
    """What plans each way that can answer in time, those first of which a device remembers less."""
    ways = {
        "panel": lambda: _panel(noise, epsilon, n, asked),
        "fresh": lambda: _fresh(noise, epsilon, n, asked),
        "memoised": lambda: _memoised(noise, epsilon, n, asked),
        "rows": lambda: _rows(noise, epsilon, n, asked),
    }
    if tells(asked):
        ways["tree"] = lambda: _tree(noise, epsilon, n, asked)
    if asked.of == "average" or asked.delay == asked.periods - 1:  # an average is answered when the last one ends
        ways["directions"] = lambda: _directions(epsilon, n, asked, half)
    return ways


def _ways_of_categories(
    noise: FrequencyNoise, epsilon: float, n: int, asked: Repeated
) -> dict[str, Callable[[], WayPlan]]:
    """The same of frequencies; last protocols of the field, which are computed to compare with."""
    return {
        "panel": lambda: _panel(noise, epsilon, n, asked, 1),
        "fresh": lambda: _fresh(noise, epsilon, n, asked),
        "memoised": lambda: _memoised(noise, epsilon, n, asked),
        **{name: partial(_protocol, name, noise.prior, epsilon, n, asked) for name in PROTOCOLS},
    }


def _protocol(name: str, prior: CategoricalPrior, epsilon: float, n: int, asked: Repeated) -> WayPlan:
    """A protocol whose draws are for as many values as those of `memoised`; dBitFlipPM, which knows one, has it all."""
    rounds = name != "dBitFlipPM"
    permanent = epsilon / memoised_values(asked, prior.weights.size) if rounds else epsilon
    made = longitudinal(name, prior.weights.size, permanent, FIRST * permanent if rounds else None)
    one = math.fsum(made.variance(share) for share in prior.weights.tolist()) / prior.weights.size
    return _way(name, (one, None, None), n, None, made.promise, REMEMBERED, asked.periods, protects="pattern")


def _way(
    way: str,
    variances: Sequence[float | None],
    n: int,
    life: float | None,
    promise: str,
    keeps: str,
    reports: int,
    *,
    made: bool = False,
    protects: str = "life",
) -> WayPlan:
    """The plan of a way by its variances times n, in the order of `OF`."""
    each, average, change = (None if one is None else math.sqrt(one / n) for one in variances)
    return WayPlan(way, each, average, change, None, life, promise, keeps, reports, made, protects)


def _panel(
    noise: Noise | FrequencyNoise, epsilon: float, n: int, asked: Repeated, reports: int | None = None
) -> WayPlan:
    reports = panel_reports(noise, epsilon, asked) if reports is None else reports
    variances = [panel_variance(noise, epsilon, replace(asked, of=of), reports) for of in OF]
    if asked.protects.startswith("span"):
        spans = -(-asked.periods // asked.span)
        life, what = spans * epsilon, f"any {asked.span} periods in a row"
        promise = EVENT.format(what=what, epsilon=epsilon, life=life)
        return _way("panel", variances, n, life, promise, SENT, spans * reports, made=True, protects="span")
    return _way("panel", variances, n, epsilon, LIFE.format(epsilon=epsilon), SENT, reports, made=True)


def _fresh(noise: Noise | FrequencyNoise, epsilon: float, n: int, asked: Repeated) -> WayPlan:
    """A report of every user in every period: the budget is divided among those that are protected together."""
    budget = epsilon / (asked.span if asked.protects != "pattern" else asked.periods)
    one, life = noise.at(budget), budget * asked.periods
    variances = (one, one / asked.periods, 2 * one)
    kind = asked.protects.partition(":")[0]
    keeps = "life" if kind == "pattern" else kind
    what = "one period" if kind == "event" else f"any {asked.span} periods in a row"
    promise = LIFE.format(epsilon=epsilon) if keeps == "life" else EVENT.format(what=what, epsilon=epsilon, life=life)
    return _way("fresh", variances, n, life, promise, SENT, asked.periods, made=True, protects=keeps)


def _memoised(noise: Noise | FrequencyNoise, epsilon: float, n: int, asked: Repeated) -> WayPlan:
    """A remembered report of each different value, sent as long as the value stays."""
    values = memoised_values(asked, noise.prior.weights.size)
    one, between = noise.at(epsilon / values), 1 - within_users(asked.periods, asked.most_changes)
    moved = 1 - float(correlations(asked.periods, asked.most_changes)[1])
    variances = (one, one * between, 2 * one * moved)
    promise = PATTERN.format(epsilon=epsilon, values=values)
    keeps, periods = "a draw for each value, and the offset of its rounding", asked.periods
    return _way("memoised", variances, n, None, promise, keeps, periods, made=True, protects="pattern")


def _rows(noise: Noise, epsilon: float, n: int, asked: Repeated) -> WayPlan:
    costs = plan_rows(noise, epsilon, asked).costs
    return _way("rows", costs, n, epsilon, LIFE.format(epsilon=epsilon), HISTORY, 1, made=True)


def _tree(noise: Noise, epsilon: float, n: int, asked: Repeated) -> WayPlan:
    made = plan_tree(noise, epsilon, asked)
    return _way("tree", made.costs, n, epsilon, LIFE.format(epsilon=epsilon), SIGNS, made.reports, made=True)


def _directions(epsilon: float, n: int, asked: Repeated, half: float) -> WayPlan:
    costs = [half**2 * cost for cost in plan_directions(epsilon, asked).costs]
    return _way("directions", costs, n, epsilon, LIFE.format(epsilon=epsilon), HISTORY, 1, made=True)
