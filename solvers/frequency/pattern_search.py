r"""The largest violation of (*) over all patterns, by a search of them that leaves most unlooked at.

A pattern is s = (E + 1) / 2 + (E - 1) / 2 v with signs v, and so

    q(s) = (lambda . s)(pi . s) - s^T W s = v^T (B + D) v + 2 b . v + c - sum(D)    for every diagonal D,

v^2 being one. D is chosen so that the least value of the right side over all *real* v is largest; with its triangular
root R and its lowest point -x that is |R (v + x)|^2 plus this least value, which is negative where the relaxation is
loose. Signs are fixed one after the other, and whatever begins with signs that already cost more than the least value
lacks is left out: the sphere decoder of lattices. Which D and R are found changes the time alone, not what is proved:
what R leaves of the quadratic is added up and allowed for.

Source: Fincke and Pohst (1985), "Improved methods for calculating vectors of short length in a lattice"; the diagonal:
Delorme and Poljak (1993), "Laplacian eigenvalues and the maximum cut problem".
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import solve_triangular

from ..arrays import Array, Indices

ROUNDING = float(np.finfo(np.float64).eps)

MOST_SEARCHED = 40
"""Categories up to which patterns are searched: with 48 it takes minutes."""

MOST_NODES = 400_000
"""Beginnings of patterns that are looked at, at most: ten times what dense queries take."""

BLOCK = 2**14
"""Beginnings looked at together."""

SIGNS = np.array([-1.0, 1.0])

STEPS, SHARE, NEAR = 100, 0.25, 1e-3
"""Newton steps for D at most, what the barrier falls to each time, and how near the best D need be."""


def searched_violation(prior: Array, ratio: float, squared: Array, multipliers: Array) -> float:
    """Return max over s of (s^T W s - (lambda . s)(pi . s)) / (pi . s)^2, at least zero, rounding included.

    Infinite where more than `MOST_NODES` beginnings of patterns would have to be looked at, or rounding defeats it.

    Parameters
    ----------
    prior : (K,) ndarray
    ratio : float
        E = e^epsilon.
    squared : (K, K) ndarray
        W.
    multipliers : (K,) ndarray
        lambda.

    Example
    -------
    >>> import numpy as np
    >>> H = np.array([[1.25, -0.75], [-0.75, 1.25]])  # tight for two even categories at epsilon = ln 3
    >>> searched_violation(np.full(2, 0.5), 3.0, H @ H, np.full(2, 1.25)) < 1e-12
    True
    >>> round(searched_violation(np.full(2, 0.5), 3.0, H @ H, np.full(2, 1.0)), 9)  # for s = (1, 3): (10 - 8) / 4
    0.5
    """
    quadratic = np.outer(multipliers, prior)
    quadratic = (quadratic + quadratic.T) / 2 - squared
    sizes = float(np.abs(multipliers).sum() * prior.sum() + np.abs(squared).sum())
    half, middle = (ratio - 1) / 2, (ratio + 1) / 2
    inner, border = half**2 * quadratic, half * middle * quadratic.sum(1)
    rounding = 16 * prior.size * ROUNDING * ratio**2 * sizes
    try:
        marks = _below_zero(inner, border, middle**2 * float(quadratic.sum()), rounding)
    except np.linalg.LinAlgError:
        return math.inf
    if marks is None:
        return math.inf
    s = 1 + (ratio - 1) * marks
    mean, charge = prior @ s, multipliers @ s
    gains = (np.einsum("xs,xs->s", s, squared @ s) - charge * mean + rounding) / mean**2
    # Of all others q is at least minus the rounding, and (pi . s)^2 at least one.
    return max(rounding, float(gains.max(initial=0.0)))


def _below_zero(inner: Array, border: Array, constant: float, rounding: float) -> Array | None:
    """Return marks (n, b), among them all v with v^T inner v + 2 border . v + constant < 0, or None if too many."""
    diagonal = _best_diagonal(inner, border)
    whole = inner + np.diag(diagonal)
    order = _order(whole)
    whole, border = whole[np.ix_(order, order)], border[order]
    root: Array = np.linalg.cholesky(whole).T.astype(np.float64)
    centre = solve_triangular(root, solve_triangular(root, border, trans=1))
    lowest = constant - float(diagonal.sum()) - float(border @ centre)
    product = root.T @ root
    left = float(np.abs(whole - product).sum() + 2 * np.abs(border - product @ centre).sum())
    left += abs(constant - float(diagonal.sum()) - lowest - float(centre @ product @ centre))
    sizes = float(np.abs(whole).sum() + 2 * np.abs(border).sum() + abs(border @ centre) + np.abs(diagonal).sum())
    radius = -lowest + left + rounding + 16 * border.size * ROUNDING * sizes
    found = _within(root, centre, radius)
    return None if found is None else _unordered(found, order)


def _best_diagonal(inner: Array, border: Array) -> Array:
    """Return D with B + D positive definite and -sum(D) - b^T (B + D)^-1 b about largest, by Newton's method."""
    least, scale = float(np.linalg.eigvalsh(inner)[0]), float(np.abs(inner).sum(1).max())
    # Strictly inside, for an inverse to exist.
    diagonal: Array = np.full(border.size, max(-1.1 * least, 0.0) + 1e-6 * scale)
    barrier = float(diagonal.sum()) + scale
    for _ in range(STEPS):
        inverse = np.linalg.inv(inner + np.diag(diagonal)).astype(np.float64)
        lowest = inverse @ border
        gradient = lowest**2 - 1 + barrier * np.diag(inverse)
        hessian = 2 * np.outer(lowest, lowest) * inverse + barrier * inverse**2
        change = np.linalg.solve(hessian, gradient)
        merit, gain, length = _merit(inner, border, diagonal, barrier), float(gradient @ change), 1.0
        while length > ROUNDING and not (
            _merit(inner, border, (diagonal + length * change).astype(np.float64), barrier)
            >= merit + 0.1 * length * gain  # Armijo's condition
        ):
            length /= 2
        diagonal = (diagonal + length * change).astype(np.float64)
        if gain < 0.1 * barrier or length <= ROUNDING:
            if barrier * border.size < NEAR * float(np.abs(diagonal).sum()) or length <= ROUNDING:
                break
            barrier *= SHARE
    return diagonal


