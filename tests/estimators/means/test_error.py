"""The largest error of a mean: against linear programs and enumerated laws; what a file claims is never believed."""

from dataclasses import replace

import numpy as np
import pytest
from optldp.estimators import promised_error
from optldp.estimators.means.error import CountedAs, counted_as, largest_error
from optldp.mechanisms import InputError, Provenance, TabulatedMechanism, duchi, piecewise
from optldp.mechanisms.table.knot_prior import KnotPrior
from optldp.solvers.biased import trusted
from optldp.solvers.robust import BoxSet
from scipy.optimize import linprog

KNOTS = np.array([0.0, 1.0, 3.0, 4.0, 10.0])
WEIGHTS = np.array([0.4, 0.3, 0.15, 0.1, 0.05])


def some_table(rng):
    rows = rng.dirichlet(np.ones(4), KNOTS.size)
    return TabulatedMechanism.from_points(KNOTS, np.sort(rng.uniform(-5, 15, 4)), rows, 5.0)


def table_for(users: object = 500, trust: object = 2.0, share: object = 0.1):
    told = Provenance("error", {"unbiased": False, "n": users, "trust": trust, "uniform_share": share})
    rows = np.array([[0.7, 0.3], [0.5, 0.5], [0.3, 0.7], [0.3, 0.7], [0.3, 0.7]])
    prior = KnotPrior(WEIGHTS, np.full(4, 0.1), "public")
    return TabulatedMechanism.from_points(KNOTS, [-2.0, 5.0], rows, 1.0, provenance=told, prior=prior)


def by_linear_programs(table, box, users):
    """R from max q.v and max |q.b|, each by a solver that knows nothing of sorting."""
    offsets = table.low - KNOTS[:, None]
    v, b = (table.probabilities * offsets**2).sum(1), (table.probabilities * offsets).sum(1)
    among = {"A_eq": np.ones((1, KNOTS.size)), "b_eq": [1.0], "bounds": list(zip(box.low, box.high, strict=True))}
    most, up, down = (-linprog(-goal, **among).fun for goal in (v, b, -b))
    return np.sqrt(most / users + max(up, down) ** 2)


@pytest.mark.parametrize("seed", range(4))
def test_on_knots_it_is_what_linear_programs_find(seed):
    rng = np.random.default_rng(seed)
    table, box = some_table(rng), trusted(WEIGHTS, 1 + 4 * rng.random())
    found = largest_error(table, box, 300, on_knots=True)
    assert found.rmse == pytest.approx(by_linear_programs(table, box, 300), rel=1e-9)
    assert found.rmse**2 == pytest.approx(found.noise**2 + found.bias_bound**2)


@pytest.mark.parametrize("seed", range(4))
def test_values_between_knots_err_no_more(seed):
    """Of data anywhere, biases are exact and squared errors bounded; without the allowance they would not be."""
    rng = np.random.default_rng(seed)
    table = [some_table(rng), duchi(KNOTS, 6.0), piecewise(KNOTS, 8.0)][seed % 3]
    x = np.concatenate([rng.uniform(0, 10, 20), (KNOTS[1:] + KNOTS[:-1]) / 2])
    index, right = table.row_weights(x)
    hats = np.zeros((x.size, KNOTS.size))
    hats[np.arange(x.size), index], hats[np.arange(x.size), index + 1] = 1 - right, right
    bias = table.mean(x) - x
    truth = np.sqrt((table.var(x) + bias**2).mean() / 50 + bias.mean() ** 2)
    q = hats.mean(0)
    found = largest_error(table, BoxSet(q, q), 50)
    assert found.bias_bound == pytest.approx(abs(bias.mean()), abs=1e-9)
    assert truth <= found.rmse
    if table.provenance.claims_unbiased:
        assert truth > largest_error(table, BoxSet(q, q), 50, on_knots=True).rmse


def test_what_a_table_promises_is_recomputed_from_its_numbers():
    table = table_for()
    found = promised_error(table)
    assert found == largest_error(table, trusted(WEIGHTS, 2.0, share=0.1), 500)
    forged = replace(table.provenance, certificate={"value": 1e-9, "bias_bound": 0.0})
    assert promised_error(table.with_provenance(forged)) == found
    assert promised_error(table, trust=4.0).bias_bound > found.bias_bound
    assert promised_error(table, users=2000).noise == pytest.approx(found.noise / 2)
    assert promised_error(table.without_prior(), prior=table.prior) == found
    on_knots = KnotPrior(WEIGHTS, np.zeros(4), "public")
    assert promised_error(table, prior=on_knots).noise < found.noise


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (table_for().without_prior(), "the table must say the prior"),
        (table_for(users=None), "the table must say the number of users"),
        (table_for(trust=None), "the table must say the trust"),
        (table_for(users=2.5), "number of users must be whole"),
        (table_for(users=True), "number of users must be whole"),
        (table_for(users="many"), "number of users must be whole"),
        (table_for(trust=0.9), "at least 1, got 0.9"),
        (table_for(trust="all"), "at least 1, got 'all'"),
        (table_for(trust=[2.0]), "at least 1, got"),
        (table_for(share=2.0), "uniform share must lie in"),
        (table_for(share="some"), "uniform share must lie in"),
    ],
)
def test_a_file_that_claims_what_cannot_be_is_one_line(table, says):
    with pytest.raises(InputError, match=says) as refusal:
        promised_error(table)
    assert "\n" not in str(refusal.value)


def test_a_prior_on_other_knots_is_refused():
    with pytest.raises(InputError, match="one weight per knot, got 2 for 5 knots"):
        promised_error(table_for(), prior=KnotPrior(np.full(2, 0.5), np.zeros(1), "public"))


class TestCountedAs:
    @pytest.mark.parametrize(("low", "high", "shift"), [(0, 10, 0.0), (0, 4, 0.25), (1, 7.5, -0.125), (1.5, 10, 0.5)])
    def test_a_clip_and_a_shift_are_told_by_their_means(self, low, high, shift):
        means = np.clip(KNOTS, low, high) + shift
        rows = np.stack([20 - means, means + 20], axis=1) / 40
        table = TabulatedMechanism.from_points(KNOTS, [-20, 20], rows, 5.0)
        found = counted_as(table, WEIGHTS)
        assert found.is_clip
        assert (found.low, found.high, found.shift) == pytest.approx((low, high, shift), abs=1e-9)
        assert found.outside(KNOTS).tolist() == ((low > KNOTS) | (high < KNOTS)).tolist()

    def test_other_means_are_none(self):
        table = TabulatedMechanism.from_points(KNOTS, [0, 10], [[1 - p, p] for p in (0, 0, 0.4, 0.4, 1)], 16.0)
        assert not counted_as(table, WEIGHTS).is_clip

    def test_a_constant_report_counts_all_as_one(self):
        table = TabulatedMechanism.from_points(KNOTS, [3.0], np.ones((5, 1)), 1.0)
        found = counted_as(table, WEIGHTS)
        assert found.is_clip
        assert (found.low + found.shift, found.high + found.shift) == pytest.approx((3.0, 3.0))

    def test_an_unbiased_table_cuts_nothing(self):
        found = counted_as(duchi(KNOTS, 1.0), WEIGHTS)
        assert abs(found.shift) < 1e-12
        assert replace(found, shift=0.0) == CountedAs(0.0, 10.0, 0.0, True)
