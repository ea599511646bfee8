"""Several services and attributes: bias bounds of groups add up, or make up for each other where users are alike."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from optldp.estimators import ReportCounts, Service, bias_aware_mean, count
from optldp.estimators.bias_aware import bias_aware_attribute_means
from optldp.estimators.bias_aware.decoders import UNIFORM_SHARE
from optldp.mechanisms import AttributeSampling, InputError, duchi, laplace, make_exact, piecewise
from optldp.solvers.biased import trusted

KNOTS = np.linspace(0.0, 80.0, 9)
PRIOR = np.exp(-KNOTS / 8)
SERVICES = [
    Service("a", piecewise(KNOTS, 1.0)),
    Service("b", laplace(KNOTS, 2.0)),
    Service("c", piecewise(KNOTS[::2], 0.5)),
]


def ragged(users: int, seed: int, prior: np.ndarray = PRIOR) -> ReportCounts:
    """Half of the users report to a, a third of the rest to b alone, the others to all three."""
    rng = np.random.default_rng(seed)
    x = rng.choice(KNOTS, users, p=prior / prior.sum())
    outputs = np.stack([s.mechanism.output_index(s.mechanism.sample(x, rng)) for s in SERVICES], axis=1)
    which = rng.choice(3, users, p=[0.5, 1 / 6, 1 / 3])
    outputs[which == 0, 1:] = -1
    outputs[np.ix_(which == 1, [0, 2])] = -1
    return ReportCounts.from_outputs(SERVICES, outputs)


def group_bias(counts: ReportCounts, found) -> list[np.ndarray]:
    """The bias of each group's users at the knots, by enumeration of nothing: sums of means."""
    parts, biases = list(found.parts), []
    for group in counts.groups:
        mine = [parts.pop(0).values for _ in group.services]
        biases.append(
            sum(SERVICES[j].mechanism.pmf(KNOTS) @ d for j, d in zip(group.services, mine, strict=True)) - KNOTS
        )
    return biases


def test_bias_bounds_of_groups_that_may_differ_add_up():
    counts = ragged(3000, 1)
    apart, alike = (bias_aware_mean(counts, PRIOR, trust=2.0, alike=each) for each in (False, True))
    box = trusted(PRIOR / PRIOR.sum(), 2.0, share=UNIFORM_SHARE)

    def largest(b: np.ndarray) -> float:
        return max(box.largest(side * b + 1000)[0] - 1000 for side in (1, -1))

    shares = [group.n_users / 3000 for group in counts.groups]
    sums = [share * largest(b) for share, b in zip(shares, group_bias(counts, apart), strict=True)]
    assert apart.bias_high == pytest.approx(sum(sums), rel=1e-6)
    mixed = sum(share * b for share, b in zip(shares, group_bias(counts, alike), strict=True))
    assert alike.bias_high == pytest.approx(largest(np.asarray(mixed)), rel=1e-6)
    np.testing.assert_allclose(alike.means, KNOTS + mixed, atol=1e-9)
    assert alike.rmse < apart.rmse < apart.rmse_before
    assert (apart.lower_bound, alike.lower_bound) == (None, pytest.approx(alike.rmse, rel=0.05))


def test_the_value_is_the_average_of_users_sums():
    counts = ragged(500, 2)
    found = bias_aware_mean(counts, PRIOR, trust=2.0)
    parts, numbers, often = list(found.parts), [], []
    for group in counts.groups:
        mine = [parts.pop(0).values for _ in group.services]
        numbers += [sum(d[j] for d, j in zip(mine, row, strict=True)) for row in group.outputs]
        often += list(group.counts)
    listed = np.repeat(numbers, often)
    assert found.value == pytest.approx(listed.mean())
    assert found.std_error == pytest.approx(listed.std(ddof=1) / math.sqrt(500))


def test_one_user_moves_the_mean_by_no_more_than_is_said():
    """Every choice of services that some user made, and every report to them."""
    counts = ragged(200, 3)
    found = bias_aware_mean(counts, PRIOR, trust=2.0)
    parts, sums = list(found.parts), []
    for group in counts.groups:
        mine = [parts.pop(0).values for _ in group.services]
        sums += [sum(each) for each in product(*mine)]
    assert np.ptp(sums) / 200 == pytest.approx(found.one_report)


