"""Counts, means and fits of pairs at levels: no bias, the variance, the likelihood, all by enumeration of reports."""

# Tests know which kind of mechanism or likelihood they made; the types say only that it may be one of several.
# pyright: reportAttributeAccessIssue=false

import numpy as np
import pytest
from optldp.estimators import InputGrid, KeyValueCounts, count, estimate_key_means, fit_key_values
from optldp.estimators.key_values.likelihood import joint_likelihood, key_likelihood
from optldp.estimators.personalised import PersonalisedPairCounts
from optldp.mechanisms import InputError, duchi, grr
from optldp.mechanisms.categorical import optimised_unary
from optldp.mechanisms.combinators.personalised import PersonalisedMechanism, PersonalisedReports
from optldp.mechanisms.key_value import key_value_response, key_value_unary

from ...mechanisms.key_value_laws import all_reports, set_law

EPSILONS = (0.5, 1.5)
RHO = np.array([0.7, 0.3])
MADE = {True: key_value_unary, False: key_value_response}
SAMPLED = {(0, 0): 0.25, (0, 1): 0.15, (1, 1): 0.35, (1, 0): 0.05}
"""Shares of users who sampled a key with the value of a knot; the rest holds no pair."""

CASES = [(unary, protection) for unary in (True, False) for protection in (None, 1.0, "oue")]


def made(unary, protection, family=duchi, knots=2, padding=1):
    tables = [family(np.linspace(0.0, 10.0, knots), epsilon) for epsilon in EPSILONS]
    levels = [MADE[unary](["x", "y"], table, table.epsilon, padding=padding) for table in tables]
    if protection == "oue":
        return PersonalisedMechanism(levels, level_mechanism=optimised_unary(range(2), 1.0))
    return PersonalisedMechanism(levels, protection)


def laws(mechanism, unary):
    """Probabilities (t, reports) of all reports when pairs are sampled as above, enumerated, and the reports."""
    rows = []
    for level in mechanism.levels:
        kept, total = {}, np.zeros(len(all_reports(level, unary)))
        for (key, row), share in [*SAMPLED.items(), ((None, 0), 1 - sum(SAMPLED.values()))]:
            pairs = [] if key is None else [(key, row * (level.value.knots.size - 1))]
            total += share * np.array(set_law(level, unary, pairs, kept), dtype=float)
        rows.append(total)
    reports = all_reports(mechanism.levels[0], unary)
    size = mechanism.levels[0].value.low.size
    return np.array(rows), np.array(reports if unary else [place * size + output for place, output in reports])


def weighted(mechanism, reports, often, n=10**12):
    """Counts of n users who sent the report of a level and a report so often (r, reports)."""
    parts = []
    for number, row in enumerate(np.rint(n * often).astype(np.int64)):
        level = mechanism.levels[number if mechanism.level_epsilon is None else 0]
        parts.append(KeyValueCounts(level, reports[row > 0], row[row > 0]))
    return PersonalisedPairCounts(mechanism, tuple(parts))


def expected(mechanism, unary, rho=RHO):
    chances, reports = laws(mechanism, unary)
    return np.einsum("i,ir,iy->ry", rho, mechanism.level_response, chances), reports


FREQUENCIES = np.array([0.4, 0.4])
MEANS = np.array([10 * 0.15 / 0.4, 10 * 0.35 / 0.4])


@pytest.mark.slow
@pytest.mark.parametrize(("unary", "protection"), CASES)
@pytest.mark.parametrize(("family", "knots"), [(duchi, 2), pytest.param(grr, 4, marks=pytest.mark.nightly)])
def test_expected_counts_give_the_truth_back(unary, protection, family, knots):
    """By PCKV's estimate, weighed or inverted, and by every fit; of so many users little is rounded to whole counts."""
    mechanism = made(unary, protection, family, knots)
    often, reports = expected(mechanism, unary)
    counts = weighted(mechanism, reports, often)
    found = estimate_key_means(counts)
    np.testing.assert_allclose(found.frequencies.value, FREQUENCIES, atol=1e-7)
    np.testing.assert_allclose(found.value, MEANS, atol=1e-5)
    fewer = weighted(mechanism, reports, often, n=10**8)  # the more users, the longer EM's way
    for method in ("joint", "em", "mr"):
        fit = fit_key_values(fewer, method=method, loglik_change=None if method == "joint" else 1e-3)
        np.testing.assert_allclose(fit.frequencies.value, FREQUENCIES, atol=2e-3)
        np.testing.assert_allclose(fit.value, MEANS, atol=2e-2)


