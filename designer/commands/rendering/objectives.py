"""`optldp design` for one table of numbers, whatever its objective: the table, and what is printed of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ....mechanisms.errors import InputError, unwired
from ....mechanisms.registered import registered
from ...objectives.registry import named
from ..options.kind import DesignKind, OneTable
from ..output.output import at_most, solver_progress, spinner
from ..output.prior import SENSITIVE

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes

    from ....mechanisms import TabulatedMechanism
    from ....mechanisms.compact_tables import FloorForm
    from ....mechanisms.table.knot_prior import KnotPrior
    from ....solvers import Status
    from ...designs.result import Design
    from ...planning.people import MeanWithin
    from ...priors.prior import Prior
    from ..options.designs.design import DesignOptions


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
    kind = options.kind
    if isinstance(kind, OneTable) and ("--method" not in kind.uses or options.few):
        return _by_objective(options)
    if isinstance(kind, OneTable):
        found = _by_method(options)
    elif kind is DesignKind.NOISE:
        found = _noise(options)
    else:
        raise unwired("kind", kind.label)
    return found if options.n is None else _with_people(found, options)


def _with_people(found: Outcome, options: DesignOptions, prior: KnotPrior | None = None) -> Outcome:
    """The same with how far the mean of --n people may be off, under its table's prior unless one is given."""
    from ...planning.people import table_mean_within

    assert options.n is not None
    try:
        within = table_mean_within(found.mechanism, options.n, prior=prior, confidence=options.sure)
    except InputError as none:
        if options.kind is DesignKind.NOISE or options.asked.of_variance:
            raise
        return replace(found, notes=[*found.notes, f"note: no mean can be had of these reports: {none}"])
    return replace(found, within={"": within})


def _by_method(options: DesignOptions) -> Outcome:
    """What several methods are for: one of them, or the least of all on knots that were named or chosen."""
    from ...designs.knots import KnotChoice
    from ..handlers.numbers.handler import design_numbers

    (prior, notes), epsilon = options.prior(), options.budgets.epsilons[0]
    if (method := options.method or "optimal") != "optimal":
        if options.automatic:
            raise InputError(f"--knots auto is for the method optimal, got {method!r}: give a number of knots")
        made = design_numbers(options, prior, epsilon)
        facts = _facts(made, made.certificate.as_given.bound(), made.bound)
        return _with_errors(Outcome(f"{method} mechanism", made.mechanism, facts, notes), made, prior, options)
    few = options.prior_file is not None and prior.rounding_variance == 0  # its own values are the knots
    chosen = options.automatic or (options.knots_text is None and not few)
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
            opened = [f"note: {kept} without --knots auto:gap=GAP" if gap is None else f"warning: {kept}"]
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


def _by_objective(options: DesignOptions) -> Outcome:
    """The best by an objective, which says itself what there is to say of it."""
    from ...designs.design import design
    from ...planning.people import design_mean_within
    from ...privacies import privacy_asked
    from ..output.trust import trust_facts

    asked, epsilon = options.asked, next(iter(options.budgets.epsilons), None)
    known, notes, prior = _known(options)
    promise = privacy_asked(options.privacy, epsilon, prior.knots)
    with solver_progress(f"{asked.key}, {promise}") as progress:
        made = design(
            prior,
            promise,
            objective=asked,
            outputs=options.outputs,
            uniform_share=options.uniform_share if asked.uniform_share else None,
            tolerance=asked.command_tolerance if options.tolerance is None else options.tolerance,
            progress=progress,
        )
    facts = {"objective": asked.key, **asked.parameters(), **_size(made), **asked.facts(made)}
    if not asked.uses_prior and known is not None:
        facts["expected_variance"] = made.mechanism.expected_variance(known)
    facts |= _closing(made, of_variance=asked.of_variance)
    if options.measurements:
        facts["trust_measured"] = trust_facts(options.measurements[0])
    more, of_users = ({}, []) if options.n is None else asked.of_users(made, options.n)
    said = [*notes, *options.objective_notes, *asked.notes(made), *of_users, *_open(*asked.closeness(made))]
    found = Outcome(asked.title(made), made.mechanism, facts | more, said, figure=_figure(made, options))
    if options.n is None or asked.asks:  # whose note has what it tells of the mean
        return found
    if asked.uses_prior and asked.of_variance:
        return replace(found, within={"": design_mean_within(made, options.n, confidence=options.sure)})
    return _with_people(found, options, None if asked.uses_prior else known)


