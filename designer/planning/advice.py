"""Which mechanism, and which estimator for its reports: compared for the case at hand before anyone is asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...estimators.distributions.distribution import DistributionEstimate
from ...estimators.frequencies.frequencies import FrequencyEstimate
from ...estimators.methods import OF_ONE_SERVICE, DistributionMethod
from ...mechanisms import InputError
from ...mechanisms.budget import check_epsilon
from ...mechanisms.errors import wired
from ..comparison.judging import solve_methods
from ..methods.registry import METHODS
from ..objectives.base import DEFAULT_TOLERANCE
from ..priors.categorical import CategoricalPrior
from ..priors.prior import DEFAULT_UNIFORM_SHARE, Prior
from .advised import Advice, Of
from .bootstrap import (
    LINEAR,
    AdviceRow,
    Case,
    Simulated,
    Standing,
    check_choices,
    distribution_errors,
    linear_row,
    simulated_row,
)
from .categories import (
    FREQUENCY_ESTIMATORS,
    KNOWN_ORACLES,
    NO_DISTRIBUTIONS,
    as_categorical_prior,
    default_oracles,
    frequency_errors,
    oracle,
    unbiased_row,
)
from .race import (
    LEAST_ERROR,
    Candidate,
    Criterion,
    Draw,
    Errors,
    Race,
    controlled,
    log_ratio,
    run_race,
)

ESTIMATORS = (*LINEAR, *OF_ONE_SERVICE)
"""What can be done with reports: two unbiased means, and estimates of the distribution."""

DEFAULT_MECHANISMS = ("optimal", "piecewise", "duchi", "laplace", "square-wave", "ptt")
"""The optimum, the mechanisms for means that most papers compare, and the usual one for distributions."""

DEFAULT_REPETITIONS = 10
"""Draws for the two that lead: a mean distance is then known to a tenth, a root mean squared error to a fifth."""

FAR = 2.0
"""How many times the least error a mechanism's linear estimate may have for its other ones to be drawn."""

CRITERIA: dict[Of, Criterion] = {"mean": "squared", "frequencies": "squared", "distribution": "wasserstein"}


