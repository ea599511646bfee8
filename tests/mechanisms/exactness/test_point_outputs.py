"""Reports rounded to points: the mean of every row stays, privacy stays, and the masses are those of quadrature."""

from itertools import pairwise

import numpy as np
import pytest
from optldp.mechanisms import TableError, TabulatedMechanism, laplace, piecewise, ptt2, verify
from optldp.mechanisms.exactness.point_outputs import to_points
from optldp.mechanisms.sampling.within_cell import ExponentialDensity
from scipy.integrate import quad

KNOTS = [-1.0, -0.2, 0.5, 1.0]


def hat(points, k, y):
    """The chance that a report y between the first and the last point is rounded to the k-th."""
    return np.interp(y, points, np.eye(points.size)[k])


def laplace_density(table, i, y):
    """The Laplace mechanism's density at a knot, from its definition."""
    scale = table.provenance.parameters["scale"]
    return np.exp(-abs(y - table.knots[i]) / scale) / (2 * scale)


def tent_density(table, i, y):
    """A table's own density, from its cells and tilts."""
    j = np.clip(np.searchsorted(table.high, y), 0, table.high.size - 1)
    width = table.high[j] - table.low[j]
    place = (y - table.low[j]) / width
    return table.probabilities[i, j] / width * (1 + table.within.tilt[i, j] * (2 * place - 1))


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_tents_round_to_the_masses_of_quadrature(epsilon):
    """Density times hat function, integrated numerically, for a few points of every row."""
    before = ptt2(KNOTS, epsilon)
    made = to_points(before, spacing=0.7)
    for i in range(len(KNOTS)):
        for k in (0, 3, made.low.size // 2, made.low.size - 1):
            around = made.low[max(k - 1, 0) : k + 2]
            cuts = np.unique(np.r_[around, before.low[(before.low > around[0]) & (before.low < around[-1])]])
            mass = sum(
                quad(lambda y, i=i, k=k: tent_density(before, i, y) * hat(made.low, k, y), a, b)[0]
                for a, b in pairwise(cuts)
            )
            assert made.probabilities[i, k] == pytest.approx(mass, abs=1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_laplace_rounds_to_the_masses_of_quadrature_and_its_tails_to_a_lattice(epsilon):
    """Inside the domain by hat functions, outside the lattice's first points."""
    before = laplace(KNOTS, epsilon)
    made = to_points(before, spacing=0.3)
    points, ratio = made.low[1:-1], made.within.parameters()["ratio"]
    lattice = np.r_[made.high[0] - 0.3 * np.arange(40, -1, -1), points, made.low[-1] + 0.3 * np.arange(41)]
    for i in range(len(KNOTS)):
        tail = made.probabilities[i, -1] * (1 - ratio)
        expected = np.r_[made.probabilities[i, 1:-1], tail, tail * ratio]
        for k, wanted in enumerate(expected, start=41):
            cuts = np.unique(np.r_[lattice[k - 1 : k + 2], np.array(KNOTS)[abs(np.array(KNOTS) - lattice[k]) < 0.3]])
            mass = sum(
                quad(lambda y, i=i, k=k: laplace_density(before, i, y) * hat(lattice, k, y), a, b)[0]
                for a, b in pairwise(cuts)
            )
            assert wanted == pytest.approx(mass, abs=1e-9)


@pytest.mark.parametrize("family", [laplace, ptt2])
@pytest.mark.parametrize("spacing", [None, 0.05, 10.0])
def test_privacy_and_means_stay_and_the_variance_grows_by_at_most_a_quarter_of_the_squared_spacing(family, spacing):
    """Coarse points too; by default by less than a millionth."""
    before = family(KNOTS, 2.0)
    made = to_points(before, spacing=spacing)
    assert not verify(made).failures
    np.testing.assert_allclose(made.knot_means, before.knot_means, atol=1e-13)
    grown = made.knot_variances - before.knot_variances
    assert (grown > 0).all()
    assert (grown < (1e-6 * before.knot_variances if spacing is None else spacing**2 / 4)).all()


def test_points_that_were_there_stay_and_join_the_new_ones():
    """A point inside a cell of exponential density keeps its mass, and one on the grid adds to it."""
    law = ExponentialDensity(np.array([[0.0, 1.0, 0.0], [0.0, -1.0, 0.0]]))
    ends = np.array([-1.0, 0.0, 0.5]), np.array([-1.0, 1.0, 0.5])
    table = TabulatedMechanism(np.array([0.0, 1.0]), *ends, np.array([[0.25, 0.5, 0.25]] * 2), 2.0, law)
    made = to_points(table, spacing=0.5)
    assert made.low.tolist() == [-1.0, 0.0, 0.5, 1.0]
    np.testing.assert_allclose(made.probabilities[:, 0], 0.25)
    assert (made.probabilities[:, 2] > 0.25).all()
    np.testing.assert_allclose(made.knot_means, table.knot_means, atol=1e-15)


def test_other_laws_and_uneven_tails_are_refused():
    """Uniform cells need no points; two tails of one lattice fall equally fast."""
    with pytest.raises(TableError, match="only linear and exponential laws within outputs become points, got uniform"):
        to_points(piecewise([0.0, 1.0], 1.0))
    law = ExponentialDensity(np.array([[1.0, -2.0]] * 2))
    uneven = TabulatedMechanism(
        np.array([0.0, 1.0]), np.array([-np.inf, 1.0]), np.array([0.0, np.inf]), np.full((2, 2), 0.5), 1.0, law
    )
    with pytest.raises(TableError, match=r"must fall equally fast to become points, got rates 1\.0 to 2\.0"):
        to_points(uneven, spacing=0.1)
