r"""How far out unbiased reports must reach beyond the values to be private.

A table whose reports are unbiased exists on outputs exactly when the one on the outermost two alone is in the cone.
There reports of the upper end z are proportional to z - x_i beyond the lower end, and the other way round, so

    x_i - z <= e^D_ij (x_j - z),    z - x_i <= e^D_ij (z - x_j)

say how far out the lower and the upper one must be: the farthest of x_j -+ (x_i - x_j) / (e^D_ij - 1).
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..cone import Cone


def reach(cone: Cone, knots: Array) -> tuple[float, float]:
    """Return the largest lower and the smallest upper end of outputs between which unbiased reports are private.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.cone import pure
    >>> [round(end, 6) for end in reach(pure(2, np.log(3)), np.array([-1.0, 1.0]))]
    [-2.0, 2.0]
    """
    x = np.asarray(knots, dtype=np.float64)
    i, j = np.nonzero(np.isfinite(cone.closed) & (cone.closed > 0))
    beyond = (x[j] - x[i]) / np.expm1(cone.closed[i, j])
    ends = x[j] + beyond
    return float(min(ends.min(initial=np.inf), x.min())), float(max(ends.max(initial=-np.inf), x.max()))
