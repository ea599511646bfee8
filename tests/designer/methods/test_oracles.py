"""Frequency oracles by name."""

import math

import numpy as np
import pytest
from optldp.designer import CategoricalPrior, compare_categorical, design
from optldp.designer.methods.oracles import ORACLES, levels_of_oracle
from optldp.mechanisms import CategoricalMechanism, Categories, PersonalisedMechanism, load_mechanism, save_bundle
from optldp.mechanisms.categorical.projective_geometry import projective_geometry


@pytest.mark.parametrize("name", [name for name in ORACLES if name != "auto"])
def test_every_name_makes_the_mechanism_that_says_so(name):
    """The provenance names the oracle; it is private."""
    made = ORACLES[name](Categories(range(9)), 1.0)
    assert made.provenance.method == name
    assert made.failures() == ()


def test_levels_get_one_oracle_decided_at_the_smallest_budget():
    """Four categories are few enough for GRR at epsilon 1 and not at 0.5, whatever the other levels are."""
    categories = Categories(range(4))
    for epsilons, name in (([1.0, 2.0], "grr"), ([0.5, 2.0], "subset")):
        made = levels_of_oracle("auto", categories, epsilons)
        assert [level.provenance.method for level in made] == [name] * 2
        assert [level.epsilon for level in made] == epsilons


@pytest.mark.parametrize("name", ORACLES)
def test_levels_of_every_oracle_make_one_mechanism(name):
    """Reports of all levels are of the same kind, so nothing but their frequencies tells the level."""
    made = PersonalisedMechanism(levels_of_oracle(name, Categories(range(20)), [0.5, 1.0, 2.0]), 0.5)
    assert made.epsilons == (0.5, 1.0, 2.0)
    assert math.isfinite(made.level_leakage)
    assert made.failures() == ()


JOBS = CategoricalPrior(["cook", "smith", "nurse", "clerk"], [6, 3, 1, 2])


def error_of(name: str, prior: CategoricalPrior) -> float:
    """That of the comparison, or that of p* and q* of what is not compared: geometry, which errs as hashing does."""
    rows = {row.method: row.error for row in compare_categorical(prior.weights, 1.0)}
    if name != "projective-geometry":
        return rows[name]
    made, w = projective_geometry(prior.categories, 1.0), prior.weights
    return float(np.sum(made.frequency_variance(w))) + 1 - float(w @ w)


@pytest.mark.parametrize("name", [name for name in ORACLES if name != "auto"])
def test_a_design_by_an_oracle_is_judged_beside_the_optimum(name):
    """Its value is that of the comparison of oracles, whose errors are enumerated in tests of their own."""
    made, best = design(JOBS, 1.0, method=name), design(JOBS, 1.0)
    assert made.value == pytest.approx(error_of(name, JOBS), rel=1e-12)
    assert (made.method, made.mechanism.provenance.method, made.bound) == (name, name, best.bound)
    assert made.mechanism.same_law(ORACLES[name](JOBS.categories, 1.0))
    assert made.gap == (made.value - made.bound) / made.value
    assert made.certificate.check().value == made.value
    other = CategoricalPrior(JOBS.categories, [1, 1, 1, 9])
    assert made.against(other) == pytest.approx(error_of(name, other), rel=1e-12)


def test_the_error_of_hashing_is_that_of_the_lines_there_are():
    """By all values' support, in a simulation."""
    made = design(JOBS, 1.0, method="olh")
    hashing, n = made.mechanism, 200_000
    codes = np.random.default_rng(1).choice(4, n, p=JOBS.weights)
    supports = hashing.pmf(hashing.sample_codes(codes, np.random.default_rng(2)))
    supports = supports > supports.mean(axis=1, keepdims=True)
    p, q = hashing.own_support, hashing.other_support
    seen = (((supports - q) / (p - q) - JOBS.weights) ** 2).sum(axis=1).mean()
    assert made.value == pytest.approx(seen, rel=0.02)
    assert made.value > made.bound


def test_the_oracle_that_is_chosen_says_its_own_name_and_its_file_the_certificate(tmp_path):
    made = design(JOBS, 1.0, method="auto")
    assert (made.method, made.mechanism.provenance.method) == ("auto", "grr")
    save_bundle(made.mechanism, tmp_path / "jobs.json")
    loaded = load_mechanism(tmp_path / "jobs.json")
    assert isinstance(loaded, CategoricalMechanism)
    assert loaded.provenance.certificate is not None
    assert loaded.provenance.certificate["gap"] == made.gap
