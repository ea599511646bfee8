"""The minimax design and its least favourable prior, as drawn."""

import numpy as np
import pytest
from optldp.designer import Prior, TradeOff, WorstCase, design, plots
from optldp.estimators.plots.style import new_axes
from optldp.mechanisms import InputError

from ..figure_checks import assert_readable, shown_texts, xy

KNOTS = np.linspace(0.0, 10.0, 21)
DESIGN = design(Prior.even(KNOTS, units="EUR"), 2.0, objective=WorstCase())
PRIOR = Prior.on_knots(KNOTS, np.arange(21) + 1.0, source="public", units="EUR")


def masses(axes) -> np.ndarray:
    """(k, 2) place and height of every bar."""
    (bars,) = axes.collections
    assert all(segment[0, 1] == 0.0 for segment in bars.get_segments())
    return np.array([segment[1] for segment in bars.get_segments()])


def legend(axes) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_the_bars_are_the_least_favourable_prior():
    _, below = plots.least_favourable(DESIGN).figure.axes
    np.testing.assert_array_equal(masses(below), np.column_stack([KNOTS, DESIGN.evidence.least_favourable]))
    assert legend(below) == ["least favourable prior"]
    assert (below.get_xlabel(), below.get_ylabel()) == ("value [EUR]", "share of the values")


def test_the_variance_and_its_certified_bound_stand_above():
    above, _ = plots.least_favourable(DESIGN).figure.axes
    x, variance = xy(above, "variance of the design").T
    np.testing.assert_allclose(variance, DESIGN.mechanism.var(x))
    assert set(KNOTS) <= set(x)
    (bound,) = [line for line in above.lines if str(line.get_label()).startswith("certified")]
    assert set(np.asarray(bound.get_ydata()).tolist()) == {DESIGN.bound}
    assert bound.get_linestyle() == "--"
    assert above.get_ylabel() == "variance [EUR²]"


def test_a_level_variance_looks_level():
    """From zero on: otherwise rounding of the last digits would look like hills."""
    above, below = plots.least_favourable(DESIGN).figure.axes
    assert above.get_ylim()[0] == below.get_ylim()[0] == 0.0
    assert above.get_ylim()[1] > DESIGN.worst_case_variance


def test_mass_lies_where_the_variance_is_largest():
    """What the picture is there to show: complementary slackness, drawn one above the other."""
    above, below = plots.least_favourable(DESIGN).figure.axes
    x, variance = xy(above, "variance of the design").T
    heavy = masses(below)[masses(below)[:, 1] > 1e-3]
    assert 2 < len(heavy) < 21
    at = np.array([variance[np.flatnonzero(x == place)[0]] for place, _ in heavy])
    np.testing.assert_allclose(at, DESIGN.evidence.worst_knot_variance, rtol=1e-3)


def test_another_prior_is_drawn_with_it():
    axes = plots.least_favourable(DESIGN, prior=PRIOR)
    np.testing.assert_array_equal(xy(axes.figure.axes[1], "prior"), np.column_stack([KNOTS, PRIOR.weights]))
    assert legend(axes.figure.axes[1]) == ["least favourable prior", "prior"]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(7.2, 4.4), (4.6, 4.0)])
def test_it_can_be_read(size):
    assert_readable(plots.least_favourable(DESIGN, prior=PRIOR, ax=new_axes(*size)))


@pytest.mark.slow
def test_below_a_weight_of_one_no_bound_on_the_worst_case_is_claimed():
    axes = plots.least_favourable(design(PRIOR, 2.0, objective=TradeOff(0.3)))
    above, below = axes.figure.axes
    assert [line.get_label() for line in above.lines] == ["variance of the design"]
    assert legend(below) == ["multipliers of the worst case"]
    assert any("weight of the worst case 0.3" in text.get_text() for text in shown_texts(axes))


def test_a_prior_on_other_knots_is_refused():
    other = Prior.on_knots([0, 10], [1, 1], source="public")
    with pytest.raises(InputError, match="on the design's knots, got 2 knots beside 21"):
        plots.least_favourable(DESIGN, prior=other)
