"""`optldp design` for one table of numbers, whatever its objective: the table, and what is printed of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from .output import solver_progress
from .prior import SENSITIVE

if TYPE_CHECKING:
    import numpy as np

    from ...mechanisms import TabulatedMechanism
    from ...solvers import Status
    from ..designs.design import Design
    from ..designs.information import Criterion, Patterns
    from ..priors.prior import Prior
    from .design_options import DesignOptions, Kind

GAP = 1e-3
"""Of --knots auto: below what rounding to 101 knots costs at epsilon 4 and above."""

UNREADABLE = (
    "warning: the reports of this table cannot tell all distributions on the knots apart, so none can be estimated "
    "from them: --criterion cumulative makes one that can"
)

ANY_PATTERNS_GAP = 1e-3
"""Default tolerance of the Fisher criteria over any patterns."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """A table, the facts of its JSON object, what people see before the bound, and what there is to say on stderr."""

    title: str
    mechanism: TabulatedMechanism
    facts: dict[str, Any]
    notes: list[str]
    aside: dict[str, Any] = field(default_factory=dict)


def design_table(options: DesignOptions) -> Outcome:
    """Design what was asked for, showing progress."""
    made: dict[Kind, Callable[[DesignOptions], Outcome]] = {
        "one table of numbers": _automatic if options.automatic else _expected,
        "a minimax table": _minimax,
        "a robust table": _robust,
        "an information-optimal table": _information,
    }
    return made[options.kind](options)


def _expected(options: DesignOptions) -> Outcome:
    from .kinds.numbers import design_numbers

    prior, notes = options.prior()
    made = design_numbers(options, prior, options.budgets.epsilons[0])
    return _of_design(made, notes)


def _of_design(made: Design, notes: list[str]) -> Outcome:
    facts = {
        "method": made.method,
        **_size(made.mechanism),
        "expected_variance": made.expected_variance,
        "program_variance": made.program_variance,
        "lower_bound": made.lower_bound,
        "relative_gap": made.relative_gap,
        "worst_case_variance": made.worst_case_variance,
        "max_log_ratio": made.max_log_ratio,
        "max_abs_bias": made.max_abs_bias,
        "status": str(made.status),
        "seconds": made.seconds,
    }
    aside = {}
    if made.program_variance != made.expected_variance:  # the bound is under the floored prior: show its like
        aside["with the uniform share"] = made.program_variance
    return Outcome(
        f"{made.method} mechanism", made.mechanism, facts, notes + _open(made.status, made.relative_gap), aside
    )


def _automatic(options: DesignOptions) -> Outcome:
    """As many knots as bring the gap to every mechanism on the interval below the one asked for."""
    from ...mechanisms.errors import InputError
    from ..designs.continuum import design_to_gap

    if (options.method or "optimal") != "optimal":
        raise InputError(f"--knots auto is for the method optimal, got {options.method!r}: give a number of knots")
    prior_at, notes = options.prior_at()
    gap = GAP if options.gap is None else options.gap
    with solver_progress("optimal, as many knots as it takes") as progress:
        found = design_to_gap(prior_at, options.budgets.epsilons[0], gap=gap, floor=options.floor, progress=progress)
    plain = _of_design(found.design, notes)
    facts = plain.facts | {
        "continuum_lower_bound": found.certificate.lower_bound,
        "total_gap": found.certificate.total_gap,
        "knots_tried": [tried.knots for tried in found.tried],
    }
    said = list(notes)
    if found.status != "optimal":
        total = found.certificate.total_gap
        said.append(f"warning: the total gap stayed at {total:.1e} with {found.certificate.knots} knots, the most")
    return Outcome(plain.title, plain.mechanism, facts | {"status": str(found.status)}, said, plain.aside)


def _minimax(options: DesignOptions) -> Outcome:
    """The least worst case, into whose table no data go: those given are what the expected variance is taken over."""
    import numpy as np

    from ..designs.continuum import MOST_KNOTS
    from ..designs.minimax import design_minimax

    epsilon = options.budgets.epsilons[0]
    has_data = options.data is not None or options.prior_file is not None
    prior_at, notes = options.prior_at() if has_data else (None, [])
    knots = _minimax_knots(options, epsilon, None if prior_at is None else prior_at(options.knot_count))
    if options.automatic and knots.size > MOST_KNOTS:
        notes.append(f"warning: {knots.size} knots would be needed, {MOST_KNOTS} are the most; see between_knots")
        knots = np.linspace(knots[0], knots[-1], MOST_KNOTS)
    with solver_progress(f"minimax, epsilon {epsilon:g}") as progress:
        made = design_minimax(knots, epsilon, tolerance=options.precision, units=options.units, progress=progress)
    prior = None if prior_at is None else prior_at(knots.size if options.automatic else options.knot_count)
    facts = {
        "objective": "minimax",
        **_size(made.mechanism),
        "worst_case_variance": made.worst_case_variance,
        "worst_knot_variance": made.worst_knot_variance,
        "worst_case_lower_bound": made.lower_bound,
        "relative_gap": made.relative_gap,
        "between_knots": made.between_knots,
        "expected_variance": None if prior is None else made.mechanism.expected_variance(prior.knot_prior),
        "max_log_ratio": made.max_log_ratio,
        "max_abs_bias": made.max_abs_bias,
        "status": str(made.status),
        "seconds": made.seconds,
    }
    disclosures = [note for note in notes if note != SENSITIVE]
    return Outcome("minimax mechanism", made.mechanism, facts, disclosures + _open(made.status, made.relative_gap))


def _minimax_knots(options: DesignOptions, epsilon: float, prior: Prior | None) -> np.ndarray:
    """Return the prior's knots, or equally spaced ones on the range, or as many as the gap takes."""
    from ...mechanisms.errors import InputError
    from ..designs.minimax import DEFAULT_EXCESS, minimax_knots
    from ..priors.checks import as_knots
    from ..priors.prior import DEFAULT_KNOTS

    domain = options.domain if prior is None else prior.domain
    if domain is None:
        raise InputError("a minimax design needs a domain: give --range LO HI")
    if options.automatic:
        return minimax_knots(*domain, epsilon, excess=DEFAULT_EXCESS if options.gap is None else options.gap)
    if prior is not None:
        return prior.knots
    return as_knots(DEFAULT_KNOTS if options.knot_count is None else options.knot_count, domain)


