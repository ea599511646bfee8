"""`optldp design` for one table of numbers, whatever its objective: the table, and what is printed of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ....mechanisms.errors import wired
from ..asked.kind import DesignKind
from ..asked.objective import INFORMATION
from ..said.output import at_most, solver_progress, spinner
from ..said.prior import SENSITIVE

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes

    from ....mechanisms import TabulatedMechanism
    from ....mechanisms.floors import FloorForm
    from ....mechanisms.table.knot_prior import KnotPrior
    from ....solvers import Status
    from ...designs.result import Design
    from ...planning.people import MeanWithin
    from ...priors.prior import Prior
    from ..asked.design import DesignOptions

UNREADABLE = (
    "warning: the reports of this table cannot tell all distributions on the knots apart, so none can be estimated "
    "from them: --criterion cumulative makes one that can"
)

ANY_PATTERNS_GAP = 1e-3
"""Default tolerance of the Fisher criteria over any patterns."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """A table, facts of its JSON object, what to say on stderr, a picture, and how far the mean of --n people may be
    off."""

    title: str
    mechanism: TabulatedMechanism | FloorForm
    facts: dict[str, Any]
    notes: list[str]
    figure: Callable[[], Axes] | None = None
    within: dict[str, MeanWithin] = field(default_factory=dict)


def design_table(options: DesignOptions) -> Outcome:
    """Design what was asked for, showing progress."""
    made: dict[DesignKind, Callable[[DesignOptions], Outcome]] = {
        DesignKind.EXPECTED: _expected,
        DesignKind.MINIMAX: _minimax,
        DesignKind.TRADE_OFF: _trade_off,
        DesignKind.ROBUST: _robust,
        DesignKind.INFORMATION: _information,
        DesignKind.ERROR: _error,
        DesignKind.NOISE: _noise,
    }
    found = wired("kind", made, options.kind)(options)
    return found if options.n is None or found.within else _with_people(found, options.n, sure=options.sure)


def _with_people(found: Outcome, people: int, prior: KnotPrior | None = None, *, sure: float) -> Outcome:
    """The same with how far the mean of so many people may be off, under its table's prior unless one is given."""
    from ....mechanisms.errors import InputError
    from ...planning.people import table_mean_within

    try:
        return replace(found, within={"": table_mean_within(found.mechanism, people, prior=prior, confidence=sure)})
    except InputError as none:
        if not found.facts.get("criterion"):
            raise
        return replace(found, notes=[*found.notes, f"note: no mean can be had of these reports: {none}"])


def _expected(options: DesignOptions) -> Outcome:
    """The least expected variance: of a method, or the least of all on knots that were named or chosen."""
    from ....mechanisms.errors import InputError
    from ...designs.knots import KnotChoice
    from ..kinds.numbers import design_numbers

    (prior, notes), epsilon = options.prior(), options.budgets.epsilons[0]
    if (method := options.method or "optimal") != "optimal":
        if options.automatic:
            raise InputError(f"--knots auto is for the method optimal, got {method!r}: give a number of knots")
        made = design_numbers(options, prior, epsilon)
        facts = _facts(made, made.certificate.as_given.bound(), made.bound)
        return _with_errors(Outcome(f"{method} mechanism", made.mechanism, facts, notes), made, prior, options)
    few = options.prior_file is not None and prior.rounding_variance == 0  # its own values are the knots
    chosen = options.automatic or (options.knots is None and not few)
    made = design_numbers(options, KnotChoice(prior, gap=options.gap) if chosen else prior, epsilon)
    return _with_errors(_beside_the_interval(made, notes, options.gap), made, prior, options)


def _with_errors(outcome: Outcome, made: Design, prior: Prior, options: DesignOptions) -> Outcome:
    """The same with the errors of the mean of --n users, if it was given."""
    if options.n is None:
        return outcome
    facts, note = _both_errors(made, prior, options.n, options)
    return replace(outcome, facts=outcome.facts | facts, notes=[*outcome.notes, note])


