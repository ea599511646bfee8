"""`optldp estimate --of reports`: what a single report is best read as, by a prior and a loss that the analyst gives.

A mechanism's file holds neither, as the prior may be sensitive. Of a table of numbers each output has one reading, and
so has each report of categories: argmin_r sum_x p(x) P(y | x) l(x, r).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ....mechanisms.errors import InputError
from ...objectives.losses.named import CIRCULAR, LOSSES, OF_LABELS, best_readings, known_or_read, losses_of
from ...priors.categorical import CategoricalPrior
from ..options.trusted_prior import weights_on
from .kind import Layout, Reader

if TYPE_CHECKING:
    from collections.abc import Callable

    from ....mechanisms.categorical.mechanism import CategoricalMechanism
    from ....mechanisms.spaces.places import Places
    from ....mechanisms.table.table import TabulatedMechanism
    from .options import EstimateOptions

NEEDS_PRIOR = "--of reports needs the prior that reports are read by, got none: give --prior FILE"

MOST_CELLS = 2**22
"""Reports times categories whose probabilities are in memory at a time."""


def number_reader(table: TabulatedMechanism, asked: EstimateOptions, *, numbered: bool) -> Reader:
    """Return what reads reports of a table of numbers, as its outputs where these are points, else as its knots."""
    loss, outputs = asked.read_by
    designed = table.provenance.parameters.get("loss")
    if loss is None and not (isinstance(designed, str) and designed in LOSSES):
        raise InputError(f"--of reports needs a loss for this table, got none: write --of reports:{next(iter(LOSSES))}")
    costs = known_or_read(loss or str(designed), LOSSES, "a loss")
    if asked.prior_file is not None:
        weights = weights_on(asked.prior_file, table.knots, table.units)
    elif table.prior is not None:
        weights = table.prior.weights
    else:
        raise InputError(NEEDS_PRIOR)
    readings = _readings(outputs) if outputs else table.low if table.is_discrete else table.knots
    losses = losses_of(costs, table.knots, readings, period=table.provenance.period)
    found = best_readings(table.probabilities, weights, losses)
    risk = found.risk

    def read(reports: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        places = _numbered(table, reports) if numbered else table.output_index(reports)
        return found.best[places], _known(risk[places])

    return Reader(costs if isinstance(costs, str) else "own", readings, float(found.cost.sum()), read)


def category_reader(mechanism: CategoricalMechanism, asked: EstimateOptions, layout: Layout) -> Reader:
    """Return what reads reports of categories, whose column is laid out so, as categories."""
    loss, outputs = asked.read_by
    if outputs is not None:
        raise InputError("--of reports takes outputs for numbers alone, got categories: leave the outputs out")
    costs = known_or_read(loss or OF_LABELS[0], dict.fromkeys(OF_LABELS), "a loss of categories")
    if asked.prior_file is None:
        raise InputError(NEEDS_PRIOR)
    try:
        weights = CategoricalPrior.from_pairs_file(asked.prior_file).among(mechanism.categories).weights
    except InputError as error:
        raise InputError(f"the prior of {str(asked.prior_file)!r}: {error}") from None
    places = np.arange(weights.size, dtype=float)
    losses = losses_of(costs, places, places, labels=True)
    labels = np.array(mechanism.categories.labels, dtype=object)
    read = _by_law(mechanism, lambda texts: layout.parse([texts]), weights, losses)
    return Reader(costs if isinstance(costs, str) else "own", labels, None, read)


def place_reader(mechanism: CategoricalMechanism, asked: EstimateOptions, layout: Layout) -> Reader:
    """Return what reads reports of places (n, 2) as places of the mechanism, by the losses of places."""
    loss, outputs = asked.read_by
    if outputs is not None:
        raise InputError("--of reports takes outputs for numbers alone, got places: leave the outputs out")
    of_places = dict.fromkeys(name for name in LOSSES if name != CIRCULAR)
    if loss is None:
        raise InputError(f"--of reports of places needs a loss, got none: write --of reports:{next(iter(of_places))}")
    costs = known_or_read(loss, of_places, "a loss of places")
    if asked.prior_file is None:
        raise InputError(NEEDS_PRIOR)
    places = cast("Places", mechanism.categories)
    try:
        weights = CategoricalPrior.from_places_file(asked.prior_file).among(places).weights
    except InputError as error:
        raise InputError(f"the prior of {str(asked.prior_file)!r}: {error}") from None
    losses = losses_of(costs, places.points, places.points)
    labels = np.array(places.labels, dtype=object)
    read = _by_law(mechanism, lambda points: layout.parse(list(points.T)), weights, losses)
    return Reader(costs if isinstance(costs, str) else "own", labels, None, read)


def _by_law(
    mechanism: CategoricalMechanism, parse: Callable[[np.ndarray], Any], weights: np.ndarray, losses: np.ndarray
) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Return what reads cells by the law of the reports in them, so many at a time."""
    rows = max(1, MOST_CELLS // weights.size)

    def read(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        reports = parse(cells)
        parts = [
            best_readings(mechanism.pmf(reports[start : start + rows]).T, weights, losses)
            for start in range(0, len(reports), rows)
        ]
        return np.concatenate([part.best for part in parts]), _known(np.concatenate([part.risk for part in parts]))

    return read


def _numbered(table: TabulatedMechanism, reports: np.ndarray) -> np.ndarray:
    """Return outputs (n,) that are said by their numbers, from 0; InputError for ones that there are not."""
    wrong = ~np.isin(reports, np.flatnonzero(table.possible))
    if wrong.any():
        raise InputError(
            f"reports must be numbers of outputs, from 0 to {table.low.size - 1}, got {int(wrong.sum())} that are not, "
            f"the first {reports[wrong.argmax()]:g} in row {int(wrong.argmax()) + 1}"
        )
    return reports.astype(np.int64)


def _readings(outputs: str) -> np.ndarray:
    from ..options.designs.outputs import given_outputs

    found = given_outputs(outputs)
    if not isinstance(found, np.ndarray):
        raise InputError(f"outputs of --of reports must be LO:HI:STEP or a file, got {outputs!r}")
    return found


def _known(risk: np.ndarray) -> np.ndarray:
    """Return posterior risks, or raise InputError for reports that no value of the prior makes."""
    if (lost := np.isnan(risk)).any():
        raise InputError(
            f"a report must be possible for some value of the prior, got {int(lost.sum())} that are not, the first in "
            f"row {int(lost.argmax()) + 1}: give each value that somebody may hold a weight"
        )
    return risk
