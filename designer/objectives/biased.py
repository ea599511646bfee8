"""What is said of a table that is biased on purpose, for the error of a mean: the same words in every command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...estimators.means.error import CountedAs, counted_as, designed_for, largest_error
from ...estimators.reading.formats.axis import said_on
from ...mechanisms.errors import InputError

if TYPE_CHECKING:
    from ...mechanisms.table.table import TabulatedMechanism


def biased_title(table: TabulatedMechanism) -> str:
    """Return in a line that a table is biased, for what, and which values it counts as which.

    Example
    -------
    >>> from optldp.mechanisms import Provenance, TabulatedMechanism
    >>> told = Provenance("error", {"unbiased": False, "n": 2000})
    >>> rows = [[0.75, 0.25], [0.25, 0.75], [0.25, 0.75]]
    >>> biased_title(TabulatedMechanism.from_points([0, 2, 4], [-0.5, 3.5], rows, 1.1, provenance=told, units="km"))
    'biased mechanism for the mean of 2,000 users: values above 2 km are counted as 2 km'
    """
    users = table.provenance.parameters["n"]
    many = f"{users:,} users" if isinstance(users, int) else "some users"  # a file may say anything
    return f"biased mechanism for the mean of {many}: {cut_words(table)}"


def rounded(value: float) -> str:
    """Format a number of the data's units for a sentence: four significant digits, with commas.

    Example
    -------
    >>> rounded(126004.2), rounded(0.0123)
    ('126,000', '0.0123')
    """
    return f"{float(f'{value:.4g}'):,.12g}"


def cut_words(table: TabulatedMechanism) -> str:
    """Return which values are counted as which, a shift of all left out.

    Example
    -------
    >>> from optldp.mechanisms import TabulatedMechanism
    >>> rows = [[0.75, 0.25], [0.75, 0.25], [0.5, 0.5], [0.25, 0.75], [0.25, 0.75]]
    >>> cut_words(TabulatedMechanism.from_points([0, 1, 2, 3, 4], [0, 4], rows, 1.1))
    'values below 1 are counted as 1, those above 3 as 3'
    """
    counted = _counted(table)
    units = f" {table.units}" if table.units else ""
    low, high = (said_on(round(end), table.units) or f"{rounded(end)}{units}" for end in (counted.low, counted.high))
    if not counted.is_clip:
        return f"values are counted in groups, as {low} to {high}"
    below, above = counted.low > table.knots[0], counted.high < table.knots[-1]
    if below and above:
        return f"values below {low} are counted as {low}, those above {high} as {high}"
    if below or above:
        return f"values below {low} are counted as {low}" if below else f"values above {high} are counted as {high}"
    return "none is cut"


def biased_facts(table: TabulatedMechanism) -> dict[str, Any]:
    """Return what such a table promises, computed from its numbers; None for what the file does not say enough for."""
    parameters, counted = table.provenance.parameters, _counted(table)
    facts: dict[str, Any] = {
        "users": parameters.get("n"),
        "trust": parameters.get("trust"),
        "rmse": None,
        "noise": None,
        "bias_bound": None,
        "clip_low": counted.low,
        "clip_high": counted.high,
        "shift": counted.shift,
        "share_outside": None,
    }
    try:
        told = designed_for(table)
    except InputError:
        return facts
    found = largest_error(table, told.priors, told.users, on_knots=told.on_knots)
    outside = counted.outside(table.knots)
    weights = table.prior.weights if table.prior is not None else told.priors.some_prior
    return facts | vars(found) | {"share_outside": float(weights[outside].sum())}


def biased_note(table: TabulatedMechanism) -> str:
    """Return what a mean of such reports is of."""
    facts = biased_facts(table)
    said = "a mean of these reports is of values as counted"
    if facts["bias_bound"] is None:
        return f"{said}; how far off it is takes the prior and a factor that it may be off by"
    return (
        f"{said}: off by up to {rounded(facts['bias_bound'])} beside its noise, however many report, while the prior's "
        f"weights are right within a factor of {facts['trust']:g}"
    )


def _counted(table: TabulatedMechanism) -> CountedAs:
    weights = np.ones(len(table.knots)) if table.prior is None else table.prior.weights
    return counted_as(table, weights)
