"""Loss against closed forms, published figures and the linear program over all pairs of values."""

import itertools
import math
import time
from fractions import Fraction

import numpy as np
import pytest
from optldp import Prior, design
from optldp.designer import CategoricalPrior, Information, Pure, TradeOff, Variance, WorstCase
from optldp.designer.objectives import AtMost, Loss
from optldp.designer.objectives.base import Objective
from optldp.mechanisms import InputError, Metric, verify
from optldp.mechanisms.integers.exponential import exponential_below
from optldp.mechanisms.promise import Blocks, ByValue, OfPairs, Promise, Ratios, Sensitive
from scipy.optimize import linprog

KNOTS = np.linspace(-1, 1, 17)
EVEN = Prior.on_knots(KNOTS, np.ones(17), source="public")
STEPS = np.arange(-16, 17) / 16
UNEVEN_PRIOR = Prior.on_knots(np.linspace(-1, 1, 6), np.array([1, 2, 4, 3, 1, 1.0]), source="public")


@pytest.mark.parametrize(("epsilon", "known"), [(0.5, 0.940), (1.0, 0.787), (2.0, 0.428), (4.0, 0.104)])
def test_worst_squared_error_of_biased_reports(epsilon: float, known: float) -> None:
    """Optimal-GPM's least worst case on [-1, 1] on these values and outputs."""
    made = design(EVEN, epsilon, objective=Loss("squared", worst=1.0), outputs=STEPS)
    assert made.value == pytest.approx(known, abs=5e-4)
    assert made.bound <= made.value <= made.bound * (1 + 1e-6)
    assert made.mechanism.exact


UNEVEN = [[0, 1, 0.5, math.inf], [2, 0, 9, 1], [0.25, math.inf, 0, 3], [1, 1, 1, 0]]
"""Breaks the triangle inequality, is not symmetric, and has nothing to say of some pairs."""

PAIRS = [
    Metric(14.0),
    Metric(2.0, distance=[[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]]),
    Metric(2.0, period=1.25),
    Ratios(UNEVEN),
    ByValue([0.5, 1.0, 2.0, 4.0]),
    ByValue([0.5, 1.0, 2.0, 4.0], "min"),
    Blocks(["a", "a", "b", "b"], 0.5, 2.0),
    Blocks(["a", "a", "b", "b"], 2.0, 0.5),
    Sensitive(1.0, [True, False, True, False]),
]