def test_names_say_which_users_a_number_is_for():
    counts = ragged(300, 4)
    assert [part.service for part in bias_aware_mean(counts, PRIOR).parts] == [
        "a",
        "a beside b, c",
        "b beside a, c",
        "c beside a, b",
        "b",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("alike", [False, True])
def test_it_covers_the_mean_of_the_worst_prior(alike):
    """400 collections of 600 users at three services, as many in each group."""
    rng, covered, counts = np.random.default_rng(5), 0, ragged(600, 6)
    made = bias_aware_mean(counts, PRIOR, trust=2.0, alike=alike)
    box = trusted(PRIOR / PRIOR.sum(), 2.0, share=UNIFORM_SHARE)
    b = made.means - KNOTS
    worst = max((box.largest(side * b + 1000) for side in (1, -1)), key=lambda each: each[0])[1]
    worst, laws = worst / worst.sum(), [service.mechanism.pmf(KNOTS) for service in SERVICES]
    rising = [law.cumsum(axis=1) for law in laws]
    for _ in range(400):
        parts, means, variances = list(made.parts), [], []
        for group in counts.groups:
            x = rng.choice(9, group.n_users, p=worst)
            mine = [parts.pop(0).values for _ in group.services]
            drawn = [
                (rng.random((x.size, 1)) > rising[j][x]).sum(1).clip(0, len(d) - 1)
                for j, d in zip(group.services, mine, strict=True)
            ]
            numbers = sum(d[y] for d, y in zip(mine, drawn, strict=True))
            means.append(numbers)
            variances.append(np.var(numbers, ddof=1) * x.size)
        every = np.concatenate(means)
        error = math.sqrt(sum(variances)) / 600 if alike else every.std(ddof=1) / math.sqrt(600)
        ends = replace(made, value=float(every.mean()), std_error=error).interval()
        covered += ends.low <= worst @ KNOTS <= ends.high
    assert covered / 400 > 0.94 - 2 * math.sqrt(0.05 * 0.95 / 400)


def test_attributes_have_a_mean_each_with_bounds_on_its_bias():
    tables = [make_exact(piecewise(np.linspace(0, top, 9), 2.0)).mechanism for top in (80, 40)]
    made, rng = AttributeSampling(["pay", "hours"], tables, 1, 2.0), np.random.default_rng(7)
    values = {"pay": rng.exponential(8, 4000).clip(0, 80), "hours": rng.exponential(4, 4000).clip(0, 40)}
    counts = count(made, made.sample(values, rng))
    priors = {"pay": np.exp(-KNOTS / 8), "hours": np.exp(-KNOTS / 8)}
    found = bias_aware_attribute_means(counts, priors, trust=2.0)
    alone = bias_aware_mean(counts["pay"], priors["pay"], trust=2.0)
    assert found["pay"].to_dict() == alone.to_dict()
    told = found.to_dict()
    assert (told["method"], told["attribute"]) == ("bias-aware", ["pay", "hours"])
    assert told["bias_high"] == [found[name].bias_high for name in ("pay", "hours")]
    for name, column in values.items():
        assert found[name].interval(0.999).low < column.mean() < found[name].interval(0.999).high


def test_what_is_no_prior_of_an_attribute_is_refused():
    tables = [make_exact(duchi([0, 1], 1.0)).mechanism] * 2
    made = AttributeSampling(["pay", "hours"], tables, 1, 1.0)
    counts = count(made, made.sample({"pay": np.zeros(99), "hours": np.ones(99)}, np.random.default_rng(8)))
    with pytest.raises(InputError, match="priors are of the attributes pay, hours, got 'age'"):
        bias_aware_attribute_means(counts, {"age": [0.5, 0.5]})
    with pytest.raises(InputError, match=r"'pay': .*needs a prior"):
        bias_aware_attribute_means(counts)
    with pytest.raises(InputError, match="means of attributes need their counts"):
        bias_aware_attribute_means(counts["pay"])  # pyright: ignore[reportArgumentType] -- refused
