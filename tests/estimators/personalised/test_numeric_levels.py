"""Distributions and means of numbers whose users chose their budgets."""

# Tests know which kind of mechanism or result they made; the types say only that it may be one of several.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false

import numpy as np
import pytest
from optldp.estimators import (
    InputGrid,
    PersonalisedCounts,
    ReportCounts,
    Service,
    count,
    estimate_mean,
    likelihood_of,
    personalised_distribution,
    personalised_mean,
    personalised_mle,
    plain_decoder,
)
from optldp.estimators.personalised.covariance import joint_covariance
from optldp.estimators.personalised.likelihood import personalised_likelihood
from optldp.estimators.personalised.numeric_levels import tabled_likelihood
from optldp.mechanisms import (
    InputError,
    PersonalisedMechanism,
    TabulatedMechanism,
    duchi,
    grr,
    laplace,
    piecewise,
    square_wave,
)
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.combinators.personalised import PersonalisedReports
from optldp.mechanisms.exactness.make_exact import exact_if_possible as exact
from optldp.solvers import fit_mixture

KNOTS, EPSILONS = np.linspace(0.0, 1.0, 5), (1.0, 2.0)


def sampled(family, level_epsilon, n=20_000, seed=1):
    mechanism, rng = (
        PersonalisedMechanism([exact(family(KNOTS, e)) for e in EPSILONS], level_epsilon),
        np.random.default_rng(seed),
    )
    values, levels = rng.beta(2, 5, n), rng.choice(2, n, p=[0.7, 0.3])
    sent = mechanism.sample(values, levels, rng)
    return PersonalisedCounts.from_reports(mechanism, sent), values, sent


def density(table, position, report):
    """Density of a report at a knot, relative to lengths and points: a loop over the outputs."""
    row = table.probabilities[position]
    points = (table.low == table.high) & (table.low == report)
    if points.any():
        return float(row[points].sum())
    inside = (table.low < report) & (report < table.high)
    return float((row[inside] / (table.high - table.low)[inside]).sum())


@pytest.mark.parametrize("family", [piecewise, square_wave, duchi, grr])
def test_the_likelihood_is_the_density_of_each_report(family):
    """Over the users, the mixture over levels and knots of densities found by a loop has the same logarithm."""
    counts, _, sent = sampled(family, 0.5, n=100)
    shares, weights = np.array([0.6, 0.4]), np.array([0.1, 0.3, 0.3, 0.2, 0.1])
    tables, loop = counts.mechanism.levels, 0.0
    for level, report in zip(sent.levels, sent.reports, strict=True):
        at_point = any(((t.low == t.high) & (t.low == report)).any() for t in tables)
        total = 0.0
        for i, table in enumerate(tables):
            own = ((table.low == table.high) & (table.low == report)).any()
            if own == at_point:
                law = [density(table, k, report) for k in range(5)]
                total += shares[i] * counts.mechanism.level_response[i, level] * (weights @ law)
        loop += np.log(total)
    likelihood = tabled_likelihood(counts, list(tables), InputGrid.knots(KNOTS))
    assert likelihood.loglik(shares, weights) == pytest.approx(loop, rel=1e-12)


def test_a_point_is_not_taken_for_a_place_in_another_levels_cell():
    """Where one level has a point inside another's cell, a report there is the first level's."""
    cells = exact(TabulatedMechanism.from_edges([0.0, 1.0], [0.0, 1.0, 2.0], [[0.6, 0.4], [0.4, 0.6]], 0.5))
    points = exact(TabulatedMechanism.from_points([0.0, 1.0], [0.5, 1.5], [[0.7, 0.3], [0.3, 0.7]], 1.0))
    mechanism = PersonalisedMechanism([cells, points], 0.1)
    reports = np.array([0.5, 0.7, 1.5, 1.9])
    counts = PersonalisedCounts.from_reports(mechanism, PersonalisedReports(np.array([0, 1, 0, 1]), reports))
    found = personalised_distribution(counts)
    np.testing.assert_allclose(found.level_shares.value, 0.5, atol=0.05)
    likelihood = tabled_likelihood(counts, [cells, points], InputGrid.knots([0.0, 1.0]))
    by_level, _ = likelihood.rows(slice(None), np.array([0.5, 0.5]), np.array([0.5, 0.5]))
    assert ((by_level > 0).sum(axis=1) == 1).all()


