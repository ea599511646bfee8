"""Linear queries from reports: unbiased for every distribution by the table's law, and intervals that cover."""

import numpy as np
import pytest
from optldp import count
from optldp.designer import Prior, design
from optldp.designer.objectives import Workload
from optldp.estimators import ReportCounts, Service
from optldp.estimators.assumptions import Factor
from optldp.estimators.counting.group import NOT_REPORTED
from optldp.estimators.distributions import estimate_queries
from optldp.estimators.distributions.queries import numbers_of
from optldp.mechanisms import InputError, duchi, grr, piecewise

KNOTS = np.arange(6.0)
TABLE = grr(KNOTS, 1.0)
FREQUENCIES = np.array([0.4, 0.25, 0.15, 0.1, 0.07, 0.03])


def exact_counts(table, users):
    """What very many users of these frequencies report, rounded to whole numbers."""
    reports = np.rint(FREQUENCIES @ table.probabilities * users).astype(int)
    return ReportCounts.from_reports(table, np.repeat(table.low, reports))


@pytest.mark.parametrize("table", [TABLE, piecewise(KNOTS, 2.0)], ids=["grr", "piecewise"])
def test_numbers_are_unbiased_at_every_knot(table):
    queries = np.vstack([np.tri(6), KNOTS])
    for weights in (FREQUENCIES, np.eye(6)[0]):
        assert numbers_of(queries, table.probabilities, weights) @ table.probabilities.T == pytest.approx(
            queries, abs=1e-9
        )


def test_answers_of_the_expected_reports_are_the_truth():
    answers = estimate_queries(exact_counts(TABLE, 10**6), np.tri(6))
    assert answers.value == pytest.approx(np.cumsum(FREQUENCIES), abs=1e-5)
    assert answers.labels["query"] == [1, 2, 3, 4, 5, 6]


def test_errors_are_those_of_the_workload():
    """Of the table's own prior the sum of squared errors for these users is the value of the objective, over n."""
    prior = Prior.on_knots(KNOTS, FREQUENCIES, source="public")
    made = design(prior, 1.0, objective=Workload("prefix"))
    users = 10**6
    shares = np.rint(FREQUENCIES @ made.mechanism.probabilities * users).astype(int)
    counts = ReportCounts.from_reports(made.mechanism, np.repeat(made.mechanism.low, shares))
    answers = {
        target: estimate_queries(counts, np.tri(6), prior=FREQUENCIES, target=target)
        for target in ("users", "population")
    }
    totals = {target: float((one.std_error**2).sum()) * (counts.n_users - 1) for target, one in answers.items()}
    assert totals["users"] == pytest.approx(made.value, rel=5e-3)
    assert totals["population"] == pytest.approx(made.value + made.evidence.sampling, rel=5e-3)


@pytest.mark.parametrize("target", ["population", "users"])
def test_two_services_of_one_law_are_one_service_of_half_the_noise(target):
    """All combinations of reports as often as the law makes them: the users' scatter stays, the noise is halved."""
    joint = np.einsum("x,xi,xj->ij", FREQUENCIES, TABLE.probabilities, TABLE.probabilities)
    pairs = np.rint(joint * 10**5).astype(int)
    outputs = np.repeat(np.indices(pairs.shape).reshape(2, -1).T, pairs.ravel(), axis=0)
    counts = ReportCounts.from_outputs([Service(name, TABLE) for name in "ab"], outputs)
    both, alone = (estimate_queries(one, np.tri(6)[:5], target=target) for one in (counts, counts.only([0])))
    assert both.value == pytest.approx(np.cumsum(FREQUENCIES)[:5], abs=1e-4)
    own = np.cumsum(FREQUENCIES)[:5] * (1 - np.cumsum(FREQUENCIES)[:5]) * (target == "population")
    noise = [one.std_error**2 * one.n - own for one in (both, alone)]
    assert noise[0] == pytest.approx(noise[1] / 2, rel=1e-2)
    users = np.random.default_rng(30).random(len(outputs)) < 0.5  # half of them report to the first alone
    some = np.where(users[:, None] & [False, True], NOT_REPORTED, outputs)
    mixed = estimate_queries(ReportCounts.from_outputs(counts.services, some), np.tri(6)[:5], target=target)
    assert mixed.std_error**2 * mixed.n - own == pytest.approx((noise[0] + noise[1]) / 2, rel=2e-2)


