"""Objectives of one's own, against the structured solvers, scipy's HiGHS and closed forms."""

import math
import time
from dataclasses import replace
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from optldp.designer import (
    CategoricalPrior,
    Custom,
    Frequencies,
    Guarantee,
    Prior,
    TotalVariationAmbiguity,
    TradeOff,
    Variance,
    WorstCase,
    design,
)
from optldp.designer.designs.judging import problem_for
from optldp.designer.objectives import Loss
from optldp.mechanisms import (
    InputError,
    Metric,
    Sampler,
    SolverError,
    load_mechanism,
    load_table,
    save_bundle,
    save_table,
    verify,
)
from optldp.mechanisms.integers.exponential import exponential_below
from optldp.mechanisms.promise import Blocks, ByValue, Ratios, Sensitive
from scipy.optimize import linprog

KNOTS = np.linspace(0.0, 10.0, 6)
PRIOR = Prior.on_knots(KNOTS, [1, 4, 3, 1, 1, 2], source="public", units="h")
ON_KNOTS = np.linspace(0.0, 10.0, 6)


def variances(P, y, prior):
    return cp.sum(cp.multiply((y - prior.knots[:, None]) ** 2, P), axis=1)


def expected(P, y, prior):
    return prior.weights @ variances(P, y, prior)


def worst(P, y, prior):
    return cp.max(variances(P, y, prior))


def trade_off(P, y, prior):
    return 0.3 * expected(P, y, prior) + 0.7 * worst(P, y, prior)


def guaranteed(P, y, prior):
    """The largest expected variance over all priors within a total variation of 0.1."""
    other = cp.Variable(prior.knots.size)
    near = [other >= 0, cp.sum(other) == 1, cp.norm1(other - prior.weights) <= 0.2]
    return cp.suppfunc(other, near)(variances(P, y, prior))


def absolute(P, y, prior):
    return prior.weights @ cp.sum(cp.multiply(np.abs(y - prior.knots[:, None]), P), axis=1)


def bias(P, y, prior):
    return cp.max(cp.abs(P @ y - prior.knots))


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize(
    ("expression", "objective"),
    [
        (expected, Variance()),
        (worst, WorstCase()),
        (trade_off, TradeOff(0.7)),
        (guaranteed, Guarantee(TotalVariationAmbiguity(0.1))),
    ],
    ids=["variance", "worst case", "trade-off", "guarantee"],
)
def test_on_the_outputs_of_a_structured_optimum_it_is_that_optimum(expression, objective, epsilon):
    """No table on these outputs has less, since none at all has; and the structured one is such a table."""
    best = design(PRIOR, epsilon, objective=objective, uniform_share=0)
    outputs = best.mechanism.low
    made = design(PRIOR, epsilon, objective=Custom(expression, unbiased=True), outputs=outputs)
    assert made.gap < 1e-5
    assert made.status == "optimal"
    assert made.value == pytest.approx(best.value, rel=2e-5)
    assert best.bound * (1 - 1e-9) <= made.value
    assert made.bound <= best.value * (1 + 1e-9)
    assert made.max_abs_bias < 1e-9


def brute_force(costs, epsilon, equal=()):
    """Least cost . P over private tables, all n (n - 1) m ratios one by one, by scipy's HiGHS."""
    n, m = costs.shape
    rows = np.kron(np.eye(n), np.ones(m))
    ratios = np.zeros((n * (n - 1) * m, n * m))
    pairs = [(i, j, k) for i in range(n) for j in range(n) if i != j for k in range(m)]
    for row, (i, j, k) in enumerate(pairs):
        ratios[row, i * m + k], ratios[row, j * m + k] = 1, -math.exp(epsilon)
    rows, right = np.vstack([rows, *(row for row, _ in equal)]), np.r_[np.ones(n), *(value for _, value in equal)]
    found = linprog(costs.ravel(), A_ub=ratios, b_ub=np.zeros(len(pairs)), A_eq=rows, b_eq=right, bounds=(0, 1))
    assert found.status == 0
    return found.fun


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 8.0])
@pytest.mark.parametrize("outputs", [ON_KNOTS, [1.0, 3.0, 8.5], np.linspace(-5, 15, 9)], ids=len)
def test_the_mean_absolute_error_of_few_biased_outputs_is_that_of_a_linear_program_written_out(outputs, epsilon):
    made = design(PRIOR, epsilon, objective=Custom(absolute), outputs=outputs)
    least = brute_force(PRIOR.weights[:, None] * np.abs(np.asarray(outputs) - KNOTS[:, None]), epsilon)
    assert made.gap < 1e-5
    assert made.bound <= least * (1 + 1e-9)
    assert made.value == pytest.approx(least, rel=1e-5)
    assert made.verification is not None
    assert made.verification.verdict == "proved"
    assert set(made.mechanism.low) <= set(np.asarray(outputs, dtype=float))


