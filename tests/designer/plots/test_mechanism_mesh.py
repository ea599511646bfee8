"""The picture: every kind of table, and the numbers in it."""

import sys

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from optldp.designer import METHODS, Prior, design, plots
from optldp.designer.plots.saving import save_figure
from optldp.mechanisms import InputError, TabulatedMechanism, hybrid, laplace, piecewise

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


@pytest.mark.sampled(5)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_every_method_can_be_drawn(method, suffix, tmp_path):
    axes = plots.heat_map(design(PRIOR, 1.0, method=method).mechanism)
    assert axes.get_title().startswith(f"{method} mechanism, ε = 1: 6 knots")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("value [EUR]", "report [EUR]")
    save_figure(axes, tmp_path / f"plot.{suffix}")
    assert [path.name for path in tmp_path.iterdir()] == [f"plot.{suffix}"]
    assert (tmp_path / f"plot.{suffix}").stat().st_size > 2000


def test_points_show_their_probabilities_half_way_to_their_neighbours():
    table = TabulatedMechanism.from_points([0, 1], [0, 2, 6], [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]], 1.0)
    axes = plots.heat_map(table)
    (mesh,) = meshes(axes)
    np.testing.assert_array_equal(drawn(mesh), table.probabilities.T)
    assert np.unique(corners(mesh)[:, :, 1]).tolist() == [-1, 1, 4, 8]
    assert np.unique(corners(mesh)[:, :, 0]).tolist() == [-0.5, 0.5, 1.5]
    assert axes.figure.axes[1].get_ylabel() == "probability of the output"


def test_cells_show_their_densities():
    table = piecewise([0.0, 1.0], 1.0)
    axes = plots.heat_map(table)
    (mesh,) = meshes(axes)
    np.testing.assert_allclose(drawn(mesh), (table.probabilities / (table.high - table.low)).T)
    assert axes.figure.axes[1].get_ylabel() == "density of the report"


def test_an_endless_tail_is_cut_and_atoms_lie_on_the_cells():
    (mesh,) = meshes(plots.heat_map(laplace(np.linspace(0, 1, 5), 1.0)))
    heights = corners(mesh)[:, :, 1]
    np.testing.assert_allclose([heights.min(), heights.max()], [-0.15, 1.15])
    cells, atoms = meshes(plots.heat_map(hybrid(np.linspace(0, 1, 5), 1.0)))
    assert np.isfinite(drawn(cells)).all()
    assert np.isfinite(drawn(atoms)).any(axis=1).sum() == 2


def test_the_lattice_shows_probabilities_and_no_output_that_never_occurs():
    table = design(PRIOR, 1.0, method="aaa").mechanism
    axes = plots.heat_map(table)
    (mesh,) = meshes(axes)
    used = table.probabilities.any(axis=0)
    np.testing.assert_array_equal(drawn(mesh), table.probabilities[:, used].T)
    assert axes.figure.axes[1].get_ylabel() == "probability of the output"


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
