"""AAA on its lattice: private on every output however far, unbiased, optimal in its family, tails drawn."""

import itertools
import math

import numpy as np
import pytest
from optldp.designer import Prior
from optldp.designer.methods import lattice_program
from optldp.designer.methods.lattice import lattice_mechanism
from optldp.designer.methods.lattice_program import LatticeShape, optimal_noise
from optldp.mechanisms import InputError, SolverError, TabulatedMechanism, verify
from optldp.mechanisms.sampling.geometric import GeometricTails
from optldp.solvers import solve_with_highs
from scipy import stats


def gaussian(n: int, deviation: float = 0.2) -> Prior:
    """N(0, deviation^2) rounded to n knots on [-1, 1], as a prior of values that sit on the knots."""
    rounded = Prior.from_distribution(stats.norm(0, deviation), knots=n, domain=(-1.0, 1.0))
    return Prior.on_knots(rounded.knots, rounded.weights, source="public")


def tailed(epsilon: float = 0.5) -> TabulatedMechanism:
    """A window too narrow for the budget, so that the tails carry mass."""
    return lattice_mechanism(gaussian(9), epsilon, window=10)


def expanded(table: TabulatedMechanism, beyond: int) -> tuple[np.ndarray, np.ndarray]:
    """Every lattice output up to `beyond` steps into each tail, and its probabilities by the tails' law."""
    law = table.within
    assert isinstance(law, GeometricTails)
    steps = np.arange(beyond)
    share = (1 - law.ratio) * law.ratio**steps
    points = np.concatenate([table.high[0] - law.step * steps[::-1], table.low[1:-1], table.low[-1] + law.step * steps])
    left, right = table.probabilities[:, :1] * share[::-1], table.probabilities[:, -1:] * share
    return points, np.hstack([left, table.probabilities[:, 1:-1], right])


def parameters(table: TabulatedMechanism) -> tuple[int, int, float]:
    given = table.provenance.parameters
    return int(given["intervals"]), int(given["window"]), float(given["ratio"])  # pyright: ignore


