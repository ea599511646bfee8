"""Every figure on axes of the user's own: they come back, and the picture stays in their place."""

from collections.abc import Callable
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox
from optldp.designer import Error, Prior, WorstCase, design, plots
from optldp.designer.comparison.row import Row
from optldp.designer.designs import ClipCurve, clip_curve
from optldp.designer.planning import plan_error
from optldp.estimators import (
    CategoryCounts,
    ReportCounts,
    bias_aware_mean,
    estimate_distribution,
    estimate_frequencies,
    estimate_mean,
)
from optldp.estimators.plots.style import whole_figure
from optldp.mechanisms import InputError, duchi
from optldp.mechanisms.categorical import categorical_grr

from ..figure_checks import assert_readable

KNOTS = np.linspace(0.0, 10.0, 9)
PRIOR = Prior.on_knots(KNOTS, np.arange(9) + 1.0, source="public", units="EUR")
TABLE = duchi(KNOTS, 2.0)
RNG = np.random.default_rng(3)


def row(method: str, epsilon: float, expected: float, worst: float, ratio: float) -> Row:
    return Row(
        method=method,
        epsilon=epsilon,
        expected_variance=expected,
        worst_case_variance=worst,
        ratio_to_optimal=ratio,
    )


ROWS = [row("optimal", epsilon, 2 / epsilon, 3 / epsilon, 1.0) for epsilon in (1.0, 2.0)]
FAR = [row("grr", near.epsilon, 50.0, 60.0, 50.0) for near in ROWS]
BEST = Row(objective="robust", epsilon=1.0, method="robust", value=2.0, bound=1.9, ratio_to_optimal=1.0)
NUMBERS = ReportCounts.from_reports(TABLE, TABLE.sample(RNG.uniform(0, 10, 500), RNG))
LABELS = CategoryCounts.from_reports(categorical_grr(["a", "b", "c"], 3.0), np.repeat(np.arange(3), [10, 20, 30]))
RARE = Prior.on_knots(KNOTS, np.exp(-KNOTS), source="public", units="EUR")
ERRORS = {("taxi", "aaa"): 2.0, ("taxi", "laplace"): 5.0}


@cache
def curve() -> ClipCurve:
    return clip_curve(design(RARE, 1.0, objective=Error(20_000)))


DRAWN: dict[str, Callable[[Axes | None], Axes]] = {
    "variance": lambda ax: plots.variance([*ROWS, *FAR], ax),
    "objective": lambda ax: plots.objective([BEST], ax, quantity="what counts"),
    "people": lambda ax: plots.people([plan_error(PRIOR, 1000, 1.0), plan_error(PRIOR, 1000, 2.0)], ax),
    "by_value": lambda ax: plots.by_value({"duchi": TABLE}, ax, prior=PRIOR),
    "trade_off": lambda ax: plots.trade_off([design(Prior.even(KNOTS), 2.0, objective=WorstCase())], ax, prior=PRIOR),
    "least_favourable": lambda ax: plots.least_favourable(
        design(Prior.even(KNOTS), 2.0, objective=WorstCase()), ax, prior=PRIOR
    ),
    "bias": lambda ax: plots.bias({"duchi": TABLE}, ax, prior=PRIOR),
    "clip_errors": lambda ax: plots.clip_errors(curve(), ax),
    "heat_map": lambda ax: plots.heat_map(TABLE, ax),
    "support_map": lambda ax: plots.support_map(categorical_grr(["a", "b", "c"], 3.0), ax),
    "counted_as": lambda ax: plots.counted_as(bias_aware_mean(NUMBERS, PRIOR.weights), ax),
    "mean": lambda ax: plots.mean(estimate_mean(NUMBERS), ax, truth=5.0, ratio_to_no_privacy=2.0, units="EUR"),
    "distribution": lambda ax: plots.distribution(estimate_distribution(NUMBERS), ax),
    "frequencies": lambda ax: plots.frequencies(estimate_frequencies(LABELS), ax),
    "error_table": lambda ax: plots.error_table(ERRORS, ax, title="", quantity="mean squared error"),
}


def test_no_figure_is_missing_here():
    assert set(DRAWN) == set(dir(plots))


@pytest.mark.nightly
@pytest.mark.parametrize("name", DRAWN)
def test_each_draws_on_the_axes_given_and_on_a_figure_of_its_own_without_any(name):
    own = DRAWN[name](None)
    assert own.figure.axes[0] is own
    assert_readable(own)
    given = Figure(layout="constrained").subplots()
    assert DRAWN[name](given) is given


@pytest.mark.nightly
@pytest.mark.parametrize("name", DRAWN)
def test_neighbours_in_a_grid_are_left_alone(name):
    """What is drawn twice side by side can be read, and no axes lie upon others."""
    left, right = Figure(figsize=(13, 4.5), layout="constrained").subplots(1, 2)
    for place in (left, right):
        DRAWN[name](place)
    assert_readable(left)
    boxes = [axes.get_window_extent() for axes in whole_figure(left).axes]
    assert len(boxes) >= 2
    assert not any(Bbox.intersection(one, other) for one, other in combinations(boxes, 2))


@pytest.mark.parametrize("name", ["by_value", "least_favourable"])
def test_a_strip_takes_its_room_from_axes_placed_by_hand(name):
    axes = DRAWN[name](Figure().add_axes((0.2, 0.3, 0.5, 0.6)))
    _, strip = axes.figure.axes
    upper, lower = axes.get_position(), strip.get_position()
    np.testing.assert_allclose([lower.x0, lower.y0, upper.x1, upper.y1], [0.2, 0.3, 0.7, 0.9])
    assert lower.y1 < upper.y0


@pytest.mark.nightly
def test_a_subfigure_will_do():
    part: Any = Figure(figsize=(7.2, 4.4), layout="constrained").subfigures()
    axes = DRAWN["trade_off"](part.subplots())
    assert axes.figure is part
    assert_readable(axes)


def test_anything_but_one_axes_is_refused():
    grid = Figure().subplots(1, 2)
    with pytest.raises(InputError, match="one Axes of matplotlib, got ndarray: choose one"):
        plots.variance(ROWS, grid)


def test_the_interval_without_privacy_is_shorter_and_around_the_truth():
    found = estimate_mean(NUMBERS)
    axes = found.plot(truth=5.0, ratio_to_no_privacy=4.0)
    with_privacy, without = (np.asarray(line.get_xdata(), dtype=float) for line in (axes.lines[0], axes.lines[1]))
    assert with_privacy.tolist() == [found.low, found.high]
    assert np.ptp(without) == pytest.approx(np.ptp(with_privacy) / 4.0)
    assert without.mean() == pytest.approx(5.0)
    with pytest.raises(InputError, match=r"ratio_to_no_privacy must be positive, got 0.0"):
        found.plot(ratio_to_no_privacy=0.0)