def _beside_the_interval(made: Design, notes: list[str], gap: float | None) -> Outcome:
    """The optimum on its knots, and how far it is from what is possible without any."""
    from ...designs.knots import KnotChoiceEvidence, continuum_as_given

    evidence, opened, program_bound = made.evidence, [], made.bound
    tried = [made.mechanism.knots.size]
    if isinstance(evidence, KnotChoiceEvidence):
        tried, program_bound = [one.knots for one in evidence.tried], evidence.last.knot_bound
        if made.status != "optimal":
            kept = f"the total gap stayed at {made.gap:.1e} with {tried[-1]} knots, the most"
            opened = [f"note: {kept} without --gap" if gap is None else f"warning: {kept}"]
    else:
        opened = _open(made.status, made.gap)
    last = continuum_as_given(made)
    facts = _facts(made, last.knot_bound, program_bound) | {
        "continuum_lower_bound": last.lower_bound,
        "total_gap": last.total_gap,
        "knots_tried": tried,
    }
    near = f"{last.knots} knots: within {at_most(last.total_gap)} of the best for every value of the range"
    return Outcome(f"optimal mechanism, {near}", made.mechanism, facts, notes + opened)


def _facts(made: Design, bound: float, program_bound: float) -> dict[str, Any]:
    """The facts of a design of least expected variance: the bound on its knots, under the same prior as the variance.

    What was solved for, the prior with its uniform share, is for programs.
    """
    from ....solvers.certificate import relative_gap

    return {
        **_size(made),
        "expected_variance": made.expected_variance,
        "program_variance": made.value,
        "program_lower_bound": program_bound,
        "lower_bound": bound,
        **_closing(made),
        "relative_gap": relative_gap(made.expected_variance, bound),
    }


def _minimax(options: DesignOptions) -> Outcome:
    """The least worst case, into whose table no data go: those given are what the expected variance is taken over."""
    import numpy as np

    from ....estimators.forms.axis import range_units
    from ...designs.design import design
    from ...designs.knots import MOST_KNOTS
    from ...priors.prior import Prior

    epsilon = options.budgets.epsilons[0]
    has_data = options.data is not None or options.prior_file is not None
    prior, notes = options.prior() if has_data else (None, [])
    knots = _minimax_knots(options, epsilon, prior)
    if options.automatic and knots.size > MOST_KNOTS:
        notes.append(f"warning: {knots.size} knots would be needed, {MOST_KNOTS} are the most; see between_knots")
        knots = np.linspace(knots[0], knots[-1], MOST_KNOTS)
    even = Prior.even(knots, units=range_units(options.domain, options.units))
    with solver_progress(f"minimax, epsilon {epsilon:g}") as progress:
        made = design(even, epsilon, objective=options.asked, tolerance=options.precision, progress=progress)
    facts = {
        "objective": "minimax",
        **_size(made),
        "worst_case_variance": made.worst_case_variance,
        "worst_knot_variance": made.value,
        "lower_bound": made.bound,
        "worst_case_lower_bound": made.bound,
        "between_knots": made.evidence.between_knots,
        "expected_variance": None if prior is None else made.mechanism.expected_variance(prior.on(knots).knot_prior),
        **_closing(made, worst_case=False),
    }
    disclosures = [note for note in notes if note != SENSITIVE]
    found = Outcome("minimax mechanism", made.mechanism, facts, disclosures + _open(made.status, made.gap))
    if options.n is None or prior is None:
        return found
    return _with_people(found, options.n, prior.on(knots).knot_prior, sure=options.sure)


def _minimax_knots(options: DesignOptions, epsilon: float, prior: Prior | None) -> np.ndarray:
    """Return the prior's knots, or equally spaced ones on the range, or as many as the gap takes."""
    from ....mechanisms.errors import InputError
    from ...objectives.worst_case import DEFAULT_EXCESS, minimax_knots
    from ...priors.checks import as_knots
    from ...priors.prior import DEFAULT_KNOTS

    domain = options.domain if prior is None else prior.domain
    if domain is None:
        raise InputError("a minimax design needs a range: give --range LO HI")
    if options.automatic:
        return minimax_knots(*domain, epsilon, excess=DEFAULT_EXCESS if options.gap is None else options.gap)
    if prior is not None:
        return prior.knots
    return as_knots(DEFAULT_KNOTS if options.knot_count is None else options.knot_count, domain)


def _trade_off(options: DesignOptions) -> Outcome:
    """What lies between the least expected variance and the least worst case."""
    from ...designs.design import design
    from ...objectives.worst_case import TradeOff

    asked, (prior, notes) = options.asked, options.prior()
    assert isinstance(asked, TradeOff)
    epsilon = options.budgets.epsilons[0]
    with solver_progress(f"trade-off, epsilon {epsilon:g}") as progress:
        made = design(prior, epsilon, objective=asked, tolerance=options.precision, progress=progress)
    facts = {
        "objective": "trade-off",
        "expected": asked.expected,
        "worst": asked.worst,
        **_size(made),
        "weighted_variance": made.value,
        "lower_bound": made.bound,
        "expected_variance": made.expected_variance,
        "worst_knot_variance": made.evidence.worst_knot_variance,
        **_closing(made),
    }
    return Outcome("trade-off mechanism", made.mechanism, facts, notes + _open(made.status, made.gap))


