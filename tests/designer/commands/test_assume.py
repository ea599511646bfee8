"""`--assume` of commands that design: what an objective is told of the prior."""

from pathlib import Path

import numpy as np
import pytest
from optldp.designer.commands.options.assumed import assumptions_of
from optldp.estimators import ReportCounts
from optldp.mechanisms import InputError
from optldp.mechanisms.families.square_wave import square_wave

PRIOR = ("--prior", "p.csv", "--public", "--knots", 5)
DESIGN = ("design", *PRIOR, "--epsilon", 1, "--n", 500)


@pytest.fixture(autouse=True)
def prior(here):
    Path("p.csv").write_text("value,weight\n0,4\n1,3\n2,2\n3,1\n4,1\n")


@pytest.mark.slow
def test_a_design_assumes_what_its_objective_may_be_told(optldp):
    optldp(*DESIGN, "--objective", "error", "--assume", "trust=2", "--out", "a.json")
    optldp(*DESIGN, "--objective", "error:2", "--out", "b.json")
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--assume", "trust=2"), "--assume is of no use to one table of numbers"),
        (("--objective", "error:2", "--assume", "trust=2"), "told twice, got --objective error:2"),
        (("--objective", "error", "--assume", "shape=1.1"), "--assume must be one of trust, got 'shape'"),
        (("--objective", "error", "--assume", "trust"), "--assume trust needs a number, got none: write trust=3"),
        (("--objective", "error", "--assume", "trust=0.5"), "at least 1, got 0.5"),
        (("--objective", "error", "--assume", "trust=2", "--assume-from", "o.csv", "p.csv"), "leave one out"),
    ],
)
def test_what_a_design_cannot_assume_is_refused(refusal, words, said):
    assert said in refusal(*DESIGN, *words, "--out", "m.json")


def test_a_comparison_assumes_something_for_an_objective_that_does(refusal):
    asked = ("compare", *PRIOR, "--epsilon", 1, "--assume", "trust=2")
    assert "--assume is for --objective error: leave it out" in refusal(*asked)


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
