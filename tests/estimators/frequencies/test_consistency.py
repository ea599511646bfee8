"""Estimates made consistent: against the words of the papers, step by step, and what holds for all of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.estimators.frequencies import base_cut, iiw, norm_sub
from optldp.mechanisms import InputError


def estimates(seed: int) -> np.ndarray:
    """Up to thirty noisy estimates that add up to about one; some are equal, some negative."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 31))
    noisy = rng.dirichlet(np.ones(size)) + rng.choice([0.001, 0.1, 3.0]) * rng.normal(size=size)
    return noisy[rng.integers(0, size, size)] if rng.random() < 0.3 else noisy


seeds = st.integers(0, 2**32 - 1)


@given(seeds)
def test_norm_sub_is_the_nearest_distribution(seed):
    """The conditions of Karush, Kuhn and Tucker: the same shift where it is positive, no more than that elsewhere."""
    noisy = estimates(seed)
    found = norm_sub(noisy)
    shift = noisy - found
    kept = found > 0
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1.0, abs=1e-14)
    assert np.ptp(shift[kept]) <= 1e-12 * max(1.0, np.abs(noisy).max())
    assert (noisy[~kept] <= shift[kept].max() + 1e-12).all()


@given(seeds)
def test_norm_sub_is_what_cutting_and_shifting_ends_in(seed):
    """Cut what is negative, shift the rest to sum one, again and again, where the positive ones reach one."""
    noisy = estimates(seed)
    if np.maximum(noisy, 0).sum() < 1:
        noisy = noisy + 1.0 - noisy.max()
    slow = noisy
    while True:
        positive = slow > 0
        slow = np.where(positive, slow, 0.0)
        slow[positive] += (1.0 - slow.sum()) / positive.sum()
        if (slow >= 0).all():
            break
    np.testing.assert_allclose(norm_sub(noisy), slow, atol=1e-12 * max(1.0, np.abs(noisy).max()))


@given(seeds)
def test_norm_sub_never_moves_away_from_a_distribution(seed):
    noisy = estimates(seed)
    truth = np.random.default_rng(seed + 1).dirichlet(np.full(noisy.size, 0.3))
    assert np.linalg.norm(norm_sub(noisy) - truth) <= np.linalg.norm(noisy - truth) + 1e-12


@given(seeds)
def test_base_cut_keeps_the_largest_until_they_reach_one(seed):
    """One by one in decreasing order; the one that would pass one is cut."""
    noisy = estimates(seed)
    expected, room = np.zeros_like(noisy), 1.0
    for k in np.argsort(-noisy, kind="stable"):
        expected[k] = min(max(noisy[k], 0.0), room)
        room -= expected[k]
    found = base_cut(noisy)
    np.testing.assert_allclose(found, expected, atol=1e-12 * max(1.0, np.abs(noisy).max()))
    assert found.sum() == pytest.approx(min(1.0, np.maximum(noisy, 0).sum()), abs=1e-12)


def test_base_cut_with_a_threshold_keeps_what_is_above_it():
    np.testing.assert_array_equal(base_cut([0.3, 0.9, 0.1, -0.4], threshold=0.1), [0.3, 0.9, 0.0, 0.0])
    np.testing.assert_array_equal(base_cut([0.3, -0.4], threshold=0.0), [0.3, 0.0])


@pytest.mark.slow
@given(seeds, st.integers(1, 12))
def test_iiw_is_the_filter_by_its_definition(seed, iterations):
    """Every wave by sums of cosines and sines, filtered one by one."""
    noisy, noise = estimates(seed), 0.01
    size = noisy.size
    place = np.arange(size)
    expected = np.full(size, noisy.mean())
    for wave in range(1, size):
        turn = np.exp(-2j * np.pi * wave * place / size)
        observed = noisy @ turn
        power = abs(observed) ** 2
        kept = observed * power / (power + noise)
        for _ in range(iterations - 1):
            power = abs(kept) ** 2 + noise * power / (power + noise)
            kept = observed * power / (power + noise)
        expected += (kept * turn.conj()).real / size
    np.testing.assert_allclose(iiw(noisy, noise, iterations=iterations), expected, atol=1e-12 * (1 + abs(noisy).max()))


@pytest.mark.nightly
def test_iiw_tends_to_taking_the_noise_off_every_wave():
    """The fixed point P = |F|^2 - N, or zero: a wave of amplitude 3 / 2 keeps 1 - N / |F|^2, a smaller one goes."""
    place = np.arange(8)
    large, small = 1.5 * np.cos(2 * np.pi * place / 8), 0.1 * np.cos(2 * np.pi * 3 * place / 8)
    found = iiw(0.125 + large + small, 1.0, iterations=100_000)
    np.testing.assert_allclose(found, 0.125 + large * (1 - 1 / 36), atol=1e-5)


@given(seeds)
def test_iiw_keeps_the_sum(seed):
    noisy = estimates(seed)
    assert iiw(noisy, 0.1).sum() == pytest.approx(noisy.sum(), abs=1e-12 * (1 + np.abs(noisy).sum()))


@pytest.mark.slow
def test_iiw_lowers_the_error_where_frequencies_are_smooth_and_raises_it_where_one_stands_out():
    """Sums of squares over 200 draws of noise, paired: what the filter is for, and what it is not for."""
    rng = np.random.default_rng(5)
    size, sd = 64, 0.01
    smooth = (1 + np.cos(2 * np.pi * np.arange(size) / size)) / size
    peak = np.eye(size)[7]

    def excess(truth: np.ndarray) -> float:
        noisy = truth + rng.normal(0, sd, (200, size))
        found = np.array([iiw(row, size * sd**2) for row in noisy])
        gain = ((found - truth) ** 2).sum(axis=1) - ((noisy - truth) ** 2).sum(axis=1)
        return float(gain.mean() / (gain.std(ddof=1) / np.sqrt(200)))

    assert excess(smooth) < -4
    assert excess(0.12 * peak + 0.88 / size) > 4


@pytest.mark.parametrize("rule", [norm_sub, base_cut, lambda f: iiw(f, 0.1)])
@pytest.mark.parametrize("frequencies", [[], [0.5, np.inf]])
def test_what_is_no_list_of_numbers_is_refused(rule, frequencies):
    with pytest.raises(InputError, match="frequencies must be one or more finite numbers"):
        rule(frequencies)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: base_cut([1.0], threshold=-0.1), "threshold must not be negative, got -0.1"),
        (lambda: base_cut([1.0], threshold=np.nan), "threshold must not be negative, got nan"),
        (lambda: iiw([1.0], 0.0), "total_variance must be positive and finite, got 0.0"),
        (lambda: iiw([1.0], np.inf), "total_variance must be positive and finite"),
        (lambda: iiw([1.0], 0.1, iterations=0), "iterations must be at least 1, got 0"),
    ],
)
def test_settings_without_meaning_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