def test_unbiased_reports_on_a_grid_are_those_of_a_linear_program_written_out():
    outputs = np.linspace(-12, 22, 18)
    made = design(PRIOR, 1.0, objective=Custom(expected, unbiased=True), outputs=outputs)
    means = np.kron(np.eye(6), outputs)
    least = brute_force(PRIOR.weights[:, None] * (outputs - KNOTS[:, None]) ** 2, 1.0, [(means, KNOTS)])
    assert made.value == pytest.approx(least, rel=1e-6)
    assert made.bound == pytest.approx(least, rel=1e-6)


def test_the_most_that_is_told_at_the_least_probable_value_is_randomised_response():
    """max min_i P(i | i) has a closed form, E / (E + n - 1)."""
    right = Custom(lambda P, y, prior: cp.min(cp.diag(P)), maximise=True, name="least chance of the truth")
    made = design(PRIOR, 1.5, objective=right, outputs=ON_KNOTS)
    truth = math.exp(1.5) / (math.exp(1.5) + 5)
    assert made.value == pytest.approx(truth, rel=1e-6)
    assert made.value <= truth * (1 + 1e-12) <= made.bound * (1 + 1e-11)
    assert made.mechanism.probabilities == pytest.approx(
        (truth - (1 - truth) / 5) * np.eye(6) + (1 - truth) / 5, abs=1e-6
    )
    assert "no mechanism on these outputs has more than" in made.summary()


@pytest.mark.nightly
@pytest.mark.parametrize("squared", [True, False])
def test_quadratic_numbers_and_logarithms_are_what_a_search_over_randomised_response_finds(squared):
    """On two values and outputs tables have two numbers, which can be searched."""
    prior, p, E = Prior.on_knots([0, 1], [1, 3], source="public"), np.array([0.25, 0.75]), math.e

    def number(P, y, prior):
        error = P @ y - prior.knots
        return cp.sum_squares(error) if squared else -prior.weights @ cp.log(cp.diag(P))

    a, b = np.meshgrid(np.linspace(0, 1, 2001), np.linspace(0, 1, 2001))  # P(0 | 0) and P(1 | 1)
    private = (a <= E * (1 - b)) & (b <= E * (1 - a)) & (1 - b <= E * a) & (1 - a <= E * b)
    with np.errstate(divide="ignore"):
        values = (1 - a) ** 2 + (1 - b) ** 2 if squared else -p[0] * np.log(a) - p[1] * np.log(b)
    made = design(prior, 1.0, objective=Custom(number), outputs=[0, 1])
    least = values[private].min()
    assert made.gap < 1e-5
    assert made.bound <= least
    assert made.value == pytest.approx(least, rel=2e-3)


