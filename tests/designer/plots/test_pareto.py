"""The trade-off: the front and the points are those of the designs, and the region is what they certify."""

import math
from dataclasses import replace

import numpy as np
import pytest
from optldp.designer import METHODS, Prior, TradeOff, WorstCase, design, plots, trade_off_curve
from optldp.designer.plots.pareto import MOST_ABOVE
from optldp.estimators.plots.style import UNREACHABLE, new_axes
from optldp.mechanisms import FAMILIES, InputError

from ..figure_checks import assert_readable, noted, shown_texts, xy

PRIOR = Prior.on_knots(np.linspace(0, 10, 9), [1, 2, 4, 5, 4, 3, 2, 1, 1], source="public", units="EUR")
WEIGHTS = [0.01, 0.1, 0.3, 1.0]
FRONT = trade_off_curve(PRIOR, 2.0, weights=WEIGHTS)
OTHERS = {method: design(PRIOR, 2.0, method=method).mechanism for method in METHODS}


def texts(axes) -> list[str]:
    return [text.get_text() for text in shown_texts(axes)]


@pytest.mark.slow
def test_the_front_is_the_designs_by_their_weights():
    axes = plots.trade_off(FRONT[::-1])
    wanted = np.array([(point.expected_variance, point.worst_case_variance) for point in FRONT], dtype=float)
    np.testing.assert_allclose(xy(axes, "trade-off"), wanted, rtol=1e-12)
    units = "expected variance of one report [EUR²]", "largest variance of one report [EUR²]"
    assert (axes.get_xlabel(), axes.get_ylabel()) == units


@pytest.mark.nightly
def test_other_mechanisms_are_points_named_beside_them():
    axes = plots.trade_off(FRONT, mechanisms=OTHERS, prior=PRIOR)
    drawn = {str(found.get_label()) for found in axes.lines} - {"trade-off"}
    assert {"optimal", "aaa", "piecewise", "hybrid"} <= drawn
    for name in drawn:
        table = OTHERS[name]
        wanted = table.expected_variance(PRIOR.knot_prior), table.worst_case_variance()[0]
        np.testing.assert_allclose(xy(axes, name), [wanted])
        assert name in texts(axes)
    assert_readable(axes)


@pytest.mark.slow
def test_mechanisms_far_above_the_front_are_named_with_their_numbers_instead():
    axes = plots.trade_off(FRONT, mechanisms=OTHERS)
    most = MOST_ABOVE * max(point.worst_case_variance for point in FRONT)
    drawn = {str(found.get_label()) for found in axes.lines}
    note = noted(axes).replace("\n", " ")
    far = [name for name, table in OTHERS.items() if table.worst_case_variance()[0] > most]
    assert "grr" in far
    for name in far:
        assert name not in drawn
        worst = OTHERS[name].worst_case_variance()[0]
        assert f"{name} (" in note
        assert f"{round(worst, 3 - math.floor(math.log10(worst))):,.10g})" in note


@pytest.mark.slow
def test_the_shaded_region_is_what_the_certificates_rule_out():
    """Every corner of its edge violates some bound or lies on it, and no mechanism lies inside."""
    axes = plots.trade_off(FRONT, mechanisms=OTHERS)
    (shaded,) = axes.collections
    (path,) = shaded.get_paths()
    bottom = axes.get_ylim()[0]
    for expected, worst in np.asarray(path.vertices):
        slack = [(1 - p.objective.worst) * expected + p.objective.worst * worst - p.bound for p in FRONT]
        assert min(slack) <= 1e-9 * FRONT[0].bound
        if bottom < worst < axes.get_ylim()[1]:
            assert min(slack) == pytest.approx(0.0, abs=1e-9 * FRONT[0].bound)
    for name in OTHERS:
        if name in {str(found.get_label()) for found in axes.lines}:
            assert not path.contains_point(xy(axes, name)[0])
    assert UNREACHABLE in texts(axes.figure)


@pytest.mark.nightly
def test_weights_are_named_unless_too_close_together():
    named = [text for text in texts(plots.trade_off(FRONT)) if text.startswith("w =")]
    assert "w = 1" in named
    assert "w = 0.3" in named
    near = [*FRONT, replace(FRONT[-1], objective=TradeOff(0.9999))]
    again = [text for text in texts(plots.trade_off(near)) if text.startswith("w =")]
    assert "w = 0.9999" not in again


@pytest.mark.slow
def test_the_prior_serves_designs_and_mechanisms_that_have_none():
    minimax = design(Prior.even(PRIOR.knots, units="EUR"), 2.0, objective=WorstCase())
    bare = {"duchi": FAMILIES["duchi"](PRIOR.knots, 2.0)}
    axes = plots.trade_off([minimax], mechanisms=bare, prior=PRIOR)
    assert xy(axes, "trade-off")[0, 0] == pytest.approx(minimax.mechanism.expected_variance(PRIOR.knot_prior))


def test_a_mechanism_on_fewer_knots_is_judged_under_the_prior_rounded_to_them():
    few = FAMILIES["piecewise"](PRIOR.knots[::2], 2.0)
    axes = plots.trade_off(FRONT, mechanisms={"piecewise": few}, prior=PRIOR)
    wanted = few.expected_variance(PRIOR.coarsened(PRIOR.knots[::2]).knot_prior)
    assert xy(axes, "piecewise")[0, 0] == pytest.approx(wanted)


@pytest.mark.slow
def test_a_small_picture_can_be_read_too():
    assert_readable(plots.trade_off(FRONT, mechanisms=OTHERS, ax=new_axes(4.6, 4.0)))


@pytest.mark.parametrize(
    ("points", "mechanisms", "prior", "says"),
    [
        ([], {}, None, "at least one design, got none"),
        (FRONT, {"duchi": FAMILIES["duchi"](PRIOR.knots, 1.0)}, PRIOR, "one budget, got epsilon 1 and 2"),
        (FRONT, {"duchi": FAMILIES["duchi"](PRIOR.knots, 2.0)}, None, r"duchi has none: give the figure prior="),
        (FRONT, {}, Prior.on_knots(PRIOR.knots, np.ones(9), source="public"), "must be that of its designs"),
        ([design(Prior.even(PRIOR.knots), 2.0, objective=WorstCase())], {}, None, "a design has none"),
    ],
    ids=["no-design", "two-budgets", "no-prior", "another-prior", "minimax-without-prior"],
)
def test_what_makes_no_trade_off_is_refused(points, mechanisms, prior, says):
    with pytest.raises(InputError, match=says):
        plots.trade_off(points, mechanisms=mechanisms, prior=prior)
