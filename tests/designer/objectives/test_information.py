"""Information designs: private, told most by, above every closed form and below the certified bounds."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.designer import Design, Information, Prior, design
from optldp.designer.objectives.information import table_information, table_trace
from optldp.designer.objectives.information_solution import placed_outputs
from optldp.estimators import InputGrid, ReportCounts, estimate_distribution, optimal_decoder
from optldp.mechanisms import FAMILIES, InputError, load_table, save_table, verify
from optldp.solvers import Status

CRITERIA = ("mutual-information", "fisher", "cumulative")
ELEVEN = np.linspace(-1, 1, 11)


def prior_of(seed, knots):
    rng = np.random.default_rng(seed)
    return Prior.on_knots(knots, rng.dirichlet(np.full(len(knots), rng.choice([0.3, 3.0]))), source="public")


def worth(probabilities, prior, criterion):
    """Larger is better."""
    if criterion == "mutual-information":
        return table_information(probabilities, prior)
    return -table_trace(probabilities, prior, criterion)


def checked(made: Design, prior: Prior) -> Design:
    """Recompute from the table what the design says of it."""
    P = made.mechanism.probabilities
    found = verify(made.mechanism)
    assert found.ok
    assert made.max_log_ratio == found.max_log_ratio <= made.epsilon
    informative = made.objective.criterion == "mutual-information"
    sign = 1 if informative else -1
    assert made.value == sign * worth(P, prior.mixed(), made.objective.criterion)
    assert made.evidence.information == table_information(P, prior)
    assert made.evidence.trace == table_trace(P, prior, "fisher" if informative else made.objective.criterion)
    assert sign * made.value <= sign * made.bound
    # Both are bounds: that of all tables holds for those of one peak too, and may be the better one by its tolerance.
    assert sign * made.evidence.interval_bound <= sign * made.bound + 1e-6 * abs(made.bound)
    return made


@pytest.mark.nightly
@settings(max_examples=20)
@given(n=st.integers(2, 13), epsilon=st.floats(0.1, 6.0), seed=st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("criterion", CRITERIA)
def test_no_family_tells_more_at_any_budget(criterion, n, epsilon, seed):
    """Nor does one pass the bound for tables of one peak, which all families' are, or that for all tables."""
    knots = np.linspace(3, 10, n)
    prior = prior_of(seed, knots)
    made = checked(design(prior, epsilon, objective=Information(criterion)), prior)
    assert made.evidence.interval_status is Status.OPTIMAL
    assert -1e-12 <= made.evidence.interval_gap <= 1e-6
    sign = 1 if criterion == "mutual-information" else -1
    for family in FAMILIES.values():
        told = worth(family(knots, epsilon).probabilities, prior.mixed(), criterion)
        assert told <= sign * made.evidence.interval_bound + 1e-9 * abs(made.value)
        assert told <= sign * made.value + 2e-6 * abs(made.value)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_any_patterns_are_at_least_as_good_as_intervals(criterion, epsilon):
    prior = prior_of(3, ELEVEN)
    sign = 1 if criterion == "mutual-information" else -1
    some, every = (
        checked(design(prior, epsilon, objective=Information(criterion, patterns)), prior)
        for patterns in ("interval", "any")
    )
    assert sign * every.value >= sign * some.value * (1 - sign * 1e-6)
    assert every.gap <= 1e-6
    assert every.evidence.interval_bound == pytest.approx(some.evidence.interval_bound, rel=1e-9)
    assert every.bound == pytest.approx(some.bound, rel=2e-3)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_thirty_three_knots_are_certified_to_the_tolerance(criterion, epsilon):
    prior = Prior.on_knots(np.linspace(-1, 1, 33), np.exp(-6 * np.linspace(0, 2, 33)), source="public")
    made = checked(design(prior, epsilon, objective=Information(criterion)), prior)
    assert made.evidence.interval_status is Status.OPTIMAL
    rival = design(prior, epsilon).mechanism.probabilities
    sign = 1 if criterion == "mutual-information" else -1
    assert worth(rival, prior.mixed(), criterion) <= sign * made.bound


