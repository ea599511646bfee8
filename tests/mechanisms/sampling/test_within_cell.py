"""The laws inside outputs: moments against quadrature, draws against moments, ends against densities."""

from decimal import Decimal, localcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from optldp.mechanisms import TableError, TabulatedMechanism, verify
from optldp.mechanisms.sampling.exponential import log_start_density, truncated_exponential
from optldp.mechanisms.sampling.law import place
from optldp.mechanisms.sampling.within_cell import (
    LAWS,
    ExponentialDensity,
    GeometricTails,
    LinearDensity,
    Uniform,
    law_from_parameters,
)
from scipy import integrate, stats

LOW, HIGH = np.array([-2.0]), np.array([1.0])


def quadrature(density, low, high):
    """Mean and variance of an unnormalised density."""
    mass, _ = integrate.quad(density, low, high, epsabs=0, epsrel=1e-12)
    mean, _ = integrate.quad(lambda y: y * density(y) / mass, low, high, epsabs=1e-13)
    variance, _ = integrate.quad(lambda y: (y - mean) ** 2 * density(y) / mass, low, high, epsabs=1e-13)
    return mean, variance


def drawn(law, low, high, size=200_000, seed=5):
    """Many reports of output 0 of row 0."""
    zero = np.zeros(size, dtype=int)
    return law.draw(low, high, zero, zero, np.random.default_rng(seed))


def test_rounding_never_takes_a_report_out_of_its_cell():
    """At the relative position one, the sum of end and width can round past the other end, which the next cell owns."""
    low, high = np.array([-0.3]), np.array([0.1])
    assert low + (high - low) > high
    assert place(low, high, np.array([0]), np.array([1.0])) == np.nextafter(0.1, 0.0)


def test_a_uniform_law_has_its_moments_and_the_same_density_in_all_rows_and_spends_nothing_on_points():
    """Cells that do not begin at zero; points are drawn without a source of randomness."""
    mean, variance = Uniform().moments(np.array([1.0, 2.0]), np.array([4.0, 2.0]), 3)
    assert mean.tolist() == [[2.5, 2.0]] * 3
    assert variance.tolist() == [[0.75, 0.0]] * 3
    for logs in Uniform().log_end_densities(np.array([1.0, 2.0]), np.array([4.0, 2.0]), 3):
        assert logs.tolist() == [[0.0, 0.0]] * 3
    points, columns = np.array([1.0, 2.0]), np.array([1, 0, 1])
    nothing: Any = None
    assert Uniform().draw(points, points, columns, columns, nothing).tolist() == [2.0, 1.0, 2.0]
    assert Uniform().draw_exact(points, points, columns, nothing).tolist() == [2.0, 1.0, 2.0]


@pytest.mark.parametrize("tilt", [-1.0, -0.3, 0.0, 0.7, 1.0])
def test_linear_moments_and_draws_follow_the_density(tilt):
    """Quadrature to 1e-11; a Kolmogorov-Smirnov test of the draws at one in a million."""
    law = LinearDensity(np.array([[tilt]]))
    mean, variance = law.moments(LOW, HIGH, 1)
    expected = quadrature(lambda y: 1 + tilt * (2 * (y + 2) / 3 - 1), -2, 1)
    np.testing.assert_allclose((mean.item(), variance.item()), expected, atol=1e-11)

    def distribution(y):
        v = (y + 2) / 3
        return v + tilt * (v**2 - v)

    assert stats.kstest(drawn(law, LOW, HIGH), distribution).pvalue > 1e-6


@pytest.mark.parametrize(("third", "position"), [(0.5, 0.25), (np.nextafter(0.5, 0.0), 0.75)])
def test_a_linear_law_takes_the_larger_uniform_as_often_as_its_tilt_says(third, position):
    """Of the 2^53 values of the third uniform those below the tilt: not the tilt itself."""
    uniforms = [np.array([value]) for value in (third, 0.75, 0.25)]
    rng: Any = SimpleNamespace(random=lambda size: uniforms.pop())
    zero = np.array([0])
    law = LinearDensity(np.array([[0.5]]))
    assert law.draw(np.array([0.0]), np.array([4.0]), zero, zero, rng) == 4 * position


