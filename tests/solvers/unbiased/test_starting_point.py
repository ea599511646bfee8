"""The start is strictly inside everything the interior point asks for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.mechanisms import SolverError
from optldp.solvers import UnbiasedProgram
from optldp.solvers.unbiased.interior_point import residuals
from optldp.solvers.unbiased.starting_point import starting_outputs, starting_point


@settings(max_examples=60, deadline=None, derandomize=True)
@given(epsilon=st.floats(1e-4, 16), n=st.integers(2, 12), count=st.integers(16, 60))
def test_the_start_is_strictly_feasible_for_every_budget(epsilon, n, count):
    program = UnbiasedProgram(np.linspace(-1, 1, n), np.full(n, 1 / n), float(np.exp(epsilon)))
    it = starting_point(program, starting_outputs(program, count))
    assert min(a.min() for a in (it.t, it.s, it.u, it.zs, it.zu)) > 0
    growth, reach = program.ratio - 1, it.outputs.max()
    assert np.abs(np.concatenate(residuals(program, it))).max() < 1e-14 * max(1, reach)
    np.testing.assert_allclose(it.s + it.u, np.broadcast_to(growth * it.t, it.s.shape), atol=1e-15)
    g = program.reduced_costs(program.offsets(it.outputs), it.lam, it.nu)
    np.testing.assert_allclose(it.zs - it.zu, g, atol=1e-14 * it.zs.max())
    assert program.column_values(g).min() > 0


def test_starting_outputs_are_symmetric_and_reach_beyond_duchis():
    program = UnbiasedProgram(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), 3.0)
    outputs = starting_outputs(program, 17)
    np.testing.assert_array_equal(outputs, -outputs[::-1])
    assert len(outputs) == 17
    assert outputs[-1] > 2.0


def test_outputs_that_reach_only_to_duchis_give_no_start():
    """At (E + 1)/(E - 1) exactly one mechanism is feasible, and none strictly."""
    program = UnbiasedProgram(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), 3.0)
    with pytest.raises(SolverError, match="reach beyond"):
        starting_point(program, np.linspace(-2, 2, 9))
