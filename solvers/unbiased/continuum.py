"""A certificate against the continuum: every unbiased mechanism for all inputs of the interval, not for knots alone.

`pricing` bounds mechanisms on the knots. Let mu be the values' distribution on the whole interval, known by
its hat weights p_i = E[hat_i(x)] and, per interval k, R_k = E[1{x in k} (x - x_k)(x_{k+1} - x)]. The weights spread
every knot's multipliers over the inputs around it: per unit of mass put n_i = nu_i / p_i + 2 x_i and let

    g_x(y) = y^2 - l(x) - n(x) y,    l and n piecewise linear,
    p_i g_{x_i}(y) = p_i (y - x_i)^2 - lam_i - nu_i (y - x_i).

**The bound.** As on knots, the rows of a mechanism have densities between 1 and E against one floor of mass at most
1, the greatest measure below them all, so its expected variance is at least

    E[l(x) + n(x) x - x^2] + min(0, inf over y of G(y)),    G(y) = E[min(g_x(y), E g_x(y))].

For a given y, g_x(y) is linear in x between knots, min(g, E g) is concave, and so it lies above its chord: G(y) is at
least sum_i p_i min(g_{x_i}, E g_{x_i}) = F(y), which is priced exactly over all real y. The first term is elementary:
l + n x - x^2 is its own linear interpolation plus (1 - n'_k)(x - x_k)(x_{k+1} - x). Together,

    expected variance >= certified bound on the knots + sum_k R_k - sum_k n'_k R_k,

n'_k the slope of n. Rounding to the knots costs a table the first sum, the interpolation costs the bound the second;
both are of second order in the knots' distance. Of mu nothing is used but p and R: the bound holds for every
distribution that has them, smooth or not.

**Atoms.** Being unbiased at the ends of the interval binds every mechanism, so the multipliers of an end knot do not
shrink with its weight, and spread over that weight they would make n steep and the loss of first order. But a term
of knot i may keep any part of its multipliers to itself, -a - b (y - x_i): an atom, which nothing interpolates. As
min(u, E u) + min(v, E v) <= min(u + v, E (u + v)), with equality where u and v agree in sign, we spread the
parabola p_i (y - u_i)(y - v_i) through the roots of p_i g_{x_i}, clipped to the range of the outputs, and leave the
rest, linear in y, as the atom: within the range the two agree in sign, and beyond it F is positive and rising. How
far beyond is tried: the best of a few.

Source: derived here; duality with a continuum of columns and of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mechanisms.errors import InputError
from ..arrays import Array
from .pricing import certified_bound, price
from .unbiased_program import UnbiasedProgram

MARGINS = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Shares of the outputs' range beyond which roots are clipped: each gives a valid bound, and a factor of two between
two of them costs the gap a few percent."""

SUM_ROUNDINGS = 16
"""Roundings of one term of the sums over intervals, each by half an epsilon; adding up n terms makes n more."""

MOST_ROUNDING = 1e-9
"""Relative slack on R_k <= h_k^2 min(p_k, p_{k+1}): what averaging over 1e7 values leaves behind."""


@dataclass(frozen=True, eq=False)
class ContinuumBound:
    """A lower bound on the expected variance of every unbiased mechanism on the whole interval.

    Attributes
    ----------
    lower_bound : float
        Squared units of the program's scale; never below 0, a bound that needs no multipliers.
    knot_bound : float
        The bound that the same multipliers prove for mechanisms on the knots, rounding to them included.
    interpolation : float
        sum_k n'_k R_k: the loss of the bound between knots.
    atoms : int
        Knots that keep part of their multipliers.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers import UnbiasedProgram, continuum_bound
    >>> from optldp.solvers import solve_unbiased
    >>> program = UnbiasedProgram(np.linspace(-1, 1, 5), np.array([0.125, 0.25, 0.25, 0.25, 0.125]), np.e)
    >>> best = solve_unbiased(program.knots, program.weights, program.ratio)
    >>> found = continuum_bound(program, **best.multipliers, rounding=np.full(4, 0.5**3 / 12))
    >>> f"{found.lower_bound:.2f}, {found.interpolation:.2f} below {found.knot_bound:.2f}"
    '3.75, 0.16 below 3.91'
    """

    lower_bound: float
    knot_bound: float
    interpolation: float
    atoms: int


def continuum_bound(program: UnbiasedProgram, lam: Array, nu: Array, rounding: Array) -> ContinuumBound:
    """Bound the expected variance of every unbiased mechanism on [-1, 1], even between the knots.

    Valid for any multipliers and for every distribution with these weights and this rounding; see the module's text
    for the proof. Each of `MARGINS` costs one to three pricings of at most 2n terms, O(n^2) operations and memory.

    Parameters
    ----------
    program : UnbiasedProgram
        Knots from -1 to 1, the values' hat weights on them, and the ratio.
    lam, nu : (n,) ndarray
        Multipliers of normalisation and unbiasedness, such as those of `solve_unbiased`.
    rounding : (n-1,) ndarray
        R_k: mean over all values of (x - x_k)(x_{k+1} - x) within interval k, zero for values elsewhere.

    Returns
    -------
    found : ContinuumBound

    Raises
    ------
    InputError
        A shape does not fit, or no distribution has this rounding with these weights.

    Source: derived in this module.

    Example
    -------
    Values spread evenly over [-1, 1], on 21 knots:

    >>> import numpy as np
    >>> from optldp.solvers import UnbiasedProgram, continuum_bound
    >>> from optldp.solvers import solve_unbiased
    >>> knots, h = np.linspace(-1, 1, 21), 0.1
    >>> weights = np.where(np.abs(knots) == 1, h / 4, h / 2)
    >>> program = UnbiasedProgram(knots, weights, np.e)
    >>> best = solve_unbiased(knots, weights, np.e)
    >>> rounding = np.full(20, h**3 / 12)
    >>> found = continuum_bound(program, **best.multipliers, rounding=rounding)
    >>> f"{found.lower_bound / (best.value + rounding.sum()):.3f}"
    '0.998'
    """
    lam, nu, R = (np.asarray(a, dtype=np.float64) for a in (lam, nu, rounding))
    _check(program, lam, nu, R)
    outputs = price(program, lam, nu).outputs
    low, high = min(float(outputs[0]), -1.0), max(float(outputs[-1]), 1.0)
    tried = []
    for margin in MARGINS:
        reach = margin * (high - low)
        tried.append(_spread_bound(program, lam, nu, R, low - reach, high + reach))
    return max(tried, key=lambda one: one.lower_bound)


