"""The joint decoder: numbers for the outputs of several tables whose sum is unbiased and varies least."""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import block_diag, cholesky, solve_triangular

from ...mechanisms.errors import InputError
from ...mechanisms.table.table import TabulatedMechanism
from ...mechanisms.table.unit_interval import UnitInterval
from ..input_grid import SAME_KNOT
from .unbiasing import RANK_TOLERANCE, UNBIASED_TOLERANCE


def joint_decoder(mechanisms: Sequence[TabulatedMechanism], points: np.ndarray, prior: np.ndarray) -> list[np.ndarray]:
    r"""Return values d_j per table whose sum over one user's reports is unbiased and of least expected variance.

    With p the prior and P_j(x) the probabilities of table j's outputs at x, the d_j solve

        min sum_k p_k sum_j [P_j d_j^2 - (P_j d_j)^2](x_k)    subject to    sum_j P_j(x) d_j = x

    at the knots of all tables, hence for every x of the domain.  Fixed weights of unbiased decoders satisfy the
    constraint, so none has a smaller expected variance. Tables without an unbiased decoder of their own still take
    part.

    Constants can be moved between the d_j.  Adding sum_j (E_p d_j)^2 spreads them evenly, costs nothing and makes the
    quadratic form positive definite. With its Cholesky factor R the program asks for the least norm of z = R d.

    Parameters
    ----------
    mechanisms : sequence of TabulatedMechanism
        J tables of the same domain.
    points : (K,) ndarray of float
        Where the variance counts, in the domain.
    prior : (K,) ndarray of float
        How much it counts there; non-negative, summing to one.

    Returns
    -------
    values : list of (m_j,) ndarray of float
        In the units of the knots; for outputs that never occur the domain's middle over J.

    Raises
    ------
    InputError
        The tables together have no unbiased decoder: the message names the rank of their probabilities and the input of
        largest bias.

    Source: the optimal unbiased decoder of one table, here for the sum over several.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import joint_decoder
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> tables = [duchi([-1.0, 1.0], 1.0), duchi([-1.0, 1.0], 1.0)]
    >>> [values.round(4) for values in joint_decoder(tables, np.array([-1.0, 1.0]), np.array([0.5, 0.5]))]
    [array([-1.082,  1.082]), array([-1.082,  1.082])]
    """
    unit = UnitInterval.of(mechanisms[0].domain)
    knots = _union([mechanism.knots for mechanism in mechanisms])
    at_points = [mechanism.pmf(points) for mechanism in mechanisms]
    used = [prior @ rows > 0 for rows in at_points]
    system = np.concatenate([m.pmf(knots)[:, kept] for m, kept in zip(mechanisms, used, strict=True)], axis=1)
    factor = block_diag(*(_root(rows[:, kept], prior) for rows, kept in zip(at_points, used, strict=True)))
    target = unit.places(knots)
    scaled = solve_triangular(factor, system.T, trans=1).T
    solution, _, rank, _ = np.linalg.lstsq(scaled, target, rcond=RANK_TOLERANCE)
    decoded = solve_triangular(factor, solution)
    _require_unbiased(system @ decoded - target, int(rank), knots, unit.half, len(mechanisms))
    ends = np.cumsum([kept.sum() for kept in used])[:-1]
    values = [np.full(kept.size, unit.middle / len(mechanisms)) for kept in used]
    for whole, kept, part in zip(values, used, np.split(decoded, ends), strict=True):
        whole[kept] += unit.half * part
    return values


def _root(rows: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Upper Cholesky factor of one table's expected variance plus its squared expectation, as forms in d."""
    average = prior @ rows
    form = np.diag(average) - rows.T @ (prior[:, None] * rows) + np.outer(average, average)
    return cholesky(form)


def _union(knots: Sequence[np.ndarray]) -> np.ndarray:
    """All knots in increasing order, nearly equal ones once."""
    every = np.unique(np.concatenate(knots))
    apart = np.diff(every) > SAME_KNOT * (every[-1] - every[0])
    return every[np.concatenate([[True], apart])]


def _require_unbiased(missed: np.ndarray, rank: int, knots: np.ndarray, half: float, n_tables: int) -> None:
    if np.abs(missed).max() <= 2 * UNBIASED_TOLERANCE:
        return
    worst = int(np.abs(missed).argmax())
    raise InputError(
        f"an unbiased mean must be possible, but {n_tables} tables at {knots.size} knots have rank {rank} and cannot "
        f"decode the input {knots[worst]:g} (off by {half * abs(missed[worst]):.3g} at best): add a service with more "
        f"outputs, or estimate the distribution, of which the reports still fix at least {rank - 1} linear "
        "combinations"
    )