def test_constraints_of_ones_own_bind_and_their_breach_is_stated():
    free = design(PRIOR, 1.0, objective=Custom(absolute), outputs=ON_KNOTS)
    held = Custom(absolute, constraints=lambda P, y, prior: [bias(P, y, prior) <= 4.0, P[:, 0] == 0])
    made = design(PRIOR, 1.0, objective=held, outputs=ON_KNOTS)
    moved = np.abs(made.mechanism.probabilities @ made.mechanism.low - KNOTS).max()
    assert np.abs(free.mechanism.probabilities @ free.mechanism.low - KNOTS).max() > 4.1
    assert moved == pytest.approx(4.0, abs=1e-6)
    assert made.evidence.violation == pytest.approx(max(0.0, moved - 4.0), abs=1e-12)
    assert 0.0 not in made.mechanism.low
    assert made.value > free.value * 1.001
    assert made.gap < 1e-5


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_other_units_change_nothing_but_the_units(factor):
    here = design(PRIOR, 1.0, objective=Custom(worst, unbiased=True), outputs=np.linspace(-15, 25, 21))
    scaled = Prior.on_knots(factor * KNOTS, PRIOR.weights, source="public")
    there = design(scaled, 1.0, objective=Custom(worst, unbiased=True), outputs=factor * np.linspace(-15, 25, 21))
    assert there.gap < 1e-5
    assert there.value == pytest.approx(factor**2 * here.value, rel=1e-6)


def test_outputs_far_beyond_what_is_needed_cost_no_digits():
    """The number is small beside its size where reports are spread out: it is solved again in its own size."""
    wide = np.r_[-1e3, np.linspace(-15, 25, 21), 1e3]
    near = design(PRIOR, 1.0, objective=Custom(expected, unbiased=True), outputs=wide[1:-1])
    made = design(PRIOR, 1.0, objective=Custom(expected, unbiased=True), outputs=wide)
    assert made.gap < 1e-4
    assert near.bound * (1 - 1e-4) <= made.value <= near.value * (1 + 1e-4)


def test_a_number_whose_least_is_nothing_has_no_relative_gap_but_a_bound_near_it():
    """Unbiased reports of any law: the certificate says so, and the file leaves the gap out."""
    for number in (lambda P, y, prior: cp.norm(P @ y - prior.knots), lambda P, y, prior: 0.0):
        made = design(PRIOR, 1.0, objective=Custom(number), outputs=np.linspace(-15, 25, 9))
        assert 0 <= made.value < 1e-8
        assert -1e-8 < made.bound <= made.value
        assert made.status == "gap-open"
        assert verify(made.mechanism).verdict == "proved"


def test_a_number_far_below_the_size_that_was_guessed_has_no_false_bound():
    """Of 2e19 where reports are spread out and 7e4 at best: a bound may say nothing there, but nothing wrong."""
    costs = np.array([[44.50092913003146, -6.642417743684871], [-35.29814960790879, 33.87472599484324]])
    own = Custom(lambda P, y: cp.sum(cp.exp(cp.sum(cp.multiply(costs, P), axis=1))))
    made = design(CategoricalPrior(["a", "b"], [0.1, 0.9]), 0.023232529976274376, objective=own, outputs=2)
    assert made.bound <= made.value
    assert made.status == "gap-open"


class TestItsCertificate:
    """For a linear, a quadratic and an exponential number, least or most."""

    @pytest.fixture(params=["linear", "norm", "entropy"])
    def made(self, request):
        objective = {
            "linear": Custom(worst, unbiased=True),
            "norm": Custom(lambda P, y, prior: cp.norm(P @ y - prior.knots)),
            "entropy": Custom(lambda P, y, prior: cp.sum(cp.entr(P)) - absolute(P, y, prior), maximise=True),
        }[request.param]
        return design(
            PRIOR, 1.0, objective=objective, outputs=np.linspace(-15, 25, 9) if objective.unbiased else ON_KNOTS
        )

    def test_it_is_proved_again_from_table_and_multipliers(self, made):
        found = made.certificate.check()
        assert (found.value, found.bound, found.gap) == (made.value, made.bound, made.gap)
        assert found.verification == made.verification
        assert found.verification.verdict == "proved"
        assert found.gap < 1e-5

    @pytest.mark.slow
    def test_forged_multipliers_prove_no_more(self, made):
        kept, rng = made.certificate.multipliers, np.random.default_rng(1)
        sign = -1 if made.objective.more_is_better else 1
        dual, size = kept["dual"], kept["size"]
        forged = [{"dual": factor * dual, "size": size} for factor in (-1, 0, 0.9, 1.01, 100)]
        forged += [{"dual": dual, "size": factor * size} for factor in (0.5, 1.01, 1e3)]
        forged += [{"dual": dual + scale * rng.normal(size=dual.size), "size": size} for scale in (1e-6, 1e-2, 1.0)]
        for multipliers in forged:
            found = replace(made.certificate, multipliers=multipliers).check()
            assert sign * found.bound <= sign * made.value
            assert sign * found.bound <= sign * made.bound + 1e-5 * abs(made.value)

    def test_multipliers_of_another_program_are_refused(self, made):
        kept = made.certificate.multipliers
        with pytest.raises(InputError, match="finite numbers, got 3 of another problem"):
            replace(made.certificate, multipliers={**kept, "dual": np.ones(3)}).check()
        for size in (0.0, -1.0, math.nan, math.inf):
            with pytest.raises(InputError, match="size among the multipliers must be positive"):
                replace(made.certificate, multipliers={**kept, "size": np.array(size)}).check()


