"""Geometric noise on counts: Laplace noise for whole numbers, with a budget per unit, such as edge privacy."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..integers.numerators import DENOMINATOR
from ..promise import Metric
from ..sampling.geometric import GeometricTails
from ..table.knots import check_knots
from ..table.provenance import Provenance
from ..table.table import TabulatedMechanism

LEAST_SHARE = 1e-6
"""Of the budget per step that is kept back, at least, so that rounding has room."""

MOST_SHARE = 0.05
"""Of it at most: where more would be needed, the domain has too many steps for probabilities over 2^53."""

ROOM = 4.0
"""Units of 2^-53 by which a probability can be rounded, with what is kept back, wherever it is."""

SAFETY = 3.0
"""Times as much kept back as the means take on average; the rest of it stays for rounding."""

CORRECTIONS = 4
"""Rounds of the correction of means: each leaves a millionth of what was missing."""

SPACING_TOLERANCE = 1e-9
"""By how much of a step a knot may miss its place."""


def geometric(knots: ArrayLike, privacy: Metric) -> TabulatedMechanism:
    r"""Return two-sided geometric noise on equally spaced knots: Pr(y | x) proportional to q^(|y - x| / step).

    q is slightly larger than e^(-epsilon step). Reports are unbounded: beyond the first and the last knot lie two
    lattice tails, which are sampled exactly. A probability far from the value would vanish in whole numbers over 2^53,
    and its ratio with it; so none falls below a floor of thousands of units. The floor takes less than a millionth of
    all mass, and every row is tilted slightly so that reports stay unbiased.

    For a user's number of contacts (degree), knots 0, 1, ..., K and epsilon give edge privacy: one contact more or less
    changes the count by one. Larger counts are clipped to K, which never increases distances.

    Parameters
    ----------
    knots : (n,) array_like
        Equally spaced, such as all whole numbers from 0 on.
    privacy : Metric
        Budget per unit of the knots.

    Returns
    -------
    table : TabulatedMechanism
        Unbiased, in doubles.

    Raises
    ------
    InputError
        Knots that are not usable, another promise, or so many steps that probabilities over 2^53 are too coarse.

    Source
    ------
    Ghosh, Roughgarden, Sundararajan (2012), definition 2.1, as noise for edge local privacy: Ye, Wang, Zhang and Feng
    (2025), IV.C.

    Example
    -------
    >>> from optldp.mechanisms import Metric, geometric
    >>> table = geometric([0, 1, 2, 3], Metric(1.0))
    >>> table.var([0, 3]).round(3), table.mean([2]).round(9)
    (array([1.841, 1.841]), array([2.]))
    """
    if not isinstance(privacy, Metric):
        raise InputError(f"geometric noise keeps a promise per unit, got {privacy}: say that it is per unit")
    if privacy.distance is not None or privacy.period is not None:
        raise InputError(f"geometric noise is for distances on a line, got {privacy}: design a table by a loss")
    x = check_knots(knots)
    step = float(x[-1] - x[0]) / (x.size - 1)
    if np.abs(x - np.linspace(x[0], x[-1], x.size)).max() > SPACING_TOLERANCE * step:
        raise InputError("geometric noise needs equally spaced knots, such as all whole numbers of a range")
    budget = privacy.epsilon * step
    kept_back = _kept_back(budget, x.size)
    ratio = math.exp(kept_back - budget)
    probabilities = _floored(ratio, x.size, ROOM / kept_back / DENOMINATOR)
    left, right = [-math.inf], [math.inf]
    return TabulatedMechanism(
        knots=x,
        low=np.concatenate([left, x, [x[-1] + step]]),
        high=np.concatenate([[x[0] - step], x, right]),
        probabilities=probabilities,
        epsilon=privacy.epsilon,
        within=GeometricTails(step, ratio),
        provenance=Provenance("geometric", {"unbiased": True}),
        promise=privacy,
    )


def _kept_back(budget: float, n: int) -> float:
    """What a step's log-ratio is below its budget: room for rounding, and for the tilt against the floor's bias.

    A floor of ROOM / s units over n + 2 outputs moves means by up to n (n + 2) ROOM / (2 s 2^53) steps; tilting both
    sides of a row by b moves them by b times the mean size of the noise, at twice b of log-ratio.
    """
    ratio = math.exp(-budget)
    size = 2 * ratio / -math.expm1(-2 * budget)
    share = max(LEAST_SHARE, SAFETY * math.sqrt(ROOM * n * (n + 2) / size / DENOMINATOR) / budget)
    if share > MOST_SHARE:
        raise InputError(
            f"the domain must have fewer steps for probabilities over 2^53 at {budget:g} per step, got {n - 1}: "
            "use a smaller domain or a larger step"
        )
    return share * budget


def _floored(ratio: float, n: int, floor: float) -> np.ndarray:
    """(n, n + 2) probabilities of the left tail, the n points and the right tail, none below the floor, means kept."""
    row, place = np.arange(n)[:, None], np.arange(n)
    points = (1 - ratio) / (1 + ratio) * ratio ** np.abs(row - place)
    tails = ratio ** (row + 1) / (1 + ratio)
    matrix = np.maximum(np.hstack([tails, points, tails[::-1]]), floor)
    beyond = 1 + ratio / (1 - ratio)  # mean steps of a tail's report outside the knots
    noise = np.concatenate([[-beyond], place, [n - 1 + beyond]]) - row
    matrix /= matrix.sum(axis=1, keepdims=True)
    for _ in range(CORRECTIONS):
        bias, size = ((matrix * each).sum(axis=1, keepdims=True) for each in (noise, np.abs(noise)))
        matrix *= 1 - bias / size * np.sign(noise)
        matrix /= matrix.sum(axis=1, keepdims=True)
    return matrix
