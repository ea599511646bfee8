"""The mean of least error: its bounds by linear programs and enumeration, its interval by how often it covers."""

import math
from dataclasses import replace

import numpy as np
import pytest
from optldp.estimators import ReportCounts, Service, bias_aware_mean, count, estimate_mean
from optldp.estimators.bias_aware.decoders import UNIFORM_SHARE
from optldp.mechanisms import InputError, Provenance, TabulatedMechanism, duchi, laplace, piecewise, square_wave
from optldp.mechanisms.table.knot_prior import KnotPrior
from scipy.optimize import linprog
from scipy.stats import norm

KNOTS = np.linspace(0.0, 80.0, 17)
PRIOR = np.exp(-KNOTS / 6)
TRUST = 2.0
TABLES = {each.__name__: each(KNOTS, 1.0) for each in (piecewise, square_wave, laplace)}


def reference() -> np.ndarray:
    """The prior that is trusted, with its even share."""
    return (1 - UNIFORM_SHARE) * PRIOR / PRIOR.sum() + UNIFORM_SHARE / KNOTS.size


def largest(values: np.ndarray) -> tuple[float, np.ndarray]:
    """The largest expectation within the trust, and its prior, by a linear program."""
    p, shared = PRIOR / PRIOR.sum(), reference()
    box = np.stack([np.minimum(p, shared) / TRUST, np.maximum(p, shared) * TRUST], axis=1)
    found = linprog(
        -values, A_eq=np.ones((1, p.size)), b_eq=[1.0], bounds=box, options={"primal_feasibility_tolerance": 1e-10}
    )
    return -found.fun, found.x


def reports_of(table: TabulatedMechanism, prior: np.ndarray, users: int, rng: np.random.Generator) -> ReportCounts:
    """Counts of the reports of users whose values are knots drawn from a prior."""
    often = rng.multinomial(rng.multinomial(users, prior), table.probabilities).sum(0)
    outputs = np.repeat(np.arange(often.size), often)
    return ReportCounts.from_outputs([Service("one", table)], outputs[:, None])


@pytest.mark.parametrize("name", TABLES)
def test_error_and_bias_are_the_largest_within_the_trust(name):
    table, users = TABLES[name], 5000
    found = bias_aware_mean(reports_of(table, reference(), users, np.random.default_rng(1)), PRIOR, trust=TRUST)
    (part,), P = found.parts, table.probabilities
    b, v = P @ part.values - KNOTS, (P * (part.values - KNOTS[:, None]) ** 2).sum(1)
    bias = max(largest(b)[0], largest(-b)[0])
    assert found.bias_high == -found.bias_low == pytest.approx(bias, rel=1e-5)
    np.testing.assert_allclose(found.means, KNOTS + b, atol=1e-9)
    at_knots = math.sqrt(largest(v)[0] / users + bias**2)
    between = math.sqrt(found.rmse**2 - at_knots**2) * math.sqrt(users)
    assert 0 <= between <= 2.5 * (1 + 1e-9)  # half the distance between knots, where the bias is flat or falls
    assert found.lower_bound == pytest.approx(at_knots, rel=2e-5)
    assert found.lower_bound is not None
    assert found.lower_bound <= at_knots
    assert found.rmse < 0.85 * found.rmse_before


def test_before_is_the_plain_average():
    table = TABLES["piecewise"]
    counts = reports_of(table, reference(), 5000, np.random.default_rng(2))
    (part,) = bias_aware_mean(counts, PRIOR, trust=TRUST).parts
    assert counts.reports_of(0) @ part.before / 5000 == pytest.approx(estimate_mean(counts).value, rel=1e-9)


def test_the_value_is_the_average_of_what_reports_count_as_and_the_error_their_scatter():
    table = TABLES["laplace"]
    counts = reports_of(table, reference(), 400, np.random.default_rng(3))
    found = bias_aware_mean(counts, PRIOR, trust=TRUST)
    listed = np.repeat(found.parts[0].values, counts.reports_of(0))
    assert (found.value, found.n) == (pytest.approx(listed.mean()), 400)
    assert found.std_error == pytest.approx(listed.std(ddof=1) / 20)
    assert found.one_report == pytest.approx(np.ptp(found.parts[0].values) / 400)


def test_the_interval_has_the_quantile_of_the_folded_normal_and_says_what_is_noise():
    counts = reports_of(TABLES["piecewise"], reference(), 5000, np.random.default_rng(4))
    found = bias_aware_mean(counts, PRIOR, trust=TRUST)
    for confidence in (0.5, 0.95, 0.999):
        ends, ratio = found.interval(confidence), found.bias_high / found.std_error
        c = (ends.high - found.value) / found.std_error
        assert norm.cdf(c - ratio) - norm.cdf(-c - ratio) == pytest.approx(confidence, abs=1e-12)
        assert ends.high - found.value == pytest.approx(found.value - ends.low)
        noise, trust = found.reaches(confidence)
        assert noise == pytest.approx(norm.ppf(0.5 + confidence / 2) * found.std_error)
        assert noise + trust == pytest.approx(ends.high - found.value)
        assert 0 < trust < found.bias_high


