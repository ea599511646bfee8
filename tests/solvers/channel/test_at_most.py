"""Tables of few outputs: against grids, closed forms and the optimum of any number; one output more never hurts."""

import itertools

import numpy as np
import pytest
from optldp.mechanisms import InputError
from optldp.solvers import solve_minimax, solve_unbiased
from optldp.solvers.channel import ChannelProgram, solve_at_most, solve_channel
from optldp.solvers.channel.at_most import _Search
from optldp.solvers.channel.reach import reach
from optldp.solvers.cone import blocks, circle, line, pure


def few(n, epsilon, most, share=0.0):
    x, even = np.linspace(-1, 1, n), np.full(n, 1 / n)
    free = solve_minimax(x, np.exp(epsilon)) if share else solve_unbiased(x, even, np.exp(epsilon))
    return solve_at_most(pure(n, epsilon), even, x, most, share=share), free


@pytest.mark.parametrize("share", [0.0, pytest.param(1.0, marks=pytest.mark.nightly)])
def test_one_output_more_is_never_worse_and_the_bound_is_that_of_free_ones(share):
    """From two, whose error is that of Duchi's ends, to four."""
    worth = []
    for most in (2, 3, 4):
        found, free = few(5, 1.0, most, share)
        assert len(found.rows.outputs) <= most
        assert found.rows.probabilities @ found.rows.outputs == pytest.approx(np.linspace(-1, 1, 5), abs=1e-9)
        assert found.rows.probabilities.sum(1) == pytest.approx(np.ones(5), abs=1e-14)
        assert pure(5, 1.0).holds(found.rows.probabilities)
        assert found.value >= free.bound
        worth.append(found.value)
    ends = (np.e + 1) / (np.e - 1)
    x = np.linspace(-1, 1, 5)
    assert worth[0] == pytest.approx(ends**2 - (0 if share else (x**2).mean()), rel=1e-3)
    assert all(after <= before * (1 + 1e-6) for before, after in itertools.pairwise(worth))
    assert worth[-1] < 1.06 * free.value


@pytest.mark.nightly
def test_three_outputs_are_as_good_as_the_best_of_a_grid():
    """Symmetric ones, by brute force."""
    x, even, cone = np.linspace(-1, 1, 5), np.full(5, 0.2), pure(5, 1.0)
    grid = min(
        solve_channel(ChannelProgram.unbiased(cone, even, x, np.array([-z, 0.0, z]))).value
        for z in np.linspace(2.17, 3, 40)
    )
    assert few(5, 1.0, 3)[0].value <= grid * (1 + 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.4])
def test_the_slope_is_that_of_differences(share):
    """Of outputs in no symmetric place, for a line."""
    x, rng = np.linspace(-1, 1, 6), np.random.default_rng(1)
    search = _Search(line(x, 1.5), rng.dirichlet(np.ones(6)), x, share)
    z = np.array([-2.6, -1.3, 0.4, 1.9, 2.5])
    for y in range(5):
        step = np.where(np.arange(5) == y, 1e-3, 0.0)
        up, down = (solve_channel(search.program(z + sign * step), tolerance=1e-9).value for sign in (1, -1))
        assert search.solved(z).slope[y] == pytest.approx((up - down) / 2e-3, rel=2e-2, abs=2e-3)


@pytest.mark.parametrize("cone", [pure(4, 0.7), line([0, 1, 3, 4], 0.4), blocks([0, 0, 1, 1], 0.5, 1.0)])
def test_reports_reach_as_far_as_they_must(cone):
    """A hair nearer, the outermost two are refused."""
    x = np.array([0.0, 1.0, 3.0, 4.0])
    low, high = reach(cone, x)
    even = np.full(4, 0.25)
    ChannelProgram.unbiased(cone, even, x, np.array([low - 1e-9, high + 1e-9]))
    for ends in ([low + 1e-6, high], [low, high - 1e-6]):
        with pytest.raises(InputError, match="unbiased reports must reach beyond"):
            ChannelProgram.unbiased(cone, even, x, np.array(ends))


@pytest.mark.nightly
@pytest.mark.parametrize(("epsilon", "most", "known"), [(1, 4, 4.267), (2, 6, 0.984), (3, 6, 0.355), (4, 6, 0.154)])
def test_the_worst_case_is_less_than_of_n_outputs(epsilon, most, known):
    """33 knots on [-1, 1], and what rounding between them adds, against the N-output mechanisms over the interval."""
    found, _ = few(33, float(epsilon), most, 1.0)
    assert found.value + (2 / 32) ** 2 / 4 < known


@pytest.mark.nightly
@pytest.mark.parametrize(("most", "gap"), [(8, 0.005), (16, 0.002)])
def test_three_bits_are_within_half_a_percent_and_four_within_a_fifth(most, gap):
    """32 even values at epsilon 1."""
    found, free = few(32, 1.0, most)
    assert found.value <= free.bound * (1 + gap)


def test_what_cannot_be_placed_is_refused():
    """One output; a circle."""
    x, even = np.linspace(0, 3, 4), np.full(4, 0.25)
    with pytest.raises(InputError, match="at least two outputs"):
        solve_at_most(pure(4, 1.0), even, x, 1)
    with pytest.raises(InputError, match="trees with a node for each value"):
        solve_at_most(circle(x, 4, 1.0), even, x, 3)
