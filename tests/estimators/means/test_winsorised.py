"""Winsorising: limits from the table alone, its bias, variance and intervals as enumerated."""

# Arrays are given as lists, which array_like allows; what may be None, or another law, is known not to be.
# pyright: reportArgumentType=false, reportOptionalOperand=false, reportAttributeAccessIssue=false

import math
from itertools import pairwise

import numpy as np
import pytest
from optldp.estimators import count, estimate_mean, winsorised
from optldp.estimators.means.decoder import mean_decoder
from optldp.mechanisms import InputError, TabulatedMechanism, duchi, laplace, make_exact, piecewise, square_wave
from optldp.mechanisms.sampling.within_cell import GeometricTails
from optldp.mechanisms.table.knot_prior import KnotPrior
from optldp.mechanisms.table.moments import largest_variance
from scipy import integrate

from .test_unbiasing import random_table

POINTS = 20_001


def lattice(ratio=0.5, step=1.0):
    ends, rows = [-2.0, 2.0], [[0.7, 0.06, 0.24], [0.4, 0.2, 0.4], [0.24, 0.06, 0.7]]
    low, high = [-np.inf, 0.0, ends[1]], [ends[0], 0.0, np.inf]
    return TabulatedMechanism([-1.0, 0.0, 1.0], low, high, rows, 1.1, GeometricTails(step, ratio))


TABLES = {
    "points": make_exact(duchi(np.linspace(-1, 1, 3), 1.0)).mechanism,
    "cells": make_exact(piecewise(np.linspace(1e6, 1e6 + 3, 5), 1.0)).mechanism,
    "lattice": lattice(),
    "slow lattice": lattice(0.995, 0.125),
    "laplace": laplace(np.linspace(-1, 1, 5), 1.0),
    "affine": square_wave(np.linspace(0, 1, 5), 1.0),
    "mirrored": square_wave(np.linspace(0, 1, 5), 1.0).affine(-2.0, 7.0),
    "decoder": random_table(11, 4, 7),
}


def atoms(table, row):
    """The decoded reports of a row as points with weights: cells and exponential tails by the midpoint rule."""
    decoder, places, weights = mean_decoder(table, raw=table is not TABLES["decoder"]), [], []
    for j, (low, high) in enumerate(zip(table.low, table.high, strict=True)):
        p = table.probabilities[row, j]
        if decoder.values is not None:
            y, w = np.array([decoder.values[j]]), np.ones(1)
        elif low == high:
            y, w = np.array([low]), np.ones(1)
        elif isinstance(table.within, GeometricTails):
            k = np.arange(20_000)
            y = low + k * table.within.step if np.isfinite(low) else high - k * table.within.step
            w = (1 - table.within.ratio) * table.within.ratio**k
        elif np.isfinite(low) and np.isfinite(high):
            v = (np.arange(POINTS) + 0.5) / POINTS
            rate = table.within.rate[row, j] if hasattr(table.within, "rate") else 0.0
            y, w = low + (high - low) * v, np.exp(rate * (high - low) * v)
        else:
            rate = abs(table.within.rate[row, j])
            t = np.linspace(0, 60 / rate, 400_001)[1:] - 30 / rate / 400_000
            y, w = (low + t if np.isfinite(low) else high - t), np.exp(-rate * t)
        places.append(y)
        weights.append(p * w / w.sum())
    y = np.concatenate(places)
    return (y if decoder.values is not None else (y - decoder.shift) / decoder.scale), np.concatenate(weights)


@pytest.mark.parametrize("name", list(TABLES))
@pytest.mark.parametrize("share", [0.3, 0.05, 0.001])
def test_bias_and_variance_are_those_of_the_enumerated_law(name, share):
    table = TABLES[name]
    found = winsorised(table, share, raw=name != "decoder")
    width = table.knots[-1] - table.knots[0]
    means, variances = [], []
    for row, knot in enumerate(table.knots):
        y, w = atoms(table, row)
        clipped = found.clip(y)
        means.append(w @ (clipped - knot))
        variances.append(w @ (clipped - knot - means[-1]) ** 2)
    assert found.bias_low == pytest.approx(min(means), abs=1e-6 * width)
    assert found.bias_high == pytest.approx(max(means), abs=1e-6 * width)
    worst = largest_variance(table.knots, table.knots + means, np.array(variances))[0]
    assert found.worst_case_variance == pytest.approx(worst, rel=1e-5)
    assert found.largest_bias == max(abs(found.bias_low), abs(found.bias_high))


