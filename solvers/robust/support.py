"""From an interior point of the minimax or the robust program to a mechanism of at most 3n outputs.

As `sparse_support`, with one more equation per knot: the moves to a basis keep the variance of every row, so the
largest one and every prior's expectation are kept whatever the multipliers.  The window rows over the floor that is
left have no more variance than the rows they replace, at any knot.
"""

from __future__ import annotations

import numpy as np

from ...mechanisms.errors import SolverError
from ..unbiased.program import Array, UnbiasedProgram
from ..unbiased.sparse_support import COST_SLACK, NEGLIGIBLE, push_to_basis, staircases
from ..unbiased.window_rows import stretched_rows
from .minimax_program import MinimaxProgram
from .program import RobustProgram


def sparse_minimax(program: MinimaxProgram | RobustProgram, outputs: Array, floor: Array) -> tuple[Array, Array]:
    """Return (outputs (k,), probabilities (n, k)), k <= 3n, with the variances of the floor's best rows or less.

    Parameters
    ----------
    outputs, floor : (m,) ndarray
        Increasing outputs and the floor t > 0 of each.

    Raises
    ------
    SolverError
        The floor admits no unbiased rows.
    """
    n = len(program.knots)
    mixed = UnbiasedProgram(program.knots, np.full(n, 1 / n), program.ratio)  # what follows uses no weights
    outputs, P = stretched_rows(mixed, outputs, floor)
    position, pattern, theta = staircases(mixed, floor, P)
    offsets = mixed.offsets(outputs[position])
    columns = np.concatenate([pattern, pattern * offsets, pattern * offsets**2])
    basis, weight = push_to_basis(columns, np.zeros(len(theta)), theta)
    lighter = np.zeros(len(outputs))
    np.add.at(lighter, position[basis], np.maximum(weight, 0))
    used = lighter * program.ratio > NEGLIGIBLE
    try:
        fewer, sparse = stretched_rows(mixed, outputs[used], lighter[used])
    except SolverError:
        return outputs, P
    before, after = (program.objective(program.variances(*made)) for made in ((outputs, P), (fewer, sparse)))
    return (fewer, sparse) if after <= before * (1 + COST_SLACK) else (outputs, P)
