"""Tables and floors brought to the floor form, against the solver's own rows and the tables of designs."""

from typing import Any

import numpy as np
import pytest
from optldp.designer import Prior, WorstCase, design
from optldp.mechanisms import (
    Approximate,
    InputError,
    Provenance,
    TableError,
    TabulatedMechanism,
    duchi,
    gaussian,
    piecewise,
    verify,
)
from optldp.mechanisms.compact_tables import FloorForm, floor_form, form_over
from optldp.solvers import UnbiasedProgram
from optldp.solvers.unbiased.window_rows import window_rows

from ..floor_forms import smooth_floor


def prior_on(knots) -> Prior:
    """A hill beside the middle, on a floor of a hundredth."""
    unit = (knots - knots[0]) / np.ptp(knots)
    return Prior.on_knots(knots, np.exp(-((5 * unit - 2) ** 2)) + 0.01, source="public")


DOMAINS = {
    "many": np.linspace(0, 100, 17),
    "two": np.array([0.0, 1.0]),
    "irregular": np.array([0, 0.1, 0.5, 7, 8]),
    "far from zero": np.linspace(1e6, 1e6 + 1, 9),
    "tiny": np.linspace(-1e-90, 1e-90, 9),
    "huge": np.linspace(-1e90, 1e90, 9),
}


@pytest.mark.parametrize(
    ("domain", "epsilon"),
    [("many", e) for e in (1e-3, 0.05, 0.5, 1.0, 4.0, 8.0, 16.0)] + [(name, 1.0) for name in DOMAINS],
)
def test_a_design_keeps_its_variances_and_is_proved(domain, epsilon):
    """To less than the gap that it was solved to, at every knot; the largest log-ratio in doubles is within epsilon."""
    table = design(prior_on(DOMAINS[domain]), epsilon).mechanism
    form = floor_form(table)
    assert form.proof().ok
    np.testing.assert_allclose(form.knot_variances, table.knot_variances, rtol=3e-8)
    assert verify(form.expand()).max_log_ratio <= epsilon
    np.testing.assert_array_equal(form.knots, table.knots)
    assert (form.provenance.method, form.prior, form.provenance.certificate) == (
        "optimal",
        table.prior,
        table.provenance.certificate,
    )


@pytest.mark.slow
def test_a_worst_case_design_has_a_floor_form_too():
    """Its prior is the least favourable one, its rows are windows as well."""
    table = design(prior_on(DOMAINS["many"]), 1.0, objective=WorstCase()).mechanism
    form = floor_form(table)
    assert form.worst_case_variance()[0] == pytest.approx(table.worst_case_variance()[0], rel=1e-8)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_rows_over_a_floor_are_those_of_the_solver(epsilon):
    """On many knots that the floor was not made for; variances too."""
    outputs, floor = smooth_floor(40, epsilon, jitter=0.5)
    knots = np.linspace(0, 100, 301)
    program = UnbiasedProgram(knots / 50 - 1, np.full(301, 1 / 301), np.exp(epsilon))
    wanted = window_rows(program, outputs / 50 - 1, floor)
    form = form_over(knots, outputs, floor, epsilon)
    assert form.proof().ok
    np.testing.assert_allclose(form.pmf(knots), wanted, atol=1e-7)
    np.testing.assert_allclose(form.knot_variances, (wanted * (outputs - knots[:, None]) ** 2).sum(axis=1), rtol=1e-7)


def test_its_rows_are_the_cheapest_over_their_floor():
    """No other probabilities within the boxes, of the same sum and mean, have a smaller variance: a linear program."""
    linprog = pytest.importorskip("scipy.optimize").linprog
    outputs, floor = smooth_floor(12, 1.0, jitter=0.5)
    form = form_over([0.0, 13.0, 60.0, 100.0], outputs, floor, 1.0)
    y, t = form.outputs, form.floor / 2**53
    for x, variance in zip(form.knots, form.knot_variances, strict=True):
        found = linprog((y - x) ** 2, A_eq=[np.ones(12), y], b_eq=[1, x], bounds=list(zip(t, np.e * t, strict=True)))
        assert variance == pytest.approx(found.fun, rel=1e-8)


