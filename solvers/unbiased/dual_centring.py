"""The analytic centre of the dual slacks of one output, in closed form up to one scalar.

For reduced costs g_1..g_n of an output with F = sum min(g, E g) > 0, maximise sum_i w_i (log z_s + log z_u) over
z_s - z_u = g, sum z_u = sum g/(E - 1).  Stationarity gives w_i/z_s + w_i/z_u = 1/tau for one scalar tau, hence

    z_u = c_i - g_i/2 + sqrt(c_i^2 + g_i^2/4),    z_s = z_u + g_i,    c_i = w_i tau,

and tau solves sum_i [c_i + sqrt(c_i^2 + g_i^2/4) - |g_i|/2] = F/(E - 1), whose left side is increasing and convex.
The primal point that goes with it at barrier mu has s = mu w/z_s, u = mu w/z_u and t = mu/((E - 1) tau).
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array

TOLERANCE = 1e-8
"""Relative change of tau at which Newton's method stops; it moves the centre, never feasibility's sign."""

STEPS = 40
"""Newton steps allowed; monotone from the right, six are typical."""


def centre_slacks(g: Array, ratio: float, w: Array) -> tuple[Array, Array, Array]:
    """Return (z_s, z_u, tau) for the columns of g, each with F > 0.

    Parameters
    ----------
    g : (n, m) ndarray
        Reduced costs.
    ratio : float
        E > 1.
    w : (n,) ndarray
        Positive weights of the rows.

    Returns
    -------
    z_s, z_u : (n, m) ndarray
    tau : (m,) ndarray

    Example
    -------
    >>> import numpy as np
    >>> zs, zu, tau = centre_slacks(np.array([[2.0], [-0.5]]), 3.0, np.array([0.5, 0.5]))
    >>> bool(np.allclose(zs - zu, [[2.0], [-0.5]])), round(float(zu.sum()), 6)
    (True, 0.75)
    """
    half = 0.5 * np.abs(g)
    square = half * half
    slack = np.minimum(g, ratio * g).sum(0) / (ratio - 1)
    w = w[:, None]
    tau = slack / w.sum()
    for _ in range(STEPS):
        c = w * tau
        root = np.sqrt(c * c + square)
        ratio_c = c / (root + half)
        step = ((c * (1 + ratio_c)).sum(0) - slack) / (w * (1 + c / root)).sum(0)
        tau = tau - step
        if np.all(np.abs(step) <= TOLERANCE * tau):
            break
    c = w * tau
    excess = c + c * (c / (np.sqrt(c * c + square) + half))
    return np.maximum(g, 0) + excess, np.maximum(-g, 0) + excess, tau
