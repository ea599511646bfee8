"""`optldp design` for what is not one table of numbers: categories, and budgets that users choose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..output import share_progress, solver_progress

if TYPE_CHECKING:
    from ....mechanisms import TabulatedMechanism
    from ....mechanisms.documents.bundle import Bundle
    from ...designs.design import Design
    from ...priors.categorical import CategoricalPrior
    from ...priors.prior import Prior
    from ..design_options import DesignOptions
    from ..levels import Budgets

LEAKY = 2.0
"""Times the level's own budget from which the leakage through the value's report is worth a line."""


@dataclass
class Designed:
    """A bundle, what there is to say of it, and what there is to know beside its own facts."""

    bundle: Bundle
    notes: list[str] = field(default_factory=list)
    more: dict[str, Any] = field(default_factory=dict)


def design_bundle(options: DesignOptions) -> Designed:
    """Design what was asked for, whatever it is beside one table of numbers."""
    from ..prior import SENSITIVE, read_categorical_prior

    if options.kind == "attributes":
        return design_attribute_tables(options, [] if options.public else [SENSITIVE])
    if options.kind == "levels of numbers":
        prior, notes = options.prior()
        made = design_levels(
            options.budgets, lambda epsilon: design_numbers(options, prior, epsilon).mechanism.without_prior()
        )
    else:
        # A row without a key is a user who holds no pair.
        drop_missing = options.drop_missing or options.kind == "pairs"
        labels, notes = read_categorical_prior(
            options.data, options.column, options.prior_file, drop_missing=drop_missing, public=options.public
        )
        if options.kind == "pairs":
            made = design_pairs(labels, options)
        else:
            made = design_oracle(
                labels, options.budgets, options.method or "auto", tolerance=options.tolerance, public=options.public
            )
    return replace(made, notes=notes + made.notes)


def design_numbers(options: DesignOptions, prior: Prior, epsilon: float) -> Design:
    """Design one table of numbers, showing progress."""
    from ...designs.design import design

    method = options.method or "optimal"
    with solver_progress(f"{method}, epsilon {epsilon:g}") as progress:
        return design(
            prior, epsilon, method=method, floor=options.floor, tolerance=options.precision,
            worst_case=options.worst_case, intervals=options.intervals, window=options.window,
            tail_ratio=options.tail_ratio, progress=progress,
        )  # fmt: skip


def design_oracle(
    prior: CategoricalPrior, budgets: Budgets, method: str, *, tolerance: float | None, public: bool
) -> Designed:
    """Return a frequency oracle by its name, or the optimal table, or one oracle for each level."""
    from ....mechanisms.errors import InputError
    from ...designs.categorical import ORACLES, oracle_of_levels

    if method == "optimal" and not budgets.personalised:
        return _design_table(prior, budgets.epsilons[0], tolerance, public)
    if tolerance is not None:
        raise InputError("--tolerance is for method optimal, and for numbers: leave it out")
    if method not in ORACLES:
        known = [*ORACLES] if budgets.personalised else [*ORACLES, "optimal"]
        kind = "levels of categories" if budgets.personalised else "categories"
        raise InputError(f"method must be one of {', '.join(known)} for {kind}, got {method!r}")
    if budgets.personalised:
        chosen = oracle_of_levels(prior.categories, budgets.epsilons) if method == "auto" else method
        return design_levels(budgets, lambda epsilon: ORACLES[chosen](prior.categories, epsilon))
    made = ORACLES[method](prior.categories, budgets.epsilons[0])
    return Designed(made)


def _design_table(prior: CategoricalPrior, epsilon: float, tolerance: float | None, public: bool) -> Designed:
    from ...designs.categorical import DEFAULT_TOLERANCE, design_categorical
    from ..prior import SENSITIVE

    with solver_progress("optimal table") as progress:
        made = design_categorical(
            prior.categories,
            prior.weights,
            epsilon,
            tolerance=DEFAULT_TOLERANCE if tolerance is None else tolerance,
            progress=progress,
        )
    more = {"expected_squared_error": made.error, "status": str(made.status), "seconds": made.seconds}
    notes = [] if public else [SENSITIVE]
    if made.status != "optimal":
        notes.append(f"warning: {made.status.sentence} (gap {made.relative_gap:.1e})")
    return Designed(made.mechanism, notes, more)


def design_levels(budgets: Budgets, make: Callable[[float], Any]) -> Designed:
    """Return one mechanism for each level, together with the protection of the level itself."""
    from ....mechanisms import PersonalisedMechanism

    made: list[TabulatedMechanism] = [make(epsilon) for epsilon in budgets.epsilons]
    together = PersonalisedMechanism(made, budgets.level_epsilon)
    notes = []
    if budgets.level_epsilon is None:
        notes.append("note: levels are reported in the clear; --level-epsilon protects them")
    elif together.level_leakage > LEAKY * budgets.level_epsilon:
        notes.append(
            f"note: the report of the value tells more about the level than its own report: to somebody who knows "
            f"the value, level_leakage {together.level_leakage:.3g} in all; method grr leaks least"
        )
    return Designed(together, notes)


def design_pairs(keys: CategoricalPrior, options: DesignOptions) -> Designed:
    """Return a mechanism for key-value pairs, whose budget is split so that means of values vary least."""
    from ....mechanisms import best_key_value
    from ....mechanisms.errors import InputError
    from ...designs.design import METHODS, design

    form, values = options.method or "unary", options.value_method or "duchi"
    if form not in ("unary", "grr"):
        raise InputError(f"--method must be unary or grr for pairs, got {form!r}")
    if values not in METHODS:
        raise InputError(f"--value-method must be one of {', '.join(METHODS)}, got {values!r}")
    # A row without a value is a user who holds no pair.
    prior, _ = options.prior(options.value_column)
    made = best_key_value(
        keys.categories,
        lambda epsilon: design(prior, epsilon, method=values).mechanism.without_prior(),
        options.budgets.epsilons[0],
        unary=form == "unary",
        padding=1 if options.padding is None else options.padding,
    )
    return Designed(made)


def design_attribute_tables(options: DesignOptions, notes: list[str]) -> Designed:
    """Return a table for each attribute, given as NAME=LO:HI, and how many of them a user reports."""
    from ....estimators.data.numbers import read_column
    from ....mechanisms.errors import InputError
    from ...designs.attributes import design_attributes
    from ...priors.prior import DEFAULT_KNOTS, Prior

    if options.data is None:
        raise InputError("the priors must come from DATA, got none: name a CSV or Parquet file")
    priors = {}
    for name, domain in map(attribute_range, options.attributes or ()):
        values = read_column(options.data, name, drop_missing=options.drop_missing)
        source = "public" if options.public else "sensitive"
        count = DEFAULT_KNOTS if options.knot_count is None else options.knot_count
        priors[name] = Prior.from_data(values, knots=count, domain=domain, source=source)
    with share_progress("designing") as update:
        made = design_attributes(
            priors,
            options.budgets.epsilons[0],
            sampled="auto" if options.sampled is None else options.sampled,
            method=options.method or "optimal",
            floor=options.floor,
            tolerance=options.precision,
            progress=lambda name, k, step: update(f"{name}, {k} sampled: gap {step.gap:.1e}", 0.0),
        )
    more = {
        "expected_variance": [one.expected_variance for one in made.designs.values()],
        "relative_gap": [one.relative_gap for one in made.designs.values()],
        "predicted_variance_one_user": list(made.predicted_variances(1).values()),
        "rule_of_thumb": made.rule_of_thumb,
    }
    return Designed(made.mechanism, notes, more)


def attribute_range(text: str) -> tuple[str, tuple[float, float]]:
    """Return the name and the domain that NAME=LO:HI says, or raise InputError.

    Example
    -------
    >>> attribute_range("income=0:200000")
    ('income', (0.0, 200000.0))
    """
    from ....mechanisms.errors import InputError

    name, _, ends = text.rpartition("=")
    try:
        low, high = map(float, ends.split(":"))
    except ValueError:
        low, high = 0.0, 0.0
    if not (name and low < high):
        raise InputError(f"an attribute must be NAME=LO:HI with LO < HI, got {text!r}")
    return name, (low, high)
