"""`optldp plan`: what it prints is the library's plan, and what makes no sense is refused in one line."""

import json

import numpy as np
import pytest
from optldp.designer import CategoricalPrior, Guarantee, Prior, TotalVariationAmbiguity, WorstCase
from optldp.designer.methods.closed_form import ClosedForm
from optldp.designer.planning import (
    plan_distribution_epsilon,
    plan_distribution_error,
    plan_epsilon,
    plan_error,
    plan_frequencies,
)
from optldp.mechanisms import CategoricalMechanism, load_mechanism, load_table

from ..conftest import INCOME, PEOPLE

PLAN = ("plan", *INCOME, "--range", 0, 100, "--knots", 9, "--n", 5000)


@pytest.fixture(scope="module")
def prior():
    return Prior.from_data(PEOPLE, knots=9, domain=(0, 100))


@pytest.mark.nightly
@pytest.mark.parametrize("of", ["users", "population"])
def test_the_budget_of_an_error_and_the_error_of_a_budget(optldp, prior, of):
    budget = json.loads(optldp(*PLAN, "--error", 1.5, "--of", of, "--json").stdout)
    plan = plan_epsilon(prior, 5000, 1.5, of=of)
    assert (budget["epsilon"], budget["least_epsilon"]) == (plan.epsilon, plan.least_epsilon)
    assert (budget["predicted_error"], budget["least_error"]) == (plan.predicted_error, plan.least_error)
    error = json.loads(optldp(*PLAN, "--epsilon", 1, "--of", of, "--json").stdout)
    assert error["predicted_error"] == plan_error(prior, 5000, 1.0, of=of).predicted_error
    assert (error["least_epsilon"], error["table"]) == (None, None)


@pytest.mark.slow
def test_a_method_is_told_as_design_tells_it(optldp, prior):
    found = json.loads(optldp(*PLAN, "--epsilon", 1, "--method", "ptt:eta=2.5", "--json").stdout)
    plan = plan_error(prior, 5000, 1.0, method=ClosedForm("ptt", eta=2.5))
    assert (found["method"], found["predicted_error"]) == ("ptt", plan.predicted_error)


@pytest.mark.nightly
def test_the_objective_is_what_the_library_is_asked(optldp, prior):
    robust = ("--objective", "robust:tv,radius=0.1")
    for chosen, objective in (
        (("--objective", "minimax"), WorstCase()),
        (robust, Guarantee(TotalVariationAmbiguity(0.1))),
    ):
        found = json.loads(optldp(*PLAN, "--epsilon", 1, *chosen, "--json").stdout)
        plan = plan_error(prior, 5000, 1.0, objective=objective)
        assert (found["objective"], found["predicted_error"]) == (objective.key, plan.predicted_error)
        assert (found["least_error"], found["least_epsilon"]) == (plan.least_error, None)


@pytest.mark.nightly
def test_the_same_of_frequencies(here, optldp):
    """The file's labels are the categories; the mechanism that is written is the plan's."""
    (here / "jobs.csv").write_text("job\n" + "a\n" * 60 + "b\n" * 30 + "c\n" * 10)
    options = ("plan", "jobs.csv", "--column", "job", "--categorical", "--n", 5000, "--json")
    truth = CategoricalPrior.from_labels(np.repeat(["a", "b", "c"], [60, 30, 10]))
    budget = json.loads(optldp(*options, "--error", 0.02, "--out", "jobs.json").stdout)
    plan = plan_frequencies(truth, 5000, error=0.02)
    assert (budget["epsilon"], budget["predicted_error"]) == (plan.epsilon, plan.predicted_error.value)
    written = load_mechanism("jobs.json")
    assert isinstance(written, CategoricalMechanism)
    assert plan.mechanism.same_law(written)
    chosen = ("--epsilon", 1, "--method", "olh", "--estimator", "mr-preselect", "--seed", 3)
    error = json.loads(optldp(*options, *chosen).stdout)
    same = plan_frequencies(
        truth, 5000, epsilon=1.0, method="olh", estimator="mr-preselect", rng=np.random.default_rng(3)
    ).predicted_error
    assert (error["predicted_error"], error["monte_carlo_error"]) == (same.value, same.error)


@pytest.mark.parametrize("option", [("--knots", 3), ("--range", 0, 1), ("--of", "population"), ("--distance", "ks")])
def test_what_is_for_numbers_is_refused_with_categories(refusal, option):
    says = refusal("plan", "jobs.csv", "--column", "job", "--categorical", "--n", 50, "--epsilon", 1, *option)
    assert f"{option[0]} is for numbers: leave it out" in says


