"""Every planted fault is caught, and honest samplers of every kind are not."""

import sys

import numpy as np
import pytest
from optldp.designer.auditing.audit import audit
from scipy import stats

from ..honest_samplers import HONEST, honest_sampler
from ..planted_faults import FAULTS, MILLION, honest

CONFIDENCE = 0.99
ROUNDS = 20

DRAWS = 20_000


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=() if fault.samples < MILLION else (pytest.mark.slow, *[pytest.mark.nightly] * (k % 3 > 0))
        )
        for k, (name, fault) in enumerate(FAULTS.items())
    ],
)
def test_the_planted_fault_is_caught(name):
    """With a million draws, of which CI makes some, or fewer where the fault is large."""
    fault = FAULTS[name]
    rng = np.random.default_rng(1)
    found = audit(fault.mechanism, fault.sampler(rng), samples=fault.samples, rng=rng, **fault.options)
    assert not found.ok
    assert found.lower_bound > found.epsilon
    assert found.draws <= fault.samples


@pytest.mark.nightly
@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.learned])
def test_what_only_a_classifier_sees_is_missed_without_one_and_said_not_to_be_tried(name, monkeypatch):
    """The same reports as above, and scikit-learn as if it were not installed."""
    monkeypatch.setitem(sys.modules, "sklearn", None)
    fault, rng = FAULTS[name], np.random.default_rng(1)
    found = audit(fault.mechanism, fault.sampler(rng), samples=fault.samples, rng=rng, **fault.options)
    assert found.ok
    assert "scikit-learn is not installed" in found.not_tried[0]


@pytest.mark.nightly
def test_without_its_fault_the_same_mechanism_passes():
    """What is caught is the fault: each mechanism's own sampler is within its claim."""
    mechanisms = {id(fault.mechanism): fault.mechanism for fault in FAULTS.values()}.values()
    for mechanism in mechanisms:
        rng = np.random.default_rng(2)
        assert audit(mechanism, honest(mechanism, rng), samples=20_000, confidence=0.9999, rng=rng).ok


@pytest.mark.nightly
def test_honest_samplers_raise_no_more_alarms_than_stated():
    """Twenty of all kinds and budgets at confidence 0.99: the number of alarms is one that chance explains."""
    alarms = []
    for seed in range(ROUNDS):
        rng = np.random.default_rng([seed, 3])
        name = list(HONEST)[seed % len(HONEST)]
        mechanism, draw = honest_sampler(name, seed, rng)
        found = audit(mechanism, draw, samples=DRAWS, confidence=CONFIDENCE, rng=rng)
        if not found.ok:
            alarms.append((name, seed, found))
    assert len(alarms) <= stats.binom(ROUNDS, 1 - CONFIDENCE).ppf(1 - 0.001), alarms
