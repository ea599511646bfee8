"""The picture: every kind of table, and the numbers in it."""

import sys

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.patches import StepPatch
from optldp.designer import METHODS, Prior, design, plots
from optldp.designer.plots.saving import save_figure
from optldp.mechanisms import InputError, TabulatedMechanism, hybrid, laplace, piecewise
from optldp.mechanisms.categorical import categorical_grr, optimised_unary

from ..figure_checks import assert_readable, noted

PRIOR = Prior.on_knots(np.linspace(0, 10, 6), [1, 2, 3, 2, 1, 1], source="public", units="EUR")


def meshes(axes: Axes) -> list[QuadMesh]:
    return [mesh for mesh in axes.collections if isinstance(mesh, QuadMesh)]


def drawn(mesh: QuadMesh) -> np.ndarray:
    array = mesh.get_array()
    assert array is not None
    return np.ma.filled(np.ma.asarray(array), np.nan)


def corners(mesh: QuadMesh) -> np.ndarray:
    """(rows + 1, columns + 1, 2) inputs and reports at the corners of the mesh."""
    return np.asarray(mesh.get_coordinates())


@pytest.mark.nightly
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_every_method_can_be_drawn(method, suffix, tmp_path):
    axes = plots.heat_map(design(PRIOR, 1.0, method=method).mechanism)
    assert axes.get_title().startswith(f"{method} mechanism, ε = 1: 6 knots")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("value [EUR]", "report [EUR]")
    save_figure(axes, tmp_path / f"plot.{suffix}")
    assert [path.name for path in tmp_path.iterdir()] == [f"plot.{suffix}"]
    assert (tmp_path / f"plot.{suffix}").stat().st_size > 2000


def test_colours_are_probabilities_over_the_least_of_their_report_in_rows_to_scale():
    table = TabulatedMechanism.from_points([0, 1], [0, 2, 6], [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]], 1.0)
    axes = plots.heat_map(table)
    (mesh,) = meshes(axes)
    np.testing.assert_allclose(drawn(mesh), [[2.5, 1.0], [1.0, 1.0], [1.0, 2.5]])
    assert np.unique(corners(mesh)[:, :, 1]).tolist() == [-1.0, 1.0, 4.0, 8.0]
    assert np.unique(corners(mesh)[:, :, 0]).tolist() == [-0.5, 0.5, 1.5]
    assert axes.get_ylabel() == "report"
    assert [label.get_text() for label in axes.figure.axes[2].get_yticklabels()] == ["1", "2.5"]
    assert axes.figure.axes[2].get_ylabel() == "probability over its floor"


def test_reports_at_one_place_have_rows_of_one_height_and_the_axis_says_so():
    laws = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
    table = TabulatedMechanism(np.array([0.0, 1.0]), np.array([0.0, 1.0, 2.0]), np.array([2.0, 1.0, 3.0]), laws, 1.0)
    axes = plots.heat_map(table)
    assert np.unique(corners(meshes(axes)[0])[:, :, 1]).tolist() == [-0.5, 0.5, 1.5, 2.5]
    assert axes.get_ylabel() == "report (rows not to scale)"
    assert [label.get_text() for label in axes.get_yticklabels()] == ["1", "1", "2.5"]


def test_nearly_all_cells_of_an_optimum_are_at_one_end_of_the_colours_or_at_the_other():
    axes = plots.heat_map(design(PRIOR, 1.0).mechanism)
    (mesh,) = meshes(axes)
    loss = np.log(drawn(mesh))
    assert np.mean(np.minimum(abs(loss), abs(loss - 1.0)) < 1e-3) > 0.95
    assert axes.figure.axes[2].get_ylabel() == "probability over its floor, at most eᵋ"


@pytest.mark.parametrize("table", [piecewise([0.0, 1.0], 1.0), laplace(np.linspace(0, 1, 5), 1.0)])
def test_the_bars_beside_it_are_the_floors_and_their_sum_is_written_below(table):
    axes = plots.heat_map(table)
    floors = table.probabilities.min(axis=0)
    bars = axes.figure.axes[1].patches[0]
    assert isinstance(bars, StepPatch)
    np.testing.assert_array_equal(bars.get_data()[0], floors)
    assert f"{100 * floors.sum():.3g}% in all" in axes.figure.axes[1].get_xlabel()


def test_atoms_lie_between_the_cells_around_them():
    table = hybrid(np.linspace(0, 1, 5), 1.0)
    (mesh,) = meshes(plots.heat_map(table))
    smooth = np.all(np.diff(drawn(mesh), axis=1) != 0, axis=1)  # the atoms favour values by degrees
    assert np.flatnonzero(smooth).size == 2
    atoms = table.low[table.low == table.high]
    below = [int(np.sum((table.low + table.high) / 2 < atom)) for atom in atoms]
    assert np.flatnonzero(smooth).tolist() == below


def test_the_lattice_shows_no_output_that_never_occurs():
    table = design(PRIOR, 1.0, method="aaa").mechanism
    (mesh,) = meshes(plots.heat_map(table))
    assert len(drawn(mesh)) == table.probabilities.any(axis=0).sum() < table.low.size


def test_an_infinite_ratio_is_drawn_as_the_largest_finite_one_and_said():
    table = TabulatedMechanism.from_points([0, 1], [0, 2, 6], [[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]], 1.0)
    axes = plots.heat_map(table)
    np.testing.assert_allclose(drawn(meshes(axes)[0])[2], [1.0, 2.5])
    assert "the ratio of those is infinite" in " ".join(noted(axes).split())


@pytest.mark.nightly
def test_categories_and_oracles_show_how_much_a_report_says_for_its_own():
    """Of a table every output; of an oracle the categories that a report supports; of many the first forty."""
    table = plots.support_map(categorical_grr(["a", "b", "c"], 2.0))
    np.testing.assert_allclose(drawn(meshes(table)[0]), np.where(np.eye(3) > 0, np.exp(2.0), 1.0), rtol=1e-6)
    oracle = optimised_unary([f"street {place}" for place in range(60)], 1.0)
    axes = plots.support_map(oracle)
    wanted = np.where(np.eye(40) > 0, oracle.own_support / oracle.other_support, 1.0)
    np.testing.assert_allclose(drawn(meshes(axes)[0]), wanted)
    assert axes.get_title().endswith("the first 40 of 60")
    for one in (table, axes):
        assert_readable(one)


@pytest.mark.slow
@pytest.mark.parametrize(
    "table",
    [
        TabulatedMechanism.from_points([0, 1], [0.5], [[1.0], [1.0]], 1.0),
        TabulatedMechanism.from_points([0, 1], [0, 1], [[0.5, 0.5], [0.5, 0.5]], 1.0),
        TabulatedMechanism.from_edges([0, 1], [0, 1], [[1.0], [1.0]], 1.0),
    ],
    ids=["one-point", "one-value", "one-cell"],
)
def test_the_smallest_tables_can_be_drawn(table, tmp_path):
    save_figure(plots.heat_map(table), tmp_path / "plot.png")
    assert (tmp_path / "plot.png").exists()


@pytest.mark.parametrize(
    ("name", "says"),
    [("plot.bmpp", "must end in one of .*pdf, .*png"), ("plot", "must end in one of"), ("none/plot.png", "writable")],
)
def test_an_unusable_place_is_refused_and_left_alone(name, says, tmp_path):
    axes = plots.heat_map(piecewise([0.0, 1.0], 1.0))
    with pytest.raises(InputError, match=says):
        save_figure(axes, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match=r"pip install matplotlib"):
        plots.heat_map(piecewise([0.0, 1.0], 1.0))