@pytest.mark.parametrize("level_epsilon", [0.8, None])
def test_randomised_response_of_numbers_is_that_of_categories(level_epsilon):
    """GRR on five numbers and on five labels give the same fit and standard errors."""
    rng = np.random.default_rng(2)
    codes, levels = rng.choice(5, 20_000, p=[0.4, 0.3, 0.15, 0.1, 0.05]), rng.integers(0, 2, 20_000)
    labelled = PersonalisedMechanism([categorical_grr(range(5), e) for e in EPSILONS], level_epsilon)
    numeric = PersonalisedMechanism([exact(grr(KNOTS, e)) for e in EPSILONS], level_epsilon)
    sent = labelled.sample(codes, levels, rng)
    first = personalised_mle(PersonalisedCounts.from_reports(labelled, sent))
    as_numbers = PersonalisedReports(sent.levels, KNOTS[sent.reports])
    second = personalised_distribution(PersonalisedCounts.from_reports(numeric, as_numbers))
    np.testing.assert_allclose(second.value, first.value, atol=1e-4)
    assert first.joint is not None
    likelihood = personalised_likelihood(PersonalisedCounts.from_reports(labelled, sent))
    expected = joint_covariance(likelihood, first.joint.shares, first.joint.weights)[2:, 2:]
    np.testing.assert_allclose(second.covariance, expected, rtol=1e-3, atol=1e-9)
    assert second.joint.loglik == pytest.approx(first.joint.loglik, abs=1e-3)


@pytest.mark.parametrize("family", [piecewise, laplace])
def test_levels_in_the_clear_are_services_with_users_of_their_own(family):
    """With known levels the weights are those of the existing likelihood of several services."""
    counts, _, sent = sampled(family, None)
    tables = counts.mechanism.levels
    outputs = np.full((len(sent.levels), 2), -1)
    for i, table in enumerate(tables):
        outputs[sent.levels == i, i] = table.output_index(sent.reports[sent.levels == i])
    services = ReportCounts.from_outputs([Service(str(i), table) for i, table in enumerate(tables)], outputs)
    expected = fit_mixture(likelihood_of(services, InputGrid.knots(KNOTS)), certificate=1e-10).weights
    found = personalised_distribution(counts)
    np.testing.assert_allclose(found.value, expected, atol=2e-3)
    np.testing.assert_allclose(found.level_shares.value, np.bincount(sent.levels) / len(sent.levels), atol=1e-4)


@pytest.mark.parametrize("family", [piecewise, square_wave, duchi])
@pytest.mark.parametrize("level_epsilon", [0.5, None])
def test_means_are_right_within_their_standard_errors(family, level_epsilon):
    """The mean of the fitted distribution is the values' within four standard errors, which are small."""
    counts, values, _ = sampled(family, level_epsilon)
    found = personalised_distribution(counts).mean()
    assert abs(found.value - values.mean()) < 4 * found.std_error
    assert found.std_error < 0.02


