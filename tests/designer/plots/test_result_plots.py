"""A result's `plot` draws what its figure of the namespace draws, on the axes given or on new ones."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from optldp.designer import (
    CategoricalPrior,
    Guarantee,
    Prior,
    TotalVariationAmbiguity,
    bounds,
    compare,
    design,
    plots,
    sweep,
)
from optldp.estimators import count, estimate_distribution, estimate_frequencies
from optldp.estimators.plots.style import whole_figure
from optldp.mechanisms import InputError, duchi
from optldp.mechanisms.categorical import categorical_grr

KNOTS = np.linspace(0.0, 10.0, 5)
PRIOR = Prior.on_knots(KNOTS, np.arange(5) + 1.0, source="public", units="US$")
ASKED = Guarantee(TotalVariationAmbiguity(0.1))
METHODS = ("optimal", "duchi")
RNG = np.random.default_rng(3)

DESIGN = design(PRIOR, 2.0)
COMPARISON = compare(PRIOR, [1.0, 2.0], methods=METHODS)
SWEEP = sweep({"rising": PRIOR, "flat": Prior.even(KNOTS, units="US$")}, [1.0, 2.0], METHODS)
BOUNDS = bounds(PRIOR, [1.0, 2.0], methods=METHODS, objectives=[ASKED])
TABLE = duchi(KNOTS, 2.0)
DISTRIBUTION = estimate_distribution(count(TABLE, TABLE.sample(RNG.uniform(0, 10, 500), RNG)))
FREQUENCIES = estimate_frequencies(count(categorical_grr(["a", "b"], 3.0), np.repeat([0, 1], [10, 20])))

Draw = Callable[[Axes | None], Axes]

DRAWN: dict[str, tuple[Draw, Draw]] = {
    "design": (DESIGN.plot, lambda ax: plots.heat_map(DESIGN.mechanism, ax)),
    "comparison": (
        lambda ax: COMPARISON.plot(ax, relative=True),
        lambda ax: plots.variance(COMPARISON.rows, ax, relative=True),
    ),
    "comparison, units": (COMPARISON.plot, lambda ax: plots.variance(COMPARISON, ax, units="US$")),
    "sweep": (
        lambda ax: SWEEP.plot(ax, prior="flat", units="kg"),
        lambda ax: plots.variance([row for row in SWEEP.rows if row.prior == "flat"], ax, units="kg"),
    ),
    "bounds": (
        BOUNDS.plot,
        lambda ax: plots.variance([row for found in BOUNDS.budgets for row in found.rows], ax, units="US$"),
    ),
    "bounds, worst case": (
        lambda ax: BOUNDS.plot(ax, worst_case=True),
        lambda ax: plots.variance(BOUNDS.rows, ax, worst_case=True, units="US$"),
    ),
    "bounds, objective": (
        lambda ax: BOUNDS.plot(ax, objective=ASKED),
        lambda ax: plots.objective(
            BOUNDS.by(ASKED), ax, quantity=ASKED.quantity(r"US\$"), nobody=ASKED.nobody, more_is_better=False
        ),
    ),
    "distribution": (
        lambda ax: DISTRIBUTION.plot(ax, units="kg", confidence=0.8),
        lambda ax: plots.distribution(DISTRIBUTION, ax, units="kg", confidence=0.8),
    ),
    "frequencies": (
        lambda ax: FREQUENCIES.plot(ax, title="jobs", confidence=0.8),
        lambda ax: plots.frequencies(FREQUENCIES, ax, title="jobs", confidence=0.8),
    ),
}


def _pixels(axes: Axes) -> Any:
    canvas = FigureCanvasAgg(whole_figure(axes))
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWN)
def test_a_result_draws_what_its_figure_draws(name):
    """Pixel for pixel, and with all that it was asked for."""
    own, figure = DRAWN[name]
    drawn = _pixels(own(None))
    assert drawn.std() > 0
    np.testing.assert_array_equal(drawn, _pixels(figure(None)))


@pytest.mark.parametrize("name", DRAWN)
def test_it_draws_on_the_axes_given_and_returns_them(name):
    given = Figure(layout="constrained").subplots()
    assert DRAWN[name][0](given) is given
    assert given.has_data()


def test_a_sweep_of_several_priors_asks_for_one():
    with pytest.raises(InputError, match="rows of one prior, got flat, rising"):
        SWEEP.plot()


def test_a_design_of_categories_is_drawn_from_its_first_label_to_its_last():
    axes = design(CategoricalPrior(["a", "b"], [1.0, 1.0]), 1.0).plot()
    assert (axes.get_xlabel(), [label.get_text() for label in axes.get_xticklabels()]) == ("category", ["a", "b"])