@pytest.mark.parametrize("target", ["population", "users"])
@pytest.mark.parametrize("name", TABLES)
def test_it_covers_for_the_prior_of_worst_bias(name, target):
    """500 collections of 2,000 users whose prior is as far off as is trusted; the quick case of the slow one below."""
    table, users = TABLES[name], 2000
    rng = np.random.default_rng(5)
    made = bias_aware_mean(reports_of(table, reference(), users, rng), PRIOR, trust=TRUST, target=target)
    values, covered = made.parts[0].values, 0
    b = table.probabilities @ values - KNOTS
    for sign in (1, -1):
        _, prior = largest(sign * b)
        assert abs(prior @ b) == pytest.approx(made.bias_high, rel=1e-5)
        for _ in range(250):
            people = rng.multinomial(users, prior / prior.sum())
            seen = rng.multinomial(people, table.probabilities).sum(0)
            mean = seen @ values / users
            error = made.std_error if target == "users" else math.sqrt(seen @ (values - mean) ** 2) / users
            ends = replace(made, value=mean, std_error=error).interval()
            truth = prior @ KNOTS if target == "population" else people @ KNOTS / users
            covered += ends.low <= truth <= ends.high
    assert covered / 500 > 0.94 - 2 * math.sqrt(0.05 * 0.95 / 500)


def test_users_have_the_largest_noise_within_the_trust_and_populations_the_scatter():
    counts = reports_of(TABLES["piecewise"], reference(), 5000, np.random.default_rng(6))
    users, population = (bias_aware_mean(counts, PRIOR, trust=TRUST, target=t) for t in ("users", "population"))
    assert users.std_error == pytest.approx(math.sqrt(users.rmse**2 - users.bias_high**2))
    assert (users.value, users.target) == (population.value, "users")
    # Drawn from the prior itself, whose noise is less than that of the worst.
    assert 0.7 * users.std_error < population.std_error < users.std_error


def test_values_between_knots_err_by_no_more_than_is_promised():
    """All at the middle between two knots, by enumeration of the reports."""
    table = piecewise([0.0, 50.0, 100.0], 2.0)
    found = bias_aware_mean(
        reports_of(table, np.array([0.5, 0.25, 0.25]), 100, np.random.default_rng(7)), [0.5, 0.4, 0.1], trust=1.5
    )
    values = found.parts[0].values
    p = (1 - UNIFORM_SHARE) * np.array([0.5, 0.4, 0.1]) + UNIFORM_SHARE / 3
    # Some users between 0 and 50, the others between 50 and 100, such that knots' weights are within the trust.
    for share in (0.75, 0.8, 0.85):
        x = np.array([25.0, 75.0])
        weights = np.array([share / 2, 0.5, (1 - share) / 2])
        assert ((p / 1.5 <= weights) & (weights <= 1.5 * p)).all()
        law = np.array([share, 1 - share]) @ table.pmf(x)
        square = np.array([share, 1 - share]) @ (table.pmf(x) * (values - x[:, None]) ** 2).sum(1)
        bias = law @ values - np.array([share, 1 - share]) @ x
        assert math.sqrt((square - bias**2) / 100 + bias**2) <= found.rmse


def test_units_and_origin_do_not_matter():
    rng = np.random.default_rng(8)
    counts = reports_of(TABLES["piecewise"], reference(), 3000, rng)
    moved = piecewise(1000 + 3 * KNOTS, 1.0)
    outputs = np.repeat(np.arange(moved.low.size), counts.reports_of(0))
    other = ReportCounts.from_outputs([Service("one", moved)], outputs[:, None])
    one, two = (bias_aware_mean(each, PRIOR, trust=TRUST) for each in (counts, other))
    assert two.value == pytest.approx(1000 + 3 * one.value, rel=1e-6)
    assert (two.rmse, two.std_error) == (
        pytest.approx(3 * one.rmse, rel=1e-6),
        pytest.approx(3 * one.std_error, rel=1e-4),
    )


def test_more_trust_and_more_users_err_less():
    table, rng = TABLES["piecewise"], np.random.default_rng(9)
    counts = reports_of(table, reference(), 3000, rng)
    errors = [bias_aware_mean(counts, PRIOR, trust=trust).rmse for trust in (1.0, 1.2, 2.0, 5.0, 100.0)]
    assert errors == sorted(errors)
    assert bias_aware_mean(counts + counts, PRIOR, trust=TRUST).rmse < errors[2]


def test_many_users_leave_the_unbiased_mean():
    counts = reports_of(TABLES["piecewise"], reference(), 10**6, np.random.default_rng(10))
    many = ReportCounts(counts.services, tuple(replace(group, counts=group.counts * 10**6) for group in counts.groups))
    found = bias_aware_mean(many, PRIOR, trust=3.0)
    assert found.rmse == pytest.approx(found.rmse_before, rel=0.05)
    np.testing.assert_allclose(found.means, KNOTS, atol=0.02)