@pytest.mark.slow
def test_any_patterns_of_many_knots_are_certified_by_the_relaxation():
    """Twenty-five knots, too many to look at all patterns: still a third below what intervals can reach."""
    knots = np.linspace(0, 1, 25)
    prior = Prior.on_knots(knots, np.exp(-((knots - 0.5) ** 2) / 0.02), source="public")
    made = checked(design(prior, 1.0, objective=Information("cumulative", "any"), tolerance=1e-2), prior)
    assert made.status is Status.OPTIMAL
    assert made.value < 0.7 * made.evidence.interval_bound


@pytest.mark.sampled(3)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_more_budget_never_hurts(criterion):
    prior = prior_of(1, ELEVEN)
    worths = [
        worth(design(prior, e, objective=Information(criterion)).mechanism.probabilities, prior, criterion)
        for e in np.geomspace(0.05, 8, 8)
    ]
    assert np.all(np.diff(worths) > 0)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_another_unit_only_rescales(criterion):
    """Nats and frequencies know no units; the distribution function's error is in those of the knots."""
    weights = np.random.default_rng(2).dirichlet(np.ones(9))
    plain, moved = (
        design(Prior.on_knots(x, weights, source="public"), 1.3, objective=Information(criterion))
        for x in (np.linspace(0, 1, 9), 12345 + 1000 * np.linspace(0, 1, 9))
    )
    scale = 1000 if criterion == "cumulative" else 1
    assert moved.value == pytest.approx(scale * plain.value, rel=3e-6)
    assert moved.bound == pytest.approx(scale * plain.bound, rel=3e-6)
    np.testing.assert_allclose(moved.mechanism.low, 12345 + 1000 * plain.mechanism.low, rtol=1e-6)


@pytest.mark.slow
def test_the_bounds_are_for_the_whole_budget(monkeypatch):
    """Were the table built with much less, they would still not pass what the whole budget allows."""
    prior = prior_of(4, ELEVEN)
    for criterion in CRITERIA:
        whole = design(prior, 1.0, objective=Information(criterion))
        with monkeypatch.context() as patch:
            patch.setattr("optldp.designer.objectives.base.inner_epsilon", lambda epsilon: 0.9 * epsilon)
            made = design(prior, 1.0, objective=Information(criterion))
        assert made.max_log_ratio < 0.91
        assert made.status is made.evidence.interval_status is Status.GAP_OPEN
        if criterion == "mutual-information":
            assert made.evidence.interval_bound >= whole.value > 1.1 * made.value
        else:
            assert made.evidence.interval_bound <= whole.value < 0.9 * made.value


def test_outputs_are_posterior_means_in_order():
    prior = prior_of(5, ELEVEN)
    made = design(prior, 1.0, objective=Information("cumulative"))
    table, weights = made.mechanism, prior.mixed().weights
    posterior = (weights * table.knots) @ table.probabilities / (weights @ table.probabilities)
    np.testing.assert_allclose(table.low, posterior, atol=1e-3)
    assert (np.diff(table.low) > 1e-7).all()
    assert table.is_discrete


def test_outputs_that_coincide_are_moved_apart_and_equal_columns_are_one():
    """Two symmetric columns of the same mean, one of them twice."""
    knots, even = np.array([0.0, 1.0, 2.0]), np.full(3, 1 / 3)
    columns = np.array([[0.1, 0.3, 0.1, 0.5], [0.3, 0.1, 0.3, 0.3], [0.1, 0.3, 0.1, 0.5]])
    places, merged = placed_outputs(knots, even, columns)
    assert merged.shape == (3, 3)
    np.testing.assert_allclose(merged.sum(1), columns.sum(1))
    np.testing.assert_allclose(places, 1.0, atol=1e-5)
    assert (np.diff(places) >= 1e-6).all()


@pytest.mark.slow
def test_a_design_of_full_rank_recovers_distributions_and_means():
    """Exact shares of reports lead back to the distribution behind them, and to its mean."""
    made = design(prior_of(6, ELEVEN), 2.0, objective=Information("cumulative"))
    table = made.mechanism
    decoder = optimal_decoder(table)
    np.testing.assert_allclose(table.probabilities @ decoder, table.knots, atol=1e-9)
    truth = np.random.default_rng(7).dirichlet(np.full(11, 5.0))
    shares = truth @ table.probabilities
    reports = np.repeat(table.low, np.rint(shares * 1e6).astype(int))
    counts = ReportCounts.from_reports(table, reports)
    found = estimate_distribution(counts, method="em", grid=InputGrid.knots(table.knots))
    np.testing.assert_allclose(found.value, truth, atol=2e-4)


