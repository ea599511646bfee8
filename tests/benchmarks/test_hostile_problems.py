"""Random problems made to be hard: closed, with bounds that no other way's optimum falls below."""

import numpy as np
import pytest
from designs.hostile_problems import problem
from optldp.solvers import Status, certified_bound, solve_unbiased


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(40))
def test_it_is_closed_by_what_is_proved(seed):
    """The objective is the mechanism's, the bound what exact pricing makes of the multipliers."""
    program = problem(seed)
    best = solve_unbiased(program.knots, program.weights, program.ratio)
    assert best.status is Status.OPTIMAL
    P = best.solution.probabilities
    assert program.objective(best.solution.outputs, P) == best.value
    assert certified_bound(program, **best.multipliers) == best.bound
    assert 0 < best.bound <= best.value <= best.bound * (1 + 1.01e-6)
    np.testing.assert_allclose(P.sum(1), 1, rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        P @ best.solution.outputs, program.knots, rtol=0, atol=1e-9 * np.abs(best.solution.outputs).max()
    )
    assert (P.max(0) <= P.min(0) * program.ratio * (1 + 1e-9)).all()
