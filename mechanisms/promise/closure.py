r"""What a matrix of log-ratios promises in the end: shortest paths.

In u = log s the rows s_i <= e^D_ij s_j are difference constraints u_i - u_j <= D_ij, and what they imply of a pair is
the shortest path between the two (Fourier and Motzkin's elimination of all others). So a matrix that breaks the
triangle inequality is no mistake; it promises more than it says.

Source: Floyd (1962), "Algorithm 97: Shortest path"; Schrijver (1986), "Theory of linear and integer programming", 12.2.
"""

from __future__ import annotations

import numpy as np


def closure(matrix: np.ndarray) -> np.ndarray:
    """Return the log-ratios that a square matrix of them implies: shortest paths, zero on the diagonal.

    Example
    -------
    >>> closure(np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 2.0], [5.0, 2.0, 0.0]]))[0].tolist()
    [0.0, 1.0, 3.0]
    """
    closed = np.array(matrix, dtype=np.float64)
    np.fill_diagonal(closed, 0.0)
    for k in range(len(closed)):
        np.minimum(closed, closed[:, k, None] + closed[k], out=closed)
    return closed