def advise(
    prior: Prior | DistributionEstimate | CategoricalPrior | FrequencyEstimate,
    n: int,
    epsilon: float,
    *,
    rng: np.random.Generator,
    of: Of | None = None,
    mechanisms: Sequence[str] | None = None,
    estimators: Sequence[str] | None = None,
    repetitions: int = DEFAULT_REPETITIONS,
    uniform_share: float = DEFAULT_UNIFORM_SHARE,
    tolerance: float = DEFAULT_TOLERANCE,
    progress: Callable[[str, float], None] | None = None,
) -> Advice:
    r"""Find the mechanism and estimator of least error for n clients whose values follow the prior, by a race of
    simulations.

    A value between knots is first rounded to one of them, so reports depend on the prior's weights alone. The
    simulation is exact for all values with these weights. The truth is the prior: its mean, and its weights as a
    distribution. Errors include that n clients are a sample.

    For the unbiased estimators nothing is drawn: with decoded reports d, E (mean - truth)^2 = Var(d) / n, the
    variance taken over values and reports. All others enter the race, and the clearly worse drop out (the best one does
    so by mistake in at most five of a hundred races). The two leaders are then drawn `repetitions` times more, up to
    four times as often, until one of them errs significantly less. Their reported errors come from these last draws
    alone. An undecided race is a tie. Every other error is the first one's, times the ratio between the two in the
    race's common draws. Linear estimates, whose expected errors are known, serve as control variates and remove much of
    the draws' noise. A mechanism whose linear estimate errs twice as much as the best one's is not drawn. Time does not
    depend on n; at 33 knots a fit takes hundredths of a second ("smooth" a fifth of one), and at 101 knots half a
    second.

    For categories the error is that of one frequency, averaged over the categories; the unbiased estimate has it in
    closed form.

    Parameters
    ----------
    prior : Prior, DistributionEstimate, CategoricalPrior or FrequencyEstimate
        The prior of the values, known or estimated. An estimate is taken as the truth; estimated frequencies become the
        nearest distribution.
    n : int
        Clients, at least 2.
    epsilon : float
    rng : numpy.random.Generator
        Each draw depends only on the generator and on its own mechanism and estimator, not on the other candidates.
    of : {"mean", "frequencies", "distribution"}, optional
        What to estimate best: by default the mean of numbers and the frequencies of categories, judged by squared
        error. A distribution is judged by Wasserstein distance, one of categories by Jensen-Shannon distance.
    mechanisms : sequence of str, optional
        Out of `METHODS`; for categories out of `KNOWN_ORACLES`, by default GRR, OLH and, of so few
        categories that sets of them are counted, subset selection.
    estimators : sequence of str, optional
        Out of `ESTIMATORS`, by default all for the estimate in question: "ua" averages raw reports; "decoder" averages
        one value per output, chosen unbiased and of least variance under the prior; the others estimate the
        distribution. For categories out of `FREQUENCY_ESTIMATORS`.
    repetitions : int
        Draws for the two leaders, at least 2; they may get up to four times as many.
    uniform_share, tolerance : float
        As in `design`, for numbers alone.
    progress : callable, optional
        Called with the mechanism and the share of the work that is done.

    Returns
    -------
    advice : Advice
        `rows`, a pair of mechanism and estimator each with its error and standard error, best first; `best`, the first.

    Raises
    ------
    InputError
        Anything of the above is not usable, or no row is left.

    Source: the bootstrap that the EM-MR paper proposes in its section VII; Maron and Moore (1997), "The racing
    algorithm: model selection for lazy learners".

    Example
    -------
    >>> import numpy as np
    >>> from optldp import Prior, advise
    >>> prior = Prior.on_knots([-1, -0.5, 0, 0.5, 1], [0, 1, 2, 1, 0], source="public")
    >>> advice = advise(prior, 1000, 1.0, estimators=["ua"], rng=np.random.default_rng(1))
    >>> advice.best.mechanism, [round(1000 * row.mse.value, 2) for row in advice.rows[:2]]
    ('optimal', [3.79, 3.98])
    """
    budget = check_epsilon(epsilon)
    of_categories = isinstance(prior, CategoricalPrior | FrequencyEstimate)
    wanted = _checked_of(of, of_categories)
    estimators = choices(of_categories, estimators, wanted)
    if mechanisms is None:
        mechanisms = DEFAULT_MECHANISMS
        if isinstance(prior, CategoricalPrior | FrequencyEstimate):
            mechanisms = default_oracles(len(prior.categories), budget)
    known = (KNOWN_ORACLES, tuple(FREQUENCY_ESTIMATORS)) if of_categories else (METHODS, ESTIMATORS)
    check_choices(n, repetitions, {"mechanisms": (mechanisms, known[0]), "estimators": (estimators, known[1])})
    if not isinstance(rng, np.random.Generator):
        raise InputError(f"rng must be a numpy.random.Generator, got {rng!r}: pass numpy.random.default_rng()")
    seed = int(rng.integers(2**63))
    if isinstance(prior, CategoricalPrior | FrequencyEstimate):
        field = field_of_categories(as_categorical_prior(prior), n, budget, mechanisms, estimators, seed)
    else:
        truth = prior if isinstance(prior, Prior) else _as_prior(prior)
        solved = solve_methods(
            truth, budget, dict.fromkeys(mechanisms), uniform_share=uniform_share, tolerance=tolerance
        )
        for error in solved.failures.values():
            raise error
        cases = {name: Case(name, made.mechanism, truth, n) for name, made in solved.designs.items()}
        field = field_of_numbers(cases, estimators, wanted, seed)
    return raced(field, n, budget, wanted, of_categories, repetitions, progress)


@dataclass(frozen=True, eq=False)
class Field:
    """Who races: rows whose error is exact, the others, how those are drawn, and what cannot be had."""

    exact: list[AdviceRow]
    simulated: list[Candidate]
    draw: Draw
    left_out: list[tuple[str, str, str]]
    linear: Mapping[str, float] | None


def field_of_numbers(cases: dict[str, Case], estimators: Sequence[str], of: Of, seed: int) -> Field:
    chosen: list[DistributionMethod] = [name for name in OF_ONE_SERVICE if name in estimators]
    probabilities = {name: case.mechanism.pmf(case.truth.knots) for name, case in cases.items()}

    def draw(mechanism: str, named: Sequence[str], number: int) -> dict[str, Errors]:
        methods: list[DistributionMethod] = [name for name in chosen if name in named]
        case = cases[mechanism]
        return distribution_errors(case, probabilities[mechanism], methods, number, (seed, METHODS.index(mechanism)))

    linear = {name: case.linear_error(of == "distribution") for name, case in cases.items()}
    far = _hopeless(linear) if chosen else {}
    racing = [(name, estimator) for name in cases if name not in far for estimator in chosen]
    power = 1 if of == "distribution" else 2
    field = Field([], racing, draw, [], {name: size**power for name, size in linear.items()})
    field.left_out.extend((name, estimator, why) for name, why in far.items() for estimator in chosen)
    for name, case in cases.items():
        for estimator in (other for other in LINEAR if other in estimators):
            row = linear_row(case, estimator)
            if isinstance(row, AdviceRow):
                field.exact.append(row)
            else:
                field.left_out.append((name, estimator, row))
    return field


def _hopeless(error: Mapping[str, float]) -> dict[str, str]:
    """Mechanisms that a linear estimate errs far more by than by the best, and that in words: not worth a draw."""
    least = min(error.values())
    return {
        name: f"a linear estimate errs {size / least:.1f} times as much as with the best mechanism"
        for name, size in error.items()
        if size > FAR * least
    }