@pytest.mark.parametrize("rate", [-40.0, -3.0, -0.34, -0.3, -1e-5, 0.0, 1e-9, 0.2, 0.5, 8.0, 25.0])
def test_exponential_moments_and_draws_follow_the_density(rate):
    """Gentle and steep slopes, on both sides of the switch between series and closed form."""
    law = ExponentialDensity(np.array([[rate]]))
    mean, variance = law.moments(LOW, HIGH, 1)
    expected = quadrature(lambda y: np.exp(rate * (y - (1 if rate > 0 else -2))), -2, 1)
    np.testing.assert_allclose((mean.item(), variance.item()), expected, atol=1e-11)
    sample = drawn(law, LOW, HIGH)
    if rate == 0:
        assert stats.kstest(sample, stats.uniform(-2, 3).cdf).pvalue > 1e-6
    else:
        whole = np.expm1(3 * rate)
        assert stats.kstest(sample, lambda y: np.expm1(rate * (y + 2)) / whole).pvalue > 1e-6
    assert sample.min() >= -2
    assert sample.max() <= 1


def test_a_flat_row_beside_a_steep_one_is_drawn_flat():
    """Steep rows cut the cell into parts for all rows."""
    law = ExponentialDensity(np.array([[0.0], [9.0]]))
    assert stats.kstest(drawn(law, LOW, HIGH), stats.uniform(-2, 3).cdf).pvalue > 1e-6


def test_exponential_moments_are_smooth_where_the_series_ends():
    """Ten terms and the closed form agree to 1e-14 at the switch."""
    for slope in (-1.0, 1.0):
        near = np.nextafter(slope, 0), slope
        for moment in truncated_exponential(np.array(near)):
            assert moment[0] == pytest.approx(moment[1], rel=2e-14)


@pytest.mark.parametrize(("low", "high", "rate", "mean"), [(2.0, np.inf, -4.0, 2.25), (-np.inf, 2.0, 4.0, 1.75)])
def test_exponential_tails_have_exact_moments_and_true_draws(low, high, rate, mean):
    """Mean at 1 / rate beyond the end, variance 1 / rate^2; the draws go on to infinity."""
    law = ExponentialDensity(np.array([[rate]]))
    found_mean, found_variance = law.moments(np.array([low]), np.array([high]), 1)
    assert (found_mean.item(), found_variance.item()) == (mean, 1 / 16)
    sample = drawn(law, np.array([low]), np.array([high]))
    assert stats.kstest(np.abs(sample - 2), stats.expon(scale=0.25).cdf).pvalue > 1e-6
    assert np.all((sample - 2) * (mean - 2) >= 0)


def test_geometric_tails_have_exact_moments_and_lattice_draws():
    """Direct sums over the lattice; frequencies of the first points within five standard errors."""
    law = GeometricTails(0.5, 0.8)
    low, high = np.array([-np.inf, 0.0, 3.0]), np.array([-3.0, 0.0, np.inf])
    mean, variance = law.moments(low, high, 1)
    k = np.arange(400)
    mass = 0.2 * 0.8**k
    right_mean = float(mass @ (3 + 0.5 * k))
    np.testing.assert_allclose(mean[0], [-right_mean, 0, right_mean], rtol=1e-12)
    np.testing.assert_allclose(variance[0, 2], mass @ (3 + 0.5 * k - right_mean) ** 2, rtol=1e-12)
    size = 100_000
    columns = np.full(size, 2)
    sample = law.draw(low, high, columns, columns, np.random.default_rng(2))
    counts = np.bincount(np.round((sample - 3) / 0.5).astype(int))[:10]
    assert np.all(np.abs(counts - size * mass[:10]) < 5 * np.sqrt(size * mass[:10]))
    assert law.contains(low, high, columns, sample).all()
    assert not law.contains(low, high, columns[:1], np.array([3.25])).any()


