"""Closed forms with their best clip and shift: against tables made one by one, honest, and private."""

from typing import Any, cast

import numpy as np
import pytest
from optldp.designer import Error, FactorAmbiguity, Prior, bounds, compare, design
from optldp.designer.designs.judging import problem_for
from optldp.designer.methods import ClosedForm
from optldp.designer.methods.clipped import Clipping, centring_shift, scaled_variances, spread_rows
from optldp.designer.objectives.base import Solution
from optldp.estimators.means.error import largest_error
from optldp.estimators.means.unbiasing import affine_unbiasing
from optldp.mechanisms import FAMILIES, laplace, ptt2, verify
from optldp.solvers import Status
from optldp.solvers.biased import Clip, ErrorProgram, trusted
from optldp.solvers.robust import BoxSet

KNOTS = np.linspace(0, 100, 21)
PRIOR = Prior.on_knots(KNOTS, np.exp(-KNOTS / 8) + 1e-4, source="public", units="EUR")
X = np.linspace(-1, 1, 21)


def program(users: int, trust: float, weights: np.ndarray = PRIOR.weights) -> ErrorProgram:
    return ErrorProgram(X, np.e, trusted(weights, trust), users)


def rmse(made: ErrorProgram, table) -> float:
    return largest_error(table, made.priors, made.users, on_knots=True).rmse


@pytest.mark.parametrize(("users", "trust", "mirrored"), [(10, 2.0, False), (10**5, 1.2, True), (10**4, 30.0, False)])
def test_errors_of_many_clips_are_those_of_their_tables_and_the_shift_is_the_best(users, trust, mirrored):
    made = program(users, trust, PRIOR.weights[::-1] if mirrored else PRIOR.weights)
    search = Clipping.of(made)
    low, high = np.array([-1.0, -0.93, -0.5]), np.array([-0.2, 1.0, 0.47])
    known = scaled_variances(laplace(np.linspace(-1, 1, 257), 1.0))
    errors, shifts, _ = search.errors(low, high, known)
    for first, last, error, shift in zip(low, high, errors, shifts, strict=True):
        inner = laplace(np.unique(np.clip(X, first, last)), 1.0)
        moved = [spread_rows(inner, X, Clip(first, last, shift + step)) for step in (0.0, -1e-2, -1e-4, 1e-4, 1e-2)]
        own, *others = (rmse(made, table) for table in moved)
        assert own == pytest.approx(error, rel=1e-6)
        assert min(others) > error


def test_the_shift_centres_the_bias_of_any_table_over_the_box():
    box = BoxSet(np.full(5, 0.1), np.full(5, 0.5))
    bias = np.array([0.3, 0.0, 0.0, -0.2, -0.7])
    moved = bias + centring_shift(box, bias)
    most, least = box.largest(moved + 2)[0] - 2, -(box.largest(2 - moved)[0] - 2)
    assert most == pytest.approx(-least, abs=1e-12)


@pytest.mark.parametrize("name", ["duchi", "piecewise", "grr", pytest.param("ptt", marks=pytest.mark.slow)])
def test_no_clip_at_knots_is_better_than_the_one_found(name):
    """Tables made and judged one by one."""
    objective = Error(20_000, FactorAmbiguity(2.0))
    problem = problem_for(PRIOR, 1.0, objective)
    box = trusted(PRIOR.weights, 2.0, share=problem.uniform_share)
    made: Any = ClosedForm(name).build(problem, objective, Solution(None, {}, Status.GAP_OPEN))
    found = objective.value(made.mechanism, problem)
    for i, j in [(0, 3), (0, 4), (0, 5), (0, 6), (0, 7), (0, 20), (1, 6), (2, 9)]:
        inner = FAMILIES[name](KNOTS[i : j + 1], 1.0)
        scale, moved = cast("tuple[float, float]", affine_unbiasing(inner))
        plain = inner.affine(1 / scale, -moved / scale)
        bias = np.clip(KNOTS, KNOTS[i], KNOTS[j]) - KNOTS
        other = spread_rows(plain, KNOTS, Clip(KNOTS[i], KNOTS[j], centring_shift(box, bias)))
        assert found <= (1 + 1e-6) * objective.value(other, problem)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_is_private_and_counts_values_as_its_clip_says(name):
    objective = Error(20_000)
    problem = problem_for(PRIOR, 1.0, objective)
    made: Any = ClosedForm(name).build(problem, objective, Solution(None, {}, Status.GAP_OPEN))
    clip, table = made.evidence, made.mechanism
    assert verify(table).verdict != "broken"
    assert clip.high < 100
    np.testing.assert_allclose(table.knot_means, np.clip(KNOTS, clip.low, clip.high) + clip.shift, atol=1e-7)
    assert not table.provenance.claims_unbiased
    assert objective.value(table, problem) < objective.value(FAMILIES[name](KNOTS, 1.0), problem)


def test_both_tails_are_cut_where_both_are_rare():
    prior = Prior.on_knots(KNOTS, np.exp(-np.abs(KNOTS - 40) / 4) + 1e-4, source="public")
    clip = design(prior, 1.0, method="hybrid", objective=Error(20_000), exact=False).evidence
    assert 0 < clip.low < 40 < clip.high < 100


def test_a_density_that_differs_by_row_is_spread_with_its_rows():
    for family in (laplace, ptt2):
        inner = family([0, 1, 2], 1.0)
        made = spread_rows(inner, np.arange(5.0), Clip(0.0, 2.0, 0.25))
        np.testing.assert_allclose(made.knot_variances, inner.knot_variances[[0, 1, 2, 2, 2]])


@pytest.mark.nightly
def test_comparisons_build_closed_forms_anew_for_the_error_whatever_decides():
    few, objective = PRIOR.coarsened(KNOTS[::2]), Error(20_000, FactorAmbiguity(2.0))
    rows = compare(few, [1.0], methods=["optimal", "duchi"], objectives=[objective])
    usual, fitted = cast("Any", [row for row in rows if row.method == "duchi"])
    assert (usual.objective, fitted.objective) == ("expected", "error")
    assert usual.clip_high is None
    problem = problem_for(few, 1.0, objective)
    made: Any = ClosedForm("duchi").build(problem, objective, Solution(None, {}, Status.GAP_OPEN))
    assert fitted.value == objective.value(made.mechanism, problem)
    best, unbiased = cast("Any", [row for row in rows if row.objective == "error" and row.method != "duchi"])
    assert (best.method, unbiased.method) == ("error", "optimal")
    assert best.value < fitted.value < unbiased.value
    assert (unbiased.clip_low, unbiased.clip_high) == (0, 100)
    assert fitted.clip_high == pytest.approx(made.evidence.high, abs=1e-6)
    assert fitted.shift == pytest.approx(made.evidence.shift, abs=1e-6)


@pytest.mark.nightly
def test_bounds_take_the_error_as_a_criterion_and_a_results_file_keeps_where_it_cuts(tmp_path):
    few, objective = PRIOR.coarsened(KNOTS[::4]), Error(20_000, FactorAmbiguity(2.0))
    asked: Any = {"methods": ["optimal", "duchi"], "objectives": [objective], "results": tmp_path / "kept.jsonl"}
    found, again = (bounds(few, [1.0], **asked) for _ in range(2))
    best, unbiased, duchi = cast("Any", found.by(objective))
    assert best.bound <= best.value <= duchi.value < unbiased.value
    assert duchi.clip_high < 100
    assert again.by(objective) == found.by(objective)