def test_the_prior_is_the_tables_own_and_the_trust_that_of_its_design():
    own = KnotPrior(PRIOR / PRIOR.sum(), np.zeros(KNOTS.size - 1), "public")
    table = replace(
        TABLES["piecewise"],
        prior=own,
        provenance=Provenance(
            "mine", parameters={"unbiased": False, "n": 100, "trust": 1.5, "uniform_share": UNIFORM_SHARE}
        ),
    )
    counts = reports_of(table, reference(), 100, np.random.default_rng(11))
    found = bias_aware_mean(counts)
    assert (found.trust, found.rmse_designed) == (1.5, None)
    same = bias_aware_mean(counts, 7 * PRIOR, trust=1.5)
    assert found.value == pytest.approx(same.value, rel=1e-12)
    plain = reports_of(replace(table, provenance=Provenance("mine")), reference(), 100, np.random.default_rng(11))
    assert bias_aware_mean(plain).trust == 3.0


def test_no_claim_of_a_file_makes_an_interval_narrower():
    """Certificates and bias bounds in a file are not read."""
    table = TABLES["piecewise"]
    claims = Provenance(
        "error",
        parameters={"unbiased": False, "n": 5000, "trust": 2.0, "bias_bound": 0.0, "uniform_share": 0.5},
        certificate={"rmse": 1e-9},
    )
    honest, claimed = (
        bias_aware_mean(reports_of(each, reference(), 5000, np.random.default_rng(12)), PRIOR, trust=TRUST)
        for each in (table, replace(table, provenance=claims))
    )
    assert claimed.to_dict() == honest.to_dict()


@pytest.mark.parametrize(
    ("prior", "options", "says"),
    [
        (None, {}, "needs a prior, and no table carries one"),
        ([1.0, 2.0], {}, "prior must be 17 non-negative numbers"),
        (-PRIOR, {}, "prior must be 17 non-negative numbers"),
        (PRIOR * math.nan, {}, "prior must be 17 non-negative numbers"),
        (PRIOR, {"trust": 0.9}, "trust is the factor by which a prior may be off, at least 1, got 0.9"),
        (PRIOR, {"trust": math.inf}, "at least 1, got inf"),
        (PRIOR, {"trust": math.nan}, "at least 1, got nan"),
        (PRIOR, {"target": "me"}, "target must be one of users, population"),
    ],
)
def test_what_cannot_be_trusted_is_refused(prior, options, says):
    counts = reports_of(TABLES["piecewise"], reference(), 100, np.random.default_rng(13))
    with pytest.raises(InputError, match=says):
        bias_aware_mean(counts, prior, **options)


def test_one_user_is_too_few_and_counts_of_others_are_refused():
    table = TABLES["piecewise"]
    with pytest.raises(InputError, match="users must be at least 2"):
        bias_aware_mean(ReportCounts.from_outputs([Service("one", table)], [[0]]), PRIOR)
    with pytest.raises(InputError, match=r"needs counts of numbers, count\(table, reports\), got ndarray"):
        bias_aware_mean(np.zeros(3), PRIOR)  # pyright: ignore[reportArgumentType] -- refused


def test_a_file_of_reports_and_an_array_tell_the_same():
    """Whether the places within outputs are known or not."""
    table, rng = TABLES["laplace"], np.random.default_rng(14)
    reports = table.sample(rng.exponential(6, 500).clip(0, 80), rng)
    kept = count(table, reports)
    assert kept.numbers is not None
    dropped = replace(kept, numbers=None)
    assert bias_aware_mean(kept, PRIOR).to_dict() == bias_aware_mean(dropped, PRIOR).to_dict()


def test_two_values_alone_have_a_decoder_too():
    counts = reports_of(duchi([0.0, 1.0], 1.0), np.array([0.9, 0.1]), 50, np.random.default_rng(15))
    found = bias_aware_mean(counts, [0.9, 0.1], trust=2.0)
    assert found.rmse < found.rmse_before


@pytest.mark.slow
def test_a_trust_that_reports_refute_is_told_with_the_interval_without_it():
    """Where it holds the interval is at most 1.25 times the shortest possible."""
    table, rng = TABLES["piecewise"], np.random.default_rng(17)
    held, off = (
        bias_aware_mean(reports_of(table, truth, 20_000, rng), PRIOR, trust=TRUST)
        for truth in (reference(), np.full(KNOTS.size, 1 / KNOTS.size))
    )
    shortest = held.shortest_possible
    assert shortest is not None
    assert 0.97 * shortest < held.high - held.low < 1.25 * shortest
    assert held.to_dict()["assumption_p_value"] > 0.01
    told = off.to_dict()
    assert (told["assumed"], told["interval"]) == ("trust=2", "bias-aware")
    assert told["assumption_p_value"] < 0.01
    assert off.high < told["without_assumption"][0] < 40.0 < told["without_assumption"][1]