def test_tables_of_other_knots_are_refused():
    services = [Service("a", TABLE), Service("b", grr(KNOTS[[0, 2, 5]], 1.0))]
    with pytest.raises(InputError, match="the same knots for queries of several, got others in 'b'"):
        estimate_queries(ReportCounts.from_outputs(services, [[0, 0], [1, 2]]), np.tri(6))


@pytest.mark.slow
def test_intervals_of_users_own_answers_cover_as_often_as_they_say():
    """400 samples of 500 people: of 2,000 intervals, which hang together, 95% within 2.5%."""
    rng, held = np.random.default_rng(11), 0
    for _ in range(400):
        values = rng.choice(KNOTS, 500, p=FREQUENCIES)
        truth = np.cumsum(np.bincount(values.astype(int), minlength=6)) / 500
        answers = estimate_queries(count(TABLE, TABLE.sample(values, rng)), np.tri(6)[:5], target="users")
        held += int(((answers.low <= truth[:5]) & (truth[:5] <= answers.high)).sum())
    assert abs(held / (400 * 5) - 0.95) < 0.025


@pytest.mark.nightly
def test_intervals_of_the_population_cover_and_are_near_the_shortest_possible():
    """60 samples of 5,000 people, 300 intervals that hang together: 1.25 bounds, and 1.05 times normal ones."""
    rng, held, length, normal, shortest = np.random.default_rng(11), [], [], [], []
    truth = np.cumsum(FREQUENCIES)[:5]
    for _ in range(60):
        counts = count(TABLE, TABLE.sample(rng.choice(KNOTS, 5000, p=FREQUENCIES), rng))
        answers = estimate_queries(counts, np.tri(6)[:5])
        ends, least = answers.interval(), answers.shortest_possible()
        held.append((ends.low <= truth) & (truth <= ends.high))
        length.append(ends.high - ends.low)
        normal.append(3.92 * answers.std_error)
        shortest.append(least)
    assert np.mean(held) >= 0.93
    assert 0.97 * np.mean(shortest) < np.mean(length) < min(1.25 * np.mean(shortest), 1.05 * np.mean(normal))


def test_an_assumption_shortens_intervals_is_tested_and_leaves_answers_as_they_are():
    rng = np.random.default_rng(5)
    counts = count(TABLE, TABLE.sample(rng.choice(KNOTS, 2000, p=FREQUENCIES), rng))
    true, wrong = (Prior.on_knots(KNOTS, one, source="public") for one in (FREQUENCIES, FREQUENCIES[::-1]))
    free, near, off = (
        estimate_queries(counts, np.tri(6)[:2], assume=assume).to_dict()
        for assume in ((), Factor(true, 1.2), Factor(wrong, 1.05))
    )
    assert free["value"] == near["value"] == off["value"]
    assert (free["interval"], free["assumed"], near["assumed"]) == ("affine-pair", "nothing", "trust=1.2")
    assert near["shortest_possible"][0] < near["high"][0] - near["low"][0] < free["high"][0] - free["low"][0]
    assert off["assumption_p_value"] < 0.01
    np.testing.assert_allclose(np.transpose(off["without_assumption"]), [free["low"], free["high"]], atol=0.02)
    with pytest.raises(InputError, match="an assumption is of the population, got target users"):
        estimate_queries(counts, np.tri(6)[:2], assume=Factor(true, 2.0), target="users")


@pytest.mark.parametrize(
    ("queries", "says"),
    [
        (np.tri(5), "a column for each of 6 values, got (5, 5)"),
        (np.full((1, 6), np.inf), "must be finite"),
        (np.eye(6), "got 6 that are not, the first being number 1"),
    ],
)
def test_what_cannot_be_answered_is_refused(queries, says):
    table = duchi(KNOTS, 1.0)  # of two outputs: it tells the mean alone
    with pytest.raises(InputError) as refused:
        estimate_queries(ReportCounts.from_reports(table, np.repeat(table.low, 5)), queries)
    assert says in str(refused.value)
    answers = estimate_queries(ReportCounts.from_reports(table, np.repeat(table.low, 5)), KNOTS[None])
    assert answers.value == pytest.approx([2.5])