class TestProgram:
    @pytest.mark.parametrize(("window", "ratio"), [(4, 0.5), (7, 0.9), (12, 0.05)])
    def test_edge_weights_are_the_papers_and_the_sums_they_stand_for(self, window, ratio):
        """Over a row's whole tail: mass, mean and second moment, against the closed form and brute force."""
        lattice = LatticeShape(6, window, ratio)
        far = np.arange(window, window + 2000)
        geometric = ratio ** (far - window)
        for row in range(7):
            for number, sign in ((row, 1), (7 + row, -1)):
                entries = (lattice.variable == number) & (np.arange(7) == row)[:, None]
                unit = lattice.scale[lattice.noise[row] == sign * window][0]
                mass, first, second = (moment[entries].sum() / unit for moment in lattice.moments())
                r = ratio
                paper = window**2 / (1 - r) + (2 * window - 1) * r / (1 - r) ** 2 + 2 * r / (1 - r) ** 3
                assert mass == pytest.approx(geometric.sum())
                assert first == pytest.approx(sign * geometric @ far)
                assert second == pytest.approx(geometric @ far**2)
                assert second == pytest.approx(paper)

    @pytest.mark.parametrize(("epsilon", "expected"), [(1.0, 3.4895), (2.0, 0.5873)])
    def test_reference_optima_of_the_gaussian_prior(self, epsilon, expected):
        """Values of the exact lattice optimum for N(0, 0.2^2) at 17 knots, to their printed digits."""
        prior = gaussian(17)
        table = lattice_mechanism(prior, epsilon, window=64)
        assert table.expected_variance(prior.knot_prior) == pytest.approx(expected, abs=6e-5)

    @pytest.mark.parametrize(
        ("window", "epsilon", "spared"), [(10, 0.5, False), (16, 1.0, True), (40, 0.5, True), (12, 4.0, True)]
    )
    def test_tails_are_left_out_where_they_are_worth_nothing(self, monkeypatch, window, epsilon, spared):
        """The program with tails, by a general solver, has the same optimum, and is not asked for it."""
        lattice, weights = LatticeShape(8, window, math.exp(-0.99 * epsilon / 8)), gaussian(9).weights
        mass, _, second = lattice.moments()
        asked, general = [], lattice_program.solve_linear_program

        def watched(*arguments, **options):
            asked.append(1)
            return general(*arguments, **options)

        monkeypatch.setattr(lattice_program, "solve_linear_program", watched)
        found = optimal_noise(lattice, weights, epsilon)
        assert bool(asked) is not spared
        monkeypatch.setattr(lattice_program, "_without_tails", lambda *_: None)
        oracle = optimal_noise(lattice, weights, epsilon)
        costs = [float(weights @ (made / mass * second).sum(1)) for made in (found, oracle)]
        assert costs[0] == pytest.approx(costs[1], rel=1e-7)
        tied = lattice.tied.any(axis=0)
        assert bool(found[:, tied].max() < 1e-15) is spared

    @pytest.mark.parametrize("epsilon", [1.0, 3.0])
    def test_with_a_wide_window_it_is_the_optimum_over_lattice_points(self, epsilon):
        prior = gaussian(9)
        table = lattice_mechanism(prior, epsilon, window=32)
        points = np.arange(-24, 33) * 0.25 - 1.0
        optimum = solve_with_highs(prior.knots, prior.weights, points, epsilon).value
        assert table.expected_variance(prior.knot_prior) == pytest.approx(optimum, rel=1e-6)

    def test_a_wider_window_and_more_budget_never_hurt(self):
        prior = gaussian(9)
        spread = [lattice_mechanism(prior, 0.7, window=w, ratio=0.93) for w in (8, 12, 18, 27)]
        values = [table.expected_variance(prior.knot_prior) for table in spread]
        assert all(later <= earlier * (1 + 1e-7) for earlier, later in itertools.pairwise(values))
        budgets = [lattice_mechanism(prior, e).expected_variance(prior.knot_prior) for e in (0.5, 1.0, 2.0, 4.0)]
        assert budgets == sorted(budgets, reverse=True)

    @pytest.mark.parametrize("window", [5, 8])
    def test_discrete_laplace_noise_is_a_member_and_so_a_bound(self, window):
        """Even at the narrowest windows; and the true optimum bounds from below."""
        prior, epsilon, ratio = gaussian(9), 0.6, math.exp(-0.6 / 8)
        table = lattice_mechanism(prior, epsilon, window=window, ratio=ratio)
        value = table.expected_variance(prior.knot_prior)
        assert value < 0.25**2 * 2 * ratio / (1 - ratio) ** 2
        reach = np.arange(-60, 69) * 0.25 - 1.0
        assert value > solve_with_highs(prior.knots, prior.weights, reach, epsilon).value


