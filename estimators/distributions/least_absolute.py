"""The distribution whose reports come nearest to those that were seen, by the sum of absolute differences."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ...mechanisms.errors import InputError
from ...solvers.linear_program import LinearProgram, solve_linear_program


def least_absolute(rows: ArrayLike, shares: ArrayLike) -> np.ndarray:
    r"""Return the weights (K,) on the simplex that minimise sum_o |(w P)_o - f_o|, by a linear program.

    The linear program of AAA's learning phase.  Unlike the likelihood it treats a rare output like a frequent one, so
    it errs more; that it is a linear program is all that is to be said for it.

    Parameters
    ----------
    rows : (K, R) array_like of float
        P, the probability of each report under each component. The identity projects unbiased frequencies f, which
        may be negative, to the simplex.
    shares : (R,) array_like of float
        f, of the reports that were seen.

    Raises
    ------
    InputError
        Shapes that do not fit, or numbers that are not finite.

    Source: Wei et al. (2024), AAA, section 4.1, where the program is left to a longer version; absolute differences
    are what makes it linear.

    Example
    -------
    >>> least_absolute([[0.75, 0.25], [0.25, 0.75]], [0.35, 0.65]).round(6)
    array([0.2, 0.8])
    >>> float(least_absolute(np.eye(3), [0.7, 0.6, -0.1]).sum())
    1.0
    """
    P, f = np.asarray(rows, dtype=float), np.asarray(shares, dtype=float)
    if P.ndim != 2 or f.shape != P.shape[1:] or not (np.isfinite(P).all() and np.isfinite(f).all()):
        raise InputError(f"rows must be (K, R) and shares (R,) finite numbers, got shapes {P.shape} and {f.shape}")
    K, R = P.shape
    one = sparse.eye_array(R)
    matrix = sparse.block_array([[P.T, -one], [P.T, one], [np.ones((1, K)), None]], format="csc")
    far = np.full(R, np.inf)
    program = LinearProgram(
        np.concatenate([np.zeros(K), np.ones(R)]),
        sparse.csc_array(matrix),
        np.concatenate([-far, f, [1.0]]),
        np.concatenate([f, far, [1.0]]),
        np.zeros(K + R),
        np.full(K + R, np.inf),
    )
    weights = np.maximum(solve_linear_program(program).x[:K], 0.0)
    return weights / weights.sum()