def field_of_categories(
    prior: CategoricalPrior, n: int, epsilon: float, mechanisms: Sequence[str], estimators: Sequence[str], seed: int
) -> Field:
    oracles = {name: oracle(prior, epsilon, name) for name in dict.fromkeys(mechanisms)}

    def draw(mechanism: str, named: Sequence[str], number: int) -> dict[str, Errors]:
        place = KNOWN_ORACLES.index(mechanism)
        return frequency_errors(oracles[mechanism], prior.weights, n, named, (seed, number, place))

    exact = [unbiased_row(name, made, prior.weights, n) for name, made in oracles.items() if "unbiased" in estimators]
    chosen = [name for name in FREQUENCY_ESTIMATORS if name in estimators and name != "unbiased"]
    return Field(exact, [(name, estimator) for name in oracles for estimator in chosen], draw, [], None)


def raced(
    field: Field,
    n: int,
    epsilon: float,
    of: Of,
    of_categories: bool,
    repetitions: int,
    progress: Callable[[str, float], None] | None,
) -> Advice:
    """Run the race and say what came of it."""
    criterion: Criterion = "jensen_shannon" if of_categories and of == "distribution" else wired("of", CRITERIA, of)
    known = {(row.mechanism, row.estimator): row for row in field.exact}
    if not known and not field.simulated:
        raise InputError(f"some estimator must suit some mechanism, got none: {field.left_out[0][2]}")
    errors_known = {one: row.mse.value for one, row in known.items()}
    race = run_race(field.simulated, errors_known, field.draw, criterion, repetitions, progress, linear=field.linear)
    rows = list[AdviceRow]()
    for place, one in enumerate(race.order):
        standing: Standing = "first" if place == 0 else "next" if place == 1 else "behind"
        if one in known:
            rows.append(replace(known[one], standing=standing))
        elif one in race.fresh:
            instead = {criterion: controlled(race, one, criterion)}
            rows.append(simulated_row(*one, race.fresh[one], instead=instead, standing=standing))
        else:
            rows.append(_beside_first(race, one, criterion, rows[0]))
    behind = _behind(race, errors_known, criterion) if len(rows) > 1 else None
    return Advice(tuple(rows), tuple(field.left_out), n, epsilon, repetitions, of, behind)


def _beside_first(race: Race, one: Candidate, criterion: Criterion, first: AdviceRow) -> AdviceRow:
    """Return the row of what got no fresh draws: its error is the first one's times what it was over it in the race.

    Its own draws may all have been lucky ones: beside errors from other draws their mean would mislead.
    """
    over, least = race.over_first[one], getattr(first, NAMED.get(criterion, criterion))
    drawn = np.array([getattr(errors, criterion) for errors in race.drawn[one]])
    told = least.value * math.exp(over) / max(float(drawn.mean()), LEAST_ERROR) * drawn
    standing: Standing = "worse" if one in race.worse and over > 0 else "behind"
    return simulated_row(*one, race.drawn[one], instead={criterion: told}, standing=standing)


NAMED = {"squared": "mse"}
"""What rows call an error, where it is not as the race does."""


def _behind(race: Race, exact: Mapping[Candidate, float], criterion: Criterion) -> Simulated:
    """By what share the error of the second is larger, the root of a squared one, from fresh draws."""
    ratio, error = log_ratio(race, exact, criterion)
    power = 0.5 if criterion == "squared" else 1.0
    share = math.exp(power * ratio)
    return Simulated(share - 1.0, share * power * error)


def _checked_of(of: Of | None, of_categories: bool) -> Of:
    known: tuple[Of, ...] = ("frequencies" if of_categories else "mean", "distribution")
    if of is None:
        return known[0]
    if of not in known:
        raise InputError(f"of must be {' or '.join(known)}, got {of!r}")
    return of


def choices(of_categories: bool, estimators: Sequence[str] | None, of: Of) -> Sequence[str]:
    """Return the estimators, the default ones where none were given.

    Raises InputError for estimators without a distribution where one is asked for.

    Example
    -------
    >>> choices(False, None, "distribution")
    ('smooth', 'em', 'ems', 'mr')
    """
    every = tuple(FREQUENCY_ESTIMATORS) if of_categories else ESTIMATORS
    without = (NO_DISTRIBUTIONS if of_categories else LINEAR) if of == "distribution" else ()
    if estimators is None:
        estimators = tuple(name for name in every if name not in without)
    elif not isinstance(estimators, str) and (refused := [name for name in estimators if name in without]):
        raise InputError(f"estimators must estimate a distribution, got {refused[0]!r}, which does not: leave it out")
    return estimators


def _as_prior(estimate: DistributionEstimate) -> Prior:
    """Return an estimate as what is known of the values; flat cells become bins between their edges as knots."""
    grid, source = estimate.grid, "private-report"
    if grid.flat:
        return Prior.from_histogram(grid.edges, estimate.value, knots=grid.edges, source=source)
    return Prior.on_knots(grid.points, estimate.value, source=source)
