"""Several attributes in two phases: one report each, random parts, and the mean of every attribute."""

import numpy as np
import pytest
from optldp.designer import Lattice, TwoPhasePlan
from optldp.designer.protocols.two_phase import STAGES, two_phase_attributes
from optldp.mechanisms import InputError, TabulatedMechanism

RNG = np.random.default_rng(8)
PEOPLE = {"age": RNG.normal(50, 8, 3001).clip(18, 90), "hours": RNG.exponential(20, 3001).clip(0, 80)}
PLANS = {
    "age": TwoPhasePlan((18, 90), 1.0, knots=9),
    "hours": TwoPhasePlan(
        (0, 80), 2.0, knots=9, phase_one="grr", estimator="least-absolute", method=Lattice(intervals=8)
    ),
}


@pytest.mark.slow
def test_every_client_reports_one_attribute_and_every_mean_is_right():
    results = two_phase_attributes(PEOPLE, PLANS, rng=np.random.default_rng(1), share=0.2)
    assert [found.n for found in results.values()] == [1501, 1500]
    for name, found in results.items():
        assert found.value == pytest.approx(PEOPLE[name].mean(), abs=4 * found.std_error)
        assert found.design.mechanism.domain == PLANS[name].domain
        assert found.design.mechanism.epsilon == PLANS[name].epsilon


@pytest.mark.slow
def test_no_client_is_asked_twice(monkeypatch):
    """Values say who they are of: those of the attributes' phases are all different, and all are there."""
    seen, sample = [], TabulatedMechanism.sample
    people = {"age": np.linspace(18, 90, 400), "hours": np.linspace(18, 90, 400)}
    plans = {name: TwoPhasePlan((18, 90), 1.0, knots=9) for name in people}
    monkeypatch.setattr(TabulatedMechanism, "sample", lambda table, v, rng: seen.append(v) or sample(table, v, rng))
    two_phase_attributes(people, plans, rng=np.random.default_rng(1), share=0.2)
    assert [len(part) for part in seen] == [40, 160, 40, 160]
    assert np.array_equal(np.sort(np.concatenate(seen)), people["age"])


@pytest.mark.nightly
def test_intervals_cover_the_population_mean():
    """50 collections from a known population; 95% intervals miss 2 or 3 of them, give or take 4 standard deviations."""
    hits = 0
    plans = {name: TwoPhasePlan((0.0, 1.0), 2.0, knots=3, method="duchi") for name in ("a", "b")}
    for seed in range(50):
        rng = np.random.default_rng([9, seed])
        people = {name: rng.uniform(0.0, 1.0, 400) for name in plans}
        found = two_phase_attributes(people, plans, rng=rng, share=0.3)["b"].interval()
        hits += found.low <= 0.5 <= found.high
    assert 41 <= hits <= 50


@pytest.mark.slow
def test_progress_names_attribute_and_stage():
    told = []

    def tell(stage, step):
        if step is None:
            told.append(stage)

    two_phase_attributes(PEOPLE, PLANS, rng=np.random.default_rng(1), progress=tell)
    assert told == [f"{name}, {stage}" for name in PLANS for stage in STAGES]


@pytest.mark.parametrize(
    ("people", "options", "message"),
    [
        ({"age": PEOPLE["age"]}, {}, "every attribute needs a plan"),
        (PEOPLE | {"age": PEOPLE["age"][:-1]}, {}, "columns must be of equal length"),
        (PEOPLE | {"hours": PEOPLE["hours"] + 70}, {}, r"attribute 'hours': values must lie in \[0, 80\]"),
        (PEOPLE, {"share": 0.001}, "attribute 'age': each phase needs at least 30 clients"),
        (PEOPLE, {"share": 1.0}, "share must lie strictly between 0 and 1"),
        (PEOPLE, {"rng": 3}, "rng must be a numpy.random.Generator"),
    ],
)
def test_bad_input_is_one_line(people, options, message):
    with pytest.raises(InputError, match=message):
        two_phase_attributes(people, PLANS, **{"rng": np.random.default_rng(1), **options})
