"""The error of a mean with bias allowed, on given outputs or for a given table, by cvxpy from the definitions."""

import warnings
from typing import Any, cast

import cvxpy as cp
import numpy as np
from optldp.solvers.robust import BoxSet, PriorSet

from .robust_oracle import definition

VISITS = (
    6308, 3817, 2797, 1884, 1345, 968, 689, 531, 408, 287, 206, 190, 118, 109, 82, 59, 56, 33, 37, 35, 26, 22, 19, 19,
    13, 8, 10, 6, 12, 6, 8, 8, 4, 5, 9, 5, 0, 5, 9, 1, 3, 5, 0, 0, 6, 2, 2, 0, 2, 0, 0, 1, 3, 0, 0, 1, 1, 1, 1, 0, 0,
    0, 1, 1, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 2,
)  # fmt: skip
"""How many of 20,190 people saw a doctor 0, 1, ..., 76 times in a year, one of 77 times among the last: the column
`mdvis` of the RAND health insurance experiment as statsmodels has it (`randhie`, public domain)."""

VISIT_KNOTS = np.arange(0, 78, 2.0)


def visits_prior() -> np.ndarray:
    """The weights of the knots 0, 2, ..., 76, odd numbers split between two, with a little of even ones."""
    hats = np.maximum(1 - np.abs(np.arange(77.0)[:, None] - VISIT_KNOTS) / 2, 0)
    return 0.999 * (np.array(VISITS) @ hats) / sum(VISITS) + 0.001 / 39


def largest_in_box(box: BoxSet, values: Any) -> tuple[Any, list[Any]]:
    """Return the largest expectation of cvxpy's values over a box, as the dual of a linear program, and its rows."""
    level, over, under = cp.Variable(), cp.Variable(len(box.low), nonneg=True), cp.Variable(len(box.low), nonneg=True)
    return level + box.high @ over - box.low @ under, [level + over - under >= values]


def solved(square: Any, constraints: list[Any], users: float) -> float:
    program = cp.Problem(cp.Minimize(square), constraints)
    with warnings.catch_warnings():  # outputs a hair apart may keep it from its tolerance; what is compared says enough
        warnings.simplefilter("ignore", UserWarning)
        program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-8, tol_gap_rel=1e-8, tol_feas=1e-8)
    assert program.status in ("optimal", "optimal_inaccurate")
    return float(np.sqrt(float(cast("Any", program.value)) / users))


def error_with_cvxpy(knots: np.ndarray, ratio: float, box: BoxSet, users: float, outputs: np.ndarray) -> float:
    """Return the least R of all tables on these outputs."""
    n, m = len(knots), len(outputs)
    offsets = outputs - knots[:, None]
    P, t, bias = cp.Variable((n, m)), cp.Variable((1, m)), cp.Variable()
    v, b = (cp.sum(cp.multiply(offsets**k, P), axis=1) for k in (2, 1))
    floor = np.ones((n, 1)) @ t
    (noise, one), (up, two), (down, three) = (largest_in_box(box, values) for values in (v, b, -b))
    feasible = [cp.sum(P, axis=1) == 1, floor <= P, ratio * floor >= P, *one, *two, *three]
    size = float(np.sqrt(users))
    return solved(noise + cp.square(bias), [*feasible, size * up <= bias, size * down <= bias], users)


def decoder_with_cvxpy(knots: np.ndarray, P: np.ndarray, box: BoxSet, users: float) -> float:
    """Return the least R of all decoders of the table."""
    d, bias = cp.Variable(P.shape[1]), cp.Variable()
    v = cp.hstack([cp.sum(cp.multiply(row, cp.square(d - x))) for row, x in zip(P, knots, strict=True)])
    b = P @ d - knots
    (noise, one), (up, two), (down, three) = (largest_in_box(box, values) for values in (v, b, -b))
    size = float(np.sqrt(users))
    return solved(noise + cp.square(bias), [*one, *two, *three, size * up <= bias, size * down <= bias], users)


def error_by_definition(
    knots: np.ndarray, priors: PriorSet, users: float, outputs: np.ndarray, P: np.ndarray
) -> tuple[float, float, float]:
    """Return R, noise and bias bound of a table, each largest expectation by a linear program."""
    b, v = P @ outputs - knots, ((outputs - knots[:, None]) ** 2 * P).sum(1)

    def largest(values: np.ndarray) -> float:
        q = cp.Variable(len(values))
        program = cp.Problem(cp.Maximize(values @ q), definition(priors)(q))
        program.solve(solver=cp.HIGHS)
        return float(cast("Any", program.value))

    noise, bias = largest(v) / users, max(largest(b), largest(-b))
    return float(np.sqrt(noise + bias**2)), float(np.sqrt(noise)), bias


def random_prior(rng: np.random.Generator, knots: np.ndarray) -> np.ndarray:
    """Skewed either way, in the middle, or ragged; every weight at least a thousandth of an even one."""
    n, kind = len(knots), rng.integers(4)
    if kind < 2:
        p = np.exp(-rng.uniform(1, 8) * (knots + 1) * (1 if kind else -1))
    elif kind == 2:
        p = np.exp(-((knots - rng.uniform(-1, 1)) ** 2) / 2 / rng.uniform(0.05, 0.5) ** 2)
    else:
        p = rng.dirichlet(np.full(n, rng.choice([0.1, 1.0, 10.0])))
    return 0.999 * p / p.sum() + 0.001 / n
