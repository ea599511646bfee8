"""Places that may have a mass: which they are, what holds them, and that reports of a mass find it."""

import numpy as np
import pytest
from optldp.designer import Prior, design
from optldp.designer.objectives import Share
from optldp.estimators import InputGrid, ReportCounts, estimate_distribution
from optldp.estimators.distributions.atoms import MOST_ROUND, deposits, places_of_atoms
from optldp.mechanisms import Metric, square_wave


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.0, 100.0, np.arange(0.0, 101.0, 5.0)),
        (17.0, 90.0, [17.0, *np.arange(20.0, 90.0, 5.0), 90.0]),
        (-1.0, 1.0, np.arange(-10, 11) / 10),
        (0.0, 60_000.0, np.arange(0.0, 60_001.0, 5000.0)),
        (0.0, 3.0, np.arange(16) / 5),
    ],
)
def test_places_are_zero_the_ends_and_round_values(low, high, expected):
    """Each once; in all no more than a score of round ones."""
    found = places_of_atoms(InputGrid.equal_cells(low, high, 64))
    assert found.places == pytest.approx(expected, abs=1e-12 * (high - low))
    assert found.places.size <= MOST_ROUND + 4
    assert ((found.chances > 0) & (found.chances < 1)).all()


def test_few_components_have_no_places_beside_them():
    """Fifteen cells, or points that a table by distance does not take."""
    assert not places_of_atoms(InputGrid.equal_cells(0.0, 1.0, 15)).places.size
    knots = InputGrid.knots(np.linspace(0.0, 1.0, 17))
    assert places_of_atoms(knots, [Metric(3.0)]).places == pytest.approx([0.0, 0.25, 0.5, 0.75, 1.0])


def test_a_cell_without_width_may_have_a_mass_however_few_there_are():
    """As a table for the share above the least value has one: no density can put anything there."""
    found = places_of_atoms(InputGrid.knots([0.0, 6e-8, *np.linspace(5.0, 60.0, 12)]))
    assert found.places == pytest.approx([0.0], abs=0.0)


@pytest.mark.parametrize("grid", [InputGrid.equal_cells(-1.0, 3.0, 40), InputGrid.knots(np.linspace(-1.0, 3.0, 37))])
def test_a_mass_is_held_whole(grid):
    """By its cell, or by the two points beside it with its own mean; the prior of masses adds up to one."""
    components = places_of_atoms(grid)
    held = deposits(grid, components.places)
    assert held.sum(axis=1) == pytest.approx(1.0)
    if grid.flat:
        inside = held.argmax(axis=1)
        assert (grid.edges[inside] <= components.places + 1e-12).all()
        assert (components.places <= grid.edges[inside + 1] + 1e-12).all()
    else:
        assert held @ grid.points == pytest.approx(components.places, abs=1e-12)
    size = components.places.size
    one = [components.log_prior([k]) - components.log_prior([]) for k in range(size)]
    odds = components.chances / (1 - components.chances)
    assert np.exp(one) == pytest.approx(odds)


@pytest.mark.nightly
def test_a_table_for_the_share_above_the_least_value_finds_those_who_have_it():
    """Of 13 knots: all were said to have more, of 36% who have not."""
    prior = Prior.on_knots(np.linspace(0.0, 60.0, 13), np.full(13, 1 / 13), source="public")
    table, rng = design(prior, 1.0, objective=Share(20_000, 0.0)).mechanism, np.random.default_rng(1)
    values = np.where(rng.random(20_000) < 0.36, 0.0, np.minimum(60.0, rng.gamma(2.0, 8.0, 20_000)))
    found = estimate_distribution(ReportCounts.from_reports(table, table.sample(values, rng)))
    assert found.value[0] == pytest.approx(0.36, abs=0.03)


@pytest.mark.slow
def test_reports_of_a_mass_find_it():
    """A third of 20,000 users at zero: its mass is in every fit, its share is right, and next to it there is little."""
    rng, table = np.random.default_rng(3), square_wave(np.linspace(0.0, 10.0, 41), 2.0)
    values = np.where(rng.random(20_000) < 0.35, 0.0, 10 * rng.beta(3, 3, 20_000))
    counts = ReportCounts.from_reports(table, table.sample(values, rng))
    found = estimate_distribution(counts)
    assert found.smooth is not None
    assert found.smooth.atoms[0.0] == pytest.approx(1.0)
    first = found.interval(0.99)
    assert first.low[0] < 0.35 < first.high[0]
    assert found.value[1] < 0.03