def test_the_table_is_saved_verified_loaded_and_drawn_from_like_any_other(tmp_path):
    made = design(PRIOR, 1.0, objective=Custom(absolute, name="mean absolute error"), outputs=ON_KNOTS)
    save_table(made.mechanism, tmp_path / "own.json")
    loaded = load_table(tmp_path / "own.json")
    assert verify(loaded).verdict == "proved"
    assert loaded.provenance.parameters["objective"] == "mean absolute error"
    assert dict(loaded.provenance.certificate or {})["bound"] == made.bound
    assert Sampler(loaded).sample(3.0) in ON_KNOTS
    reports = loaded.sample(np.full(20_000, 4.0), np.random.default_rng(2))
    assert np.abs(reports - 4).mean() == pytest.approx(loaded.probabilities[2] @ np.abs(loaded.low - 4), abs=0.1)


def test_another_prior_judges_it_too():
    made = design(PRIOR, 1.0, objective=Custom(absolute), outputs=ON_KNOTS)
    other = Prior.even(KNOTS)
    table = made.mechanism
    assert made.against(other) == pytest.approx(
        np.mean(np.sum(table.probabilities * np.abs(table.low - KNOTS[:, None]), 1))
    )


def test_a_function_of_table_and_outputs_alone_knows_no_other_prior():
    knots, weights = PRIOR.knots, PRIOR.weights
    own = Custom(lambda P, y: weights @ cp.sum(cp.multiply(np.abs(y - knots[:, None]), P), axis=1))
    told = design(PRIOR, 1.0, objective=Custom(absolute), outputs=ON_KNOTS)
    made = design(PRIOR, 1.0, objective=own, outputs=ON_KNOTS)
    assert made.value == told.value
    assert made.against(Prior.even(KNOTS)) == made.value != told.against(Prior.even(KNOTS))


@pytest.mark.slow
@pytest.mark.parametrize(
    "promise",
    [
        Metric(0.3),
        Metric(0.4, period=15),
        Blocks([0, 0, 1, 1, 2, 2], 0.5, 2.0),
        ByValue(np.linspace(0.5, 3, 6)),
        ByValue(np.linspace(0.5, 3, 6), "min"),
        Sensitive(1.0, [True] * 2 + [False] * 4),
        Ratios(np.abs(KNOTS[:, None] - KNOTS) / 4),
    ],
    ids=str,
)
def test_promises_of_pairs_have_the_numbers_of_the_loss_and_are_proved(promise):
    """A linear number against the channel program; the 2-norm of the losses is at least their mean, by root n."""
    made = design(PRIOR, promise, objective=Custom(absolute), outputs=ON_KNOTS)
    loss = design(PRIOR, promise, objective=Loss("absolute"), outputs=ON_KNOTS)
    assert max(made.bound, loss.bound) <= min(made.value, loss.value)
    assert made.gap < 1e-6
    assert made.mechanism.promise == promise
    assert verify(made.mechanism).verdict == "proved"
    far = np.abs(ON_KNOTS - KNOTS[:, None])
    even, mean = Prior.even(KNOTS), Loss("absolute")
    two = design(even, promise, objective=Custom(lambda P: cp.norm(cp.sum(cp.multiply(far, P), axis=1))), outputs=KNOTS)
    assert two.gap < 1e-6
    assert two.certificate.check().bound == two.bound
    assert two.value >= design(even, promise, objective=mean, outputs=KNOTS).bound * math.sqrt(6)


