"""What others do with personalised budgets: EMOA as printed and as released, RCF, APLDP, PPDA, PBP."""

# Tests know which kind of mechanism or result they made; the types say only that it may be one of several.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false

import numpy as np
import pytest
from optldp.estimators import CategoryCounts, PersonalisedCounts, auem
from optldp.estimators.frequencies import frequency_decoder
from optldp.estimators.personalised.auem import clipped, invert_supports
from optldp.estimators.personalised.counts import require_pure
from optldp.mechanisms import InputError, PersonalisedMechanism, grr
from optldp.mechanisms.categorical import basic_rappor, categorical_grr, optimised_unary
from optldp.mechanisms.combinators.personalised import PersonalisedReports
from optldp.mechanisms.exactness.make_exact import exact_if_possible as exact
from redone.febsf.emoa import emoa_printed, emoa_released
from redone.febsf.personalised_baselines import apldp_levels, combine_levels, ppda, recycle, split_levels
from scipy.optimize import minimize_scalar

from ..estimators.personalised_cases import PURE, counts_of, drawn_counts, expected_counts, pair_law, personalised

SHARES, FREQUENCIES = np.array([0.7, 0.3]), np.array([0.6, 0.3, 0.1])


@pytest.mark.parametrize("family", PURE)
def test_emoa_is_the_printed_loop_over_the_users(family):
    """Grouped counts give what equations (5), (12), (14) and (15) give user by user."""
    counts = drawn_counts(personalised(family), SHARES, FREQUENCIES, 300, np.random.default_rng(1))
    levels, users = counts.mechanism.levels, np.repeat(np.arange(len(counts.counts)), counts.counts)
    support = np.array([counts_of_support(levels[0], report) for report in counts.reports])[users]
    law = [(0.0, 0.0)] * 2
    for i, level in enumerate(levels):
        rows = level.pmf(level.all_reports())
        supported = np.array([counts_of_support(levels[0], report) for report in level.all_reports()], dtype=bool)
        law[i] = rows[supported[:, 0], 0].sum(), rows[supported[:, 0], 1].sum()
    rho, f = clipped(auem(counts).level_shares.value), clipped(auem(counts).value)
    for _ in range(3):
        new_rho, new_f = np.zeros(2), np.zeros(3)
        for bits in support:
            printed = np.array([[p if bit else q for bit in bits] for p, q in law])  # (t, K), equation (5)
            posterior = rho * (printed @ f)
            posterior /= posterior.sum()
            new_rho += posterior / len(support)
            new_f += printed.T @ posterior / len(support)
        rho, f = new_rho, new_f / new_f.sum()
    found = emoa_printed(counts, max_steps=3, max_gap=0.0)
    assert found.steps == 3
    np.testing.assert_allclose(found.frequencies, f, rtol=1e-10)
    np.testing.assert_allclose(found.shares, rho, rtol=1e-10)


def counts_of_support(first, report):
    """The categories that a report supports, of a table those with its number."""
    if hasattr(first, "support"):
        return np.unpackbits(first.support(np.asarray(report)[None]), axis=1, count=len(first.categories))[0]
    return np.eye(len(first.categories), dtype=int)[report]


def test_emoa_goes_from_the_truth_to_almost_even_frequencies():
    """Started where AUEM is exactly right, one step loses 85% of the differences between frequencies, for good."""
    counts = expected_counts(personalised(categorical_grr, epsilons=(0.5, 1.0)), SHARES, FREQUENCIES)
    np.testing.assert_allclose(auem(counts).value, FREQUENCIES, atol=1e-8)
    for steps in (1, 4, 50):
        found = emoa_printed(counts, max_steps=steps, max_gap=0.0)
        assert found.steps == steps
        assert np.abs(found.frequencies - 1 / 3).sum() < 0.15 * np.abs(FREQUENCIES - 1 / 3).sum()


def test_emoa_stops_where_its_objective_does():
    """A wide gap stops it before the limit; the shares it returns are a distribution."""
    counts = drawn_counts(personalised(basic_rappor), SHARES, FREQUENCIES, 5000, np.random.default_rng(2))
    early, late = emoa_printed(counts, max_steps=500, max_gap=1e-2), emoa_printed(counts, max_steps=500, max_gap=1e-4)
    assert early.steps < late.steps < 500
    assert late.frequencies.sum() == pytest.approx(1.0)
    assert late.shares.sum() == pytest.approx(1.0)
    assert np.isfinite(late.objective)


@pytest.mark.parametrize("family", [basic_rappor, optimised_unary, categorical_grr])
def test_emoa_as_released_maximises_each_bit_by_itself(family):
    """Against scipy's search, bit by bit, over users' ones and zeros with all levels alike."""
    counts = drawn_counts(personalised(family), SHARES, FREQUENCIES, 2000, np.random.default_rng(4))
    own, other = require_pure(counts.mechanism)
    ones = counts.support_counts().sum(axis=0)

    def against(f, j):
        chance = other + f * (own - other)
        return -(ones[j] * np.log(chance) + (2000 - ones[j]) * np.log(1 - chance)).sum()

    fits = [minimize_scalar(against, args=(j,), bounds=(0, 1), options={"xatol": 1e-10}).x for j in range(3)]
    np.testing.assert_allclose(emoa_released(counts), np.array(fits) / sum(fits), atol=1e-6)