@pytest.mark.sampled(3)
@pytest.mark.parametrize("family", [piecewise, square_wave, laplace])
def test_means_of_levels_in_the_clear_are_unbiased_and_weighted_by_their_variances(family):
    """In a Monte Carlo the mean is right within 4 standard errors, scatters as it says, and beats the plain average."""
    rng, found, plain = np.random.default_rng(3), [], []
    mechanism = PersonalisedMechanism([exact(family(KNOTS, e)) for e in (0.5, 3.0)])
    values = rng.beta(2, 5, 2000)
    for _ in range(200):
        levels = rng.integers(0, 2, 2000)
        counts = PersonalisedCounts.from_reports(mechanism, mechanism.sample(values, levels, rng))
        found.append(personalised_mean(counts))
        decoders = [plain_decoder(table) for table in mechanism.levels]
        decoded = np.where(counts.levels == 0, decoders[0][counts.reports[:, 0]], decoders[1][counts.reports[:, 1]])
        plain.append(decoded @ counts.counts / 2000)
    means = np.array([estimate.value for estimate in found])
    spread = means.std(ddof=1)
    assert abs(means.mean() - values.mean()) < 4 * spread / np.sqrt(200)
    # The values are the same in every repetition: their own variance is in the standard errors and not in the scatter.
    own = values.var() / 2000
    claimed = np.mean([estimate.std_error**2 for estimate in found])
    assert spread**2 == pytest.approx(claimed - own, rel=4 * np.sqrt(2 / 200))
    assert spread < 0.5 * np.std(plain, ddof=1)


def test_the_mean_under_protected_levels_is_the_distributions():
    """One call gives the mean of the fitted distribution."""
    counts, _, _ = sampled(piecewise, 0.5)
    assert personalised_mean(counts) == personalised_distribution(counts).mean()


def test_a_level_that_nobody_chose_does_not_count():
    """With all users on one level the mean is that level's alone."""
    mechanism, rng = PersonalisedMechanism([exact(duchi(KNOTS, e)) for e in EPSILONS]), np.random.default_rng(4)
    sent = mechanism.sample(rng.random(500), np.ones(500, dtype=int), rng)
    found = personalised_mean(PersonalisedCounts.from_reports(mechanism, sent))
    alone = estimate_mean(count(mechanism.levels[1], sent.reports))
    assert found.value == pytest.approx(alone.value, rel=1e-12)
    assert found.std_error == pytest.approx(alone.std_error, rel=1e-12)


def test_a_grid_may_be_finer_than_the_knots():
    """Cells between knots are averages of rows, as everywhere."""
    counts, values, _ = sampled(piecewise, 0.5)
    found = personalised_distribution(counts, grid=InputGrid.equal_cells(0.0, 1.0, 10))
    assert found.grid.size == 10
    assert abs(found.mean().value - values.mean()) < 0.03


def refused():
    protected, _, _ = sampled(laplace, 0.5, n=10)
    empty = PersonalisedCounts.from_reports(
        protected.mechanism, PersonalisedReports(np.zeros(0, dtype=int), np.zeros(0))
    )
    labelled = PersonalisedMechanism([categorical_grr("ab", e) for e in EPSILONS], 0.5)
    labels = PersonalisedCounts.from_reports(labelled, PersonalisedReports(np.array([0]), np.array([1])))
    good, _, _ = sampled(piecewise, 0.5, n=10)
    clear = PersonalisedCounts.from_reports(
        PersonalisedMechanism(labelled.levels), PersonalisedReports(np.array([0]), np.array([1]))
    )
    tables = PersonalisedMechanism([exact(duchi(KNOTS, e)) for e in EPSILONS])
    single = PersonalisedCounts.from_reports(tables, tables.sample([0.5], [1]))
    return {
        r"cells must have a uniform law": lambda: personalised_distribution(protected),
        r"there must be at least one report": lambda: personalised_distribution(empty),
        r"values must be numbers": lambda: personalised_distribution(labels),
        r"values must be numbers, got categories": lambda: personalised_mean(clear),
        r"at least 2 reports for a standard error, got 1$": lambda: personalised_mean(single),
        r"there must be at least one report, got none": lambda: personalised_mean(empty),
        r"the cells must lie in the table's domain": lambda: personalised_distribution(
            good, grid=InputGrid.equal_cells(0.0, 2.0, 4)
        ),
    }


@pytest.mark.parametrize("message", refused())
def test_what_cannot_be_estimated_is_refused(message):
    """Every fault has a message of its own, of one line."""
    with pytest.raises(InputError, match=message) as caught:
        refused()[message]()
    assert "\n" not in str(caught.value)
