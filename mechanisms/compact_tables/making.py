"""From an optimal table, or the floor that a solver found, to the floor form: its rows are made anew, by whole numbers.

Outputs and floors keep as many digits as tell. The windows are those that the rounded floor wants, so every mean is met
to a few units of 2^-53 whatever the rounding is.
"""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..errors import TableError
from ..integers.exponential import SCALE, exponential_below
from ..integers.numerators import BLOCK_ENTRIES, DENOMINATOR
from ..promise import Pure
from ..sampling.domain import numbers
from ..table.exact_rounding import ABSOLUTE_ROOM, RELATIVE_ROOM
from ..table.knot_prior import KnotPrior
from ..table.knots import check_knots
from ..table.provenance import Provenance
from ..table.table import TabulatedMechanism
from .floor_and_windows import FloorForm
from .windows import Moments, Windows

FINEST = 51, 0
"""Binary digits of a report's place between the outermost, and of the grain that floors are multiples of."""

COARSER = (32, 13), (42, 6)
"""Tried first: a short file is had where fewer digits will do."""

DIGITS_TOLD = 1e-8
"""Largest share by which a variance may grow for want of digits: a hundredth of the gap that optima are solved to."""

FLOOR_BITS = 24
"""Binary digits that the mean floor has at least, if it has as many at all."""

FIRST_STRETCH, LAST_STRETCH = 2.0**-50, 2.0**-20
"""An optimal floor reaches the outermost knots with nothing to spare, so outputs are moved outwards by what rounding
took, and a share more; beyond the last share the floor was no optimum's."""

TOO_NEAR = "a floor form's rows must reach the outermost knots, got outputs that reach less far: keep it as a table"

UNITS_OFF = 4
"""Units of 2^-53 of the largest report by which the outermost rows may miss their knots: half of what is unbiased."""

SAME_LAW = 1e-6
"""Largest total variation of a row from the table's, and share of its variance that it may grow by: the gap that optima
are solved to; a stretch takes half of it."""


def floor_form(table: TabulatedMechanism | FloorForm) -> FloorForm:
    """Return the floor form of an optimal unbiased table; a floor form is returned as it is.

    Parameters
    ----------
    table : TabulatedMechanism
        An unbiased table of points with pure privacy, as `design` makes it for expected or worst-case variance. Every
        row has its columns' least probabilities, except in a window, where they are e^epsilon times as large.

    Returns
    -------
    FloorForm
        Proved private and unbiased. Its rows equal the table's up to a total variation of 1e-6.

    Raises
    ------
    TableError
        A table of another form.

    Example
    -------
    >>> from optldp.mechanisms import duchi
    >>> from optldp.mechanisms.compact_tables import floor_form
    >>> form = floor_form(duchi([0.0, 5.0, 10.0], 1.0))
    >>> form, form.proof().ok
    (FloorForm('duchi', epsilon=1, knots=3, outputs=2), True)
    """
    if isinstance(table, FloorForm):
        return table
    if not (table.is_discrete and isinstance(table.promise, Pure) and table.provenance.claims_unbiased):
        raise TableError(f"a floor form must be unbiased, of points and of pure privacy, got {table!r}")
    form = form_over(
        table.knots,
        table.low,
        table.probabilities.min(axis=0),
        table.epsilon,
        provenance=table.provenance,
        prior=table.prior,
        units=table.units,
    )
    if (apart := _distance(form, table)) > SAME_LAW:
        raise TableError(
            f"a floor form's rows must be a floor with a window of e^epsilon times as much, got a table whose rows are "
            f"{apart:.1e} from such ones: keep it as a table"
        )
    if (form.knot_variances > table.knot_variances * (1 + SAME_LAW)).any():
        raise TableError("a floor form must keep variances to a millionth, got too few digits for it: keep the table")
    return form