def test_emoa_as_released_flattens_frequencies_however_many_report():
    """At even levels and small budgets by mean(a)^2 / mean(a^2), before the sum of the bits is taken out."""
    made = personalised(basic_rappor, epsilons=(0.05, 0.15))
    counts = expected_counts(made, np.array([0.5, 0.5]), FREQUENCIES)
    own, other = require_pure(counts.mechanism)
    factor = np.mean(own - other) ** 2 / np.mean((own - other) ** 2)
    fits = 0.5 + factor * (FREQUENCIES - 0.5)
    assert factor == pytest.approx(0.8, abs=0.01)
    np.testing.assert_allclose(emoa_released(counts), fits / fits.sum(), atol=2e-3)


@pytest.mark.nightly
def test_recycling_is_unbiased_and_wins_nothing():
    """400 collections at two levels: its mean is the truth, its variance that of the weights, no less than without."""
    mechanism, levels, _ = clear_groups(n=600)
    rng, recycled, plain = np.random.default_rng(5), [], []
    for _ in range(400):
        values = rng.choice(list("abc"), levels.size, p=FREQUENCIES)
        groups = split_levels(PersonalisedCounts.from_reports(mechanism, mechanism.sample(values, levels, rng)))
        recycled.append(recycle(groups, rng))
        plain.append(combine_levels(groups).value)
    scatter = np.std(recycled, axis=0, ddof=1)
    assert (np.abs(np.mean(recycled, axis=0) - FREQUENCIES) < 4 * scatter / 20).all()
    assert (scatter > np.std(plain, axis=0, ddof=1) * 0.98).all()


@pytest.mark.nightly
def test_recycling_is_least_in_variance_among_the_levels_own_estimates():
    """Two levels by hand: reports of the larger budget flipped down, and the covariance of what shares them."""
    noise = [frequency_decoder(basic_rappor("abc", e)).noise().mean() for e in (0.5, 1.5)]
    users = np.array([420.0, 180.0])
    total = users.sum()
    covariance = np.array([[noise[0] / total, noise[1] / total], [noise[1] / total, noise[1] / users[1]]])
    weights = np.linalg.solve(covariance, np.ones(2))
    weights /= weights.sum()
    mechanism, levels, _ = clear_groups(n=600)
    levels = np.repeat([0, 1], [420, 180])
    rng, found = np.random.default_rng(6), []
    for _ in range(600):
        values = np.array(["a"] * levels.size)
        groups = split_levels(PersonalisedCounts.from_reports(mechanism, mechanism.sample(values, levels, rng)))
        found.append(recycle(groups, rng)[1])  # of a category that nobody has
    assert np.var(found, ddof=1) == pytest.approx(weights @ covariance @ weights, rel=4 * np.sqrt(2 / 600))


def clear_groups(n=40_000, seed=3):
    mechanism, rng = personalised(basic_rappor, level_epsilon=None), np.random.default_rng(seed)
    values, levels = rng.choice(list("abc"), n, p=FREQUENCIES), rng.choice(2, n, p=SHARES)
    return mechanism, levels, mechanism.sample(values, levels, rng)


def test_levels_in_the_clear_are_split_into_their_own_counts():
    """Each level's counts are those of its users alone."""
    mechanism, levels, sent = clear_groups()
    for i, group in enumerate(split_levels(PersonalisedCounts.from_reports(mechanism, sent))):
        alone = CategoryCounts.from_reports(mechanism.levels[i], sent.reports[levels == i])
        np.testing.assert_array_equal(group.reports, alone.reports)
        np.testing.assert_array_equal(group.counts, alone.counts)


@pytest.mark.nightly
@pytest.mark.parametrize("epsilons", [(0.5, 1.5), (8.0, 9.0)])
def test_combining_levels_is_least_in_variance_and_says_it(epsilons):
    """Its weights are the inverse variances of categories nobody has, and its scatter that of a Monte Carlo."""
    mechanism, rng = personalised(basic_rappor, epsilons, None), np.random.default_rng(4)
    drawn = [drawn_counts(mechanism, SHARES, FREQUENCIES, 20_000, rng) for _ in range(400)]
    estimates = [combine_levels(split_levels(counts)) for counts in drawn]
    found = [estimate.value for estimate in estimates]
    claimed = [estimate.std_error for estimate in estimates]
    spread = np.std(found, axis=0, ddof=1)
    assert (np.abs(np.mean(found, axis=0) - FREQUENCIES) < 4 * spread / 20).all()
    np.testing.assert_allclose(np.mean(claimed, axis=0), spread, rtol=4 / np.sqrt(800))
    groups = split_levels(drawn[0])
    rates = np.array([g.n_users / frequency_decoder(g.mechanism).noise()[0] for g in groups])
    each = np.array([frequency_decoder(g.mechanism).frequencies(g) for g in groups])
    np.testing.assert_allclose(found[0], rates @ each / rates.sum(), rtol=1e-10)
    assert (spread < 1.05 / np.sqrt(rates.sum()) + np.sqrt(FREQUENCIES * (1 - FREQUENCIES) / 20_000)).all()