def test_outputs_that_fall_on_one_place_are_one():
    """Closer than digits tell apart: their floors add up, and nothing else changes."""
    outputs, floor = smooth_floor(20, 1.0)
    double = np.sort(np.r_[outputs, outputs + 1e-9])
    form = form_over([0.0, 50.0, 100.0], double, np.repeat(floor, 2) / 2, 1.0)
    assert form.places.size == 20
    np.testing.assert_allclose(
        form.knot_variances, form_over([0, 50, 100], outputs, floor, 1.0).knot_variances, rtol=1e-8
    )


@pytest.mark.slow
def test_short_digits_are_kept_only_where_they_do():
    """At a large budget a report off by 2^-33 of the spread costs much, and places have all their digits."""
    few, many = (floor_form(design(prior_on(DOMAINS["many"]), epsilon).mechanism) for epsilon in (1.0, 16.0))
    assert np.abs(few.places).max() < 2**33
    assert np.abs(many.places).max() > 2**40


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (lambda: piecewise([0.0, 1.0], 1.0), "must be unbiased, of points and of pure privacy"),
        (lambda: gaussian([0.0, 1.0], Approximate(1.0, 1e-5)), "must be unbiased, of points and of pure privacy"),
        (lambda: duchi([0.0, 1.0], 1.0).affine(2.0, 0.0), "must be unbiased, of points and of pure privacy"),
        (lambda: two_bumps(), "rows are .* from such ones: keep it as a table"),
        (lambda: with_nothing_common(), "two outputs at least that every knot can make, got fewer"),
    ],
)
def test_tables_of_another_form_are_refused(table, message):
    """Cells, other promises, biased ones, rows that are no windows, and outputs that some row has not."""
    with pytest.raises(TableError, match=message):
        floor_form(table())


def two_bumps() -> TabulatedMechanism:
    """Unbiased and private, but the middle row raises both ends and not what lies between."""
    rows = [[0.6, 0.2, 0.2], [0.4, 0.2, 0.4], [0.2, 0.2, 0.6]]
    claims = Provenance("bumps", {"unbiased": True})
    return TabulatedMechanism.from_points([-1.0, 0.0, 1.0], [-2.5, 0.0, 2.5], rows, 1.1, provenance=claims)


def with_nothing_common() -> TabulatedMechanism:
    """As private as telling the truth."""
    claims = Provenance("truth", {"unbiased": True})
    return TabulatedMechanism.from_points([0.0, 1.0], [0.0, 1.0], [[1.0, 0.0], [0.0, 1.0]], 1.0, provenance=claims)


@pytest.mark.slow
def test_a_domain_that_doubles_hardly_tell_apart_is_refused():
    """Reports are off by 1e-9 at 1.6e7, and at a budget of 16 that is more than a millionth of their variance.

    The optimum is made near zero and moved there: whether a solver finds windows so far out is the machine's rounding.
    """
    near, far = design(prior_on(np.array([0.0, 1.5, 2.5, 3.0])), 16.0).mechanism, 16479287.92933767
    moved = TabulatedMechanism.from_points(
        near.knots + far, near.low + far, near.probabilities, 16.0, provenance=near.provenance
    )
    with pytest.raises(TableError, match="too few digits for it: keep the table"):
        floor_form(moved)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"floor": [0.01, 0.01]}, "floor times the ratio must reach"),
        ({"floor": [0.6, 0.6]}, "floor must sum to at most"),
        ({"outputs": [4.0, 6.0]}, "reach the outermost knots"),
        ({"outputs": [11.0, 12.0]}, "reach the outermost knots"),
        ({"outputs": [6.0, 4.0]}, "increasing outputs"),
        ({"floor": [0.25, -0.25]}, "not negative"),
        ({"floor": [0.25, 0.0]}, "two outputs at least"),
    ],
)
def test_floors_that_no_unbiased_rows_stand_on_are_refused(changes, message):
    """In one line."""
    with pytest.raises(TableError, match=message):
        small(**changes)


def small(**changes: Any) -> FloorForm:
    """Two knots, two outputs, with something changed."""
    given: Any = {"knots": [0.0, 10.0], "outputs": [-5.0, 15.0], "floor": [0.25, 0.25], "epsilon": 1.1}
    return form_over(**given | changes)


def test_budgets_and_knots_that_are_none_are_refused_as_everywhere():
    """By an InputError."""
    for changes in ({"epsilon": -1.0}, {"knots": [1.0]}):
        with pytest.raises(InputError):
            small(**changes)
