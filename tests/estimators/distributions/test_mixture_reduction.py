"""Mixture reduction against its algorithms written out, its threshold against closed forms, and its limits."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.estimators import InputGrid, ReportCounts, Service, likelihood_of, mixture_reduction
from optldp.estimators.distributions.merged_likelihood import MergedLikelihood
from optldp.estimators.distributions.mixture_reduction import Operation, smallest_first
from optldp.mechanisms import InputError, duchi, grr, piecewise, square_wave
from optldp.solvers import fit_mixture
from optldp.solvers.likelihood.dense import DenseLikelihood
from optldp.solvers.likelihood.mixture import SumLikelihood
from optldp.solvers.likelihood.tuples import TupleLikelihood

STOP = 1e-3


def looped_em(table: np.ndarray, counts: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, float]:
    """Algorithm 2, output by output, to the papers' rule."""
    before = -math.inf
    while True:
        posterior, loglik = np.zeros(len(table)), 0.0
        for output, count in enumerate(counts):
            joint = weights * table[:, output]
            loglik += count * math.log(joint.sum())
            posterior += count * joint / joint.sum()
        if abs(loglik - before) < STOP:
            return weights, loglik
        before, weights = loglik, posterior / counts.sum()


def looped_reduction(table, counts, threshold, *, categorical=False, least=None, prune=False, first=()):
    """Algorithm 1 with the strategies of sections V-A and V-B: (spread weights, groups as sets, BIC).

    With `prune` what is chosen is removed; `first` are the components that begin as one group, or removed.
    """
    n_all = len(table)
    least = math.ceil(n_all / 4) if least is None else least

    def refit(groups, spread):
        rows = np.array([table[sorted(group)].mean(axis=0) for group in groups])
        begin = np.array([spread[sorted(group)].sum() for group in groups])
        weights, loglik = looped_em(rows, counts, begin / begin.sum())
        again = np.zeros(n_all)
        for group, weight in zip(groups, weights, strict=True):
            again[sorted(group)] = weight / len(group)
        return again, -2 * loglik + len(groups) * math.log(counts.sum())

    def without(groups, chosen):
        return sorted([g for g in groups if not g <= chosen] + ([chosen] if chosen and not prune else []), key=min)

    groups = without([{k} for k in range(n_all)], set(first))
    spread, bic = refit(groups, np.full(n_all, 1 / n_all))
    t = 0
    while len(groups) > least:
        t += 1
        chosen = set()
        if categorical:
            small = [g for g in groups if spread[min(g)] * len(g) < threshold]
            small.sort(key=lambda g: round(float(spread[min(g)]) * len(g), 12))
            if len(small) < 2 - prune:
                break
            for group in small[: max(2 - prune, len(small) // 2)]:
                chosen |= group
        else:
            length = math.ceil(n_all / 2**t)
            if length < 2:
                break
            windows = [set(range(k, k + length)) for k in range(n_all - length + 1)]
            whole = [w for w in windows if all({k} in groups for k in w)]
            if not whole:
                continue
            lightest = min(whole, key=lambda w: spread[sorted(w)].sum())
            if spread[sorted(lightest)].sum() >= threshold:
                continue
            chosen = lightest
        trial = without(groups, chosen)
        fresh, lower = refit(trial, spread)
        if lower >= bic:
            break
        groups, spread, bic = trial, fresh, lower
    return spread, groups, bic


def drawn(table: np.ndarray, weights: np.ndarray, n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).multinomial(n, weights / weights.sum() @ table)


SW16 = square_wave(np.linspace(0.0, 1.0, 16), 1.0).probabilities
PM13 = piecewise(np.linspace(-1.0, 1.0, 13), 2.0).probabilities
GRR20 = grr(np.arange(20.0), 2.0).probabilities
PEAK = np.exp(-0.5 * (np.arange(16) - 4.0) ** 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "weights", "n", "threshold"),
    [
        (SW16, PEAK, 2000, None),
        (SW16, PEAK, 200_000, None),
        (SW16, np.ones(16), 500, 0.3),
        (SW16, PEAK, 3000, 2.0),
        (PM13, PEAK[:13], 4000, None),
        (PM13, np.ones(13), 4000, 0.2),
    ],
)
def test_numeric_reduction_is_algorithm_3(table, weights, n, threshold):
    """Windows, halving, BIC, undo and the least number of components, as the paper has them."""
    counts = drawn(table, weights, n, 5)
    found = mixture_reduction(DenseLikelihood([table], counts), threshold=threshold)
    spread, groups, bic = looped_reduction(table, counts, found.threshold)
    assert np.abs(found.fit.weights - spread).max() < 1e-10
    assert [set(np.flatnonzero(found.member == g)) for g in range(len(groups))] == groups
    assert found.bic == pytest.approx(bic, rel=1e-12)


@pytest.mark.parametrize(("n", "threshold"), [(1000, None), (8000, None), (3000, 0.5), (3000, 0.02)])
def test_categorical_reduction_merges_half_of_the_small(n, threshold):
    """At most half of the components below the threshold, at least two, until BIC rises."""
    counts = drawn(GRR20, 1 / np.arange(1.0, 21.0), n, 6)
    found = mixture_reduction(DenseLikelihood([GRR20], counts), rule="categorical", threshold=threshold)
    spread, groups, bic = looped_reduction(GRR20, counts, found.threshold, categorical=True)
    assert found.merges > 0
    assert np.abs(found.fit.weights - spread).max() < 1e-10
    assert [set(np.flatnonzero(found.member == g)) for g in range(len(groups))] == groups
    assert found.bic == pytest.approx(bic, rel=1e-12)


@pytest.mark.parametrize("prune", [False, True])
@pytest.mark.parametrize("first", [[], [3, 7, 8, 12, 19], [11, 13]])
@pytest.mark.parametrize(
    ("table", "categorical", "weights", "threshold"),
    [(GRR20, True, 1 / np.arange(1.0, 21.0), None), (SW16, False, PEAK, None), (PM13, False, np.ones(13), 0.2)],
)
def test_pruning_and_what_is_reduced_first_are_those_written_out(table, categorical, weights, threshold, first, prune):
    """Pruned components get no weight and count for nothing in BIC; those marked begin as one, or as none."""
    marked = [k for k in first if k < len(table)]
    counts = drawn(table, weights, 4000, 6)
    rule, operation = "categorical" if categorical else "numeric", "prune" if prune else "merge"
    found = mixture_reduction(
        DenseLikelihood([table], counts),
        rule=rule,
        operation=operation,
        preselected=np.isin(np.arange(len(table)), marked) if first else None,
        threshold=threshold,
    )
    spread, groups, bic = looped_reduction(
        table, counts, found.threshold, categorical=categorical, prune=prune, first=marked
    )
    assert found.merges > 0
    assert np.abs(found.fit.weights - spread).max() < 1e-10
    assert [set(np.flatnonzero(found.member == g)) for g in range(len(groups))] == groups
    assert (found.member == -1).any() == (sum(map(len, groups)) < len(table))
    assert (found.fit.weights[found.member == -1] == 0).all()
    assert found.bic == pytest.approx(bic, rel=1e-12)


def test_the_smallest_below_a_limit_come_first():
    """Those below it, in the order of size where the least number of components leaves no room for all."""
    estimates = np.array([0.4, -0.1, 0.02, -0.3, 0.01, 0.5, -0.2, 0.0])
    cases: list[tuple[float, Operation, int | None, list[int]]] = [
        (0.0, "merge", None, [1, 3, 6]),
        (0.0, "prune", None, [1, 3, 6]),
        (0.05, "merge", None, [1, 2, 3, 4, 6, 7]),
        (0.05, "merge", 6, [1, 3, 6]),
        (0.05, "prune", 6, [3, 6]),
        (-1.0, "merge", None, []),
    ]
    for limit, operation, least, marked in cases:
        assert np.flatnonzero(smallest_first(estimates, limit, operation, least)).tolist() == marked


def test_categorical_reduction_does_not_mind_the_order_of_the_categories():
    """Relabelled categories give relabelled weights and groups."""
    counts = np.arange(20) ** 2 + 10 * np.arange(20) + 5
    order = np.random.default_rng(1).permutation(20)
    plain = mixture_reduction(DenseLikelihood([GRR20], counts), rule="categorical")
    mixed = mixture_reduction(DenseLikelihood([GRR20[order]], counts), rule="categorical")
    assert mixed.fit.weights == pytest.approx(plain.fit.weights[order], abs=1e-9)
    assert mixed.merges == plain.merges > 0


@pytest.mark.parametrize("rule", ["numeric", "categorical"])
def test_without_a_threshold_it_is_em(rule):
    """No component is lighter than nothing."""
    likelihood = DenseLikelihood([SW16], drawn(SW16, PEAK, 2000, 5))
    found = mixture_reduction(likelihood, rule=rule, threshold=0.0)
    plain = fit_mixture(likelihood, method="em", loglik_change=STOP)
    assert np.array_equal(found.fit.weights, plain.weights)
    assert (found.merges, found.fit.iterations) == (0, plain.iterations)
    assert np.array_equal(found.member, np.arange(16))


def test_a_merge_that_raises_bic_is_undone():
    """Eight halving shares: a few users do not show that the smallest four differ, many users do."""
    table = grr(np.arange(8.0), 3.0).probabilities
    shares = 0.5 ** np.arange(1, 9) @ table
    few = DenseLikelihood([table], 100 * shares)
    many = DenseLikelihood([table], 100_000 * shares)
    assert np.ptp(mixture_reduction(few, threshold=2.0).member[4:]) == 0
    kept = mixture_reduction(many, threshold=2.0)
    merged = MergedLikelihood(many, np.array([0, 1, 2, 3, 4, 4, 4, 4]))
    refit = fit_mixture(merged, certificate=1e-10)
    assert kept.merges == 0
    assert kept.bic < -2 * refit.loglik + 5 * math.log(many.total)
    assert kept.fit.weights == pytest.approx(fit_mixture(many, certificate=1e-12).weights, abs=1e-3)


def test_a_rise_of_the_criterion_below_tau_is_kept():
    """Eight categories alike but for two: the merge of the two that differ raises BIC by less than 1000."""
    likelihood = DenseLikelihood([0.2 * np.eye(8) + 0.1], [4000, 3000, 1000, 1000, 1000, 1000, 1000, 1000])
    options = {"rule": "categorical", "threshold": 2.0, "least_components": 1}
    found = {rise: mixture_reduction(likelihood, bic_rise=rise, **options) for rise in (-1e9, 0.0, 1e9)}
    merges = [each.merges for each in found.values()]
    assert merges[0] == 0 < merges[1] < merges[2]
    assert found[1e9].bic > found[0.0].bic


def test_reduction_ends_at_the_least_number_of_components():
    """A threshold above one merges everything that it may."""
    likelihood = DenseLikelihood([SW16], drawn(SW16, np.ones(16), 300, 5))
    sizes = {
        least: mixture_reduction(likelihood, threshold=2.0, least_components=least).member.max() + 1
        for least in (16, 9, 5, 1)
    }
    # Windows of 8, 4, 2 of 16 components leave 9, then 6, then 5.
    assert sizes == {16: 16, 9: 9, 5: 5, 1: 5}


def test_the_exact_maximum_may_be_refitted_instead():
    """The interior point's merged weights have no less likelihood than EM's for the same groups."""
    likelihood = DenseLikelihood([SW16], drawn(SW16, PEAK, 2000, 5))
    exact = mixture_reduction(likelihood, method="interior-point")
    merged = MergedLikelihood(likelihood, exact.member)
    best = fit_mixture(merged, certificate=1e-10)
    assert exact.fit.loglik == pytest.approx(best.loglik, abs=1e-3)
    assert exact.merges > 0


class TestMergedLikelihood:
    @pytest.mark.parametrize("whole", [False, True])
    @given(
        st.lists(st.integers(-1, 4), min_size=8, max_size=8).filter(lambda m: max(m) >= 0), st.integers(0, 2**32 - 1)
    )
    @settings(max_examples=30)
    def test_its_products_are_those_of_averaged_rows(self, whole, labels, seed):
        """Mixing, gathering and curvature are those of the dense matrix with averaged rows, whether it is at hand."""
        pruned = np.array(labels) == -1
        member = np.where(pruned, -1, np.unique(np.where(pruned, max(labels), labels), return_inverse=True)[1])
        rng = np.random.default_rng(seed)
        rows, counts = rng.dirichlet(np.ones(6), 8), rng.integers(1, 9, 6)
        averaged = np.array([rows[member == g].mean(axis=0) for g in range(member.max() + 1)])
        dense, seen = DenseLikelihood([rows], counts), np.arange(6)[:, None]
        merged = MergedLikelihood(dense if whole else TupleLikelihood([rows], seen, counts), member)
        weights, values = rng.dirichlet(np.ones(len(averaged))), rng.random(6)
        assert merged.mix(weights) == pytest.approx(weights @ averaged, abs=1e-14)
        assert merged.gather(values) == pytest.approx(averaged @ values, abs=1e-14)
        assert merged.curvature(values) == pytest.approx((averaged * values) @ averaged.T, abs=1e-14)

    def test_weights_and_covariances_are_spread_evenly(self):
        """A group's weight w becomes w / size for each of its components."""
        member = np.array([0, 1, 1, 0, 2])
        merged = MergedLikelihood(DenseLikelihood([np.full((5, 2), 0.5)], [1, 1]), member)
        spreading = np.array([[0.5, 0, 0], [0, 0.5, 0], [0, 0.5, 0], [0.5, 0, 0], [0, 0, 1]])
        covariance = np.array([[3.0, -1, -2], [-1, 4, -3], [-2, -3, 5]])
        assert merged.spread(np.array([0.2, 0.3, 0.5])) == pytest.approx(spreading @ [0.2, 0.3, 0.5])
        assert merged.spread_covariance(covariance) == pytest.approx(spreading @ covariance @ spreading.T)

    def test_pruned_components_have_no_weight(self):
        """Neither in what is spread, nor in what is grouped, nor in a covariance."""
        member = np.array([0, -1, 1, 0])
        merged = MergedLikelihood(DenseLikelihood([np.full((4, 2), 0.5)], [1, 1]), member)
        assert merged.spread(np.array([0.6, 0.4])).tolist() == [0.3, 0.0, 0.4, 0.3]
        assert merged.group(np.array([0.1, 0.2, 0.3, 0.4])).tolist() == [0.5, 0.3]
        assert merged.spread_covariance(np.eye(2))[1].tolist() == [0, 0, 0, 0]

    def test_merged_weights_come_out_even(self):
        """Within each group of the result all weights are equal, and all add up to one."""
        found = mixture_reduction(DenseLikelihood([SW16], drawn(SW16, PEAK, 2000, 5)))
        assert found.merges > 0
        for group in range(found.member.max() + 1):
            assert np.ptp(found.fit.weights[found.member == group]) < 1e-15
        assert found.fit.weights.sum() == pytest.approx(1.0, abs=1e-12)


class TestThreshold:
    @pytest.mark.parametrize("n_values", [2, 8, 40])
    @pytest.mark.parametrize("epsilon", [0.5, 2.0])
    def test_categorical_is_the_frequency_oracles(self, n_values, epsilon):
        """For GRR two standard deviations of equation (4), (K - 2 + e^eps) / (n (e^eps - 1)^2), whatever the counts."""
        table = grr(np.arange(float(n_values)), epsilon)
        counts = np.arange(n_values) * 10
        found = mixture_reduction(DenseLikelihood([table.probabilities], counts), rule="categorical")
        odds = math.exp(epsilon)
        expected = 2 * math.sqrt((n_values - 2 + odds) / counts.sum()) / (odds - 1)
        assert found.threshold == pytest.approx(expected, rel=1e-9)

    def test_numeric_is_the_scalar_cramer_rao_bound(self):
        """2 / sqrt(n sum_o L[o, k]^2 / (L w)_o) at even weights, averaged over k."""
        found = mixture_reduction(DenseLikelihood([SW16], drawn(SW16, PEAK, 2000, 5)))
        information = 2000 * (SW16**2 / SW16.mean(axis=0)).sum(axis=1)
        assert found.threshold == pytest.approx(2 * (information**-0.5).mean(), rel=1e-12)

    @pytest.mark.parametrize("rule", ["numeric", "categorical"])
    def test_groups_add_their_own_users_information(self, rule):
        """Twice the same users' reports in two groups are as good as all in one."""
        counts = drawn(SW16, PEAK, 2000, 5)
        one = mixture_reduction(DenseLikelihood([SW16], 3 * counts), rule=rule)
        two = SumLikelihood([DenseLikelihood([SW16], counts), DenseLikelihood([SW16], 2 * counts)])
        assert mixture_reduction(two, rule=rule).threshold == pytest.approx(one.threshold, rel=1e-9)

    def test_combinations_that_nobody_reported_are_not_forgotten(self):
        """For users of several services, few of whose combinations are seen, it is that of the full table."""
        rng = np.random.default_rng(2)
        tables = [PM13, PM13, PM13]
        values = np.repeat(np.arange(13), 150)
        outputs = np.stack([[rng.choice(len(t[v]), p=t[v]) for v in values] for t in tables], axis=1)
        seen, counts = np.unique(outputs, axis=0, return_counts=True)
        full = np.zeros([t.shape[1] for t in tables])
        full[tuple(seen.T)] = counts
        assert len(seen) < 0.2 * full.size
        sparse = mixture_reduction(TupleLikelihood(tables, seen, counts)).threshold
        assert sparse == pytest.approx(mixture_reduction(DenseLikelihood(tables, full)).threshold, rel=0.05)

    def test_outputs_that_nobody_reported_are_not_forgotten(self):
        """Counts of a few users, who cannot have reported every output, still give equation (4)."""
        table = grr(np.arange(30.0), 1.0)
        counts = ReportCounts.from_outputs([Service("web", table)], np.arange(12)[:, None])
        found = mixture_reduction(likelihood_of(counts, InputGrid.common([table])), rule="categorical")
        assert found.threshold == pytest.approx(2 * math.sqrt((28 + math.e) / 12) / (math.e - 1), rel=1e-9)


def test_one_component_is_left_alone():
    """There is nothing to merge and no noise to merge it for."""
    found = mixture_reduction(DenseLikelihood([[[0.5, 0.5]]], [3, 1]))
    assert (found.merges, found.threshold, found.fit.weights.tolist()) == (0, 0.0, [1.0])


@pytest.mark.parametrize("rule", ["numeric", "categorical"])
def test_two_components_stay_two_where_the_reports_tell_them_apart(rule):
    """Stochastic rounding needs no reduction (section V-B)."""
    table = duchi([-1.0, 1.0], 1.0).probabilities
    found = mixture_reduction(DenseLikelihood([table], [9000, 1000]), rule=rule)
    assert found.merges == 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"rule": "ordinal"}, "rule must be numeric or categorical, got 'ordinal'"),
        ({"threshold": -0.1}, "threshold must not be negative, got -0.1"),
        ({"threshold": math.nan}, "threshold must not be negative, got nan"),
        ({"operation": "split"}, "operation must be merge or prune, got 'split'"),
        ({"preselected": [0, 1]}, "preselected must be 16 of True and False, got [0, 1]"),
        (
            {"preselected": np.arange(16) > 2, "least_components": 5},
            "preselected must leave at least 5 components, got 4: mark fewer",
        ),
        ({"least_components": 0}, "least_components must be at least 1, got 0"),
        ({"bic_rise": math.nan}, "bic_rise must be finite, got nan"),
        ({"loglik_change": 0.0}, "loglik_change must be positive and finite, got 0.0"),
    ],
)
def test_bad_settings_are_refused_in_one_line(options, says):
    """Each names its value."""
    with pytest.raises(InputError) as caught:
        mixture_reduction(DenseLikelihood([SW16], np.ones(SW16.shape[1])), **options)
    assert str(caught.value) == says