@pytest.mark.parametrize("worst", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("promise", [Pure(1.3), Metric(2.0), *PAIRS], ids=str)
def test_against_the_program_over_all_pairs(promise: Promise, worst: float) -> None:
    knots, outputs = np.array([0.0, 0.1, 0.5, 1.0]), np.array([0.0, 0.3, 0.6, 1.0])
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    said = promise.said(knots) if isinstance(promise, OfPairs) else promise.epsilon * (1 - np.eye(4))
    losses = np.abs(outputs - knots[:, None])
    least = _over_all_pairs(losses, weights, said, worst)
    prior = Prior.on_knots(knots, weights, source="public")
    made = design(prior, promise, objective=Loss("absolute", worst=worst), outputs=outputs)
    assert made.value == pytest.approx(least, rel=1e-6)
    assert made.bound <= least * (1 + 1e-12)
    assert verify(made.mechanism).ok
    assert made.mechanism.promise == promise


def _over_all_pairs(losses: np.ndarray, weights: np.ndarray, limits: np.ndarray, worst: float) -> float:
    n, m = losses.shape
    columns = n * m + 1
    rows = []
    for i in range(n):
        for k in range(n):
            for j in range(m):
                row = np.zeros(columns)
                row[i * m + j] += np.exp(-limits[i, k])  # large factors are lost in the solver's tolerance
                row[k * m + j] -= 1
                rows.append(row)
    for i in range(n):
        row = np.zeros(columns)
        row[i * m : (i + 1) * m], row[-1] = losses[i], -1
        rows.append(row)
    sums = np.hstack([np.kron(np.eye(n), np.ones(m)), np.zeros((n, 1))])
    cost = np.r_[((1 - worst) * weights[:, None] * losses).ravel(), worst]
    found = linprog(cost, np.array(rows), np.zeros(len(rows)), sums, np.ones(n), bounds=[(0, None)] * columns)
    return float(found.fun)


@pytest.mark.parametrize("promise", PAIRS, ids=str)
def test_whole_numbers_keep_every_pair_that_is_said(promise: OfPairs) -> None:
    knots, outputs = np.array([0.0, 0.1, 0.5, 1.0]), np.linspace(0, 1, 21)
    prior = Prior.on_knots(knots, [1, 3, 2, 1], source="public")
    table = design(prior, promise, objective=Loss("absolute"), outputs=outputs).mechanism
    require_every_pair(promise, knots, table.numerators)


def random_promise(rng: np.random.Generator, knots: np.ndarray) -> Promise:
    """Of any kind of pairs, from a thousandth to four natural units, with some pairs left out of matrices."""
    n, least = knots.size, rng.choice([1e-3, 0.05, 0.5])
    matrix = rng.uniform(least, 4, (n, n))
    matrix[rng.random((n, n)) < 0.3] = np.inf
    matrix[0, 1] = least
    np.fill_diagonal(matrix, 0.0)
    one, other = rng.uniform(least, 4, 2)
    kinds = [
        lambda: Ratios(np.where(matrix < 16, matrix, np.inf)),
        lambda: ByValue(rng.uniform(least, 4, n), rng.choice(["average", "min"])),
        lambda: Blocks([0, *rng.integers(0, 3, n - 2).tolist(), 3], one, other),
        lambda: Sensitive(one, [True, *(rng.random(n - 2) < 0.5).tolist(), False]),
        lambda: Metric(one, matrix),
        lambda: Metric(one, period=knots[-1] - knots[0] + other),
    ]
    return kinds[rng.integers(len(kinds))]()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(40))
def test_random_promises_are_the_program_over_all_pairs_and_proved_pair_by_pair(seed: int) -> None:
    """Random values, outputs, priors and shares of the worst; HiGHS's own tolerance is 1e-7."""
    rng = np.random.default_rng(seed)
    knots, outputs = (np.cumsum(rng.uniform(0.01, 1, size)) for size in rng.integers(3, 8, 2))
    weights, worst = rng.dirichlet(np.ones(knots.size)), float(rng.choice([0.0, 0.5, 1.0]))
    promise, losses = random_promise(rng, knots), np.abs(outputs - knots[:, None])
    assert isinstance(promise, OfPairs)
    prior = Prior.on_knots(knots, weights, source="public")
    made = design(prior, promise, objective=Loss("absolute", worst=worst), outputs=outputs)
    least = _over_all_pairs(losses, prior.weights, promise.said(knots), worst)
    assert made.bound <= least * (1 + 1e-7)
    assert made.value == pytest.approx(least, rel=2e-6)
    assert made.mechanism.exact
    require_every_pair(promise, knots, made.mechanism.numerators)


def require_every_pair(promise: OfPairs, knots: np.ndarray, numerators: np.ndarray) -> None:
    """By fractions of all pairs, and bounds of e to what is said of each."""
    said = promise.said(knots)
    for i, k in itertools.permutations(range(knots.size), 2):
        if np.isfinite(said[i, k]):
            limit = exponential_below(min(promise.exactly(said, knots, i, k), Fraction(40)))
            assert all(a <= limit * b for a, b in zip(numerators[i].tolist(), numerators[k].tolist(), strict=True))


