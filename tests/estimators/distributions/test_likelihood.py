"""From counts to a likelihood: the body is chosen by size, and is the product of the tables' rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.estimators import InputGrid, ReportCounts, Service, likelihood_of
from optldp.estimators.distributions import likelihood as report_likelihood
from optldp.mechanisms import FAMILIES, InputError, TabulatedMechanism
from optldp.solvers import MixtureLikelihood, fit_mixture
from optldp.solvers.likelihood.dense import DenseLikelihood
from optldp.solvers.likelihood.mixture import SumLikelihood
from optldp.solvers.likelihood.runs import RunLikelihood
from optldp.solvers.likelihood.tuples import TupleLikelihood

KNOTS = np.linspace(-1, 1, 65)


def tables_of(*names: str, epsilon: float = 1.0) -> list[TabulatedMechanism]:
    return [FAMILIES[name](KNOTS, epsilon) for name in names]


def simulated(tables: list[TabulatedMechanism], users: int, missing: float = 0.0, seed: int = 0) -> ReportCounts:
    """Counts of reports on beta(2, 5) values, some left out at random."""
    rng = np.random.default_rng(seed)
    x = 2 * rng.beta(2, 5, users) - 1
    outputs = np.stack([table.output_index(table.sample(x, rng)) for table in tables], axis=1)
    outputs[rng.random(outputs.shape) < missing] = -1
    return ReportCounts.from_outputs([Service(f"{j}", table) for j, table in enumerate(tables)], outputs)


def per_row(counts: ReportCounts, grid: InputGrid, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """Log-likelihood and its gradient per user, one distinct row at a time."""
    views = [grid.rows(table) for table in counts.mechanisms]
    loglik, gradient = 0.0, np.zeros(grid.size)
    for group in counts.groups:
        for row, count in zip(group.outputs, group.counts, strict=True):
            joint = np.prod([views[j][:, o] for j, o in zip(group.services, row, strict=True)], axis=0)
            loglik += count * np.log(joint @ weights)
            gradient += count * joint / (joint @ weights)
    return loglik, gradient / counts.n_users


def kinds(likelihood: MixtureLikelihood) -> set[type]:
    """Return the bodies in use, at the bottom."""
    parts = likelihood.parts if isinstance(likelihood, SumLikelihood) else ()
    return {type(likelihood)} if not parts else set().union(*map(kinds, parts))


CASES = {
    "one of runs": (["piecewise"], 0.0, {RunLikelihood}),
    "one smooth": (["laplace"], 0.0, {TupleLikelihood}),
    "runs by a coin": (["duchi", "piecewise", "square-wave"], 0.0, {RunLikelihood}),
    "two coins": (["duchi", "duchi"], 0.0, {DenseLikelihood}),
    "smooth by runs": (["laplace", "piecewise"], 0.0, {DenseLikelihood}),
    "mostly unseen": (["laplace", "piecewise", "laplace"], 0.0, {TupleLikelihood}),
    "ragged": (["duchi", "grr", "laplace"], 0.4, {DenseLikelihood, RunLikelihood, TupleLikelihood}),
}


@pytest.mark.parametrize("name", list(CASES))
@pytest.mark.parametrize("cells", [False, True])
def test_it_is_the_product_of_the_rows_whatever_the_body(name, cells):
    """Log-likelihood and gradient against a loop over distinct rows."""
    families, missing, bodies = CASES[name]
    counts = simulated(tables_of(*families), 3000, missing)
    grid = InputGrid.equal_cells(-1, 1, 32) if cells else InputGrid.knots(KNOTS)
    likelihood = likelihood_of(counts, grid)
    weights = np.random.default_rng(1).dirichlet(np.ones(grid.size))
    mixed = likelihood.mix(weights)
    loglik, gradient = per_row(counts, grid, weights)
    assert likelihood.loglik(mixed) == pytest.approx(loglik, rel=1e-12)
    np.testing.assert_allclose(likelihood.gradient(mixed), gradient, rtol=1e-11)
    assert likelihood.total == counts.n_users
    if not cells:
        assert kinds(likelihood) == bodies


@pytest.mark.nightly
@given(seed=st.integers(0, 2**32 - 1))
def test_any_families_with_any_reports_missing_are_multiplied_right(seed):
    rng = np.random.default_rng(seed)
    names = rng.choice(list(FAMILIES), rng.integers(1, 4))
    tables = [FAMILIES[str(name)](np.linspace(0, 9, 8), 10 ** rng.uniform(-2, 0.8)) for name in names]
    outputs = np.stack([rng.integers(-1, table.low.size, 40) for table in tables], axis=1)
    outputs[0] = 0
    counts = ReportCounts.from_outputs([Service(f"{j}", table) for j, table in enumerate(tables)], outputs)
    grid = InputGrid.common(tables)
    weights = rng.dirichlet(np.ones(grid.size))
    likelihood = likelihood_of(counts, grid)
    loglik, gradient = per_row(counts, grid, weights)
    assert likelihood.loglik(likelihood.mix(weights)) == pytest.approx(loglik, rel=1e-11)
    np.testing.assert_allclose(likelihood.gradient(likelihood.mix(weights)), gradient, rtol=1e-9)


def test_ratios_that_prefix_sums_would_drown_take_another_body():
    """Three windows at epsilon = 14 differ by e^42; prefix sums would leave no digit, or less than nothing."""
    tables = tables_of("piecewise", "piecewise", "square-wave", epsilon=14.0)
    counts = simulated(tables, 300)
    likelihood = likelihood_of(counts, InputGrid.knots(KNOTS))
    assert RunLikelihood not in kinds(likelihood)
    corner = np.eye(65)[64]
    expected = per_row(counts, InputGrid.knots(KNOTS), corner)[0]
    assert likelihood.loglik(likelihood.mix(corner)) == pytest.approx(expected, rel=1e-12)


def test_a_large_table_is_counted_by_what_was_seen(monkeypatch):
    """With room for fewer combinations than there are, rows replace the full table; the fit stays."""
    counts, grid = simulated(tables_of("duchi", "three-outputs", "duchi"), 500), InputGrid.knots(KNOTS)
    full = likelihood_of(counts, grid)
    monkeypatch.setattr(report_likelihood, "DENSE_CELLS", 4)
    sparse = likelihood_of(counts, grid)
    assert (kinds(full), kinds(sparse)) == ({DenseLikelihood}, {TupleLikelihood})
    assert fit_mixture(sparse).loglik == pytest.approx(fit_mixture(full).loglik, rel=1e-9)


def test_users_of_one_service_only_count_for_it_alone():
    """Three users of one coin and two of both: the terms of the sum, by hand."""
    table = FAMILIES["duchi"]([-1.0, 1.0], np.log(3.0))
    counts = ReportCounts.from_outputs([Service("a", table), Service("b", table)], [[0, -1]] * 3 + [[1, 1]] * 2)
    likelihood = likelihood_of(counts, InputGrid.common([table]))
    even = likelihood.mix(np.array([0.5, 0.5]))
    assert likelihood.loglik(even) == pytest.approx(3 * np.log(0.5) + 2 * np.log((0.75**2 + 0.25**2) / 2), rel=1e-9)


def test_more_users_with_the_same_reports_change_nothing_but_the_log_likelihood():
    """Counts a million times as large give the same weights."""
    tables = tables_of("duchi", "piecewise")
    counts = simulated(tables, 2000)
    many = counts
    for _ in range(10):
        many = many + many
    grid = InputGrid.knots(KNOTS[::8])
    few, lots = (fit_mixture(likelihood_of(c, grid)) for c in (counts, many))
    assert many.n_users == 1024 * counts.n_users
    assert lots.loglik == pytest.approx(1024 * few.loglik, rel=1e-9)
    np.testing.assert_allclose(lots.weights, few.weights, atol=1e-4)


def test_the_order_of_the_services_does_not_matter():
    counts, grid = simulated(tables_of("duchi", "piecewise", "grr"), 1000, 0.2), InputGrid.knots(KNOTS[::4])
    plain, turned = (fit_mixture(likelihood_of(c, grid)) for c in (counts, counts.only([2, 0, 1])))
    assert turned.loglik == pytest.approx(plain.loglik, rel=1e-9)
    np.testing.assert_allclose(turned.weights, plain.weights, atol=1e-3)


def test_a_service_without_reports_is_refused():
    tables = tables_of("duchi", "grr")
    counts = ReportCounts.from_outputs([Service("a", tables[0]), Service("b", tables[1])], [[0, -1]])
    with pytest.raises(InputError, match="got none for 'b': leave it out"):
        likelihood_of(counts, InputGrid.knots(KNOTS))


def test_no_users_are_refused():
    counts = ReportCounts.from_outputs([Service("a", tables_of("duchi")[0])], np.empty((0, 1), dtype=int))
    with pytest.raises(InputError, match="every service must have reports"):
        likelihood_of(counts, InputGrid.knots(KNOTS))


def test_a_grid_outside_the_domain_is_refused():
    counts = simulated(tables_of("duchi"), 5)
    with pytest.raises(InputError, match="cells must lie in the table's domain"):
        likelihood_of(counts, InputGrid.equal_cells(-1, 2, 4))
