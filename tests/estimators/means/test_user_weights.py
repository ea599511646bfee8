"""UWA: the paper's two algorithms, user by user, from distinct combinations of outputs alone."""

import numpy as np
import optldp.estimators.means.user_weights as user_weights
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.estimators import InputGrid, ReportCounts, Service
from optldp.estimators.counting.group import ReportGroup
from optldp.estimators.means.decoding import decoded_variances, plain_decoders
from optldp.mechanisms import InputError, duchi, grr, laplace, piecewise, square_wave

KNOTS = np.linspace(-1, 1, 11)
SERVICES = [
    Service("duchi", duchi(KNOTS, 1.0)),
    Service("laplace", laplace(KNOTS, 2.0)),
    Service("piecewise", piecewise(KNOTS, 3.0)),
    Service("square wave", square_wave(KNOTS, 0.5)),
]


def by_the_paper(services, decoders, row, points, prior=None) -> float:
    """Algorithms 1 and 2 for one user, with the inner sum over the services: posterior, variances, weights."""
    posterior = np.full(points.size, 1 / points.size) if prior is None else prior
    for service, output in zip(services, row, strict=True):
        posterior = posterior * service.mechanism.pmf(points)[:, output]
        posterior = posterior / posterior.sum()
    total, normaliser = 0.0, 0.0
    for service, decoder, output in zip(services, decoders, row, strict=True):
        variance = 0.0
        for k, x in enumerate(points):
            variance += posterior[k] * (service.mechanism.pmf([x])[0] @ decoder**2 - x**2)
        total, normaliser = total + decoder[output] / variance, normaliser + 1 / variance
    return total / normaliser


def values_of(group: ReportGroup, services=SERVICES, grid=None) -> np.ndarray:
    grid = grid or InputGrid.knots(KNOTS)
    decoders = plain_decoders(services)
    variances = [decoded_variances(s.mechanism, d, grid) for s, d in zip(services, decoders, strict=True)]
    uniform = np.full(grid.size, 1 / grid.size)
    weights = user_weights.user_weights(group, services, np.array(variances), grid, uniform)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    return user_weights.weighted_values(group, weights, decoders)


def every_pair(services) -> ReportGroup:
    """All combinations of outputs of two services, sorted."""
    sizes = [service.mechanism.low.size for service in services]
    outputs = np.indices(sizes).reshape(2, -1).T.astype(np.int32)
    return ReportGroup((0, 1), outputs, np.ones(len(outputs), dtype=np.int64))


def bias(epsilon: float, x: float) -> float:
    """Exact expectation of UWA at one input, over all pairs of a Duchi and a piecewise report, less the input."""
    knots = np.linspace(-1, 1, 201)
    services = [Service("duchi", duchi(knots, epsilon)), Service("piecewise", piecewise(knots, epsilon))]
    rows = [service.mechanism.pmf([x])[0] for service in services]
    values = values_of(every_pair(services), services, InputGrid.knots(knots))
    return float(np.outer(*rows).reshape(-1) @ values) - x


@pytest.mark.slow
@settings(max_examples=20)
@given(st.integers(0, 10_000), st.sets(st.integers(0, 3), min_size=1))
def test_it_is_the_paper_user_by_user(seed, chosen):
    """For every set of services."""
    services = [SERVICES[j] for j in sorted(chosen)]
    rng, decoders = np.random.default_rng(seed), plain_decoders(services)
    rows = np.stack([rng.integers(0, s.mechanism.low.size, 15) for s in services], axis=1)
    group = ReportCounts.from_outputs(services, rows).groups[0]
    expected = [by_the_paper(services, decoders, row, KNOTS) for row in group.outputs]
    np.testing.assert_allclose(values_of(group, services), expected, rtol=1e-10, atol=1e-12)


def test_prefixes_that_differ_in_an_early_output_alone_are_told_apart(monkeypatch):
    """Neighbours (0, 3, 1, 5) and (1, 3, 1, 0): the second and third outputs are equal, the prefixes are not."""
    monkeypatch.setattr(user_weights, "ROWS_PER_PREFIX", 1)
    outputs = np.array([[0, 3, 1, 0], [0, 3, 1, 5], [1, 3, 1, 0], [1, 3, 2, 0]], dtype=np.int32)
    decoders = plain_decoders(SERVICES)
    expected = [by_the_paper(SERVICES, decoders, row, KNOTS) for row in outputs]
    np.testing.assert_allclose(values_of(ReportGroup((0, 1, 2, 3), outputs, np.ones(4, dtype=int))), expected)