@pytest.mark.nightly
def test_the_same_of_a_distribution(optldp, prior):
    options = ("--of", "distribution", "--seed", 3, "--json")
    budget = json.loads(optldp(*PLAN, "--error", 6, *options).stdout)
    plan = plan_distribution_epsilon(prior, 5000, 6.0, rng=np.random.default_rng(3))
    assert (budget["epsilon"], budget["predicted_error"]) == (plan.epsilon, plan.predicted_error.value)
    chosen = ("--distance", "jensen-shannon", "--estimator", "ems", "--method", "square-wave")
    error = json.loads(optldp(*PLAN, "--epsilon", 2, *options, *chosen).stdout)
    same = plan_distribution_error(
        prior, 5000, 2.0, rng=np.random.default_rng(3), distance="jensen-shannon", estimator="ems", method="square-wave"
    )
    assert (error["predicted_error"], error["monte_carlo_error"]) == (
        same.predicted_error.value,
        same.predicted_error.error,
    )


@pytest.mark.nightly
def test_the_mechanism_is_written_and_the_prior_warned_of(optldp):
    done = optldp(*PLAN, "--error", 1.5, "--out", "mech.json")
    assert load_table("mech.json").knots.size == 9
    assert "5,000 reports, for the mean of the users" in done.stdout
    assert "--public" in done.stderr
    assert "--omit-prior" in done.stderr
    assert optldp(*PLAN, "--epsilon", 1, "--public").stderr == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "two of --n, --error and --epsilon"),
        (("--error", 1, "--epsilon", 1), "two of --n, --error and --epsilon"),
        (
            ("--error", 1, "--of", "mode"),
            "--of must be one of users, population, distribution, mean, difference, median, share, cdf, got 'mode'",
        ),
        (("--error", 1, "--estimator", "em"), "--estimator is for --of distribution: leave it out"),
        (("--error", 1e-9), "--error must be at least"),
        (("--error", 1e-9, "--of", "population"), "without any privacy"),
        (("--error", 1e-9, "--of", "distribution"), "without any privacy"),
        (("--epsilon", 1, "--out", "nowhere/mech.json"), "folder must exist"),
        (("--epsilon", -1), "epsilon must be"),
        (("--epsilon", 1, "--objective", "robust"), "--objective robust needs an ambiguity"),
        (("--epsilon", 1, "--radius", 0.1), "--radius is for --objective robust: leave it out"),
        (("--epsilon", 1, "--objective", "information"), "needs an objective that is one variance of a report"),
    ],
)
def test_what_makes_no_sense_is_refused(refusal, arguments, says):
    assert says in refusal(*PLAN, *arguments)


@pytest.mark.nightly
def test_questions_are_planned_by_their_own_tables(optldp, tmp_path):
    """Half an interval of a share is that of randomised response; a difference of halves varies as a quarter's mean."""
    prior = tmp_path / "p.csv"
    prior.write_text("value,weight\n" + "".join(f"{x},{1 + x % 3}\n" for x in range(9)))
    common = "plan", "--prior", prior, "--public", "--epsilon", 1, "--json"

    def told(*more):
        return json.loads(optldp(*common, *more).stdout)

    share = told("--n", 20_000, "--of", "share:above=3.5")
    assert share["predicted_error"] == pytest.approx(share["least_error"], rel=2e-3)
    assert told("--error", share["predicted_error"], "--of", "share:above=3.5")["users"] == pytest.approx(
        20_000, rel=0.03
    )
    mean, apart = (told("--n", n, "--of", of) for n, of in ((5_000, "population"), (20_000, "difference")))
    assert (apart["predicted_error"], apart["users"]) == (mean["predicted_error"], 20_000)
    assert told("--n", 20_000, "--of", "mean")["of"] == "mean"
    for of, said in (("middle", "--of must be one of"), ("share", "needs its threshold")):
        done = optldp(*common, "--n", 100, "--of", of)
        assert done.exit_code == 2
        assert said in done.output


@pytest.mark.slow
def test_design_takes_a_question_for_its_objective(optldp, tmp_path):
    prior = tmp_path / "p.csv"
    prior.write_text("value,weight\n" + "".join(f"{x},{1 + x % 3}\n" for x in range(5)))
    common = "design", "--prior", prior, "--public", "--epsilon", 1, "--n", 20_000, "--json", "--of"
    both, median = (json.loads(optldp(*common, of).stdout) for of in ("mean,cdf", "median:within=1:3"))
    assert (both["objective"], both["mean_weight"]) == ("cdf", 0.7)
    assert (median["objective"], median["within"]) == ("quantile", [1.0, 3.0])
    done = optldp(*common, "cdf", "--objective", "minimax")
    assert done.exit_code == 2
    assert "--objective" in done.output


@pytest.mark.nightly
def test_a_plan_of_a_mean_is_drawn_and_no_other(optldp):
    done = optldp(*PLAN, "--epsilon", 1, "--plot", "people.svg", "--force")
    assert "wrote people.svg (a figure)" in done.stderr
    refused = optldp(*PLAN, "--epsilon", 1, "--of", "distribution", "--plot", "people.svg")
    assert refused.exit_code != 0
    assert "--plot is for means without bias, of one column and one period" in refused.stderr