def test_sensitive_values_report_nothing_that_others_never_do() -> None:
    """And the others have reports of their own, which tell that they are not sensitive."""
    prior = Prior.on_knots(np.arange(4.0), np.ones(4), source="public")
    promise = Sensitive(1.0, [True, True, False, False])
    table = design(prior, promise, objective=Loss("zero-one"), outputs=np.arange(4.0)).mechanism
    never = table.numerators == 0
    assert never[:2].any()
    assert not never[2:][:, ~never[:2].all(axis=0)].any()
    assert math.isinf(verify(table).max_log_ratio)
    assert verify(table).kept == pytest.approx(1.0, rel=1e-8)


@pytest.mark.nightly
def test_large_tables_of_pairs_are_proved_in_no_time() -> None:
    rng = np.random.default_rng(5)
    points = rng.random((21, 2))
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    prior = Prior.on_knots(np.arange(21.0), np.ones(21), source="public")
    for promise in (Metric(3.0, distance), ByValue(rng.uniform(0.5, 3, 21), "min"), Ratios(3 * distance)):
        started = time.process_time()
        made = design(prior, promise, objective=Loss(distance), outputs=np.arange(21.0))
        assert time.process_time() - started < 20
        assert verify(made.mechanism).ok
        assert made.gap < 1e-6


def test_randomised_response_errs_least_among_categories() -> None:
    prior = CategoricalPrior(["a", "b", "c"], np.ones(3) / 3)
    made = design(prior, np.log(4), objective=Loss("zero-one"), outputs=3)
    assert made.value == pytest.approx(2 / 6, rel=1e-6)
    assert made.evidence.remap.tolist() == [0, 1, 2]


@pytest.mark.slow
def test_unbiased_reports_are_unbiased_and_vary_no_less_than_on_free_outputs() -> None:
    made = design(EVEN, 1.0, objective=Loss(unbiased=True), outputs=np.arange(-48, 49) / 16)
    assert verify(made.mechanism).max_abs_bias < 1e-9
    assert design(EVEN, 1.0, uniform_share=0).bound <= made.value
    by_distance = design(EVEN, Metric(2.0), objective=Loss(unbiased=True), outputs=np.arange(-48, 49) / 8)
    assert verify(by_distance.mechanism).max_abs_bias < 1e-9
    assert by_distance.gap < 1e-6


def test_a_loss_is_a_name_a_function_or_a_matrix() -> None:
    named, function, matrix = (
        design(EVEN, 1.0, objective=Loss(loss), outputs=STEPS).value
        for loss in ("absolute", lambda x, y: np.abs(x - y), np.abs(STEPS - KNOTS[:, None]))
    )
    assert named == function == matrix


def test_any_multipliers_prove_a_bound() -> None:
    made = design(EVEN, Metric(2.0), objective=Loss("absolute", worst=0.5), outputs=STEPS)
    problem = made.certificate.problem
    rng = np.random.default_rng(3)
    for size in (1e-6, 1e-2, 1.0):
        moved = {name: each + size * rng.normal(size=each.shape) for name, each in made.certificate.multipliers.items()}
        assert made.objective.bound(problem, moved) < made.value


def test_what_an_analyst_reads_is_no_worse_than_what_is_reported() -> None:
    skewed = Prior.on_knots(KNOTS, np.exp(-3 * KNOTS), source="public")
    made = design(skewed, 0.7, objective=Loss("squared", worst=1.0), outputs=STEPS)
    reported = skewed.weights @ (made.mechanism.probabilities * (made.mechanism.low - KNOTS[:, None]) ** 2).sum(1)
    assert made.evidence.posterior_risk < reported


