"""Grouping reports into cells: the law of the grouped report, to rounding, and never less privacy."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.mechanisms import (
    FAMILIES,
    InputError,
    Provenance,
    TabulatedMechanism,
    grr,
    laplace,
    piecewise,
    ptt2,
    square_wave,
    verify,
)
from optldp.mechanisms.budget import inner_epsilon
from optldp.mechanisms.table.knot_prior import KnotPrior
from optldp.mechanisms.table.output_cells import with_output_cells

FLAT = sorted(
    name
    for name, family in FAMILIES.items()
    if family([-1, 0, 1], 1.0).within.kind == "uniform" and np.isfinite(family([-1, 0, 1], 1.0).high).all()
)
MIXED = TabulatedMechanism(
    np.array([0.0, 1.0]),
    np.array([0.0, 0.5, 1.0, 3.0]),
    np.array([1.0, 0.5, 3.0, 3.0]),
    np.array([[0.2, 0.3, 0.4, 0.1], [0.3, 0.2, 0.3, 0.2]]),
    1.0,
)


def brute_force(table: TabulatedMechanism, edges: np.ndarray) -> np.ndarray:
    """Share of every output in every cell, one pair at a time."""
    grouped = np.zeros((table.knots.size, edges.size - 1))
    for j, (low, high) in enumerate(zip(table.low, table.high, strict=True)):
        for c, (left, right) in enumerate(pairwise(edges)):
            if low < high:
                share = max(0.0, min(high, right) - max(low, left)) / (high - low)
            else:
                share = left <= low < right or (low == right == edges[-1])
            grouped[:, c] += share * table.probabilities[:, j]
    return grouped


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FLAT)
@settings(max_examples=25)
@given(
    epsilon=st.floats(-5, 1.2).map(lambda power: 10**power),
    positions=st.lists(st.floats(0.001, 0.999), max_size=12, unique=True),
    on_outputs=st.booleans(),
)
def test_the_law_is_that_of_the_grouped_report_and_verifies(name, epsilon, positions, on_outputs):
    """Edges anywhere, or on the ends of outputs."""
    table = FAMILIES[name]([-1.0, 0.0, 3.0], epsilon)
    first, last = table.low.min(), table.high.max()
    inner = [first + (last - first) * p for p in positions]
    if on_outputs:
        inner = [table.high[int(p * table.high.size)] for p in positions]
    edges = np.unique([first, *inner, last])
    grouped = with_output_cells(table, edges)
    assert verify(grouped).failures == ()
    assert verify(grouped).max_log_ratio <= verify(table).max_log_ratio * (1 + 1e-12) + 1e-15
    np.testing.assert_allclose(grouped.probabilities, brute_force(table, edges), rtol=1e-12, atol=1e-14)
    assert np.array_equal(np.append(grouped.low, grouped.high[-1]), edges)


def test_points_and_cells_mix():
    """A point inside a cell, on an edge, and at the last end."""
    edges = np.array([-1.0, 0.5, 2.0, 3.0])
    expected = [[0.1, 0.1 + 0.3 + 0.2, 0.2 + 0.1], [0.15, 0.15 + 0.2 + 0.15, 0.15 + 0.2]]
    np.testing.assert_allclose(with_output_cells(MIXED, edges).probabilities, expected, rtol=1e-14)


@pytest.mark.parametrize("table", [MIXED, piecewise([0, 1, 4], 1.0), grr([0, 1, 4], 1.0), square_wave([0, 4], 3.0)])
def test_old_reports_fall_into_the_cell_that_their_output_went_to(table):
    """Counts of old reports have the new table's law, within five standard errors."""
    edges = np.unique([table.low.min(), *np.linspace(0.1, 2.9, 5), table.high.max()])
    grouped, users = with_output_cells(table, edges), 200_000
    reports = table.sample(np.full(users, table.knots[-1]), np.random.default_rng(1))
    seen = np.bincount(grouped.output_index(reports), minlength=edges.size - 1) / users
    law = grouped.probabilities[-1]
    assert (np.abs(seen - law) <= 5 * np.sqrt(law * (1 - law) / users) + 1e-12).all()


def test_grouping_all_into_one_cell_tells_nothing():
    """Probability one, log-ratio zero."""
    table = piecewise([0, 1, 2], 2.0)
    grouped = with_output_cells(table, [table.low[0], table.high[-1]])
    np.testing.assert_allclose(grouped.probabilities, [[1.0]] * 3, rtol=1e-14)
    assert verify(grouped).max_log_ratio < 1e-14


