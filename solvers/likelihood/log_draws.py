"""Parameters drawn from what the counts leave open about log-linear weights: many short chains at once, in pairs."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from .log_linear import LogLinearFit, WeightPlace

TRAJECTORIES, LEAPS, LEAP = 8, 6, 0.25
"""Of each chain, leaps of each, and the length of one, in standard deviations at the mode: a trajectory goes one and
a half of them, and leaps stay stable where the curvature is sixty times that at the mode."""

FEWEST_TAKEN, MOST_HALVINGS = 0.4, 4
"""Share of the chains that must take a trajectory, else leaps are half as long and twice as many from then on; how
often that is done."""


def log_linear_draws(
    fit: LogLinearFit, place: WeightPlace, total: float, size: int, rng: np.random.Generator
) -> np.ndarray:
    r"""Return (size, T) parameters of the posterior of a log-linear model, each the end of a chain of its own.

    The normal law at the mode is symmetric in the logarithms, and so gives weights that the counts all but exclude
    large values: its mean is off by far. Chains of Hamilton's dynamics know the posterior
    with the log-likelihood to second order in the *weights* (`expanded_loglik`), in which it is nearly quadratic.
    With the mode's own covariance for scale eight trajectories do. Chains come in pairs that set out in opposite
    directions: their average has little of the noise of drawing. Fewer draws are the first of more,
    unless leaps are halved for the one alone.

    Parameters
    ----------
    fit : LogLinearFit
    place : WeightPlace
        The log-likelihood at the fit's weights.
    total : float
        Observations.
    size : int
        Draws.
    rng : numpy.random.Generator

    Source: Neal (2011), "MCMC using Hamiltonian dynamics"; Hammersley and Morton (1956), "A new Monte Carlo technique:
    antithetic variates".
    """
    model, centre, gradient, information = fit.model, fit.weights, place.gradient, place.information
    scale = solve_triangular(fit.factor, np.eye(fit.z.size), lower=True, check_finite=False)

    def at(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        z = fit.z + y @ scale
        weights = model.weights(z)
        step = weights - centre
        bend = step @ information
        value = total * (step @ gradient - (step * bend).sum(axis=1) / 2) - (z**2).sum(axis=1) / 2
        pull = weights * (gradient - bend)
        pull -= weights * pull.sum(axis=1, keepdims=True)
        slope = total * (pull @ model.basis) - z
        return value, slope @ scale.T

    y = np.zeros((size, fit.z.size))
    value, slope = at(y)
    leaps, leap, halvings, done = LEAPS, LEAP, 0, 0
    while done < TRAJECTORIES:
        direction, luck = rng.spawn(2)
        speed = _mirrored(direction, y.shape)
        before = value - (speed**2).sum(axis=1) / 2
        ahead, reached, there = y, value, slope
        for _ in range(leaps):
            speed = speed + leap / 2 * there
            ahead = ahead + leap * speed
            reached, there = at(ahead)
            speed = speed + leap / 2 * there
        gain = reached - (speed**2).sum(axis=1) / 2 - before
        taken = np.log(np.repeat(luck.random((size + 1) // 2), 2)[:size]) < gain
        y = np.where(taken[:, None], ahead, y)
        value, slope = np.where(taken, reached, value), np.where(taken[:, None], there, slope)
        if taken.mean() < FEWEST_TAKEN and halvings < MOST_HALVINGS:
            leaps, leap, halvings = 2 * leaps, leap / 2, halvings + 1
        else:
            done += 1
    return fit.z + y @ scale


def _mirrored(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Standard normal rows, each second one the opposite of the one before."""
    half = rng.standard_normal(((shape[0] + 1) // 2, shape[1]))
    return np.stack([half, -half], axis=1).reshape(-1, shape[1])[: shape[0]]
