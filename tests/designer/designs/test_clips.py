"""Errors of clips beside the optimum: what they are, and that nothing is below the bound."""

import numpy as np
import pytest
from optldp.designer import Error, FactorAmbiguity, Prior, design
from optldp.designer.designs import clip_curve
from optldp.mechanisms import InputError

KNOTS = np.linspace(0, 100, 11)
WEIGHTS = np.exp(-KNOTS / 8) + 1e-4
OBJECTIVE = Error(20_000, FactorAmbiguity(2.0))


def made(weights: np.ndarray = WEIGHTS):
    return design(Prior.on_knots(KNOTS, weights, source="public"), 1.0, objective=OBJECTIVE)


@pytest.mark.nightly
def test_the_least_is_near_the_optimum_and_none_is_below_its_bound():
    """The best clip at a knot with its shift is the optimum of the theorem but for where between knots it cuts."""
    found = clip_curve(made())
    rmse = [error.rmse for error in found.errors]
    assert found.end == "high"
    np.testing.assert_array_equal(found.clips, KNOTS[1:])
    assert found.design.bound <= min(rmse) < 1.03 * found.design.value
    assert abs(found.clips[int(np.argmin(rmse))] - found.design.evidence.clip_high) <= 10


@pytest.mark.nightly
def test_noise_rises_bias_falls_and_without_a_clip_there_is_none():
    errors = clip_curve(made()).errors
    assert all(np.diff([error.noise for error in errors]) > 0)
    assert all(np.diff([error.bias_bound for error in errors]) < 0)
    assert errors[-1].bias_bound < 1e-6
    assert all(error.rmse == pytest.approx(np.hypot(error.noise, error.bias_bound)) for error in errors)


@pytest.mark.nightly
def test_a_tail_at_the_other_side_is_the_mirror_image():
    one, other = clip_curve(made()), clip_curve(made(WEIGHTS[::-1]))
    assert other.end == "low"
    np.testing.assert_allclose(100 - other.clips[::-1], one.clips)
    mirrored = [error.rmse for error in other.errors[::-1]]
    np.testing.assert_allclose(mirrored, [error.rmse for error in one.errors], rtol=2e-3)


@pytest.mark.nightly
def test_progress_is_told_and_other_objectives_are_refused():
    told = []
    clip_curve(made(), progress=lambda done, total: told.append((done, total)))
    assert told == [(k, 10) for k in range(1, 11)]
    with pytest.raises(InputError, match=r"needs a design by Error\(n\), got one by least expected variance"):
        clip_curve(design(Prior.even(KNOTS), 1.0))
