"""The variance by value: what is drawn is the table's variance, between knots too."""

from typing import Any

import numpy as np
import pytest
from optldp.designer import Prior, plots
from optldp.estimators.plots.style import new_axes
from optldp.mechanisms import FAMILIES, InputError
from optldp.mechanisms.families.duchi import duchi_variance

from ..figure_checks import assert_readable, end_labels, shown_texts, xy

KNOTS = np.linspace(-1.0, 1.0, 6)
TABLES = {name: build(KNOTS, 2.0) for name, build in FAMILIES.items() if name != "grr"}
PRIOR = Prior.on_knots(KNOTS, [1, 2, 3, 2, 1, 1], source="public", units="kg")


def test_lines_are_the_variances_between_knots_too():
    axes = plots.by_value(TABLES)
    for name, table in TABLES.items():
        x, drawn = xy(axes, name).T
        np.testing.assert_allclose(drawn, table.var(x))
        assert set(KNOTS) <= set(x)
        assert np.diff(x).max() < 0.1 * np.diff(KNOTS).max()


def test_humps_between_coarse_knots_reach_their_full_height():
    """Rounding adds (x - a)(b - x), a quarter of the squared distance at the middle: duchi's parabola plus that."""
    x, drawn = xy(plots.by_value({"duchi": TABLES["duchi"]}), "duchi").T
    middles = 0.5 * (KNOTS[1:] + KNOTS[:-1])
    found = [drawn[np.argmin(np.abs(x - middle))] for middle in middles]
    at_knots = np.array([duchi_variance(knot, 2.0) for knot in KNOTS]).ravel()
    np.testing.assert_allclose(found, 0.5 * (at_knots[1:] + at_knots[:-1]) + 0.4**2 / 4, rtol=1e-9)


def test_the_prior_is_a_strip_below_of_area_one():
    axes = plots.by_value(TABLES, prior=PRIOR)
    _, strip = axes.figure.axes
    filled: Any = strip.patches[0]
    values, edges, _ = filled.get_data()
    assert values @ np.diff(edges) == pytest.approx(1.0)
    np.testing.assert_allclose(values * np.diff(edges), PRIOR.weights)
    np.testing.assert_allclose(edges, [-1.0, -0.8, -0.4, 0.0, 0.4, 0.8, 1.0], atol=1e-12)
    assert axes.get_xlim() == strip.get_xlim() == (-1.0, 1.0)
    assert (axes.get_xlabel(), strip.get_xlabel(), strip.get_ylabel()) == ("", "value [kg]", "prior")
    assert axes.get_ylabel() == "variance of one report [kg²]"


@pytest.mark.nightly
@pytest.mark.parametrize("size", [(7.2, 4.4), (4.6, 4.0)])
def test_all_families_can_be_read(size):
    axes = plots.by_value(TABLES, prior=PRIOR, ax=new_axes(*size))
    assert_readable(axes)
    assert sorted(end_labels(axes)) == sorted(TABLES)


def test_the_budget_is_in_the_title_where_all_have_the_same():
    same = plots.by_value(TABLES).get_title()
    other = {"duchi": FAMILIES["duchi"](KNOTS, 1.0), "laplace": FAMILIES["laplace"](KNOTS, 2.0)}
    assert same.endswith("ε = 2")
    assert "ε" not in plots.by_value(other).get_title()


def test_variances_of_one_size_are_drawn_from_zero_and_others_logarithmically():
    alike = plots.by_value({"duchi": TABLES["duchi"]})
    assert (alike.get_yscale(), alike.get_ylim()[0]) == ("linear", 0.0)
    far = {"laplace": FAMILIES["laplace"](KNOTS, 0.5), "piecewise": FAMILIES["piecewise"](KNOTS, 6.0)}
    axes = plots.by_value(far)
    assert axes.get_yscale() == "log"
    assert axes.get_ylim()[0] < xy(axes, "piecewise")[:, 1].min()
    assert axes.get_ylim()[1] > xy(axes, "laplace")[:, 1].max()


def test_many_knots_do_not_make_endless_lines():
    knots = np.linspace(0, 1, 801)
    x, _ = xy(plots.by_value({"duchi": FAMILIES["duchi"](knots, 1.0)}), "duchi").T
    assert x.size == 1601


def test_markers_of_different_lines_do_not_coincide():
    axes = plots.by_value(TABLES)
    lines: list[Any] = list(axes.lines)
    starts = [found.get_markevery()[0] for found in lines]
    assert len(set(starts)) == len(TABLES)


@pytest.mark.parametrize(
    ("tables", "prior", "says"),
    [
        ({}, None, "at least one mechanism, got none"),
        (
            {"a": TABLES["duchi"], "b": FAMILIES["duchi"](KNOTS + 1, 2.0)},
            None,
            r"one domain, got \[-1, 1\] and \[0, 2\]",
        ),
        ({"a": TABLES["duchi"]}, Prior.on_knots([0, 1], [1, 1], source="public"), "one domain"),
    ],
    ids=["none", "two-domains", "a-prior-of-another"],
)
def test_what_cannot_share_an_axis_is_refused(tables, prior, says):
    with pytest.raises(InputError, match=says):
        plots.by_value(tables, prior=prior)


def test_different_units_are_refused():
    kilograms = Prior.on_knots(KNOTS, np.ones(6), source="public", units="kg")
    pounds = TABLES["duchi"].__class__.from_points(KNOTS, [-2, 2], TABLES["duchi"].probabilities, 2.0, units="lb")
    with pytest.raises(InputError, match="one unit, got kg and lb"):
        plots.by_value({"duchi": pounds}, prior=kilograms)


@pytest.mark.slow
def test_names_of_ones_own_are_drawn_as_given():
    axes = plots.by_value({"ours $1": TABLES["duchi"], "theirs": TABLES["laplace"]})
    assert_readable(axes)
    assert any("ours" in text.get_text() for text in shown_texts(axes))
