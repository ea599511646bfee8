"""`Workload`: queries of numbers and of categories, by name and as numbers, made exact; and `design --workload`."""

import json
import math

import numpy as np
import pytest
from optldp import load_mechanism
from optldp.designer import CategoricalPrior, Frequencies, Prior, Variance, design
from optldp.designer.objectives import Workload
from optldp.mechanisms import InputError, TabulatedMechanism, verify

PRIOR = Prior.on_knots([0, 1, 2, 5, 9], [5, 3, 2, 1, 1], source="public")
JOBS = CategoricalPrior(["cook", "smith", "nurse", "clerk"], [6, 3, 2, 1])


@pytest.mark.parametrize("queries", ["prefix", "ranges", "moments", np.eye(5)], ids=str)
def test_a_table_of_numbers(queries):
    made = design(PRIOR, 1.0, objective=Workload(queries))
    assert verify(made.mechanism).verdict == "proved"
    assert made.bound <= made.value <= made.bound * 1.01
    assert made.certificate.bound() == made.bound
    assert made.evidence.queries == {"prefix": 5, "ranges": 15, "moments": 2}.get(str(queries), 5)


def test_the_best_for_another_end_is_no_better():
    made, other = (design(PRIOR, 1.0, objective=one) for one in (Workload("ranges"), Variance()))
    assert made.objective.value(other.mechanism, made.certificate.problem) > made.value


def test_categories_have_the_frequencies_as_a_workload():
    """Whose own sampling is not counted."""
    made, known = (design(JOBS, 1.0, objective=one) for one in (Workload(np.eye(4)), Frequencies()))
    assert made.value == pytest.approx(known.value - known.evidence.sampling, rel=1e-2)
    assert made.evidence.sampling == pytest.approx(known.evidence.sampling)


def test_the_sum_of_variances_is_what_reports_show():
    """Frequencies are decoded by weighted least squares, for the users who are the prior."""
    made = design(JOBS, math.log(3), objective=Workload("prefix"))
    law, weights = made.mechanism.probabilities, JOBS.weights
    mean = weights @ law
    decoder = np.linalg.solve((law / mean) @ law.T, law / mean)
    assert decoder @ law.T == pytest.approx(np.eye(4), abs=1e-9)
    answers = np.tri(4) @ decoder
    of_a_user = (answers**2) @ law.T - (answers @ law.T) ** 2  # variance of each answer, by the user's value
    assert made.value == pytest.approx(float(weights @ of_a_user.sum(0)), rel=1e-9)


@pytest.mark.parametrize(
    ("prior", "queries", "says"),
    [
        (PRIOR, "cubes", "a workload must be prefix, ranges, moments, or numbers"),
        (JOBS, "moments", "a workload must be prefix, ranges, or numbers"),
        (PRIOR, np.ones((2, 4)), "queries x 5 values, got shape (2, 4)"),
        (PRIOR, np.ones((2, 5)), "must tell values apart"),
        (PRIOR, [[math.inf] * 5], "finite numbers"),
        (PRIOR, [["a"] * 5], "a workload must be numbers, got"),
        (Prior.even(range(257)), "ranges", "at most 256 values, got 257"),
    ],
)
def test_queries_that_do_not_fit_are_refused(prior, queries, says):
    with pytest.raises(InputError) as refused:
        design(prior, 1.0, objective=Workload(queries))
    assert says in str(refused.value)


@pytest.fixture
def asked(tmp_path):
    (tmp_path / "p.csv").write_text("value,weight\n" + "".join(f"{i},{1 + i % 3}\n" for i in range(9)))
    return "design", "--prior", tmp_path / "p.csv", "--public", "--epsilon", 1, "--objective", "workload"


@pytest.mark.nightly
def test_the_command_takes_names_and_files(optldp, asked, tmp_path):
    np.savetxt(tmp_path / "w.csv", np.tri(9), delimiter=",")
    told = [
        json.loads(optldp(*asked, *more, "--json").stdout)
        for more in (("--workload", "prefix"), ("--workload", tmp_path / "w.csv"), ())
    ]
    assert [each["workload"] for each in told] == ["prefix", "own", "prefix"]
    assert len({each["value"] for each in told}) == 1
    assert told[0]["lower_bound"] <= told[0]["value"] == told[0]["workload_error"]
    optldp(*asked, "--workload", "ranges", "--out", tmp_path / "m.json")
    table = load_mechanism(tmp_path / "m.json")
    assert isinstance(table, TabulatedMechanism)
    assert verify(table).verdict == "proved"


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--workload", "cubes"), "a workload must be one of prefix, ranges, moments, marginals, or a file"),
        (("--workload", "prefix", "--method", "grr"), "--method is of no use to a table for a workload"),
        (("--workload", "prefix", "--biased"), "needs --objective expected, minimax, trade-off, got workload"),
    ],
)
def test_the_command_refuses_what_makes_no_sense(refusal, asked, more, says):
    assert says in refusal(*asked, *more)


def test_a_workload_is_for_exactly_the_prior_as_it_says(optldp, asked, tmp_path):
    """A value without weight keeps none: the bound shown is that of the prior as given."""
    (tmp_path / "p.csv").write_text("value,weight\n0,1\n1,0\n2,3\n")
    told = json.loads(optldp(*asked, "--uniform-share", 0, "--json").stdout)
    prior = Prior.from_pairs([0, 1, 2], [1, 0, 3])
    made = design(prior, 1.0, objective=Workload("prefix"), uniform_share=0.0)
    assert (told["value"], told["lower_bound"]) == (made.value, made.bound)


def test_a_workload_is_for_its_objective_alone(refusal, asked):
    assert "--workload is of no use to one table of numbers" in refusal(*asked[:-2], "--workload", "prefix")
    twice = refusal(*asked[:-1], "workload:ranges", "--workload", "prefix")
    assert "--workload is told twice" in twice