def _robust(options: DesignOptions) -> Outcome:
    """The least guarantee over all priors within a distance of the one given."""
    from ...designs.design import design
    from ...planning.people import design_mean_within

    asked, (prior, notes) = options.asked, options.prior()
    epsilon = options.budgets.epsilons[0]
    with solver_progress(f"robust, epsilon {epsilon:g}") as progress:
        made = design(prior, epsilon, objective=asked, tolerance=options.precision, progress=progress)
    facts = {
        "objective": "robust",
        "ambiguity": options.ambiguity,
        "radius": options.radius,
        **_size(made),
        "guaranteed_variance": made.value,
        "lower_bound": made.bound,
        "guaranteed_anywhere": made.evidence.guaranteed_anywhere,
        "expected_variance": made.expected_variance,
        "price_of_robustness": made.evidence.price_of_robustness,
        "nominal_variance": made.evidence.nominal_variance,
        "nominal_guarantee": made.evidence.nominal_guarantee,
        **_closing(made),
    }
    found = Outcome("robust mechanism", made.mechanism, facts, notes + _open(made.status, made.gap))
    if options.n is None:
        return found
    return replace(found, within={"": design_mean_within(made, options.n, confidence=options.sure)})


def _information(options: DesignOptions) -> Outcome:
    """The table whose reports tell most of the values: in nats, or by the trace of the inverse information."""
    from ...designs.design import design

    asked, (prior, notes) = options.asked, options.prior()
    epsilon, criterion = options.budgets.epsilons[0], options.criterion or INFORMATION
    of_nats = criterion == "mutual-information"
    # Sets of any shape are priced by a relaxation, which the Fisher criteria rarely close further.
    loose = options.patterns == "any" and not of_nats and options.tolerance is None
    with solver_progress(f"{criterion}, epsilon {epsilon:g}") as progress:
        made = design(
            prior,
            epsilon,
            objective=asked,
            uniform_share=options.uniform_share,
            tolerance=ANY_PATTERNS_GAP if loose else options.precision,
            progress=progress,
        )
    found = made.evidence
    facts = {
        "objective": "information",
        "criterion": criterion,
        "patterns": options.patterns or "interval",
        **_size(made),
        "information_nats": made.value if of_nats else found.information,
        "information_upper_bound": made.bound if of_nats else None,
        "trace": found.trace if of_nats else made.value,
        "trace_lower_bound": None if of_nats else made.bound,
        "interval_bound": found.interval_bound,
        "interval_gap": found.interval_gap,
        "interval_status": str(found.interval_status),
        **_closing(made, unbiased=False, worst_case=False),
    }
    if not math.isfinite(found.trace):
        notes.append(UNREADABLE)
    if options.n is not None and criterion == "cumulative" and prior.knots.size > 2:
        more, note = _arrived(made, prior.mixed(options.uniform_share), options.n)
        facts, notes = facts | more, [*notes, note]
    if options.patterns == "any":
        opened = _open(made.status, made.gap)
    else:  # of intervals nobody expects that they are the best of all: that gap is among the facts
        opened = _open(found.interval_status, found.interval_gap)
    return Outcome("information-optimal mechanism", made.mechanism, facts, notes + opened)


def _arrived(made: Design, prior: Prior, users: int) -> tuple[dict[str, Any], str]:
    """The squared error of so many users' distribution by a smooth estimate, and the square wave's: facts, a note."""
    from ....mechanisms import square_wave
    from ...objectives.information import table_trace
    from ...objectives.smooth_error import smooth_trace

    tables = made.mechanism.probabilities, square_wave(prior.knots, made.mechanism.epsilon).probabilities
    (mine, theirs), (last, limit) = (
        [of(table) for table in tables]
        for of in (lambda t: smooth_trace(t, prior, users), lambda t: table_trace(t, prior, "cumulative"))
    )
    facts = {"smooth_trace": mine, "square_wave_smooth_trace": theirs}
    note = (
        f"note: with {users:,} people about {theirs / mine:.2f} times less squared error than with the square wave's "
        f"reports arrives in a smooth estimate, or not even that where values are smoother than the prior; "
        f"{limit / last:.2f} times is for ever more people"
    )
    return facts, note


