"""Decoding: from reports of a table to numbers whose mean is the mean of the inputs.

A table's mean, as a function of the input, is linear between knots. So numbers that are unbiased at the
knots are unbiased for every input in the domain, and the knots are all that needs looking at.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ...mechanisms.table.table import TabulatedMechanism
from ...mechanisms.table.unit_interval import UnitInterval

UNBIASED_TOLERANCE = 1e-9
"""Bias at a knot, as a share of the domain's width, that counts as none: rounding, far below any standard
error."""

LEAST_SCALE = 1e-9
"""A mean that moves less than this with its input is constant up to rounding; epsilon 1e-6 gives 5e-7."""

RANK_TOLERANCE = 1e-12
"""Singular values below this share of the largest are zero: the matrix itself is known to about 1e-16."""


LONGEST_SHOWN = 10
"""Longer arrays would break an error message over several lines."""


def affine_unbiasing(mechanism: TabulatedMechanism) -> tuple[float, float] | None:
    """Scale s and shift c with E[report | x] = s x + c at every knot, or None if there are none.

    (report - c)/s then is unbiased.

    Parameters
    ----------
    mechanism : TabulatedMechanism

    Returns
    -------
    (scale, shift) : tuple of float, or None
        None where the knot means are not affine in the knots (within 1e-9 of the domain's width, after
        decoding) or do not depend on them. Exactly (1.0, 0.0) for a table that is unbiased already.

    Source: Du, Ye, Fu and Hu (2025), "Privacy for Free", theorem 4.1 (which holds for affine means only).

    Example
    -------
    >>> from optldp.mechanisms.families.square_wave import square_wave
    >>> scale, shift = affine_unbiasing(square_wave([0.0, 0.5, 1.0], 1.0))
    >>> round(scale, 4), round(shift, 4)
    (0.3679, 0.3161)
    """
    knots, bias = mechanism.knots, mechanism.knot_bias
    width = float(knots[-1] - knots[0])
    if np.abs(bias).max() <= UNBIASED_TOLERANCE * width:
        return 1.0, 0.0
    # Least squares of bias = (s - 1) x + c, centred so that a domain far from zero costs no digits.
    position = (knots - knots[0]) - (knots - knots[0]).mean()
    slope = float(position @ (bias - bias.mean()) / (position @ position))
    scale = 1.0 + slope
    missed = np.abs(bias - bias.mean() - slope * position).max()
    if abs(scale) < LEAST_SCALE or missed > UNBIASED_TOLERANCE * width * abs(scale):
        return None
    return scale, float(bias.mean() - slope * knots.mean())


def optimal_decoder(mechanism: TabulatedMechanism, weights: ArrayLike | None = None) -> np.ndarray:
    """Return one value per output, so that decoded reports are unbiased at every knot and of least expected variance.

    Among all d with P d = x this minimises sum_i w_i sum_j P[i, j] d_j^2 = d^T W d, W = diag(w^T P), so

        d = W^-1 P^T (P W^-1 P^T)^+ x,

    computed as W^-1/2 times the solution of least norm of (P W^-1/2) z = x, with x centred and scaled.

    Parameters
    ----------
    mechanism : TabulatedMechanism
        n knots, m outputs.
    weights : (n,) array_like of float, optional
        How much each knot's variance matters; non-negative with a positive sum. Default: the table's prior,
        or equal weights for a table without one.

    Returns
    -------
    values : (m,) ndarray of float
        In the units of the knots; 0 for outputs that never occur.

    Raises
    ------
    InputError
        No unbiased decoder exists: the message names the rank of the probabilities and the knot of largest bias.

    Example
    -------
    >>> from optldp.estimators import optimal_decoder
    >>> from optldp.mechanisms.table.table import TabulatedMechanism
    >>> table = TabulatedMechanism.from_points([0, 1], [5, 6], [[0.75, 0.25], [0.25, 0.75]], 1.1)
    >>> optimal_decoder(table)
    array([-0.5,  1.5])
    """
    importance = knot_importance(mechanism, weights)
    return nearest_unbiased(mechanism, importance, np.full(mechanism.low.size, np.mean(mechanism.domain)))


def nearest_unbiased(mechanism: TabulatedMechanism, importance: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return the unbiased decoder nearest to a given one: min sum_j W_j (d_j - start_j)^2 subject to P d = x.

    With a constant `start` that is the one of least expected variance, since P d = x fixes all means.

    Parameters
    ----------
    mechanism : TabulatedMechanism
        n knots, m outputs.
    importance : (n,) ndarray of float
        Weights of the knots that sum to one; W = importance^T P.
    start : (m,) ndarray of float
        In the units of the knots.

    Returns
    -------
    values : (m,) ndarray of float
        In the units of the knots; 0 for outputs that never occur.

    Raises
    ------
    InputError
        No unbiased decoder exists: the message names the rank of the probabilities and the knot of largest bias.

    Example
    -------
    >>> from optldp.mechanisms.table.table import TabulatedMechanism
    >>> rows = [[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]]
    >>> table = TabulatedMechanism.from_points([0, 1], [-1, 0, 2], rows, 0.7)
    >>> nearest_unbiased(table, np.array([0.5, 0.5]), table.low).round(4)
    array([-1.375,  0.125,  2.625])
    """
    knots, table = mechanism.knots, mechanism.probabilities
    average = importance @ table
    used = average > 0
    root = np.sqrt(average[used])
    unit = UnitInterval.of(knots)
    target, begin = unit.knots, unit.places(start[used])
    system = table[:, used] / root
    change, _, rank, _ = np.linalg.lstsq(system, target - system @ (root * begin), rcond=RANK_TOLERANCE)
    solution = root * begin + change
    missed = system @ solution - target
    if np.abs(missed).max() > 2 * UNBIASED_TOLERANCE:
        worst = int(np.abs(missed).argmax())
        if mechanism.provenance.is_for_error:
            raise InputError(
                "an unbiased mean must be possible, got a table that is biased on purpose, for the error of a mean: "
                "use bias_aware_mean, --method bias-aware"
            )
        raise InputError(
            f"an unbiased mean must be possible, but {knots.size} knots have rank {rank} and no decoder fits the input "
            f"{knots[worst]:g} (the best is off by {unit.half * abs(missed[worst]):.3g}): use a table with more "
            f"outputs or fewer knots, or estimate the distribution, of which the reports still fix {rank - 1} linear "
            "combinations"
        )
    values = np.zeros(table.shape[1])
    values[used] = unit.values(solution / root)
    return values


def knot_importance(mechanism: TabulatedMechanism, weights: ArrayLike | None) -> np.ndarray:
    """Return weights of the n knots that sum to one: those given, else the table's prior, else equal ones.

    Example
    -------
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> knot_importance(duchi([-1.0, 1.0], 1.0), [3, 1])
    array([0.75, 0.25])
    """
    n = mechanism.knots.size
    if weights is None:
        return np.full(n, 1.0 / n) if mechanism.prior is None else mechanism.prior.weights
    return normalised("weights", n, weights)


def normalised(name: str, n: int, given: ArrayLike) -> np.ndarray:
    """Return n non-negative weights divided by their sum; InputError if they are something else.

    Example
    -------
    >>> normalised("prior", 2, [1, 3])
    array([0.25, 0.75])
    """
    array = np.asarray(given, dtype=np.float64)
    if array.shape != (n,) or not (np.isfinite(array).all() and (array >= 0).all() and array.sum() > 0):
        shown = f"{given!r}" if array.size <= LONGEST_SHOWN else f"an array of shape {array.shape}"
        raise InputError(f"{name} must be {n} non-negative numbers with a positive sum, got {shown}")
    return array / array.sum()