def test_the_trace_is_the_error_of_the_maximum_likelihood():
    """Ten thousand reports, 400 times: the mean squared error over the trace within five standard errors."""
    knots, weights = np.linspace(0, 1, 4), np.array([0.1, 0.4, 0.3, 0.2])
    prior, rng, n = Prior.on_knots(knots, weights, source="public"), np.random.default_rng(8), 10_000
    table = design(prior, 2.0, objective=Information("fisher")).mechanism
    error = []
    for _ in range(400):
        counts = rng.multinomial(n, weights @ table.probabilities)
        # One scoring step from the truth is the maximum to first order.
        score = table.probabilities @ (counts / (weights @ table.probabilities)) - n
        information = (table.probabilities / (weights @ table.probabilities)) @ table.probabilities.T
        step = np.linalg.solve(information, score) / n
        error.append(n * np.sum((step - weights * step.sum()) ** 2))
    expected = table_trace(table.probabilities, prior)
    assert abs(np.mean(error) - expected) < 5 * np.std(error) / math.sqrt(400)


def test_the_table_says_what_it_is_and_survives_its_file(tmp_path):
    prior = Prior.on_knots(ELEVEN, np.ones(11), source="public", units="EUR")
    made = design(prior, 1.3, objective=Information("cumulative"))
    table = made.mechanism
    assert (table.provenance.method, table.epsilon, table.units, table.exact) == ("information", 1.3, "EUR", True)
    assert table.provenance.parameters["unbiased"] is False
    assert table.provenance.parameters["criterion"] == "cumulative"
    assert table.prior is not None
    certificate = table.provenance.certificate
    assert certificate is not None
    assert certificate["objective"] == "information"
    for name in ("value", "bound", "gap"):
        assert certificate[name] == getattr(made, name)
    assert certificate["status"] == made.status == "gap-open"
    save_table(table, tmp_path / "table.json")
    assert not verify(load_table(tmp_path / "table.json")).failures


def test_designs_repeat_and_need_not_be_exact():
    prior = prior_of(9, ELEVEN)
    one, other = (design(prior, 1.0, objective=Information("cumulative"), exact=False) for _ in range(2))
    assert not one.mechanism.exact
    np.testing.assert_array_equal(one.mechanism.probabilities, other.mechanism.probabilities)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_knots_of_no_mass_need_no_floor(criterion):
    prior = Prior.on_knots(ELEVEN, np.eye(11)[3] + np.eye(11)[7], source="public")
    made = design(prior, 1.0, objective=Information(criterion), uniform_share=0.0)
    assert not verify(made.mechanism).failures
    assert made.evidence.interval_status is Status.OPTIMAL
    if criterion == "mutual-information":
        warner = math.e / (1 + math.e)
        entropy = -warner * math.log(warner) - (1 - warner) * math.log(1 - warner)
        assert made.evidence.information == pytest.approx(math.log(2) - entropy, rel=1e-6)


@pytest.mark.slow
def test_progress_comes_through():
    for criterion in CRITERIA:
        told = []
        design(prior_of(1, ELEVEN), 1.0, objective=Information(criterion), progress=told.append)
        assert told


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "entropy"}, "criterion must be one of mutual-information, fisher, cumulative"),
        ({"patterns": "window"}, "patterns must be one of interval, any"),
        ({"tolerance": 0.0}, "strictly between 0 and 1"),
        ({"uniform_share": -1.0}, "uniform share must lie"),
        ({"epsilon": 0.0}, "epsilon must be positive"),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    given = {"criterion": "fisher", "patterns": "interval", "epsilon": 1.0, **options}
    with pytest.raises(InputError, match=message):
        design(
            prior_of(1, ELEVEN),
            given.pop("epsilon"),
            objective=Information(given.pop("criterion"), given.pop("patterns")),
            **given,
        )