@pytest.mark.parametrize(
    ("prior", "privacy", "loss", "outputs", "said"),
    [
        (EVEN, 1.0, Loss("cubic"), STEPS, "a loss must be absolute, squared, zero-one"),
        (EVEN, 1.0, Loss(np.ones((2, 2))), STEPS, "losses must be finite, a row for each of 17 values"),
        (EVEN, 1.0, Loss(lambda x, y: "much"), STEPS, "losses must be numbers"),
        (EVEN, 1.0, Loss(), None, "or outputs="),
        (EVEN, 1.0, Loss(unbiased=True), STEPS, "add outputs farther out, or allow bias"),
        (EVEN, 1.0, Loss(worst=2.0), STEPS, "share of the worst must lie between 0 and 1"),
        (EVEN, Ratios(UNEVEN), Loss(), STEPS, "of ratios must be of each knot, got one of 4 values for 17 knots"),
        (EVEN, Metric(1.0, period=2.0), Loss(), STEPS, "round a circle must span less than 2, got -1 to 1"),
    ],
)
def test_what_does_not_fit_is_refused(prior: Prior, privacy: float, loss: Loss, outputs: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        design(prior, privacy, objective=loss, outputs=outputs)  # pyright: ignore[reportArgumentType] -- wrong on purpose


def test_privacy_by_distance_says_nothing_of_categories_and_objectives_of_distributions_refuse_it() -> None:
    prior = CategoricalPrior(["a", "b"], np.ones(2) / 2)
    with pytest.raises(InputError, match="categories have no distance but one by a matrix"):
        design(prior, Metric(1.0), objective=Loss("zero-one"), outputs=2)  # pyright: ignore[reportArgumentType] -- of any privacy
    with pytest.raises(InputError, match="promise pure privacy, got epsilon 1 per unit"):
        design(EVEN, Metric(1.0), objective=Information())


@pytest.mark.nightly
@pytest.mark.parametrize("objective", [Variance(), TradeOff(0.3), WorstCase()], ids=lambda one: one.key)
@pytest.mark.parametrize("outputs", [None, np.linspace(-3, 3, 49), AtMost(4)], ids=["free", "given", "few"])
def test_variances_under_promises_of_pairs_are_the_unbiased_squared_loss(objective: Objective, outputs: object) -> None:
    """The same tables, numbers and bounds, whatever it is called."""
    worst = getattr(objective, "worst", 0.0)
    known = {"outputs": outputs, "uniform_share": 0.0}
    made, loss = (
        design(UNEVEN_PRIOR, Metric(2.0), objective=o, **known) for o in (objective, Loss("squared", worst, True))
    )
    assert made.objective is objective
    assert np.array_equal(made.mechanism.probabilities, loss.mechanism.probabilities)
    assert made.value == pytest.approx(loss.value, rel=1e-12)
    assert made.bound == loss.bound
    assert made.certificate.check().bound == made.bound
    assert isinstance(outputs, AtMost) or made.status == "optimal"


@pytest.mark.slow
@pytest.mark.parametrize("objective", [Variance(), TradeOff(0.3), WorstCase()], ids=lambda one: one.key)
def test_solvers_of_unbiased_numbers_agree_with_the_general_one(objective: Objective) -> None:
    rounded = Prior.from_data([0.1, 0.2, 0.5, 0.7, 0.71], knots=np.linspace(0, 1, 6), source="public")
    fast, general = (design(rounded, 1.5, objective=objective, general=each) for each in (False, True))
    assert max(fast.bound, general.bound) <= min(fast.value, general.value)
    assert fast.status == general.status == "optimal"
    assert not np.array_equal(fast.certificate.multipliers["lam"], general.certificate.multipliers["lam"])
    with pytest.raises(InputError, match="general solvers are for Variance, WorstCase"):
        design(rounded, 1.5, objective=Information(), general=True)


@pytest.mark.nightly
def test_unbiased_squared_loss_finds_its_outputs_and_pure_privacy_has_the_known_optimum() -> None:
    known = design(EVEN, 1.0, uniform_share=0.0)
    found = design(EVEN, 1.0, objective=Loss("squared", unbiased=True))
    assert found.gap < 1e-6
    assert max(found.bound, known.bound) <= min(found.value, known.value)
    assert found.certificate.bound() == found.bound
    assert found.evidence.remap.size == found.mechanism.n_outputs