def _check(program: UnbiasedProgram, lam: Array, nu: Array, rounding: Array) -> None:
    x, p = program.knots, program.weights
    if lam.shape != x.shape or nu.shape != x.shape or rounding.shape != (len(x) - 1,):
        raise InputError(
            f"{len(x)} knots need as many lam and nu and {len(x) - 1} rounding terms, "
            f"got shapes {lam.shape}, {nu.shape} and {rounding.shape}"
        )
    if not (np.isfinite(lam).all() and np.isfinite(nu).all()):
        raise InputError("multipliers must be finite: pass those of solve_unbiased")
    most = np.diff(x) ** 2 * (np.minimum(p[:-1], p[1:]) + MOST_ROUNDING)
    if not np.all((rounding >= 0) & (rounding <= most)):
        raise InputError(
            "rounding terms must lie between 0 and the squared distance of their knots times the lesser weight, "
            f"got {rounding.min():g} to {rounding.max():g}: pass those of the prior that has these weights"
        )


def _spread_bound(
    program: UnbiasedProgram, lam: Array, nu: Array, rounding: Array, low: float, high: float
) -> ContinuumBound:
    """The bound with the roots of every knot's term clipped to [low, high]."""
    x, p, widths = program.knots, program.weights, np.diff(program.knots)
    left, right = _roots(program, lam, nu)
    inner_left, inner_right = np.clip(left, low - x, high - x), np.clip(right, low - x, high - x)
    clipped = (inner_left != left) | (inner_right != right)
    sums = inner_left + inner_right
    spread_lam = np.where(clipped, -p * inner_left * inner_right, lam)
    spread_nu = np.where(clipped, p * sums, nu)
    # Without weight there is nothing to spread, and no value to round: any n will do.
    slope_at = np.divide(spread_nu, p, out=sums, where=p > 0) + 2 * x
    slopes = np.diff(slope_at) / widths
    knot_bound = _with_atoms(program, spread_lam, spread_nu, lam - spread_lam, nu - spread_nu)
    knot_bound += float(rounding.sum())
    interpolation = float(slopes @ rounding)
    unit = (SUM_ROUNDINGS + len(x)) * np.finfo(np.float64).eps / 2
    size = np.abs(slope_at) + 2 * np.abs(x)
    allowed = unit * float((1 + (size[1:] + size[:-1]) / widths) @ rounding)
    return ContinuumBound(
        max(knot_bound - interpolation - allowed, 0.0), knot_bound, interpolation, int(np.count_nonzero(clipped))
    )


def _roots(program: UnbiasedProgram, lam: Array, nu: Array) -> tuple[Array, Array]:
    """Return the two roots y - x_i of every term in order: infinite for a line, any numbers where there are none."""
    p = program.weights
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        far = 0.5 * (nu + np.copysign(np.sqrt(np.maximum(nu * nu + 4 * p * lam, 0)), nu))
        left, right = np.fmin(far / p, -lam / far), np.fmax(far / p, -lam / far)
    return np.where(np.isnan(left), 0.0, left), np.where(np.isnan(right), 0.0, right)


def _with_atoms(program: UnbiasedProgram, lam: Array, nu: Array, atom_lam: Array, atom_nu: Array) -> float:
    """Return the certified bound on the knots with some multipliers kept apart from the weights.

    An atom's -a - b (y - x_i) is a line in y, which is the same line at any other place with another a. So the atoms
    stand between knots, without weight, where a program has room for them.
    """
    x, widths = program.knots, np.diff(program.knots)
    which = np.flatnonzero((atom_lam != 0) | (atom_nu != 0))
    if not len(which):
        return certified_bound(program, lam, nu)
    places = x[which] + np.append(widths, -widths[-1])[which] / 3
    moved = atom_nu[which] * (places - x[which])
    order = np.argsort(np.concatenate([x, places]))

    def merged(of_knots: Array, of_atoms: Array) -> Array:
        return np.concatenate([of_knots, of_atoms])[order]

    weights = merged(program.weights, np.zeros(len(which)))
    terms = UnbiasedProgram(merged(x, places), weights, program.ratio)
    bound = certified_bound(terms, merged(lam, atom_lam[which] + moved), merged(nu, atom_nu[which]))
    unit = (SUM_ROUNDINGS + len(which)) * np.finfo(np.float64).eps / 2
    return bound - float(moved.sum()) - unit * float(np.abs(moved).sum())