def test_its_own_edges_give_the_table_back():
    """Nothing to group."""
    table = square_wave([0, 1, 2], 1.0)
    grouped = with_output_cells(table, np.append(table.low, table.high[-1]))
    np.testing.assert_allclose(grouped.probabilities, table.probabilities, rtol=1e-12)


def test_sums_of_thousands_of_outputs_keep_a_tiny_budget():
    """Rounding of a sum must not push a ratio above e^epsilon by even one bit."""
    rng, failures = np.random.default_rng(0), 0
    for _ in range(60):
        half, epsilon = int(rng.integers(2000, 9000)), 1e-6
        base = rng.random(half)
        row = np.concatenate([base * math.exp(inner_epsilon(epsilon)), base])
        rows = [row / row.sum(), np.roll(row / row.sum(), half)]
        table = TabulatedMechanism.from_edges([0, 1], np.arange(2 * half + 1.0), rows, epsilon)
        grouped = with_output_cells(table, [0, half, 2 * half])
        failures += len(verify(grouped).failures)
    assert failures == 0


def test_a_table_that_is_not_private_does_not_become_so():
    """Only rounding is mended, and a ratio beyond e^epsilon stays for verify to find."""
    table = TabulatedMechanism.from_points([0, 1], [0, 1, 2], [[0.8, 0.1, 0.1], [0.2, 0.4, 0.4]], 1.0)
    grouped = with_output_cells(table, [0, 1, 2])
    np.testing.assert_allclose(grouped.probabilities, [[0.8, 0.2], [0.2, 0.8]], rtol=1e-14)
    assert verify(grouped).failures


def test_the_claim_and_the_certificate_are_dropped_and_the_rest_is_kept():
    """They speak of the table before it was grouped."""
    prior = KnotPrior(np.array([0.5, 0.25, 0.25]), np.zeros(2), "public")
    table = piecewise([0, 1, 2], 1.0).with_prior(prior)
    table = table.with_provenance(Provenance("piecewise", {"unbiased": True, "x": 1}, certificate={"lower_bound": 1.0}))
    grouped = with_output_cells(table, np.linspace(table.low[0], table.high[-1], 5))
    assert grouped.provenance.parameters == {"x": 1, "output_cells": 4}
    assert grouped.provenance.method == "piecewise"
    assert grouped.provenance.certificate is None
    assert grouped.prior is prior
    assert (grouped.units, grouped.epsilon) == (table.units, table.epsilon)
    assert np.array_equal(grouped.knots, table.knots)


class TestOtherLaws:
    def test_whole_outputs_are_grouped(self):
        """A tent's cells, two by two; edges with other last digits are still its edges."""
        table = ptt2([0, 1, 2], 1.0)
        ends = np.append(table.low, table.high[-1])
        chosen = ends[np.unique([0, *range(2, ends.size - 1, 2), ends.size - 1])]
        nudged = chosen.copy()
        nudged[1:-1] *= 1 + 1e-15
        grouped = with_output_cells(table, nudged)
        starts = np.searchsorted(ends[:-1], chosen[:-1])
        np.testing.assert_allclose(
            grouped.probabilities, np.add.reduceat(table.probabilities, starts, axis=1), rtol=1e-12
        )
        assert not verify(grouped).failures
        assert grouped.within.kind == "uniform"

    def test_an_edge_inside_an_output_is_refused(self):
        """Its reports are not spread evenly there."""
        table = ptt2([0, 1, 2], 1.0)
        edges = [table.low[0], (table.low[0] + table.high[0]) / 2, table.high[-1]]
        with pytest.raises(InputError, match="an output with a linear law must lie in one cell, got an edge"):
            with_output_cells(table, edges)

    def test_infinite_outputs_are_refused(self):
        """No finite cell holds them."""
        with pytest.raises(InputError, match=r"the edges must hold all outputs, \[-inf, inf\]"):
            with_output_cells(laplace([0, 1], 1.0), [-10.0, 10.0])


@pytest.mark.parametrize(
    ("edges", "says"),
    [
        ([0.0], "at least 2 finite, strictly increasing"),
        ([0.0, 3.0, 3.0], "at least 2 finite, strictly increasing"),
        ([3.0, 0.0], "at least 2 finite, strictly increasing"),
        ([0.0, np.inf], "at least 2 finite, strictly increasing"),
        ([0.0, np.nan], "must not be missing"),
        (["a", "b"], "must be numbers"),
        ([0.0, 2.9], "must hold all outputs"),
        ([0.1, 3.0], "must hold all outputs"),
    ],
)
def test_unusable_edges_are_one_line(edges, says):
    """Each says what edges must be."""
    with pytest.raises(InputError) as caught:
        with_output_cells(MIXED, edges)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
