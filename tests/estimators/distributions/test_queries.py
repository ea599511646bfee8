"""Linear queries from reports: unbiased for every distribution by the table's law, and intervals that cover."""

import numpy as np
import pytest
from optldp import count
from optldp.designer import Prior, design
from optldp.designer.objectives import Workload
from optldp.estimators import ReportCounts
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


@pytest.mark.sampled(4)
@pytest.mark.parametrize("target", ["population", "users"])
def test_intervals_cover_as_often_as_they_say(target):
    """400 samples of 500 people: of 2,400 intervals, which hang together, 95% within 2.5%."""
    rng, held = np.random.default_rng(11), 0
    truth = np.cumsum(FREQUENCIES)
    for _ in range(400):
        values = rng.choice(KNOTS, 500, p=FREQUENCIES)
        if target == "users":
            truth = np.cumsum(np.bincount(values.astype(int), minlength=6)) / 500
        answers = estimate_queries(count(TABLE, TABLE.sample(values, rng)), np.tri(6)[:5], target=target)
        held += int(((answers.low <= truth[:5]) & (truth[:5] <= answers.high)).sum())
    assert abs(held / (400 * 5) - 0.95) < 0.025


@pytest.mark.parametrize(
    ("queries", "says"),
    [
        (np.tri(5), "a column for each of 6 knots, got (5, 5)"),
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