@pytest.mark.parametrize("rows_per_prefix", [1, 3, 10**9])
@pytest.mark.parametrize("block", [1, 7, 256])
def test_neither_blocks_nor_prefixes_change_a_value(monkeypatch, rows_per_prefix, block):
    """Prefixes of three, of a few, and of no outputs; blocks that end within and at the ends of prefixes."""
    rng = np.random.default_rng(1)
    rows = np.stack([rng.integers(0, s.mechanism.low.size, 400) for s in SERVICES], axis=1)
    group = ReportCounts.from_outputs(SERVICES, rows).groups[0]
    expected = values_of(group)
    monkeypatch.setattr(user_weights, "BLOCK", block)
    monkeypatch.setattr(user_weights, "ROWS_PER_PREFIX", rows_per_prefix)
    np.testing.assert_allclose(values_of(group), expected, rtol=1e-12)


@pytest.mark.parametrize(("epsilon", "known"), [(2.0, -0.015), (3.0, -0.021)])
def test_it_has_the_bias_that_is_documented(epsilon, known):
    """Exactly, by summing over all pairs of reports at an input of 0.9; golden numbers of an independent simulation."""
    assert bias(epsilon, 0.9) == pytest.approx(known, abs=0.002)


def test_the_bias_is_odd_in_the_input_and_small_for_small_budgets():
    assert bias(3.0, -0.9) == pytest.approx(-bias(3.0, 0.9), abs=1e-9)
    assert abs(bias(0.5, 0.9)) < 1e-3


def test_one_report_needs_no_weight():
    group = ReportGroup((2,), np.array([[0], [4]], dtype=np.int32), np.array([1, 1]))
    np.testing.assert_array_equal(values_of(group), plain_decoders(SERVICES)[2][[0, 4]])


def test_the_value_lies_between_the_decoded_reports():
    services = [SERVICES[0], SERVICES[2]]
    group = every_pair(services)
    decoded = np.stack([d[o] for d, o in zip(plain_decoders(services), group.outputs.T, strict=True)])
    values = values_of(group, services)
    assert (values >= decoded.min(axis=0) - 1e-12).all()
    assert (values <= decoded.max(axis=0) + 1e-12).all()


def test_forty_reports_of_large_budgets_do_not_underflow():
    """Contradictory reports make likelihoods of exp(-560), relative to the largest."""
    services = [Service(str(j), grr([-1.0, 0.0, 1.0], 14.0)) for j in range(40)]
    row = np.tile(np.array([0, 2], dtype=np.int32), 20)[None]
    group = ReportGroup(tuple(range(40)), row, np.array([1]))
    assert values_of(group, services, InputGrid.knots([-1.0, 0.0, 1.0])) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.slow
def test_many_reports_of_many_outputs_do_not_underflow():
    """160 reports of about 200 outputs each have a probability of 1e-368, for every input alike."""
    table = piecewise(np.linspace(-1, 1, 129), 0.5)
    services = [Service(str(j), table) for j in range(160)]
    row = np.random.default_rng(1).integers(0, table.low.size, (1, 160)).astype(np.int32)
    value = values_of(ReportGroup(tuple(range(160)), row, np.array([1])), services, InputGrid.knots(table.knots))
    assert table.probabilities.max() ** 160 < 1e-290
    assert value == pytest.approx(plain_decoders(services[:1])[0][row[0]].mean(), rel=1e-9)


def test_budgets_beyond_the_range_of_doubles_are_refused():
    services = [Service(str(j), grr([-1.0, 0.0, 1.0], 16.0)) for j in range(40)]
    group = ReportGroup(tuple(range(40)), np.zeros((1, 40), dtype=np.int32), np.array([1]))
    with pytest.raises(InputError, match=r"budgets must sum to at most 600 .*, got 640"):
        values_of(group, services, InputGrid.knots([-1.0, 0.0, 1.0]))