def test_groups_of_different_protocols_are_combined():
    """APLDP: randomised response for a few users, bits for others, one unbiased average."""
    categories = [f"c{k}" for k in range(6)]
    levels = apldp_levels(categories, (0.1, 4.0))
    assert [level.provenance.method for level in levels] == ["rappor", "grr"]
    rng, truth = np.random.default_rng(5), np.array([0.4, 0.3, 0.1, 0.1, 0.05, 0.05])
    groups = [
        CategoryCounts.from_reports(made, made.sample(rng.choice(categories, 50_000, p=truth), rng)) for made in levels
    ]
    found = combine_levels(groups)
    assert (np.abs(found.value - truth) < 4 * found.std_error).all()
    assert combine_levels([groups[0], groups[1], _none(levels[0])]).n == 100_000


def _none(mechanism):
    return CategoryCounts.from_reports(mechanism, np.zeros((0, 1), dtype=np.uint8))


def test_apldp_takes_the_protocol_of_less_variance():
    """For each budget its choice has the smaller sum of variances, computed from the decoders."""
    for size in (3, 12):
        for epsilon, chosen in zip((0.3, 1.0, 3.0), apldp_levels(range(size), (0.3, 1.0, 3.0)), strict=True):
            of_each = {
                family(range(size), epsilon).provenance.method: frequency_decoder(family(range(size), epsilon))
                .variances(np.full(size, 1 / size))
                .sum()
                for family in (categorical_grr, basic_rappor)
            }
            assert of_each[chosen.provenance.method] == min(of_each.values())


def test_ppda_recovers_frequencies_whatever_the_budgets_are():
    """With ones as expected of users of several budgets, frequencies are exact; in a simulation nearly."""
    labels = [*"abc", *(f"zero {k}" for k in range(20))]
    own, other = (np.array([getattr(basic_rappor(labels, e), name) for e in (0.5, 1.5)])
                  for name in ("own_support", "other_support"))  # fmt: skip
    truth = np.concatenate([FREQUENCIES, np.zeros(20)])
    ones = 1000 * (SHARES @ other + truth * (SHARES @ (own - other)))
    np.testing.assert_allclose(ppda(ones, 1000, 3), FREQUENCIES, rtol=1e-9)
    rng, total = np.random.default_rng(6), np.zeros(23)
    for epsilon, n in ((0.5, 70_000), (1.5, 30_000)):
        made = basic_rappor(labels, epsilon)
        total += made.bits(made.sample(rng.choice(list("abc"), n, p=FREQUENCIES), rng)).sum(axis=0)
    np.testing.assert_allclose(ppda(total, 100_000, 3), FREQUENCIES, atol=0.02)


def test_public_shares_replace_reported_levels():
    """PBP: with the true shares the inversion is exact on average, with others it is off."""
    mechanism = personalised(basic_rappor, epsilons=(0.1, 0.2), level_epsilon=0.1)
    counts = expected_counts(mechanism, SHARES, FREQUENCIES)
    np.testing.assert_allclose(invert_supports(counts, SHARES), FREQUENCIES, atol=1e-6)
    assert np.abs(invert_supports(counts, SHARES[::-1]) - FREQUENCIES).max() > 0.05


def refused():
    numeric = PersonalisedMechanism([exact(grr([0.0, 1.0], e)) for e in (0.5, 1.0)])
    numbers = PersonalisedCounts.from_reports(numeric, PersonalisedReports(np.array([0]), np.array([1.0])))
    protected = counts_of(personalised(basic_rappor), np.ones(16, dtype=int))
    other = CategoryCounts.from_reports(categorical_grr("xyz", 1.0), [0, 1])
    return {
        r"levels must be reported in the clear, got level_epsilon 0.8": lambda: split_levels(protected),
        r"values must be categories": lambda: split_levels(numbers),
        r"at least one report": lambda: combine_levels([_none(basic_rappor("abc", 1.0))]),
        r"groups must be of the same categories": lambda: combine_levels(
            [other, CategoryCounts.from_reports(categorical_grr("abc", 1.0), [0])]
        ),
        r"max_steps must be at least 1": lambda: emoa_printed(protected, max_steps=0),
        r"max_gap not negative": lambda: emoa_printed(protected, max_gap=-1.0),
        r"got 0 users and 5 bits": lambda: ppda([1] * 5, 0, 3),
        r"append zeros": lambda: ppda([1] * 3, 10, 3),
        r"got half: they tell nothing": lambda: ppda([5] * 4, 10, 3),
    }


@pytest.mark.parametrize("message", refused())
def test_what_cannot_be_estimated_is_refused(message):
    """Every fault has a message of its own, of one line."""
    with pytest.raises(InputError, match=message) as caught:
        refused()[message]()
    assert "\n" not in str(caught.value)


def test_pair_laws_are_distributions():
    """The oracle of these tests is itself a law."""
    for family in PURE:
        np.testing.assert_allclose(pair_law(personalised(family)).sum(axis=2), 1.0, atol=1e-12)
