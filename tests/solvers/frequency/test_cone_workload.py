"""Queries under promises of pairs: values and bounds agree with other programs, and any numbers prove a true bound."""

import numpy as np
import pytest
from optldp.mechanisms import InputError
from optldp.solvers.cone import Cone, blocks, circle, line, pure, ratios, sensitive, value_budgets
from optldp.solvers.frequency import cone_bound
from optldp.solvers.frequency.cone_bound import ConeCertificate, certified_cone_bound, rays
from optldp.solvers.frequency.cone_workload import solve_cone_workload
from optldp.solvers.frequency.workload import solve_workload, workload_cost

BUDGETS = [0.5, 1.0, 1.5, 2.0, 0.7]
CONES: dict[str, Cone] = {
    "pure": pure(5, 1.0),
    "line": line([0.0, 0.3, 1.0, 1.5, 3.0], 1.0),
    "circle": circle([0.0, 1.0, 2.0, 3.0, 4.0], 5.0, 1.0),
    "average": value_budgets(BUDGETS),
    "smaller": value_budgets(BUDGETS, "min"),
    "blocks": blocks([0, 0, 1, 1, 1], 0.7, 2.0),
    "sensitive": sensitive([True, False, True, False, False], 1.0),
    "ratios": ratios((1.0 + np.arange(25).reshape(5, 5) % 3) * (1 - np.eye(5))),
}
PRIOR = np.array([0.3, 0.25, 0.2, 0.15, 0.1])
CUTS = np.tri(5)[:-1]


@pytest.mark.parametrize("name", CONES)
def test_a_table_is_of_the_cone_and_no_better_one_is_left(name: str) -> None:
    found = solve_cone_workload(CONES[name], PRIOR, CUTS)
    assert CONES[name].holds(found.solution)
    assert found.solution.sum(1) == pytest.approx(1, abs=1e-12)
    assert found.value == workload_cost(PRIOR, found.solution, CUTS)
    assert found.bound == certified_cone_bound(CONES[name], PRIOR, CUTS, **found.multipliers) <= found.value
    assert found.gap < 3e-3


@pytest.mark.nightly
@pytest.mark.parametrize("name", CONES)
def test_products_of_rows_prove_nothing_that_listed_rays_deny(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = solve_cone_workload(CONES[name], PRIOR, CUTS)
    monkeypatch.setattr(cone_bound, "MOST_EDGES", 0)
    monkeypatch.setattr(cone_bound, "MOST_NODES", 0)
    relaxed = solve_cone_workload(CONES[name], PRIOR, CUTS)
    assert 0.8 * exact.value < relaxed.bound <= exact.value * (1 + 1e-9)
    assert exact.bound <= relaxed.value <= 1.01 * exact.value


def test_pure_privacy_agrees_with_the_solver_of_pure_privacy_alone() -> None:
    ours, theirs = solve_cone_workload(pure(5, 1.0), PRIOR, CUTS), solve_workload(PRIOR, np.e, CUTS)
    assert max(ours.bound, theirs.bound) <= min(ours.value, theirs.value)


@pytest.mark.nightly
def test_one_cut_under_pure_privacy_is_randomised_response() -> None:
    """`E / (E - 1)^2`, although its square is singular."""
    found = solve_cone_workload(pure(12, 1.0), np.full(12, 1 / 12), np.tri(12)[4:5])
    assert found.bound <= np.e / (np.e - 1) ** 2 <= found.value
    assert found.gap < 3e-3


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("name", CONES)
def test_whatever_its_numbers_a_certificate_proves_no_more_than_is_true(
    name: str, listed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    cone, rng = CONES[name], np.random.default_rng(3)
    found = solve_cone_workload(cone, PRIOR, CUTS)
    if not listed:
        monkeypatch.setattr(cone_bound, "MOST_EDGES", -1)
        monkeypatch.setattr(cone_bound, "MOST_NODES", 0)
    at, pairs = found.multipliers["certificate"], rng.integers(0, len(cone.logs), (2, 40))
    for size in (0.0, 0.01, 1.0):
        moved = ConeCertificate(
            at.numbers * (1 + size * rng.standard_normal((5, 5))),
            at.multipliers * (1 + size * rng.standard_normal(5)),
            pairs[0],
            pairs[1],
            size * at.multipliers.max() * rng.random(40),
        )
        assert 0 <= certified_cone_bound(cone, PRIOR, CUTS, moved) <= found.value


def test_rays_of_pure_privacy_are_all_patterns_but_the_even_one() -> None:
    shapes = rays(ratios(1 - np.eye(4)))
    assert np.unique((shapes / shapes.sum(0)).round(9), axis=1).shape[1] == 2**4 - 2


def test_a_certificate_that_does_not_fit_is_refused() -> None:
    nothing = np.zeros(1, dtype=np.intp)
    for weight, row, what in ((-1.0, 3, "negative"), (1.0, 99, "rows 0 to")):
        proof = ConeCertificate(np.eye(5), np.ones(5), nothing, nothing + row, np.array([weight]))
        with pytest.raises(InputError, match=what):
            certified_cone_bound(CONES["circle"], PRIOR, CUTS, proof)


def test_more_values_than_it_is_meant_for_are_refused() -> None:
    with pytest.raises(InputError, match="at most 48 values"):
        solve_cone_workload(line(np.arange(49.0), 1.0), np.full(49, 1 / 49), np.tri(49)[:-1])