def test_unbiased_reports_under_a_promise_of_pairs_are_those_of_the_variance():
    wide, promise = np.linspace(-15, 25, 21), Metric(0.4)
    made = design(PRIOR, promise, objective=Custom(expected, unbiased=True), outputs=wide)
    known = design(PRIOR, promise, outputs=wide, uniform_share=0)
    assert max(made.bound, known.bound) <= min(made.value, known.value)
    assert made.gap < 1e-6
    assert verify(made.mechanism).max_abs_bias < 1e-9


def test_the_two_norm_of_21_absolute_losses_takes_no_time():
    """1.11516167 in a prototype on Clarabel alone, at epsilon 1 and 41 outputs."""
    x, y = np.linspace(0, 1, 21), np.linspace(0, 1, 41)
    far = np.abs(y - x[:, None])
    started = time.process_time()
    two = Custom(lambda P: cp.norm(cp.sum(cp.multiply(far, P), axis=1)))
    made = design(Prior.even(x), 1.0, objective=two, outputs=y)
    assert time.process_time() - started < 5
    assert made.bound <= 1.11516167 <= made.value * (1 + 1e-7)
    assert made.gap < 1e-7


@pytest.mark.slow
def test_constraints_may_come_with_the_number():
    def both(P, y, prior):
        return absolute(P, y, prior), [bias(P, y, prior) <= 4.0]

    apart = Custom(absolute, constraints=lambda P, y, prior: [bias(P, y, prior) <= 4.0])
    one, other = (design(PRIOR, 1.0, objective=each, outputs=ON_KNOTS) for each in (Custom(both), apart))
    assert one.value == other.value
    assert one.evidence.violation == other.evidence.violation


def truths(P, y, prior):
    """The chance that a report is the number of the category, less what is lost to others where there are fewer."""
    return prior.weights[: y.size] @ cp.diag(P[: y.size])


class TestCategories:
    """Reports are numbers of outputs, as many as asked for."""

    PRIOR = CategoricalPrior(["a", "b", "c", "d"], [5, 3, 1, 1])

    @pytest.mark.parametrize("outputs", [2, 4, 7])
    @pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
    def test_a_linear_cost_is_that_of_a_linear_program_written_out(self, outputs, epsilon):
        costs = np.random.default_rng(outputs).random((4, outputs))
        cost = Custom(lambda P, y, prior: prior.weights @ cp.sum(cp.multiply(costs, P), axis=1))
        made = design(self.PRIOR, epsilon, objective=cost, outputs=outputs)
        least = brute_force(self.PRIOR.weights[:, None] * costs, epsilon)
        assert made.value == pytest.approx(least, rel=1e-5)
        assert least * (1 - 1e-5) <= made.bound <= least * (1 + 1e-9)
        assert made.mechanism.probabilities.shape == (4, outputs)
        assert made.status == "optimal"

    def test_the_largest_chance_of_the_truth_is_randomised_response(self):
        """Kairouz, Oh and Viswanath (2016): for a uniform prior no mechanism tells the category more often."""
        even = CategoricalPrior(["a", "b", "c", "d"], np.ones(4))
        made = design(even, 1.2, objective=Custom(truths, maximise=True), outputs=4)
        assert made.value == pytest.approx(math.exp(1.2) / (math.exp(1.2) + 3), rel=1e-6)
        assert made.bound >= made.value
        assert made.against(self.PRIOR) == pytest.approx(self.PRIOR.weights @ np.diag(made.mechanism.probabilities))
        for other in (CategoricalPrior(["a", "b", "d", "c"], np.ones(4)), CATEGORIES, PRIOR):
            with pytest.raises(InputError, match=r"must be (of the mechanism's categories|a CategoricalPrior)"):
                made.against(other)

    def test_its_table_is_exact_and_collected_like_any_other(self, tmp_path):
        made = design(self.PRIOR, 1.0, objective=Custom(truths, maximise=True), outputs=4)
        assert (made.mechanism.numerators.sum(axis=1) == 2**53).all()
        assert made.mechanism.failures() == ()
        assert made.mechanism.largest_ratio <= exponential_below(Fraction(1))
        save_bundle(made.mechanism, tmp_path / "own.json")
        loaded: Any = load_mechanism(tmp_path / "own.json")
        assert loaded.provenance.method == "custom"
        rng = np.random.default_rng(3)
        reports = loaded.sample(rng.choice(["a", "b", "c", "d"], 40_000, p=self.PRIOR.weights), rng)
        shares = np.bincount(reports, minlength=4) / reports.size
        assert shares == pytest.approx(self.PRIOR.weights @ loaded.probabilities, abs=0.015)
        found = made.certificate.check()
        assert (found.value, found.bound) == (made.value, made.bound)

    def test_outputs_that_are_never_reported_keep_their_numbers(self):
        """All who report the first or the last say the truth as often; what is between costs, and has no report."""
        cost = Custom(lambda P, y: 1 + 2 * cp.sum(P[:, 1:-1]) - P[0, 0] - P[3, -1])
        made = design(self.PRIOR, 1.0, objective=cost, outputs=5)
        assert (made.mechanism.probabilities.max(axis=0) > 0).tolist() == [True, False, False, False, True]
        assert made.value == pytest.approx(1 - 2 * math.e / (math.e + 1), rel=1e-5)