@pytest.mark.parametrize(
    ("law", "density"),
    [
        (LinearDensity(np.array([[0.4], [-1.0]])), lambda y, i: 1 + [0.4, -1.0][i] * (2 * (y + 2) / 3 - 1)),
        (ExponentialDensity(np.array([[0.4], [-2.0]])), lambda y, i: np.exp([0.4, -2.0][i] * y)),
    ],
)
def test_end_densities_are_the_normalised_densities(law, density):
    """The ratio of the two rows at both ends, with each density normalised by quadrature."""
    at_low, at_high = (np.exp(logs) for logs in law.log_end_densities(LOW, HIGH, 2))
    mass = [integrate.quad(density, -2, 1, args=(i,))[0] for i in (0, 1)]
    for found, y in ((at_low, -2.0), (at_high, 1.0)):
        expected = [density(y, 0) / mass[0], density(y, 1) / mass[1]]
        assert found[0].item() * expected[1] == pytest.approx(found[1].item() * expected[0], abs=1e-12)


@pytest.mark.parametrize("law", [LinearDensity(np.array([[0.5, 0.5]])), ExponentialDensity(np.array([[2.0, 2.0]]))])
def test_at_a_point_all_rows_have_the_same_density(law):
    """Whatever parameter stands there; the cell beside it has its own."""
    for logs in law.log_end_densities(np.array([0.0, 1.0]), np.array([1.0, 1.0]), 1):
        assert logs[0, 0] != 0
        assert logs[0, 1] == 0


@pytest.mark.parametrize("kind", [LinearDensity, ExponentialDensity])
def test_a_laws_parameters_are_copied_and_cannot_be_changed(kind):
    """Or a table could be broken after it was verified."""
    given = np.array([[0.5]])
    (kept,) = kind(given).parameters().values()
    given[0, 0] = 0.0
    assert kept.item() == 0.5
    with pytest.raises(ValueError, match="read-only"):
        kept[0, 0] = 0.0


@pytest.mark.parametrize("kind", [LinearDensity, ExponentialDensity])
def test_outputs_are_taken_in_the_order_asked_for(kind):
    """All rows of them."""
    (taken,) = kind(np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])).take(np.array([2, 0])).parameters().values()
    assert taken.tolist() == [[0.3, 0.1], [0.6, 0.4]]


def test_the_density_at_a_cells_end_never_underflows_and_never_cancels():
    """Against 50 digits, from slopes of 1e-12 to 1e5, to a relative error of the logarithm of 1e-15."""
    sizes = np.geomspace(1e-12, 1e5, 120)
    with localcontext() as context:
        context.prec = 50
        for slope in np.concatenate([sizes, -sizes, [2.0, -2.0]]).tolist():
            z = Decimal(slope)
            exact = (z / (z.exp() - 1)).ln()
            found = Decimal(log_start_density(np.array([slope])).item())
            assert abs(found - exact) <= abs(exact) * Decimal("1e-15")


def test_tails_of_different_rates_have_an_infinite_ratio():
    """Far enough out, the slower row is any factor likelier."""
    table = TabulatedMechanism(
        knots=np.array([0.0, 1.0]),
        low=np.array([0.0, 1.0]),
        high=np.array([1.0, np.inf]),
        probabilities=np.full((2, 2), 0.5),
        epsilon=1.0,
        within=ExponentialDensity(np.array([[0.0, -1.0], [0.0, -1.001]])),
    )
    assert verify(table).max_log_ratio == np.inf


def test_the_doubles_that_can_come_out_do_not_depend_on_the_row():
    """Positions lie on one grid for all rows of an output: the low bits of a report betray nothing."""
    low, high = np.array([0.0]), np.array([1.0])
    for law in (LinearDensity(np.array([[0.0], [-0.9]])), ExponentialDensity(np.array([[0.1], [-0.9]])), Uniform()):
        for row in (0, 1):
            rows = np.full(1000, row)
            sample = law.draw(low, high, rows, np.zeros(1000, dtype=int), np.random.default_rng(row))
            assert np.all(sample * 2.0**53 == np.round(sample * 2.0**53))
            assert np.unique(sample).size == 1000


