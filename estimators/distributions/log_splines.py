"""What is thought of a log density before any report is seen: splines with normal differences of their numbers."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..input_grid import InputGrid

PIECES = 128
"""Equal pieces of the domain that a spline is cubic on: finer than what local privacy lets any number of users see, and
the same for every finer grid, so that answers do not depend on it."""

FAINT = 1e-3
"""Prior standard deviation of a log density, at any place, of all that is left out of it: a thousandth of a density is
less than a million users show of it."""

POLYNOMIAL_SD = 5.0
"""Prior standard deviation of the coefficients of what a penalty leaves free, Legendre's polynomials on the domain:
e^5 either way is more than densities of whole domains differ by from end to end, and costs little to leave."""


def log_spline_basis(grid: InputGrid, order: int, length: float) -> np.ndarray:
    r"""Return the (K, T) basis X with X z the log density at the grid's points, up to a constant, z standard normal.

    The log density is a cubic spline on equal pieces of width h of the domain scaled to [0, 1]; its numbers a
    have independent normal differences of order m with variance h^{2m - 1} / length^{2m - 1}, which is the penalty

        length^{2m - 1} sum_i h ((Delta^m a)_i / h^m)^2 / 2,

    the integral of the squared m-th derivative but for o(1): it means the same on every grid. Over one length a
    log density then bends by about one. The polynomials of degree below m have no differences; their coefficients
    have a standard deviation of five, but for the constant, which normalisation takes out.

    Parameters
    ----------
    grid : InputGrid
        K cells or points of a domain of positive width.
    order : int
        m, from 1 to 3.
    length : float
        Share of the domain's width, positive.

    Returns
    -------
    basis : (K, T) ndarray
        T is m - 1 polynomials and as many differences as there are, or fewer: they are turned so that the smoothest
        bend most and come first, and those that bend a density by less than can be seen are left out.

    Source: Eilers and Marx (1996), "Flexible smoothing with B-splines and penalties"; Leonard (1978), "Density
    estimation, stochastic processes and prior information", for normal log densities.

    Example
    -------
    >>> log_spline_basis(InputGrid.equal_cells(0.0, 1.0, 4), 2, 0.5).shape
    (4, 6)
    """
    scaled = (grid.points - grid.edges[0]) / (grid.edges[-1] - grid.edges[0])
    pieces = min(PIECES, grid.size)
    free, bent = _whitened(pieces, order)
    spread = (pieces * length) ** (0.5 - order)
    without = np.sqrt(np.cumsum((spread * bent[:, ::-1]) ** 2, axis=1).max(axis=0))[::-1]
    return _cubic(scaled, pieces) @ np.hstack([free, spread * bent[:, without > FAINT]])


@lru_cache(maxsize=16)
def _whitened(pieces: int, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of a spline for each polynomial, and for standard normal parameters, smoothest first."""
    size = pieces + 3
    differences = np.diff(np.eye(size), order, axis=0)
    place = np.linspace(-1.0, 1.0, size)
    free = [POLYNOMIAL_SD * np.polynomial.Legendre.basis(j)(place) for j in range(1, order)]
    bends, sizes, _ = np.linalg.svd(np.linalg.pinv(differences), full_matrices=False)
    return np.array(free).reshape(order - 1, size).T, bends * sizes


def _cubic(scaled: np.ndarray, pieces: int) -> np.ndarray:
    """(K, pieces + 3) values at places in [0, 1] of the cubic B-splines on equal pieces."""
    piece = np.minimum((scaled * pieces).astype(int), pieces - 1)
    t = scaled * pieces - piece
    values = np.stack([(1 - t) ** 3, 3 * t**3 - 6 * t**2 + 4, -3 * t**3 + 3 * t**2 + 3 * t + 1, t**3], axis=1) / 6
    basis = np.zeros((scaled.size, pieces + 3))
    np.put_along_axis(basis, piece[:, None] + np.arange(4), values, axis=1)
    return basis