def _error(options: DesignOptions) -> Outcome:
    """The least error of the mean of so many users, bias allowed, while the prior may be off by a factor."""
    from ...designs.design import design
    from ...planning.biased import biased_facts, biased_note, biased_title
    from ..said.trust import trust_facts

    asked, (prior, notes) = options.asked, options.prior()
    epsilon = options.budgets.epsilons[0]
    with solver_progress(f"error, epsilon {epsilon:g}") as progress:
        made = design(
            prior,
            epsilon,
            objective=asked,
            uniform_share=options.uniform_share,
            tolerance=options.tolerance,
            progress=progress,
        )
    found, table = made.evidence, made.mechanism
    facts = {
        "objective": "error",
        **_size(made),
        **biased_facts(table),
        "lower_bound": made.bound,
        "relative_gap": made.gap,
        "rmse_unbiased": found.rmse_unbiased,
        "rmse_clip": found.rmse_clip,
        "tails_heavier": list(found.heavier),
        "rmse_heavier": list(found.rmse_heavier),
        "value": made.value,
        "max_log_ratio": made.max_log_ratio,
        "status": str(made.status),
        "seconds": made.seconds,
    }
    if options.measured is not None:
        facts["trust_measured"] = trust_facts(options.measured)
    said = [*options.trust_notes, f"note: {biased_note(table)}", *_open(made.status, made.gap)]
    title = f"{biased_title(table)}; unbiased: --objective expected"
    return Outcome(title, table, facts, notes + said, figure=lambda: _clips(made))


def _clips(made: Design) -> Axes:
    """The error of clips at other places beside the optimum, showing progress."""
    from ...designs.clips import clip_curve
    from ...plots import clip_errors

    with spinner("clips for the plot") as told:
        return clip_errors(clip_curve(made, progress=lambda done, total: told(f"{done} of {total}")))


def _both_errors(made: Design, prior: Prior, users: int, options: DesignOptions) -> tuple[dict[str, Any], str]:
    """The errors of the mean of so many users, of an unbiased table and of a biased one: facts and a note."""
    from ....estimators.means.error import counted_as
    from ....mechanisms.floors.form import expanded
    from ...designs.judging import problem_for
    from ...objectives.error import DEFAULT_TRUST, Error
    from ...planning.biased import cut_words
    from ...planning.people import promised_within, shown

    objective = Error(users)
    table = expanded(made.mechanism)
    own, wanted = (
        problem_for(each, made.epsilon, objective, uniform_share=options.uniform_share)
        for each in (made.prior.coarsened(table.knots), prior)
    )
    biased = objective.solve(wanted).mechanism
    unbiased, least = objective.parts(table, own), objective.parts(biased, wanted)
    counted = counted_as(biased, prior.weights)
    facts = {
        "users": users,
        "rmse": unbiased.rmse,
        "rmse_biased": least.rmse,
        "clip_low": counted.low,
        "clip_high": counted.high,
    }
    cut = cut_words(biased.with_prior(prior.knot_prior))
    units = prior.units
    here, there = (
        shown(promised_within(users, each, DEFAULT_TRUST, confidence=options.sure).within, units)
        for each in (unbiased, least)
    )
    return facts, (
        f"note: while the prior is right within a factor of {DEFAULT_TRUST:g}, the mean of {users:,} people is within "
        f"{here} ({100 * options.sure:.6g}%); within {there} if {cut}: --objective error"
    )


def _noise(options: DesignOptions) -> Outcome:
    """Noise of one shape, which no objective has chosen."""
    from ..kinds.noise import design_noise

    mechanism, facts = design_noise(options)
    return Outcome(f"{facts['method']} mechanism", mechanism, facts, [f"note: {mechanism.promise.caution}"])


def _size(made: Design) -> dict[str, Any]:
    table = made.mechanism
    return {"method": made.method, "epsilon": made.epsilon, "knots": table.knots.size, "outputs": table.n_outputs}


def _closing(made: Design, *, unbiased: bool = True, worst_case: bool = True) -> dict[str, Any]:
    """What every design says last."""
    facts: dict[str, Any] = {"relative_gap": made.gap, "value": made.value}
    if worst_case:
        facts["worst_case_variance"] = made.worst_case_variance
    facts["max_log_ratio"] = made.max_log_ratio
    if unbiased:
        facts["max_abs_bias"] = made.max_abs_bias
    return facts | {"status": str(made.status), "seconds": made.seconds}


def _open(status: Status, gap: float) -> list[str]:
    return [] if status == "optimal" else [f"warning: {status.sentence} (gap {gap:.1e})"]