@pytest.mark.parametrize(
    "law", [LinearDensity(np.array([[0.5, -0.2]])), ExponentialDensity(np.array([[2.0, -1.0]])), Uniform()]
)
@pytest.mark.parametrize("scale", [3.0, -0.5])
def test_scaling_a_law_scales_its_moments(law, scale):
    """Negative scales mirror it."""
    low, high = np.array([0.0, 1.0]), np.array([1.0, 4.0])
    ends = np.sort([scale * low, scale * high], axis=0)
    mean, variance = law.moments(low, high, 1)
    scaled_mean, scaled_variance = law.scaled(scale).moments(ends[0], ends[1], 1)
    np.testing.assert_allclose(scaled_mean, scale * mean, rtol=1e-12)
    np.testing.assert_allclose(scaled_variance, scale**2 * variance, rtol=1e-12)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (lambda: LinearDensity(np.array([[1.5]])), "^tilt must be between -1 and 1, got 1.5 at row 0, output 0"),
        (lambda: LinearDensity(np.array([[np.nan]])), "^tilt must be finite, got nan at row 0, output 0"),
        (lambda: LinearDensity(np.array([0.5])), "^tilt must be a matrix, got shape"),
        (lambda: ExponentialDensity(np.array([["steep"]])), "^rate must be a matrix of numbers"),
        (lambda: ExponentialDensity(np.array([[1e200]])), r"rate must be at most 1e\+110, got 1e\+200"),
        (lambda: GeometricTails(0.0, 0.5), "step must be positive"),
        (lambda: GeometricTails(1e200, 0.5), "step must be positive and at most 1e"),
        (lambda: GeometricTails(1.0, 1.0), "ratio must be between 0 and 1"),
        (lambda: law_from_parameters("geometric-tails", {"step": "one", "ratio": 0.5}), "step must be a number"),
        (lambda: law_from_parameters("triangular", {}), "must be one of uniform, linear"),
        (lambda: law_from_parameters("linear", {"rate": [[1.0]]}), "must have the parameters"),
    ],
)
def test_a_malformed_law_is_refused(law, message):
    """Each with its requirement."""
    with pytest.raises(TableError, match=message):
        law()


@pytest.mark.parametrize(
    ("law", "low", "high", "message"),
    [
        (Uniform(), [0.0], [np.inf], r"^a uniform law needs finite ends, got \[0.0, inf\] at output 0"),
        (LinearDensity(np.array([[0.0]])), [-np.inf], [0.0], "^a linear density needs finite ends"),
        (LinearDensity(np.array([[0.0, 0.0]])), [0.0], [1.0], r"^tilt must have shape \(1, 1\) .*, got \(1, 2\)"),
        (ExponentialDensity(np.array([[0.0, 0.0]])), [0.0], [1.0], r"^rate must have shape \(1, 1\)"),
        (ExponentialDensity(np.array([[1.0]])), [0.0], [np.inf], "must fall towards infinity"),
        (ExponentialDensity(np.array([[-1.0]])), [-np.inf], [0.0], "must fall towards infinity"),
        (ExponentialDensity(np.array([[1e-200]])), [-np.inf], [0.0], "must fall towards infinity"),
        (ExponentialDensity(np.array([[1.0]])), [-np.inf], [np.inf], "^a density needs finite ends"),
        (GeometricTails(1, 0.5), [0.0], [1.0], "there must be only points"),
        (GeometricTails(1, 0.5), [-np.inf, 3.0], [3.0, 3.0], "between the geometric tails"),
    ],
)
def test_a_law_that_does_not_fit_its_outputs_is_refused(law, low, high, message):
    """Infinite ends need a law that can fall off."""
    with pytest.raises(TableError, match=message):
        law.check(np.array(low), np.array(high), 1)


@pytest.mark.parametrize(
    "law", [Uniform(), LinearDensity(np.array([[0.5]])), ExponentialDensity(np.array([[2.0]])), GeometricTails(1, 0.5)]
)
def test_a_law_comes_back_from_its_parameters(law):
    """What a file stores is enough to rebuild it."""
    again = law_from_parameters(law.kind, law.parameters())
    assert type(again) is LAWS[law.kind]
    assert str(again.parameters()) == str(law.parameters())