class TestTable:
    @pytest.mark.parametrize("epsilon", [1e-3, 0.1, 0.5, 1.0, 4.0, 12.0, 16.0])
    def test_it_verifies_for_small_and_large_budgets(self, epsilon):
        table = lattice_mechanism(gaussian(6), epsilon)
        result = verify(table)
        assert not result.failures
        assert result.max_log_ratio <= epsilon
        assert result.max_abs_bias < 1e-9 * 2
        assert result.max_row_sum_error < 1e-13

    @pytest.mark.parametrize(
        "options", [{}, {"window": 10}, {"window": 5, "ratio": 0.95}, {"window": 40, "ratio": 0.5}]
    )
    def test_privacy_and_unbiasedness_hold_on_every_output_far_into_the_tails(self, options):
        epsilon = 0.5
        prior = gaussian(9)
        table = lattice_mechanism(prior, epsilon, **options)
        points, probabilities = expanded(table, 3000)
        used = probabilities.max(axis=0) > 1e-300
        ratios = np.log(probabilities[:, used].max(axis=0)) - np.log(probabilities[:, used].min(axis=0))
        assert ratios.max() <= epsilon
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-12)
        np.testing.assert_allclose(probabilities @ points, prior.knots, atol=1e-9)
        variances = np.sum(probabilities * (points - prior.knots[:, None]) ** 2, axis=1)
        assert table.expected_variance(prior.knot_prior) == pytest.approx(prior.weights @ variances)

    def test_beyond_its_window_every_row_is_geometric(self):
        table = tailed()
        n, window, ratio = parameters(table)
        points, probabilities = expanded(table, 50)
        output = np.round((points - table.knots[0]) / (2 / n)).astype(int)
        dense = np.zeros((n + 1, output[-1] - output[0] + 1))
        dense[:, output - output[0]] = probabilities
        for row in range(n + 1):
            right = dense[row, row + window - output[0] :]
            left = dense[row, : row - window - output[0] + 1][::-1]
            for tail in (right, left):
                np.testing.assert_allclose(tail[1:], ratio * tail[:-1], rtol=1e-9)
                assert tail[0] > 0

    def test_the_tails_are_really_sampled(self):
        table = tailed()
        n, window, ratio = parameters(table)
        draws = 200_000
        reports = table.sample(np.full(draws, 1.0), np.random.default_rng(5))
        beyond = reports[reports >= table.low[-1]]
        share = table.probabilities[-1, -1]
        assert share > 0.01
        assert abs(beyond.size - share * draws) < 5 * math.sqrt(share * draws)
        steps = np.round((beyond - table.low[-1]) / (2 / n))
        assert steps.max() > 5
        excess = steps.mean() - ratio / (1 - ratio)
        assert abs(excess) < 5 * math.sqrt(ratio) / (1 - ratio) / math.sqrt(beyond.size)
        assert window == 10

    def test_another_unit_only_relabels(self):
        prior = gaussian(9)
        moved = Prior.on_knots(1e4 + 50 * prior.knots, prior.weights, source="public", units="euro")
        first, second = lattice_mechanism(prior, 1.0), lattice_mechanism(moved, 1.0)
        assert second.expected_variance(moved.knot_prior) == pytest.approx(
            2500 * first.expected_variance(prior.knot_prior), rel=1e-7
        )
        assert second.units == "euro"
        assert not verify(second).failures

    def test_rounding_to_a_coarser_lattice_is_counted(self):
        """The table's own prior is the given one on the lattice, with the variance that rounding adds."""
        prior = Prior.from_distribution(stats.norm(0, 0.3), knots=41, domain=(-1, 1))
        table = lattice_mechanism(prior, 1.0, intervals=10)
        coarse = prior.coarsened(prior.knots[::4])
        np.testing.assert_array_equal(table.knots, coarse.knots)
        assert table.prior is not None
        np.testing.assert_allclose(table.prior.rounding, coarse.rounding)
        expected = coarse.weights @ table.knot_variances + coarse.rounding_variance
        assert table.expected_variance(table.prior) == pytest.approx(expected)

    def test_provenance_says_how_it_was_made(self):
        table = lattice_mechanism(gaussian(9), 1.0, window=20, ratio=0.9)
        assert table.provenance.method == "aaa"
        assert parameters(table) == (8, 20, 0.9)
        assert table.provenance.parameters["unbiased"] is True

    @pytest.mark.parametrize(("knots", "intervals"), [(101, 25), (26, 25), (27, 13), (2, 1), (30, 1)])
    def test_the_default_lattice_is_the_finest_divisor_up_to_25(self, knots, intervals):
        prior = Prior.on_knots(np.linspace(0, 1, knots), np.ones(knots))
        assert parameters(lattice_mechanism(prior, 4.0))[0] == intervals


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ({"intervals": 3}, "must divide"),
            ({"intervals": 0}, "must divide"),
            ({"intervals": 2.0}, "must divide"),
            ({"window": 4}, "above half"),
            ({"window": 9.5}, "above half"),
            ({"ratio": 0.0}, "between 0 and 1"),
            ({"ratio": 1.0}, "between 0 and 1"),
            ({"ratio": math.nan}, "between 0 and 1"),
        ],
    )
    def test_unusable_parameters_are_named(self, options, says):
        with pytest.raises(InputError, match=says):
            lattice_mechanism(gaussian(9), 1.0, **options)

    @pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, 1e3])
    def test_unusable_budgets_are_refused(self, epsilon):
        with pytest.raises(InputError, match="epsilon"):
            lattice_mechanism(gaussian(9), epsilon)

    def test_unequal_knots_are_refused(self):
        with pytest.raises(InputError, match="equally spaced"):
            lattice_mechanism(Prior.on_knots([0.0, 1.0, 3.0], [1, 1, 1]), 1.0)

    def test_a_ratio_too_small_for_the_window_names_the_cure(self):
        with pytest.raises(SolverError, match=r"use a ratio above 0\.93"):
            lattice_mechanism(gaussian(9), 0.5, window=9, ratio=0.2)
