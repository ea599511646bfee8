"""`--assume` of commands that design: what an objective is told of the prior."""

from pathlib import Path

import pytest

PRIOR = ("--prior", "p.csv", "--public", "--knots", 5)
DESIGN = ("design", *PRIOR, "--epsilon", 1, "--n", 500)


@pytest.fixture(autouse=True)
def prior(here):
    Path("p.csv").write_text("value,weight\n0,4\n1,3\n2,2\n3,1\n4,1\n")


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
