"""The robust program on given outputs, and largest expectations over sets of priors, by cvxpy from the definitions."""

from collections.abc import Callable
from typing import Any, cast

import cvxpy as cp
import numpy as np
from cvxpy.transforms.suppfunc import SuppFunc
from optldp.solvers.robust import BandSet, BoxSet, MixedSet, MovedSet, PriorSet, TransportSet


def definition(priors: PriorSet) -> Callable[[cp.Variable], list[Any]]:
    """Return what it means to be in the set, written down again; transport by an explicit plan of who goes where."""

    def members(q: cp.Variable) -> list[Any]:
        found: list[Any] = [q >= 0, cp.sum(q) == 1]
        if isinstance(priors, BoxSet):
            return [*found, q >= priors.low, q <= priors.high]
        if isinstance(priors, MixedSet):
            return [*found, q >= (1 - priors.share) * priors.prior]
        if isinstance(priors, MovedSet):
            return [*found, cp.norm1(q - priors.prior) <= 2 * priors.radius]
        if isinstance(priors, TransportSet):
            plan = cp.Variable((q.size, q.size), nonneg=True)
            far = np.abs(priors.knots[:, None] - priors.knots)
            sums = [cp.sum(plan, axis=1) == priors.prior, cp.sum(plan, axis=0) == q]
            return [*found, *sums, cp.sum(cp.multiply(plan, far)) <= priors.radius]
        assert isinstance(priors, BandSet)
        return [*found, priors.matrix @ q >= priors.low, priors.matrix @ q <= priors.high]

    return members


def largest_with_cvxpy(priors: PriorSet, values: np.ndarray) -> float:
    q = cp.Variable(len(values))
    program = cp.Problem(cp.Maximize(values @ q), definition(priors)(q))
    program.solve(solver=cp.HIGHS)
    assert program.status == "optimal"
    return float(cast("Any", program.value))


def robust_with_cvxpy(knots: np.ndarray, ratio: float, priors: PriorSet, outputs: np.ndarray) -> float:
    """Return the least guarantee on these outputs; cvxpy derives the dual of the set itself."""
    n, m = len(knots), len(outputs)
    offsets = outputs - knots[:, None]
    P, t, q = cp.Variable((n, m)), cp.Variable((1, m)), cp.Variable(n)
    variances = cp.sum(cp.multiply(offsets**2, P), axis=1)
    floor = np.ones((n, 1)) @ t
    feasible = [cp.sum(P, axis=1) == 1, cp.sum(cp.multiply(offsets, P), axis=1) == 0, floor <= P, ratio * floor >= P]
    program = cp.Problem(cp.Minimize(SuppFunc(q, definition(priors)(q))(variances)), feasible)
    program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    assert program.status == "optimal"
    return float(cast("Any", program.value))


def random_set(knots: np.ndarray, prior: np.ndarray, kind: str, rng: np.random.Generator) -> PriorSet:
    """A set around a prior, narrow to wide."""
    n, radius = len(prior), float(np.exp(rng.uniform(np.log(0.01), np.log(0.5))))
    if kind == "box":
        spread = rng.uniform(0.2, 1.0, n) * radius
        return BoxSet(np.maximum(prior - spread, 0), np.minimum(prior + spread, 1))
    if kind == "mixed":
        return MixedSet(prior, radius)
    if kind == "moved":
        return MovedSet(prior, radius)
    if kind == "transport":
        return TransportSet(knots, prior, radius)
    matrix = rng.uniform(0, 1, (3, n))
    middle = matrix @ (0.99 * prior + 0.01 / n)
    return BandSet(matrix, middle - 0.3 * radius, middle + 0.2 * radius)


KINDS = ("box", "mixed", "moved", "transport", "band")