@pytest.mark.slow
@pytest.mark.parametrize(("unary", "protection"), CASES)
@pytest.mark.parametrize(("family", "knots"), [(duchi, 2), (grr, 4)])
def test_standard_errors_are_those_of_the_law(unary, protection, family, knots):
    """The variance of a function of multinomial counts, its derivative by finite differences, at the expected counts.

    In the clear the numbers of users at the levels are what they are, not drawn.
    """
    n, mechanism = 10**6, made(unary, protection, family, knots)
    often, reports = expected(mechanism, unary)

    def answers(often):
        found = estimate_key_means(weighted(mechanism, reports, often))
        return np.concatenate([found.frequencies.value, found.value])

    seen = often.reshape(-1) > 0
    step, derivative = 1e-5, []
    for cell in np.flatnonzero(seen):
        sides = [often.reshape(-1).copy() for _ in range(2)]
        sides[0][cell] += step
        sides[1][cell] -= min(step, often.reshape(-1)[cell])
        ends = [answers(side.reshape(often.shape) / side.sum()) for side in sides]
        derivative.append((ends[0] - ends[1]) / (sides[0][cell] - sides[1][cell]))
    chances, moves = often.reshape(-1)[seen], np.array(derivative)
    strata = np.repeat(np.arange(len(often)), often.shape[1])[seen] if protection is None else np.zeros(seen.sum(), int)
    variance = np.zeros(moves.shape[1])
    for stratum in np.unique(strata):
        mine = strata == stratum
        share = chances[mine].sum()
        average = chances[mine] @ moves[mine] / share
        variance += chances[mine] @ (moves[mine] - average) ** 2
    found = estimate_key_means(weighted(mechanism, reports, often, n))
    said = np.concatenate([found.frequencies.std_error, found.std_error])
    np.testing.assert_allclose(said, np.sqrt(variance / n), rtol=2e-3)


@pytest.mark.parametrize(("unary", "protection"), CASES)
def test_the_likelihood_of_whole_reports_is_the_law(unary, protection):
    """With the true shares of the levels, up to a factor for each report; and what one key shows is its margin."""
    mechanism = made(unary, protection)
    often, reports = expected(mechanism, unary)
    counts, grid = weighted(mechanism, reports, often), InputGrid.knots([0.0, 10.0])
    weights = np.array([SAMPLED[key, row] for key in (0, 1) for row in (0, 1)] + [1 - sum(SAMPLED.values())])
    chances = often
    if not unary:  # all dummies are one
        chances = np.column_stack([often[:, :4], often[:, 4:].sum(axis=1)])
    likelihood = joint_likelihood(counts, grid)
    mixed = likelihood.mix(weights)
    if unary:
        even = likelihood.mix(np.append(np.zeros(4), 1.0))  # what every report is as likely under
        nobody = np.array([np.array(set_law(level, True, [], {}), dtype=float) for level in mechanism.levels])
        base = np.einsum("i,ir,iy->ry", RHO, mechanism.level_response, nobody)
        np.testing.assert_allclose(
            mixed / even,
            (chances / base)[chances > 0] if protection is None else (chances / base).reshape(-1),
            rtol=1e-6,
        )
    else:
        np.testing.assert_allclose(mixed, chances.reshape(-1), rtol=1e-6)
    alone = key_likelihood(counts, 0, grid).mix(np.array([0.25, 0.15, 0.6]))
    np.testing.assert_allclose(alone, counts.seen[0].reshape(-1) / counts.n_users, rtol=1e-6)


@pytest.mark.parametrize("unary", [True, False])
def test_one_level_that_everybody_chose_is_estimated_as_by_itself(unary):
    """In the clear: values and, up to how spread is counted, standard errors."""
    mechanism, rng = made(unary, None), np.random.default_rng(4)
    n = 5000
    keys, values = np.array(["x", "y"])[rng.integers(0, 2, n)], rng.uniform(0, 10, n)
    sent = mechanism.sample((keys, values), np.ones(n, dtype=int), rng)
    mine = estimate_key_means(count(mechanism, sent))
    alone = estimate_key_means(count(mechanism.levels[1], sent.reports))
    np.testing.assert_allclose(mine.value, alone.value, rtol=1e-9)
    np.testing.assert_allclose(mine.frequencies.value, alone.frequencies.value, rtol=1e-9)
    np.testing.assert_allclose(mine.std_error, alone.std_error, rtol=1e-3)
    np.testing.assert_allclose(mine.interval().low, alone.interval().low, rtol=2e-3)