def form_over(
    knots: ArrayLike,
    outputs: ArrayLike,
    floor: ArrayLike,
    epsilon: float,
    *,
    provenance: Provenance | None = None,
    prior: KnotPrior | None = None,
    units: str = "",
) -> FloorForm:
    """Return the unbiased mechanism of least variances over a floor, in whole numbers and proved.

    Parameters
    ----------
    knots : (n,) array_like
        Increasing.
    outputs, floor : (m,) array_like
        Increasing reports, and the least probability of each; outputs of none are left out. Outputs are moved outwards
        by at most a millionth, if the outermost knots need it.
    epsilon : float
    provenance, prior, units
        As of the form. The claim "unbiased" is added.

    Returns
    -------
    form : FloorForm

    Raises
    ------
    TableError
        A floor whose windows do not reach the outermost knots, or that leaves no windows.
    InputError
        Knots or an epsilon that are not usable.

    Example
    -------
    >>> from optldp.mechanisms.compact_tables import form_over
    >>> form = form_over([0.0, 0.2, 1.0], [-1.0, 2.0], [0.25, 0.25], 1.1)
    >>> form.mean([0.0, 0.1, 0.2]).round(12).tolist(), form.pmf([0.0]).round(4).tolist()
    ([0.0, 0.1, 0.2], [[0.6667, 0.3333]])
    """
    values, points, masses = check_knots(knots), numbers("outputs", outputs), numbers("floor", floor)
    if points.shape != masses.shape or not (np.diff(points) > 0).all() or not (masses >= 0).all():
        raise TableError("a floor form must have increasing outputs, and a floor of each that is not negative")
    points, masses = points[masses > 0], masses[masses > 0]
    if points.size < 2:
        raise TableError("a floor form must have two outputs at least that every knot can make, got fewer")
    origin = provenance or Provenance()
    origin = Provenance(origin.method, {**origin.parameters, "unbiased": True}, origin.version, origin.certificate)
    limit = exponential_below(Fraction(check_epsilon(epsilon)) * (1 - RELATIVE_ROOM) - ABSOLUTE_ROOM)
    ratio = int(limit * SCALE)
    farthest = float(np.abs(points).max())
    finest = min(FINEST[0], 53 - math.frexp(farthest / float(np.ptp(points)))[1])

    def made(bits: int, grain: int) -> FloorForm:
        parts = _in_digits(values, points, masses, ratio, min(bits, finest), grain)
        return FloorForm(values, *parts, ratio, epsilon, origin, prior, units)

    best = made(*FINEST)
    for digits in COARSER:
        with suppress(TableError):  # too coarse to reach the outermost knots
            form = made(*digits)
            if (form.knot_variances <= best.knot_variances * (1 + DIGITS_TOLD)).all() and not form.failures():
                return form
    if failures := best.failures():
        raise TableError(f"a floor form must keep what is promised: {failures[0]}")
    return best


def _in_digits(
    knots: np.ndarray, outputs: np.ndarray, masses: np.ndarray, ratio: int, bits: int, grain: int
) -> tuple[np.ndarray, float, np.ndarray, np.ndarray]:
    """Return places, step, floor and starts in so many binary digits.

    Outputs that fall on one place are one output, and their floors one floor.
    """
    step = 2.0 ** (math.frexp(float(np.ptp(outputs)))[1] - bits)
    groups = np.cumsum(np.diff(np.rint(outputs / step), prepend=-np.inf) > 0) - 1
    merged = np.bincount(groups, weights=masses)
    points = np.bincount(groups, weights=masses * (outputs - outputs[0])) / merged + outputs[0]
    windows = Windows(_whole_floor(merged, grain), ratio)
    middle = 0.5 * (knots[0] + knots[-1])
    needed = _stretch(windows, points - middle, knots - middle)
    targets = [Fraction(knot) / Fraction(step) * DENOMINATOR for knot in knots.tolist()]
    share = 0.0
    while share <= LAST_STRETCH:
        places = np.rint((middle + (points - middle) * (needed * (1 + share))) / step).astype(np.int64)
        if not (np.diff(places) > 0).all():
            break
        sums = Moments(windows, places.tolist())
        low, high = sums.at([0, windows.latest])
        slack = UNITS_OFF * int(np.abs(places).max())
        if low - slack <= targets[0] and targets[-1] <= high + slack:
            starts = [_double_below(start) for start in sums.nearest(targets)]
            return places, step, windows.floor, np.array(starts, dtype=np.int64)
        share = max(FIRST_STRETCH, 4 * share)
    raise TableError(TOO_NEAR)


def _whole_floor(masses: np.ndarray, grain: int) -> np.ndarray:
    """Return floors over 2^53 whose running sums are right to half a grain: their reach feels it as the sum does."""
    bits = math.frexp(float(masses.mean()) * DENOMINATOR)[1] - FLOOR_BITS
    unit = 1 << min(max(bits, 0), grain)
    running = np.rint(np.cumsum(masses) * (DENOMINATOR // unit)).astype(np.int64)
    return np.maximum(np.diff(running, prepend=0), 1) * unit


def _stretch(windows: Windows, offsets: np.ndarray, knots: np.ndarray) -> float:
    """By how much the outermost rows lack the outermost knots, both as seen from the middle; 1 for nothing."""
    low, high = (windows.numerators(np.array([start]))[0] @ offsets / DENOMINATOR for start in (0, windows.latest))
    needed = max(1.0, knots[0] / low, knots[-1] / high) if low < 0 < high else math.inf
    if needed > 1 + LAST_STRETCH:
        raise TableError(TOO_NEAR)
    return needed


def _double_below(start: int) -> int:
    """The largest whole number up to this one that is a double."""
    spare = max(start.bit_length() - 53, 0)
    return start >> spare << spare


def _distance(form: FloorForm, table: TabulatedMechanism) -> float:
    """The largest total variation between the rows of both, each output of the table in the form's nearest."""
    nearest = np.searchsorted((form.outputs[1:] + form.outputs[:-1]) / 2, table.low)
    rows, worst = max(1, BLOCK_ENTRIES // table.low.size), 0.0
    for first in range(0, form.starts.size, rows):
        apart = form.windows.numerators(form.starts[first : first + rows]) / DENOMINATOR
        np.subtract.at(apart.T, nearest, table.probabilities[first : first + rows].T)
        worst = max(worst, float(np.abs(apart).sum(axis=1).max()) / 2)
    return worst
