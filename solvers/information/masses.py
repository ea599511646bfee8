"""Pricing of all 2^n patterns: a bound on the information of every private table there is.

Up to 18 knots all patterns are looked at.  Beyond, they are priced by their mass.  What a pattern is worth depends on
the mass s = p(S) of its marked knots alone, and what it is charged is sum(lambda) + (E - 1) lambda(S).  So the best
pattern of each mass is the one of least lambda(S), a knapsack: masses are rounded to a grid of G cells, and D(g), the
least charge of a subset whose rounded masses sum to g, is found for all g by running through the knots, in O(n G).  A
subset in cell g has a mass within the summed rounding errors of g / G, and the largest violation over that whole range
of masses has a closed form, so that rounding only ever raises the bound:

    f(z) = (K - tau) - k_g / z - ln z,   k_g = K - tau + sum(lambda) + (E - 1) D(g),   is largest at z = k_g.

D is taken of lambda - tau p, and tau s is added back exactly; with tau such that f is level at the best pattern little
is lost.  A uniform prior's masses are whole numbers of cells, and lose nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..frequency.frequency_program import MOST_ENUMERATED, all_marks
from .information_program import InformationProgram, checked_multipliers, most_information

CELLS = 2**17
"""Of the mass grid while patterns are looked for: at 65 knots a pricing takes 30 ms."""

FINE_CELLS = 2**20
"""Of the mass grid for a certificate: rounding costs nothing visible up to epsilon 2 or for priors of small masses, and
1e-4 of the bound at epsilon 4 where some knots have more mass than the best pattern."""


@dataclass(frozen=True, eq=False)
class MassGrid:
    """Masses rounded to whole cells.

    Attributes
    ----------
    cells : int
        G.
    units : (n,) ndarray of int
        The knots' masses times G, rounded.
    below, above : float
        A subset's mass lies between its units / G minus `below` and plus `above`.
    """

    cells: int
    units: np.ndarray
    below: float
    above: float

    @classmethod
    def of(cls, prior: Array, cells: int = CELLS) -> MassGrid:
        """Return the grid for a prior, with a whole number of cells for each n-th of the mass.

        Example
        -------
        >>> grid = MassGrid.of(np.full(3, 1 / 3), 8)
        >>> grid.cells, grid.units.tolist(), grid.above < 1e-15
        (6, [2, 2, 2], True)
        """
        cells = prior.size * max(1, cells // prior.size)
        units = np.rint(prior * cells).astype(np.int64)
        errors = prior - units / cells
        return cls(cells, units, float(-errors.clip(max=0).sum()), float(errors.clip(min=0).sum()))


@dataclass(frozen=True, eq=False)
class MassPricing:
    """The largest violation of some multipliers over all patterns, and how to find the patterns behind it.

    Attributes
    ----------
    violation : float
        No pattern has a larger (phi(c) - lambda . c) / z_c.
    violations : (A + 1,) ndarray
        The same for each number of cells.
    taken : (n or 0, A + 1) ndarray of bool
        Whether the best subset of the knots so far takes this knot, for each number of cells; where it was kept.
    order : (n,) ndarray of int
        In which the knots were run through.
    """

    violation: float
    violations: Array
    taken: np.ndarray
    order: np.ndarray
    units: np.ndarray

    def marks(self, places: ArrayLike) -> Array:
        """Return the marks (n, b) of the best subsets of these numbers of cells."""
        left = np.array(places, dtype=np.int64)
        marks = np.zeros((self.units.size, left.size))
        for row in range(self.order.size - 1, -1, -1):
            knot = self.order[row]
            chosen = self.taken[row, left]
            marks[knot, chosen] = 1
            left = left - chosen * self.units[knot]
        return marks


def price_masses(
    program: InformationProgram, multipliers: Array, grid: MassGrid, order: np.ndarray, *, keep: bool
) -> MassPricing:
    """Return the largest violation over all patterns, rounding of masses included; O(n G).

    With `keep` the patterns can be asked for afterwards, for n G bytes.
    """
    p, lam, excess = program.prior, multipliers, program.ratio - 1
    tau = _level(program, lam)
    least, taken = _knapsack(grid.units, lam - tau * p, order, keep)
    mass = np.arange(least.size) / grid.cells
    low, high = (1 + excess * np.clip(mass + shift, 0, 1) for shift in (-grid.below, grid.above))
    with np.errstate(invalid="ignore"):
        peak = program.slope - tau + lam.sum() + excess * least
        z = np.clip(peak, low, high)
        violations = np.where(np.isfinite(least), program.slope - tau - peak / z - np.log(z), -np.inf)
    return MassPricing(float(violations.max()), violations, taken, order, grid.units)


def best_patterns(
    program: InformationProgram,
    multipliers: Array,
    wanted: int,
    grid: MassGrid,
    rng: np.random.Generator | None = None,
) -> tuple[float, Array]:
    """Return the largest violation, or a bound on it, and the marks (n, b) of so many patterns that violate most.

    Example
    -------
    >>> program = InformationProgram(np.array([0.5, 0.5]), 3.0)
    >>> worst, marks = best_patterns(program, np.zeros(2), 1, MassGrid.of(program.prior))
    >>> round(worst, 6), marks.tolist()
    (0.130812, [[1.0], [0.0]])
    """
    if program.size <= MOST_ENUMERATED:
        return _enumerated(program, multipliers, wanted)
    order = np.arange(program.size) if rng is None else rng.permutation(program.size)
    priced = price_masses(program, multipliers, grid, order, keep=wanted > 0)
    if not wanted:
        return priced.violation, np.zeros((program.size, 0))
    return priced.violation, priced.marks(np.argsort(-priced.violations, kind="stable")[:wanted])


def _enumerated(program: InformationProgram, multipliers: Array, wanted: int) -> tuple[float, Array]:
    marks, violations = np.zeros((program.size, 0)), np.zeros(0)
    for block in all_marks(program.size):
        mass = program.prior @ block
        found = (program.values(mass) - multipliers @ program.patterns(block)) / (1 + (program.ratio - 1) * mass)
        marks, violations = np.hstack([marks, block]), np.append(violations, found)
        best = np.argsort(-violations, kind="stable")[: max(wanted, 1)]
        marks, violations = marks[:, best], violations[best]
    return float(violations[0]), marks[:, :wanted]


def _knapsack(units: np.ndarray, charges: Array, order: np.ndarray, keep: bool) -> tuple[Array, np.ndarray]:
    """Return the least charge of a subset for each sum of units, and for each knot in order where it is taken."""
    least = np.full(int(units.sum()) + 1, np.inf)
    least[0] = 0.0
    taken = np.zeros((order.size if keep else 0, least.size), dtype=bool)
    for row, knot in enumerate(order):
        unit = units[knot]
        with_it = least[: least.size - unit] + charges[knot]
        if keep:
            taken[row, unit:] = with_it < least[unit:]
        np.minimum(with_it, least[unit:], out=least[unit:])
    return least, taken


def _level(program: InformationProgram, multipliers: Array) -> float:
    """Return tau: at the best prefix in the order of lambda_i / p_i the violation is then level in the mass."""
    p, excess = program.prior, program.ratio - 1
    free = np.where(multipliers < 0, -np.inf, np.inf)
    rate = np.divide(multipliers, p, out=free, where=p > 0)
    order = np.argsort(rate, kind="stable")
    mass, charge = np.append(0.0, np.cumsum(p[order])), np.append(0.0, np.cumsum(multipliers[order]))
    z, charge = 1 + excess * np.clip(mass, 0, 1), multipliers.sum() + excess * charge
    best = int(np.argmax((program.values(mass) - charge) / z))
    return float((program.slope + charge[best]) / z[best] - 1)


def certified_information_bound(prior: ArrayLike, ratio: float, lam: ArrayLike) -> float:
    """Return an upper bound on the information of every epsilon-LDP table, whatever its outputs, for any lambda.

    Parameters
    ----------
    prior : (n,) array_like
    ratio : float
        E = e^epsilon.
    lam : (n,) array_like
        lambda, any numbers.

    Returns
    -------
    bound : float
        In nats.

    Example
    -------
    >>> from optldp.solvers import certified_information_bound
    >>> round(certified_information_bound([0.5, 0.5], 3.0, [0.0654, 0.0654]), 3)
    0.131
    """
    program = InformationProgram(np.asarray(prior), ratio)
    lam = checked_multipliers(lam, program.size)
    everyone = min(most_information(math.log(ratio)), program.entropy)
    if program.size > MOST_ENUMERATED and not lam.any():
        return everyone
    worst = best_patterns(program, lam, 0, MassGrid.of(program.prior, FINE_CELLS))[0]
    return min(program.bound(lam, worst), everyone)