def test_levels_are_weighed_better_than_alike_and_than_the_best_alone():
    """Standard errors at expected counts: less than of either level, and of their plain average."""
    mechanism = made(True, None)
    often, reports = expected(mechanism, True)
    n = 10**6
    counts = weighted(mechanism, reports, often, n)
    mine = estimate_key_means(counts).frequencies.std_error
    alone = np.array([estimate_key_means(part).frequencies.std_error for part in counts.by_level])
    pooled = np.sqrt(RHO**2 @ alone**2)
    assert (mine < 0.97 * alone.min(axis=0)).all()
    assert (mine < 0.6 * pooled).all()


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("unary", "protection"),
    [
        (False, None),
        (True, 1.0),
        *(pytest.param(*one, marks=pytest.mark.nightly) for one in ((True, None), (False, 1.0))),
    ],
)
def test_intervals_cover_as_often_as_they_say(unary, protection):
    """Of 400 collections of values between the knots, three standard errors around 95%; estimates are unbiased."""
    mechanism, rng, times, n = made(unary, protection), np.random.default_rng([7, unary]), 400, 8000
    shares, ends = [0.5, 0.3, 0.2], {"x": (1.0, 5.0), "y": (5.0, 9.0)}
    truth = np.array([0.5, 0.3, 3.0, 7.0])
    covered, errors = np.zeros(4), []
    for _ in range(times):
        keys = np.array(["x", "y", ""])[rng.choice(3, n, p=shares)]
        values = np.full(n, np.nan)
        for key, (low, high) in ends.items():
            values[keys == key] = rng.uniform(low, high, np.count_nonzero(keys == key))
        sent = mechanism.sample((keys, values), rng.choice(2, n, p=RHO), rng)
        found = estimate_key_means(count(mechanism, sent))
        parts = [found.frequencies.interval(), found.interval()]
        low, high = (np.concatenate([getattr(part, end) for part in parts]) for end in ("low", "high"))
        covered += (low <= truth) & (truth <= high)
        errors.append(np.concatenate([found.frequencies.value, found.value]) - truth)
    assert (np.abs(covered / times - 0.95) <= 3 * np.sqrt(0.95 * 0.05 / times)).all(), covered / times
    shares_off = np.array(errors)[:, :2]  # means are ratios
    assert (np.abs(shares_off.mean(axis=0)) < 4 * shares_off.std(axis=0) / np.sqrt(times)).all()


def test_counts_add_up_and_are_those_of_each_level():
    """Shards of different users."""
    mechanism, rng = made(True, 1.0), np.random.default_rng(2)
    sent = mechanism.sample((["x", "y"] * 100, np.linspace(0, 10, 200)), np.arange(200) % 2, rng)
    whole = count(mechanism, sent)
    parts = [PersonalisedReports(sent.levels[p], sent.reports[p]) for p in (slice(60), slice(60, None))]
    both = count(mechanism, parts[0]) + count(mechanism, parts[1])
    assert isinstance(whole, PersonalisedPairCounts)
    np.testing.assert_array_equal(both.seen, whole.seen)
    assert (both.n_users, both.keys) == (200, ("x", "y"))
    np.testing.assert_array_equal(whole.level_counts, np.bincount(sent.levels))
    with pytest.raises(InputError, match="same mechanism only"):
        _ = whole + count(made(True, None), PersonalisedReports(np.array([0]), np.array([[0, 0]])))


def test_what_cannot_be_counted_or_estimated_is_refused():
    """Each in one line."""
    mechanism = made(True, None)
    for levels, reports, message in (
        ([2], [[0, 0]], "levels must be among the 2 declared"),
        ([0, 1], [[0, 0]], "as many, got 2 and 1"),
        ([0], [[0, 3]], r"numbers in 0\.\.2"),
    ):
        with pytest.raises(InputError, match=message):
            count(mechanism, PersonalisedReports(np.array(levels), np.array(reports)))
    none = count(mechanism, PersonalisedReports(np.zeros(0, int), np.zeros((0, 2), int)))
    with pytest.raises(InputError, match="at least 2 for a standard error"):
        estimate_key_means(none)
    for method in ("joint", "em"):
        with pytest.raises(InputError, match="at least one report"):
            fit_key_values(none, method=method)
    with pytest.raises(InputError, match="counts for each of 2 reports of the level, got 1"):
        PersonalisedPairCounts(mechanism, none.by_level[:1])