def _known(options: DesignOptions) -> tuple[KnotPrior | None, list[str], Prior]:
    """What is known of the values, if anything, what there is to say of it, and the prior to design for.

    Of a table into which no data go that is no more than a range: those given are what its expected variance is over.
    """
    import numpy as np

    from ....estimators.reading.formats.axis import range_units
    from ...designs.knots import MOST_KNOTS
    from ...priors.prior import Prior

    if options.asked.uses_prior:
        prior, notes = options.prior()
        return prior.knot_prior, notes, prior
    has_data = options.data is not None or options.prior_file is not None
    prior, notes = options.prior() if has_data else (None, [])
    knots = _knots_of_range(options, prior)
    if options.automatic and knots.size > MOST_KNOTS:
        notes.append(f"warning: {knots.size} knots would be needed, {MOST_KNOTS} are the most; see between_knots")
        knots = np.linspace(knots[0], knots[-1], MOST_KNOTS)
    even = Prior.even(knots, units=range_units(options.domain, options.units))
    known = None if prior is None else prior.on(knots).knot_prior
    return known, [note for note in notes if note != SENSITIVE], even


def _knots_of_range(options: DesignOptions, prior: Prior | None) -> np.ndarray:
    """Return the prior's knots, or equally spaced ones on the range, or as many as the gap takes."""
    from ...objectives.worst_case import DEFAULT_EXCESS, minimax_knots
    from ...priors.checks import as_knots
    from ...priors.prior import DEFAULT_KNOTS

    domain = options.domain if prior is None else prior.domain
    if domain is None:
        raise InputError(f"a {options.asked.key} design needs a range: give --range LO HI")
    if options.automatic:
        return minimax_knots(
            *domain, options.budgets.epsilons[0], excess=DEFAULT_EXCESS if options.gap is None else options.gap
        )
    if prior is not None:
        return prior.knots
    return as_knots(DEFAULT_KNOTS if options.knot_count is None else options.knot_count, domain)


def _figure(made: Design, options: DesignOptions) -> Callable[[], Axes] | None:
    """What --plot draws, showing progress; None where the objective has nothing."""
    name = options.wanted.name
    if not named(name).figure:
        return None
    found, drawn = (registered("optldp.designer", place, "figure", name) for place in named(name).figure)

    def figure() -> Axes:
        with spinner("the plot") as told:
            return drawn(found(made, progress=lambda done, total: told(f"{done} of {total}")))

    return figure


def _both_errors(made: Design, prior: Prior, users: int, options: DesignOptions) -> tuple[dict[str, Any], str]:
    """The errors of the mean of so many users, of an unbiased table and of a biased one: facts and a note."""
    from ....estimators.means.error import counted_as
    from ....mechanisms.compact_tables.floor_and_windows import expanded
    from ...designs.judging import problem_for
    from ...objectives.biased import cut_words
    from ...objectives.error import DEFAULT_TRUST, Error
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
    from ..handlers.numbers.noise import design_noise

    mechanism, facts = design_noise(options)
    return Outcome(f"{facts['method']} mechanism", mechanism, facts, [f"note: {mechanism.promise.caution}"])


def _size(made: Design) -> dict[str, Any]:
    table = made.mechanism
    return {"method": made.method, "epsilon": made.epsilon, "knots": table.knots.size, "outputs": table.n_outputs}


def _closing(made: Design, *, of_variance: bool = True) -> dict[str, Any]:
    """What every design says last."""
    facts: dict[str, Any] = {"relative_gap": made.gap, "value": made.value}
    if of_variance:
        facts["worst_case_variance"] = made.worst_case_variance
    facts["max_log_ratio"] = made.max_log_ratio
    if of_variance:
        facts["max_abs_bias"] = made.max_abs_bias
    return facts | {"status": str(made.status), "solver": made.solver, "seconds": made.seconds}


def _open(status: Status, gap: float) -> list[str]:
    return [] if status == "optimal" else [f"warning: {status.sentence} (gap {gap:.1e})"]