def _merit(inner: Array, border: Array, diagonal: Array, barrier: float) -> float:
    values, vectors = np.linalg.eigh(inner + np.diag(diagonal))
    if not values[0] > 0:
        return -math.inf
    lowest = float(((vectors.T @ border) ** 2 / values).sum())
    return -float(diagonal.sum()) - lowest + barrier * float(np.log(values).sum())


def _order(whole: Array) -> Indices:
    """Return the order in which signs are fixed, the first one last: those that cost most, whatever follows."""
    rest, order = list(range(len(whole))), []
    while rest:
        spread = np.diag(np.linalg.inv(whole[np.ix_(rest, rest)]))
        order.append(rest.pop(int(spread.argmin())))
    return np.array(order[::-1])


def _within(root: Array, centre: Array, radius: float) -> Array | None:
    """Return all signs (n, b) with |R (v + x)|^2 < radius, or None where too many beginnings are."""
    size = centre.size
    found, looked = [np.zeros((size, 0))], 0
    stack = [(size, np.zeros((size, 1)), np.zeros(1))]
    while stack:
        row, signs, costs = stack.pop()
        if not row:
            found.append(signs)
            continue
        row -= 1
        along = root[row, row + 1 :] @ (signs[row + 1 :] + centre[row + 1 :, None])
        after = costs + (along + root[row, row] * (SIGNS[:, None] + centre[row])) ** 2
        which_sign, which = np.nonzero(after < radius)
        looked += which.size
        for start in range(0, which.size, BLOCK):
            part = slice(start, start + BLOCK)
            longer = signs[:, which[part]]
            longer[row] = SIGNS[which_sign[part]]
            stack.append((row, longer, after[which_sign[part], which[part]]))
        if looked > MOST_NODES:
            return None
    return np.hstack(found)


def _unordered(signs: Array, order: Indices) -> Array:
    """Return the marks (n, b) of signs that stand in an order."""
    marks = np.empty_like(signs)
    marks[order] = (signs + 1) / 2
    return marks
