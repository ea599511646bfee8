"""Unbiased reports of few bits, beside those of MVU for the same values and as many outputs."""

from typing import Any

import numpy as np
from measured import Cell, Table, timed
from optldp.designer import Prior, Variance, design
from optldp.designer.objectives import AtMost
from scipy import optimize, sparse

from designs.derived_rivals import all_pairs

TITLE = "Few bits, beside MVU"
ABOUT = (
    "32 even values on [-1, 1], epsilon 1, the expected variance of unbiased reports. MVU (Chaudhuri, Guo and Rabbat "
    "2022, released as `dp_compression`) is written here after its paper and code, with a row for each pair of values "
    'and output. "LP" is the best table for outputs at equal distances, whose width is bisected ten times. Theirs then '
    "moves the outputs for that table, which have no choice where it has as many independent rows as outputs; that "
    'step is left out. "Trust region" moves table and outputs together (`trust-constr` of scipy, from even rows), for '
    f'at most {(STEPS := 1000):,} steps. It has no bound. "Off" is its largest bias, and by how much its largest '
    "log-ratio exceeds epsilon. Ours is exact, and its bound holds for any number of outputs. Seconds are of the "
    "processor."
)
VALUES, EPSILON, STARTS = 32, 1.0, 10


def run(*bits: int) -> list[Table]:
    """Of 2 and 3 bits, or those that are told."""
    columns = {"outputs": "", "LP": ".4f", "LP, s": ".1f", "trust region": ".4f", "bias off": ".0e"}
    columns |= {"log-ratio off": ".0e", "trust region, s": ".1f", "ours": ".4f", "bound": ".4f", "s": ".1f"}
    return [Table(columns, [_row(2**each) for each in bits or (2, 3)], ABOUT)]


def _row(m: int) -> tuple[Cell, ...]:
    values = np.linspace(-1, 1, VALUES)
    lp, lp_seconds = timed(lambda: at_equal_distances(values, m))
    (theirs, bias, over), seconds = timed(lambda: trust_region(values, m))
    prior = Prior.on_knots(values, np.ones(VALUES), source="public")
    made, ours = timed(lambda: design(prior, EPSILON, objective=Variance(), outputs=AtMost(m), uniform_share=0.0))
    return m, lp, lp_seconds, theirs, bias, over, seconds, made.value, made.bound, ours


def at_equal_distances(values: np.ndarray, m: int) -> float:
    """Return the least expected variance for outputs at equal distances, whose width is bisected: starts of `alt`."""
    best, width, tried = np.inf, 2.0, [0.0]
    for _ in range(STARTS):
        outputs = np.linspace(-1 - width, 1 + width, m)
        losses = (outputs - values[:, None]) ** 2
        even = np.full(values.size, 1 / values.size)
        logs = np.full((values.size, values.size), EPSILON)
        found = all_pairs(losses, logs, even, means=(values, outputs))
        tried.append(width)
        if found < best:
            best, width = found, (width + max(each for each in tried if each < width)) / 2
        elif wider := [each for each in tried if each > width]:
            width = (width + min(wider)) / 2
        else:
            width *= 2
    return best


def trust_region(values: np.ndarray, m: int) -> tuple[float, float, float]:
    """Return the expected variance where MVU's `trust-region` ends, the largest bias, and the log-ratio above epsilon.

    The table (n, m) and the outputs are one vector of n m + m numbers, and unbiasedness is its quadratic constraint.
    """
    n = values.size
    i, k = np.nonzero(~np.eye(n, dtype=bool))
    pairs = sparse.coo_array((np.ones(i.size), (np.arange(i.size), i)), (i.size, n))
    pairs -= sparse.coo_array((np.full(i.size, np.exp(EPSILON)), (np.arange(i.size), k)), (i.size, n))
    private = sparse.hstack([sparse.kron(pairs, sparse.eye_array(m)), sparse.csr_array((i.size * m, m))], "csr")
    sums = sparse.hstack([sparse.kron(sparse.eye_array(n), np.ones((1, m))), sparse.csr_array((n, m))], "csr")

    def parts(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return x[: n * m].reshape(n, m), x[n * m :]

    def slope(x: np.ndarray) -> np.ndarray:
        table, outputs = parts(x)
        away = outputs - values[:, None]
        return np.r_[(away**2).ravel(), 2 * (table * away).sum(0)] / n

    def curve(x: np.ndarray) -> Any:
        table, outputs = parts(x)
        beside = sparse.vstack([sparse.diags_array(row) for row in 2 * (outputs - values[:, None]) / n])
        return _with_blocks(beside, sparse.diags_array(2 * table.sum(0) / n))

    def means_slope(x: np.ndarray) -> Any:
        table, outputs = parts(x)
        return sparse.hstack([sparse.kron(sparse.eye_array(n), outputs[None]), sparse.csr_array(table)], "csr")

    def means_curve(_: np.ndarray, v: np.ndarray) -> Any:
        beside = sparse.vstack([each * sparse.eye_array(m) for each in v])
        return _with_blocks(beside, sparse.csr_array((m, m)))

    of_means: Any = optimize.NonlinearConstraint  # whose stub takes no derivatives
    found = optimize.minimize(
        lambda x: float(np.sum(parts(x)[0] * (parts(x)[1] - values[:, None]) ** 2)) / n,
        np.r_[np.full(n * m, 1 / m), np.linspace(-1, 1, m)],
        method="trust-constr",
        jac=slope,
        hess=curve,
        bounds=optimize.Bounds(np.r_[np.zeros(n * m), np.full(m, -np.inf)], np.inf),
        constraints=[
            optimize.LinearConstraint(private, -np.inf, 0),
            optimize.LinearConstraint(sums, 1, 1),
            of_means(lambda x: parts(x)[0] @ parts(x)[1] - values, 0, 0, means_slope, means_curve),
        ],
        options={"maxiter": STEPS, "sparse_jacobian": True},
    )
    table, outputs = parts(found.x)
    ratios = np.log(np.maximum(table.max(0), 1e-300) / np.maximum(table.min(0), 1e-300))
    return float(found.fun), float(abs(table @ outputs - values).max()), max(0.0, float(ratios.max()) - EPSILON)


def _with_blocks(beside: Any, corner: Any) -> Any:
    """Return the symmetric matrix whose table has no curvature by itself."""
    nothing = sparse.csr_array((beside.shape[0], beside.shape[0]))
    return sparse.block_array([[nothing, beside], [beside.T, corner]], format="csr")
