"""Masses at a point: where they are seen, that ranges and quantiles keep them whole, and what is above them."""

import numpy as np
import pytest
from optldp.estimators import DistributionEstimate, InputGrid, ReportCounts, estimate_distribution
from optldp.mechanisms import InputError, square_wave
from optldp.solvers import MixtureFit, Stop

FIT = MixtureFit(np.ones(1), -1.0, 0.0, 0.0, 1, "em", Stop.CERTIFICATE)
KNOTS = InputGrid.knots([0.0, 1.0, 2.0, 3.0, 4.0])


def estimated(*weights: float) -> DistributionEstimate:
    return DistributionEstimate(KNOTS, np.array(weights), 1e-6 * np.eye(5), 1000, "em", FIT, 5)


def collected(values: np.ndarray, rng: np.random.Generator) -> ReportCounts:
    table = square_wave(np.linspace(0.0, 1.0, 33), 4.0)
    return ReportCounts.from_reports(table, table.sample(values, rng))


def nearly_all_zero(seed: int) -> ReportCounts:
    rng = np.random.default_rng(seed)
    return collected(np.where(rng.random(20_000) < 0.99, 0.0, rng.random(20_000)), rng)


def test_a_mass_at_a_knot_is_not_spread_beside_it():
    """Half of what its neighbours have is; the rest is in ranges that hold the knot and in no others."""
    first = estimated(0.94, 0.02, 0.02, 0.01, 0.01)
    assert first.probability(1e-9, 4.0).value == pytest.approx(0.07)
    assert first.probability_above(0.0).value == pytest.approx(0.06)
    assert first.probability(0.0, 0.0).value == pytest.approx(0.93)
    assert first.probability(0.0, 4.0).value == pytest.approx(1.0)
    assert first.quantile(0.5).value == 0.0
    inner = estimated(0.05, 0.05, 0.8, 0.05, 0.05)
    assert inner.probability(2.0, 2.0).value == pytest.approx(0.75)
    assert inner.probability(0.0, 1.999).value == pytest.approx(0.125, abs=1e-3)
    assert inner.probability_above(2.0).value == pytest.approx(0.1)
    assert inner.quantile(0.5).value == 2.0
    assert inner.quantile(0.1).value < 2.0 < inner.quantile(0.9).value


def test_a_density_has_no_masses():
    """Falling straight to nothing, peaked, even: ranges take their part of a cell, as they did."""
    for weights in ((0.36, 0.32, 0.2, 0.12, 0.0), (0.1, 0.2, 0.4, 0.2, 0.1), (0.125, 0.25, 0.25, 0.25, 0.125)):
        found = estimated(*weights)
        assert found.probability(2.0, 2.0).value == found.probability(0.0, 0.0).value == 0.0
        assert found.probability(0.0, 2.0).value == pytest.approx(sum(weights[:2]) + weights[2] / 2)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "cells"), [("em", None), ("mr", None), ("smooth", None), ("smooth", 32)])
def test_any_at_all_is_a_question_with_an_answer(method, cells):
    """One of a hundred: right above zero was .9999997 of everybody. Where it may stand no report tells."""
    grid = None if cells is None else InputGrid.equal_cells(0.0, 1.0, cells)
    found = estimate_distribution(nearly_all_zero(1), method=method, grid=grid)
    for one in (found.probability(1e-9, 1.0), found.probability_above(0.0)):
        assert 0.002 < one.value < 0.03
        assert one.interval().low <= 0.01
    assert found.probability(1e-9, 1.0).interval().high == 1.0
    assert found.probability_above(0.0).interval().high < 0.1
    assert found.quantile(0.5).value == 0.0


def test_values_below_the_first_knot_count_in_part():
    """Three tenths of users half-way to the first knot: the low end holds for all of them, the high end for none."""
    rng = np.random.default_rng(2)
    found = estimate_distribution(collected(np.where(rng.random(20_000) < 0.7, 0.0, 1 / 64), rng), method="em")
    above = found.probability_above(0.0)
    assert above.value == pytest.approx(0.15, abs=0.03)
    assert 0.05 < above.low < 0.15 < above.high < 0.25


def test_above_the_domain_there_is_nothing_and_below_it_all():
    found = estimate_distribution(nearly_all_zero(3), method="em")
    assert (found.probability_above(1.0).value, found.probability_above(1.0).high) == (0.0, 0.0)
    assert found.probability_above(-1.0).value == found.probability_above(-1.0).low == pytest.approx(1.0)
    with pytest.raises(InputError, match="to be above of must be a number, got nan"):
        found.probability_above(float("nan"))


@pytest.mark.nightly
def test_the_default_tells_few_from_none():
    """One of a hundred users is not lost beside the mass of the others: on average .0068 of their .0099 is found."""
    shares = [estimate_distribution(nearly_all_zero(seed)).probability_above(0.0).value for seed in range(12)]
    assert 0.0099 / 2 < np.mean(shares) < 0.0099 * 1.5
