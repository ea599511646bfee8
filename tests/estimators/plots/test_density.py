"""The picture of a distribution shows its numbers."""

from typing import Any

import numpy as np
import pytest
from matplotlib.patches import StepPatch
from optldp.designer import plots
from optldp.designer.plots.saving import save_figure
from optldp.estimators import InputGrid, ReportCounts, estimate_distribution
from optldp.estimators.plots.density import NAMES
from optldp.mechanisms import square_wave

from ...designer.figure_checks import assert_readable

TABLE = square_wave(np.linspace(0.0, 100.0, 21), 1.0)
REPORTS = TABLE.sample(100 * np.random.default_rng(1).beta(2, 5, 2000), np.random.default_rng(2))
COUNTS = ReportCounts.from_reports(TABLE, REPORTS)


def _steps(patch: StepPatch) -> dict[str, Any]:
    return dict(zip(("values", "edges", "baseline"), patch.get_data(), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("method", sorted(NAMES.keys() - {"ems"}))
def test_it_draws_the_density_and_its_band(method):
    """Weights over the widths of their cells, between their ends; the mean's line at the mean."""
    estimate = estimate_distribution(COUNTS, method=method)
    axes = plots.distribution(estimate, units="kg")
    band, line = (_steps(patch) for patch in axes.patches if isinstance(patch, StepPatch))
    width = np.diff(estimate.grid.edges)
    assert line["values"] == pytest.approx(estimate.value / width)
    assert line["edges"] == pytest.approx(estimate.grid.edges)
    edges, _, _, ends = estimate.ranges()
    assert band["edges"] == pytest.approx(edges)
    assert band["values"] == pytest.approx(ends.high / np.diff(edges))
    assert band["baseline"] == pytest.approx(ends.low / np.diff(edges))
    assert axes.get_ylim()[1] > band["values"].max()
    assert np.asarray(axes.lines[0].get_xdata())[0] == estimate.mean().value
    assert axes.get_ylim()[0] == 0.0
    assert axes.get_ylim()[1] > (estimate.value / width).max()


def test_words_say_what_it_is():
    """Title, axes and legend name the method, the users, the units and the intervals."""
    axes = plots.distribution(estimate_distribution(COUNTS, method="em"), units="kg", confidence=0.9)
    assert axes.get_title() == "Distribution of the values of 2,000 users by maximum likelihood"
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("value [kg]", "density per kg")
    shown = axes.get_legend()
    assert shown is not None
    legend = [text.get_text() for text in shown.get_texts()]
    assert legend[:2] == ["90% interval of the average in each of 4 ranges, each by itself", "estimate"]
    assert legend[2].startswith("mean ")
    assert "90% interval [" in legend[2]
    assert "no picture of the density" in " ".join(axes.texts[-1].get_text().split())
    assert_readable(axes)


def test_what_has_no_intervals_is_drawn_without_bands():
    """EMS: the estimate and its mean alone, and the legend says so."""
    axes = plots.distribution(estimate_distribution(COUNTS, method="ems"))
    (line,) = (_steps(patch) for patch in axes.patches if isinstance(patch, StepPatch))
    assert line["values"].min() >= 0
    shown = axes.get_legend()
    assert shown is not None
    assert [text.get_text() for text in shown.get_texts()][1].endswith(", no interval")


def test_without_units_there_are_no_brackets():
    """A plain value and its density."""
    axes = plots.distribution(estimate_distribution(COUNTS, method="ems"))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("value", "density")


@pytest.mark.nightly
def test_one_component_can_be_drawn(tmp_path):
    """A cell, or a single point without any width."""
    for grid in (InputGrid.equal_cells(0.0, 100.0, 1), InputGrid.knots([50.0])):
        estimate = estimate_distribution(COUNTS, method="em", grid=grid)
        save_figure(plots.distribution(estimate), tmp_path / "one.png")
        assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