UNKNOWN = cp.Variable(name="stray")
CATEGORIES = CategoricalPrior(["a", "b"], [1, 2])


@pytest.mark.parametrize(
    ("prior", "objective", "outputs", "says"),
    [
        (PRIOR, Custom(absolute), None, r"needs the reports that there may be: add outputs=\[...\]"),
        (PRIOR, Variance(), ON_KNOTS, "add outputs farther out, or allow bias"),
        (PRIOR, Custom(absolute), [3, 1], "outputs must be strictly increasing, got .*3.0.* before .*1.0"),
        (PRIOR, Custom(absolute), [1], "outputs must be at least 2, got 1"),
        (PRIOR, Custom(absolute), ["a", "b"], "outputs must be numbers"),
        (
            PRIOR,
            Custom(expected, unbiased=True),
            ON_KNOTS,
            "must reach beyond -5.81977 and 15.8198 to be private, got .* 0",
        ),
        (PRIOR, Custom(lambda P, y, prior: P @ y), ON_KNOTS, r"a scalar that is convex .* got one of shape \(6,\)"),
        (PRIOR, Custom(lambda P, y, prior: cp.sqrt(cp.sum(P[0]))), ON_KNOTS, "that is concave: pass maximise=True"),
        (PRIOR, Custom(lambda P, y, prior: P[0, 0] * P[0, 1]), ON_KNOTS, r"rules \(DCP\), .* unknown: build it of"),
        (PRIOR, Custom(worst, maximise=True), ON_KNOTS, "a scalar that is concave by .* that is convex: build it of"),
        (PRIOR, Custom(lambda P, y, prior: cp.sum(P) + UNKNOWN), ON_KNOTS, r"of the table P alone, got .*\(stray\)"),
        (
            PRIOR,
            Custom(absolute, constraints=lambda P, y, prior: [cp.norm(P) >= 1]),
            ON_KNOTS,
            "constraints must be cvxpy's, each convex",
        ),
        (PRIOR, Custom(absolute, constraints=lambda P, y, prior: [True]), ON_KNOTS, "constraints must be cvxpy's"),
        (PRIOR, Custom(lambda P, y, prior: cp.sigma_max(P)), ON_KNOTS, "linear, quadratic and exponential cones alone"),
        (PRIOR, Custom(lambda: cp.sum(1)), ON_KNOTS, r"functions of P, \(P, y\) or \(P, y, prior\), .* takes 0 pos"),
        (
            PRIOR,
            Custom(lambda P, y: cp.sum(P @ y[1:])),
            ON_KNOTS,
            r"shape \(6, 6\) and y of \(6,\), .* dimensions",
        ),
        (PRIOR, Custom(absolute, constraints=lambda P, y: P @ y <= 3 * y), ON_KNOTS, "got an error: .* not iterable"),
        (PRIOR, Custom(lambda P, y: "much"), ON_KNOTS, "got an error: .*string"),
        (PRIOR, Custom(lambda P, y: None), ON_KNOTS, "got an error: nothing is returned"),
        (PRIOR, Custom(lambda P, y: P[0, 6]), ON_KNOTS, "got an error: Index 6 is out of bounds"),
        (PRIOR, Custom(lambda P, y: np.nan * cp.sum(P)), ON_KNOTS, "must be one of finite numbers, got NaN"),
        (PRIOR, Custom(absolute), 4, r"outputs must be a non-empty one-dimensional array, got shape \(\)"),
        (CATEGORIES, Custom(truths), None, r"needs the reports that there may be: add outputs=\[...\]"),
        (CATEGORIES, Custom(truths), [0, 1], r"outputs for categories must be a whole number .* got \[0, 1\]"),
        (CATEGORIES, Custom(truths), 1, "outputs for categories must be a whole number of at least 2, got 1"),
        (CATEGORIES, Custom(truths), True, "outputs for categories must be a whole number of at least 2, got True"),
        (CATEGORIES, Custom(truths, unbiased=True), 2, "only numbers have means to be unbiased, got categories"),
        (CATEGORIES, Frequencies(), 2, "outputs are for Variance, .*, Loss and Custom, got least error of frequencies"),
        (CATEGORIES, Variance(), None, "must be one for categories, got least expected variance"),
        (PRIOR, Frequencies(), None, "must be one for numbers, got least error of frequencies"),
        ({"age": PRIOR}, Custom(absolute), ON_KNOTS, "least variance or error alone, got custom objective: use one"),
        ({"age": PRIOR}, None, ON_KNOTS, "outputs are for Custom, which takes one Prior: leave them out"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_line(prior, objective, outputs, says):
    with pytest.raises(InputError, match=says) as told:
        design(prior, 1.0, objective=objective, outputs=outputs)
    assert "\n" not in str(told.value)


def test_constraints_that_no_table_meets_are_told_in_one_line():
    impossible = Custom(absolute, constraints=lambda P, y, prior: [bias(P, y, prior) <= 0.1])
    with pytest.raises(SolverError, match="Clarabel ended with PrimalInfeasible: loosen its constraints") as told:
        design(PRIOR, 0.5, objective=impossible, outputs=ON_KNOTS)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 5.0])
def test_unbiased_reports_exist_just_beyond_the_outputs_that_are_asked_for(epsilon):
    """The closed form of what is too narrow is exact: two outputs a hair beyond it do."""
    beyond = 10 / math.expm1(epsilon)
    for hair, fine in ((1e-4, True), (-1e-4, False)):
        outputs = [0 - beyond * (1 + hair), 10 + beyond * (1 + hair)]
        if fine:
            made = design(PRIOR, epsilon, objective=Custom(expected, unbiased=True), outputs=outputs)
            assert made.verification is not None
            assert made.verification.verdict == "proved"
        else:
            with pytest.raises(InputError, match="unbiased reports must reach beyond"):
                design(PRIOR, epsilon, objective=Custom(expected, unbiased=True), outputs=outputs)


def test_tables_that_report_something_else_are_not_judged():
    """A bound for some outputs is none for others, so they must not stand beside it."""
    outputs = np.linspace(-15, 25, 9)
    with pytest.raises(InputError, match=r"must report the outputs given alone, got -5\.81977: add them"):
        design(PRIOR, 1.0, objective=Custom(expected), outputs=outputs, method="duchi")
    with pytest.raises(InputError, match=r"must report the outputs given alone, got (intervals|-)"):
        design(PRIOR, 1.0, objective=Custom(expected), outputs=outputs, method="piecewise")
    ends = design(PRIOR, 1.0, method="duchi").mechanism.low
    made = design(PRIOR, 1.0, objective=Custom(expected), outputs=np.union1d(outputs, ends), method="duchi")
    assert made.value == pytest.approx(made.expected_variance, rel=1e-9)
    assert made.value > made.bound


def test_comparisons_without_outputs_say_what_is_missing():
    with pytest.raises(InputError, match="needs the reports that there may be"):
        problem_for(PRIOR, 1.0, Custom(absolute))
