"""`--assume` of commands that design: what an objective is told of the prior."""

from pathlib import Path

import numpy as np
import pytest
from optldp import Guarantee, Prior
from optldp.designer import design
from optldp.designer.commands.options.assumed import assumptions_of
from optldp.designer.priors import AssumedAmbiguity
from optldp.estimators import ReportCounts
from optldp.estimators.assumptions import Monotone, Shape
from optldp.estimators.assumptions.base import Intersection
from optldp.mechanisms import InputError, load_mechanism
from optldp.mechanisms.families.square_wave import square_wave

PRIOR = ("--prior", "p.csv", "--public", "--knots", 5)
DESIGN = ("design", *PRIOR, "--epsilon", 1, "--n", 500)


@pytest.fixture(autouse=True)
def prior(here):
    Path("p.csv").write_text("value,weight\n0,4\n1,3\n2,2\n3,1\n4,1\n")


@pytest.mark.nightly
def test_a_design_assumes_what_its_objective_may_be_told(optldp):
    optldp(*DESIGN, "--objective", "error", "--assume", "trust=2", "--out", "a.json")
    optldp(*DESIGN, "--objective", "error:2", "--out", "b.json")
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()


@pytest.mark.slow
def test_a_design_guarantees_over_what_intervals_assume(optldp):
    """The same table as Python's, for a class and for an intersection."""
    told = {}
    Path("p.csv").write_text("value,weight\n0,4\n1,6\n2,4\n3,2\n4,1\n")
    for name, more in (("a", ()), ("b", ("--assume", "shape=1.01"))):
        words = ("--objective", "robust", "--assume", "monotone=0", *more, "--out", f"{name}.json")
        optldp("design", *PRIOR, "--epsilon", 1, *words)
        told[name] = load_mechanism(f"{name}.json")
    falling = Prior.on_knots(range(5), [4, 6, 4, 2, 1], source="public")
    made = design(falling, 1.0, objective=Guarantee(AssumedAmbiguity(Monotone(0.0))))
    np.testing.assert_array_equal(told["a"].probabilities, made.mechanism.probabilities)
    assert told["b"].provenance.parameters["ambiguity"] == "assuming monotone=0 and shape=1.01"
    near = AssumedAmbiguity(Intersection((Monotone(0.0), Shape(falling.mixed(1e-3), 1.01))))
    both = design(falling, 1.0, objective=Guarantee(near))
    np.testing.assert_array_equal(told["b"].probabilities, both.mechanism.probabilities)
    assert both.value < made.value  # of fewer priors more can be guaranteed


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--assume", "trust=2"), "--assume is of no use to one table of numbers"),
        (("--objective", "error:2", "--assume", "trust=2"), "told twice, got --objective error:2"),
        (("--objective", "error", "--assume", "shape=1.1"), "--assume must be one of trust, got 'shape'"),
        (("--objective", "error", "--assume", "trust=2", "--assume", "trust=3"), "assumes one factor, got 2"),
        (("--objective", "robust:tv,radius=0.1", "--assume", "shape=1.1"), "told twice"),
        (("--objective", "robust", "--assume", "peak=1"), "--assume must be one of"),
        (("--objective", "robust", "--assume", "monotone=9"), "must name a value within 0 to 4"),
        (("--objective", "robust", "--assume", "unimodal=4"), "the prior must meet what is assumed, got unimodal=4"),
        (("--objective", "robust", "--assume", "shape=2", "--assume", "shape=1.1,exempt=0.01"), "leave exempt out"),
        (("--objective", "error", "--assume", "trust"), "--assume trust needs a number, got none: write trust=3"),
        (("--objective", "error", "--assume", "trust=0.5"), "at least 1, got 0.5"),
        (("--objective", "error", "--assume", "trust=2", "--assume-from", "o.csv", "p.csv"), "leave one out"),
    ],
)
def test_what_a_design_cannot_assume_is_refused(refusal, words, said):
    assert said in refusal(*DESIGN, *words, "--out", "m.json")


def test_a_comparison_assumes_something_for_an_objective_that_does(refusal):
    asked = ("compare", *PRIOR, "--epsilon", 1, "--assume", "trust=2")
    assert "--assume is for --objective error and robust: leave it out" in refusal(*asked)


def counts():
    table = square_wave(np.arange(5.0), 1.0)
    return ReportCounts.from_reports(table, table.low[[0, 1, 1]])


def written(name, weights):
    Path(name).write_text("value,weight\n" + "".join(f"{v},{w}\n" for v, w in enumerate(weights)))
    return Path(name)


def test_a_prior_without_weight_somewhere_is_said_and_a_measured_exemption_too():
    old, older = written("old.csv", (4, 3, 0, 1, 1)), written("older.csv", (5, 2, 1, 1, 1))
    (factor,), lines = assumptions_of(["trust=2"], old, counts(), (older, written("oldest.csv", (1, 6, 1, 1, 1))))
    assert "'old.csv' has no weight at 1 of 5 knots" in lines[0]
    assert factor.exempt == pytest.approx(0.3, abs=0.02)  # 5 of 10 may be at most 2 of 10
    assert "30% of people had to be exempt" in lines[1]


def test_a_prior_without_weight_where_reports_are_is_refused():
    table = square_wave(np.arange(5.0), 4.0)
    high = ReportCounts.from_reports(table, np.repeat(table.high[[0, -1]], [50, 350]))
    with pytest.raises(InputError, match="where reports are, got none from 3 to 4, where at least"):
        assumptions_of(["trust=2"], written("old.csv", (4, 3, 2, 0, 0)), high, None)


@pytest.mark.parametrize(
    ("texts", "weights", "said"),
    [
        (["monotone=0"], (1, 2, 3, 4, 5), "the prior must meet what is assumed, got monotone=0"),
        (["trust=2"], (1, 1, 1, 1, 1, 1), "must lie in the range"),
        (["trust=2"], None, "needs the prior that it is near"),
        (["shape"], (1, 1, 1, 1, 1), "needs a number, got none: write shape=1.1"),
        (["unimodal=9"], (1, 1, 1, 1, 1), "must name a value within 0 to 4"),
        (["trust=2,exempt=1"], (1, 1, 1, 1, 1), "exempt must be a share of people"),
    ],
)
def test_what_an_estimate_cannot_assume_is_refused(texts, weights, said):
    prior = None if weights is None else written("last.csv", weights)
    with pytest.raises(InputError, match=said):
        assumptions_of(texts, prior, counts(), None)
