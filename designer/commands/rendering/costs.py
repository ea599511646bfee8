"""What `evaluate` says of each mechanism: its cost on other values than it was made for, beside a new design."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from ....estimators import InputGrid, plain_decoder
from ....estimators.means.decoding import decoded_variances
from ....mechanisms import CategoricalMechanism, TabulatedMechanism
from ....mechanisms.compact_tables import FloorForm
from ....mechanisms.errors import InputError, unwired
from ....mechanisms.promise import Pure
from ....mechanisms.table.knot_prior import KnotPrior
from ...designs.design import design
from ...objectives.base import Problem
from ...objectives.frequencies import Frequencies
from ...planning.people import MeanWithin, mean_within
from ..handlers.kind import Part
from ..output.output import solver_progress
from ..output.prior import read_categorical_prior, read_prior

if TYPE_CHECKING:
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


@cost_on.register(CategoricalMechanism)
def _of_categories(
    mechanism: CategoricalMechanism, part: Part, asked: EvaluateOptions, notes: list[str]
) -> tuple[dict[str, Any], Within]:
    """Squared errors of all frequencies, times n, on average over the values; with users, of each frequency."""
    if not isinstance(mechanism.promise, Pure):
        raise InputError(
            f"evaluate is for numbers, categories, attributes and their levels, got places in {str(asked.table)!r}, "
            f"private by distance: design anew for a prior of these people"
        )
    asked.refuse("of no use to categories", "--clip")
    given, _ = read_categorical_prior(
        asked.data, asked.column, asked.prior_file, drop_missing=asked.drop_missing, public=True
    )
    prior, objective = given.among(mechanism.categories), Frequencies()
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
    if asked.users is None:
        return facts, {}
    reporting, sure = max(int(asked.users * part.share), 1), asked.confidence
    facts["mean_within_of_new_design"] = mean_within(reporting, new, None, confidence=sure).within
    return facts, {"": mean_within(reporting, old, None, confidence=sure, under=THESE)}


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
