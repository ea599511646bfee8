"""The error against the clip point, and the bias by value, as drawn."""

from functools import cache

import numpy as np
import pytest
from optldp.designer import Error, Prior, design, plots
from optldp.designer.designs import ClipCurve, clip_curve
from optldp.estimators.plots.style import new_axes
from optldp.mechanisms import InputError, TabulatedMechanism, duchi

from ..figure_checks import assert_readable, end_labels, xy

KNOTS = np.linspace(0, 100, 11)
PRIOR = Prior.on_knots(KNOTS, np.exp(-KNOTS / 8) + 1e-4, source="public", units="EUR")


@cache
def curve() -> ClipCurve:
    return clip_curve(design(PRIOR, 1.0, objective=Error(20_000)))


def table() -> TabulatedMechanism:
    return curve().design.mechanism


@pytest.mark.nightly
def test_the_lines_are_the_errors_and_the_star_is_the_optimum():
    axes = plots.clip_errors(curve())
    for name, part in (("error", "rmse"), ("noise", "noise"), ("bias at most", "bias_bound")):
        values = [getattr(error, part) for error in curve().errors]
        np.testing.assert_array_equal(xy(axes, name), np.column_stack([curve().clips, values]))
    assert xy(axes, "the optimum").tolist() == [[curve().design.evidence.clip_high, curve().design.value]]
    assert set(xy(axes, "certified: nothing errs less")[:, 1]) == {curve().design.bound}
    assert axes.get_ylim()[0] == 0
    assert axes.get_ylabel() == "error of the mean [EUR]"
    assert axes.get_title() == "Where a clip pays, ε = 1, 20,000 users"


@pytest.mark.nightly
def test_the_lower_end_is_said_to_be_cut_where_it_is():
    mirrored = Prior.on_knots(KNOTS, PRIOR.weights[::-1], source="public")
    axes = plots.clip_errors(clip_curve(design(mirrored, 1.0, objective=Error(20_000))))
    assert axes.get_xlabel() == "values below this are counted as this"


@pytest.mark.nightly
@pytest.mark.parametrize("size", [(7.2, 4.4), (4.6, 4.0)])
def test_both_can_be_read(size):
    assert_readable(plots.clip_errors(curve(), new_axes(*size)))
    assert_readable(plots.bias({"error": table(), "duchi": duchi(KNOTS, 1.0)}, new_axes(*size), prior=PRIOR))


def test_a_line_is_the_bias_of_a_table():
    axes = plots.bias({"duchi": duchi(KNOTS, 1.0), "error": table()}, prior=PRIOR)
    np.testing.assert_array_equal(xy(axes, "error"), np.column_stack([KNOTS, table().knot_bias]))
    assert np.abs(xy(axes, "duchi")[:, 1]).max() < 1e-10
    assert sorted(end_labels(axes)) == ["duchi", "error"]
    assert axes.figure.axes[1].get_xlabel() == "value [EUR]"


def test_what_has_no_common_domain_is_refused():
    with pytest.raises(InputError, match="biases by value need one domain"):
        plots.bias({"error": table(), "duchi": duchi([0, 1], 1.0)})
    with pytest.raises(InputError, match="a figure of biases by value needs at least one mechanism"):
        plots.bias({})