@pytest.mark.parametrize("name", list(TABLES))
@pytest.mark.parametrize("share", [0.3, 0.05, 0.001])
def test_limits_are_exceeded_as_rarely_as_they_promise_and_are_tight(name, share):
    """No more than the share beyond, at any knot; and a tail's limit one point, or a little, nearer would not do."""
    table = TABLES[name]
    found = winsorised(table, share, raw=name != "decoder")
    slack = 1e-9 * (table.knots[-1] - table.knots[0])
    above, below, step = [], [], []
    for row in range(table.knots.size):
        y, w = atoms(table, row)
        above.append(w[y > found.high + slack].sum())
        below.append(w[y < found.low - slack].sum())
        inside = y[y < found.high - slack]
        step.append(w[y > inside.max() - slack].sum() if inside.size else 1.0)
    assert max(above) <= share * (1 + 1e-3)
    assert max(below) <= share * (1 + 1e-3)
    if name in ("points", "lattice", "slow lattice", "decoder"):
        assert max(step) > share


def test_smaller_shares_are_wider_and_less_biased():
    table = TABLES["lattice"]
    found = [winsorised(table, share, raw=True) for share in (0.2, 0.05, 0.01, 1e-4, 1e-8)]
    assert all(a.high <= b.high and a.low >= b.low for a, b in pairwise(found))
    assert all(a.largest_bias >= b.largest_bias for a, b in pairwise(found))
    plain = table.worst_case_variance()[0] / mean_decoder(table, raw=True).scale ** 2
    assert found[0].worst_case_variance < found[-1].worst_case_variance == pytest.approx(plain, rel=1e-4)


def test_points_that_are_likely_everywhere_are_left_alone():
    table = TABLES["points"]
    found = winsorised(table, 0.01)
    assert (found.low, found.high) == (table.low[0], table.low[-1])
    assert found.largest_bias < 1e-9
    reports = table.sample(np.zeros(50), np.random.default_rng(1))
    assert estimate_mean(count(table, reports), winsorise=0.01).value == estimate_mean(count(table, reports)).value


def test_the_expected_variance_is_under_the_tables_prior():
    table = TABLES["lattice"]
    prior = KnotPrior([0.0, 1.0, 0.0], [0.0, 0.0], "public")
    found = winsorised(table.with_prior(prior), 0.05, raw=True)
    y, w = atoms(table, 1)
    clipped = found.clip(y)
    assert found.expected_variance == pytest.approx(w @ clipped**2 - (w @ clipped) ** 2, rel=1e-9)
    assert winsorised(table, 0.05).expected_variance is None


@pytest.mark.parametrize("share", [0.0, 0.5, -0.1, math.nan, 1.0])
def test_other_shares_are_refused(share):
    with pytest.raises(InputError, match=r"^winsorise must be a share of reports strictly between 0 and 0\.5, got"):
        winsorised(TABLES["points"], share)


@pytest.mark.slow
def test_one_report_moves_the_winsorised_mean_by_no_more_than_it_says():
    """Every report that the lattice can make, in place of one of 200; the farthest attains the bound."""
    table = lattice()
    reports = table.sample(np.full(200, 0.4), np.random.default_rng(2))
    plain, moved = (estimate_mean(count(table, reports), winsorise=share, raw=True) for share in (None, 0.02))
    candidates = np.concatenate([-2.0 - np.arange(64), [0.0], 2.0 + np.arange(64)])
    for share, made in (None, plain), (0.02, moved):
        means = [
            estimate_mean(count(table, np.append(reports[1:], y)), winsorise=share, raw=True).value for y in candidates
        ]
        assert np.ptp(means) == pytest.approx(made.one_report, rel=1e-9)
    assert moved.one_report < plain.one_report / 5
    with pytest.raises(InputError, match="must be outputs"):
        estimate_mean(count(table, np.append(reports, 1e295)), winsorise=0.02)


@pytest.mark.nightly
def test_the_interval_holds_the_mean_at_inputs_that_the_bias_is_worst_at():
    """400 samples at the knot of the largest bias: the interval without the bias covers too rarely, with it enough."""
    table, n, samples = lattice(), 4000, 400
    found = winsorised(table, 0.2, raw=True)
    worst = 1.0 if -found.bias_low > found.bias_high else -1.0
    rng, covered, narrow = np.random.default_rng(5), 0, 0
    for _ in range(samples):
        made = estimate_mean(count(table, table.sample(np.full(n, worst), rng)), winsorise=0.2, raw=True)
        assert (made.bias_low, made.bias_high) == (found.bias_low, found.bias_high)
        covered += made.interval().low <= worst <= made.interval().high
        narrow += abs(made.value - worst) <= 1.96 * made.std_error
    assert covered / samples >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / samples)
    assert narrow / samples < 0.5


def test_the_mean_of_a_capped_exponential_is_that_of_quadrature():
    table = TABLES["laplace"]
    found = winsorised(table, 0.01, raw=True)
    rate = abs(table.within.rate[0, -1])
    expected, _ = integrate.quad(
        lambda t: min(1.0 + t, found.high) * rate * math.exp(-rate * t), 0, 80 / rate, limit=500
    )
    y, w = atoms(table, 0)
    tail = y > 1.0
    assert (w[tail] @ found.clip(y[tail])) / w[tail].sum() == pytest.approx(expected, rel=1e-6)