def _robust(options: DesignOptions) -> Outcome:
    """The least guarantee over all priors within a distance of the one given."""
    from ...mechanisms.errors import InputError
    from ..designs.robust import design_robust
    from ..priors.ambiguity import AMBIGUITIES

    if options.ambiguity is None or options.radius is None:
        raise InputError(f"a robust table needs --ambiguity ({', '.join(AMBIGUITIES)}) and --radius R: add them")
    if options.ambiguity not in AMBIGUITIES:
        raise InputError(f"--ambiguity must be one of {', '.join(AMBIGUITIES)}, got {options.ambiguity!r}")
    ambiguity = AMBIGUITIES[options.ambiguity](options.radius)
    prior, notes = options.prior()
    epsilon = options.budgets.epsilons[0]
    with solver_progress(f"robust, epsilon {epsilon:g}") as progress:
        made = design_robust(prior, epsilon, ambiguity, tolerance=options.precision, progress=progress)
    facts = {
        "objective": "robust",
        "ambiguity": options.ambiguity,
        "radius": options.radius,
        **_size(made.mechanism),
        "guaranteed_variance": made.guaranteed_variance,
        "lower_bound": made.lower_bound,
        "relative_gap": made.relative_gap,
        "guaranteed_anywhere": made.guaranteed_anywhere,
        "expected_variance": made.expected_variance,
        "price_of_robustness": made.price_of_robustness,
        "nominal_variance": made.nominal_variance,
        "nominal_guarantee": made.nominal_guarantee,
        "worst_case_variance": made.worst_case_variance,
        "max_log_ratio": made.max_log_ratio,
        "max_abs_bias": made.max_abs_bias,
        "status": str(made.status),
        "seconds": made.seconds,
    }
    return Outcome("robust mechanism", made.mechanism, facts, notes + _open(made.status, made.relative_gap))


def _information(options: DesignOptions) -> Outcome:
    """The table whose reports tell most of the values: in nats, or by the trace of the inverse information."""
    from ..designs.information import design_information

    prior, notes = options.prior()
    epsilon, criterion = options.budgets.epsilons[0], options.criterion or "mutual-information"
    # Sets of any shape are priced by a relaxation, which the Fisher criteria rarely close further.
    loose = options.patterns == "any" and criterion != "mutual-information" and options.tolerance is None
    with solver_progress(f"{criterion}, epsilon {epsilon:g}") as progress:
        made = design_information(
            prior,
            epsilon,
            criterion=cast("Criterion", criterion),
            patterns=cast("Patterns", options.patterns or "interval"),
            floor=options.floor,
            tolerance=ANY_PATTERNS_GAP if loose else options.precision,
            progress=progress,
        )
    of_nats = made.criterion == "mutual-information"
    facts = {
        "objective": "information",
        "criterion": made.criterion,
        "patterns": made.patterns,
        **_size(made.mechanism),
        "information_nats": made.objective if of_nats else made.information,
        "information_upper_bound": made.bound if of_nats else None,
        "trace": made.trace if of_nats else made.objective,
        "trace_lower_bound": None if of_nats else made.bound,
        "relative_gap": made.relative_gap,
        "interval_bound": made.interval_bound,
        "interval_gap": made.interval_gap,
        "max_log_ratio": made.max_log_ratio,
        "status": str(made.status),
        "seconds": made.seconds,
    }
    if not math.isfinite(made.trace):
        notes.append(UNREADABLE)
    gap = made.interval_gap if made.patterns == "interval" else made.relative_gap
    return Outcome("information-optimal mechanism", made.mechanism, facts, notes + _open(made.status, gap))


def _size(table: TabulatedMechanism) -> dict[str, Any]:
    n, m = table.probabilities.shape
    return {"epsilon": table.epsilon, "knots": n, "outputs": m}


def _open(status: Status, gap: float) -> list[str]:
    return [] if status == "optimal" else [f"warning: {status.sentence} (gap {gap:.1e})"]
