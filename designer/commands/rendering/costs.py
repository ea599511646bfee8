"""What `evaluate` says of each mechanism: its cost on other values than it was made for, beside a new design."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from ....estimators import InputGrid, plain_decoder
from ....estimators.means.decoding import decoded_variances
from ....estimators.reading.columns.number_cells import read_column
from ....mechanisms import CategoricalMechanism, TabulatedMechanism
from ....mechanisms.categorical.table import CategoricalTable
from ....mechanisms.compact_tables import FloorForm
from ....mechanisms.errors import InputError, unwired
from ....mechanisms.over_time import Way
from ....mechanisms.promise import Pure
from ....mechanisms.spaces.places import COLUMNS
from ....mechanisms.table.knot_prior import KnotPrior
from ...designs.design import design
from ...objectives.base import Problem
from ...objectives.frequencies import Frequencies
from ...objectives.losses.loss import Loss
from ...objectives.losses.named import LOSSES
from ...planning.people import MeanWithin, mean_within
from ...priors.categorical import CategoricalPrior
from ...priors.prior import Prior
from ..handlers.kind import Part
from ..options.assumed import NEAR_PRIOR, exempt_from, exempt_note
from ..output.output import solver_progress
from ..output.prior import read_categorical_prior, read_prior, require_one_source

if TYPE_CHECKING:
    from ....mechanisms.spaces.categories import Categories
    from ..options.evaluate import EvaluateOptions

Within = Mapping[str, MeanWithin]

THESE = "their values are as these"


@singledispatch
def cost_on(mechanism: Any, part: Part, asked: EvaluateOptions, notes: list[str]) -> tuple[dict[str, Any], Within]:
    """Return what one part costs on the data; what there is to say of them is added to the notes.

    Raises InputError for kinds whose cost is no one number, and data that cannot be read.
    """
    raise InputError(
        f"evaluate is for numbers, categories, attributes and their levels, got pairs in {str(asked.table)!r}: "
        "what they cost depends on each key's share, so design anew and compare one_report_times_n of show"
    )


@cost_on.register(Way)
def _over_time(mechanism: Way, part: Part, asked: EvaluateOptions, notes: list[str]) -> tuple[dict[str, Any], Within]:
    raise InputError(f"evaluate is for one report of a user, got a way over time in {str(asked.table)!r}: see plan")


@cost_on.register(CategoricalMechanism)
def _of_categories(
    mechanism: CategoricalMechanism, part: Part, asked: EvaluateOptions, notes: list[str]
) -> tuple[dict[str, Any], Within]:
    """Squared errors of all frequencies, times n, on average over the values; with users, of each frequency."""
    asked.refuse("of no use to categories", "--clip", "--assume")
    prior, objective = _labels_prior(mechanism, asked), Frequencies()
    many = len(prior.categories) > objective.most_categories
    new = None
    if not many:
        with solver_progress("a new design") as progress:
            new = design(prior, mechanism.epsilon, progress=progress).value
    old = objective.value(mechanism, Problem(prior, mechanism.epsilon))
    facts = {
        "expected_squared_error": old,
        "expected_squared_error_of_new_design": new,
        "ratio_to_new_design": None if new is None else old / new,
    }
    if asked.users is not None:
        share = 1 / math.sqrt(len(prior.categories) * asked.users)
        facts["frequency_error"] = share * math.sqrt(old)
        facts["frequency_error_of_new_design"] = None if new is None else share * math.sqrt(new)
    return facts, {}


@cost_on.register(CategoricalTable)
def _of_table(
    mechanism: CategoricalTable, part: Part, asked: EvaluateOptions, notes: list[str]
) -> tuple[dict[str, Any], Within]:
    """Of places and promises of pairs the loss of one report; else as of other categories."""
    if mechanism.outputs is None and isinstance(mechanism.promise, Pure):
        return _of_categories(mechanism, part, asked, notes)
    asked.refuse("of no use to categories", "--clip", "--assume")
    return _of_loss(mechanism, asked), {}


def _labels_prior(mechanism: CategoricalMechanism, asked: EvaluateOptions) -> CategoricalPrior:
    given, _ = read_categorical_prior(
        asked.data, asked.column, asked.prior_file, drop_missing=asked.drop_missing, public=True
    )
    return given.among(mechanism.categories)


def _of_loss(table: CategoricalTable, asked: EvaluateOptions) -> dict[str, Any]:
    """The loss of one report that a table of places, or one of a promise of pairs, was designed for."""
    asked.refuse("for means and frequencies, got a table for one report's loss", "--n")
    told = table.provenance.parameters
    if not isinstance(loss := told.get("loss"), str) or loss not in LOSSES:
        raise InputError(
            f"evaluate needs the loss that {str(asked.table)!r} was designed for, got none by a name: use "
            "Design.against in Python"
        )
    objective = Loss(loss, worst=float(told.get("worst", 0.0)))
    if table.outputs is None:
        prior, outputs = _labels_prior(table, asked), table.numerators.shape[1]
    else:
        prior, outputs = _places_prior(table.inputs, asked), table.outputs.points
    with solver_progress("a new design") as progress:
        new = design(prior, table.promise, objective=objective, outputs=outputs, progress=progress)
    old = new.objective.value(table, new.certificate.problem)
    name = f"{objective.which}_loss"
    return {name: old, f"{name}_of_new_design": new.value, "ratio_to_new_design": old / new.value}


def _places_prior(places: Categories, asked: EvaluateOptions) -> CategoricalPrior:
    """How many are at each place of a mechanism, by --prior, or by two columns of DATA."""
    asked.refuse("of no use to places", "--drop-missing")
    names = tuple(asked.columns or ())
    require_one_source(asked.data, next(iter(names), None), asked.prior_file)
    if asked.data is None:
        assert asked.prior_file is not None
        return CategoricalPrior.from_places_file(asked.prior_file).among(places)
    if len(names) != len(COLUMNS):
        raise InputError(f"places are in two columns, got {len(names)}: name them, --column x --column y")
    points = np.column_stack([read_column(asked.data, name) for name in names])
    return CategoricalPrior(places, np.bincount(places.codes(points), minlength=len(places)))


@cost_on.register(TabulatedMechanism)
@cost_on.register(FloorForm)
def _of_numbers(
    mechanism: TabulatedMechanism | FloorForm, part: Part, asked: EvaluateOptions, notes: list[str]
) -> tuple[dict[str, Any], Within]:
    """Variances of one report, on average over the values; with users, how far their mean may be off."""
    knots, column = mechanism.knots, part.column or asked.column
    domain, units = (float(knots[0]), float(knots[-1])), mechanism.units
    given, told = read_prior(
        asked.data, column, domain, asked.prior_file, None, True, asked.drop_missing, units, clip=asked.clip
    )
    notes += told
    prior = given.on(knots)
    with solver_progress("a new design") as progress:
        new = design(prior, mechanism.epsilon, progress=progress).expected_variance
    old = _variance(mechanism, prior.knot_prior)
    facts = {
        "expected_variance_as_designed": None if mechanism.prior is None else _variance(mechanism, mechanism.prior),
        "expected_variance": old,
        "expected_variance_of_new_design": new,
        "ratio_to_new_design": old / new,
    }
    facts |= _exempt(mechanism, prior, asked, notes)
    if asked.users is None:
        return facts, {}
    reporting, sure = max(int(asked.users * part.share), 1), asked.confidence
    facts["mean_within_of_new_design"] = mean_within(reporting, new, None, confidence=sure).within
    return facts, {"": mean_within(reporting, old, None, confidence=sure, under=THESE)}


def _exempt(
    mechanism: TabulatedMechanism | FloorForm, prior: Prior, asked: EvaluateOptions, notes: list[str]
) -> dict[str, Any]:
    """How many people the values exempt from what is assumed; in words a note, and a fact for JSON."""
    if not asked.assume:
        return {}
    made_for = mechanism.prior
    if made_for is None and any(text.startswith(NEAR_PRIOR) for text in asked.assume):
        raise InputError(
            f"evaluate --assume {asked.assume[0]} is near the prior that {str(asked.table)!r} carries, got none: take "
            "a table that carries its prior"
        )
    near = None if made_for is None else Prior.on_knots(mechanism.knots, made_for.weights, source="public")
    found = exempt_from(asked.assume, prior, near)
    notes += [exempt_note(name, share, "between the table's prior and these values") for name, share in found.items()]
    return {"exempt_needed": found} if asked.as_json else {}


@singledispatch
def _variance(mechanism: Any, prior: KnotPrior) -> float:
    """The expected variance of a report, decoded where reports are not unbiased; InputError where they cannot be."""
    raise unwired("mechanism", mechanism)


@_variance.register
def _(mechanism: FloorForm, prior: KnotPrior) -> float:
    return mechanism.expected_variance(prior)


@_variance.register
def _(mechanism: TabulatedMechanism, prior: KnotPrior) -> float:
    if mechanism.provenance.claims_unbiased:
        return mechanism.expected_variance(prior)
    spread = decoded_variances(mechanism, plain_decoder(mechanism), InputGrid.knots(mechanism.knots))
    return float(spread @ prior.weights + prior.rounding.sum())
