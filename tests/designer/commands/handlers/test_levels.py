"""The command line for levels of numbers on common outputs: design, verify, perturb, and what is estimated."""

# Tests know which kind of mechanism or result they made; the types say only that it may be one of several.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false

import json
from pathlib import Path

import numpy as np
import pytest
from optldp.estimators import PersonalisedCounts, personalised_distribution, personalised_mean
from optldp.estimators.reading.columns import read_column
from optldp.mechanisms import load_mechanism
from optldp.mechanisms.combinators.personalised import PersonalisedReports

from ...conftest import found

BUDGETS, PAY = np.resize([0.5, 1.0, 2.0], 900), np.linspace(0.0, 60.0, 900)

COLUMN = ("--column", "pay", "--range", 0, 60, "--knots", 5, "--public")
LEVELS = ("--levels", "0.5,1,2")


@pytest.fixture
def staff(here) -> Path:
    """staff.csv: pay and budget of 900 people."""
    rows = zip(PAY, BUDGETS, strict=True)
    Path("staff.csv").write_text("pay,budget\n" + "".join(f"{pay},{budget}\n" for pay, budget in rows))
    return Path("staff.csv")


@pytest.fixture
def reported(optldp, staff) -> dict:
    """made.json, whose facts these are, and r.csv, a simulated report of everybody."""
    done = optldp("design", staff, *COLUMN, *LEVELS, "--leakage", 1, "--level-epsilon", 0.5, "--out", "made.json",
                  "--json")  # fmt: skip
    assert done.exit_code == 0, done.output
    made = optldp("perturb", "made.json", staff, "--column", "pay", "--level-column", "budget", "--out", "r.csv",
                  "--seed", 1)  # fmt: skip
    assert made.exit_code == 0, made.output
    return json.loads(done.stdout)


def counted() -> PersonalisedCounts:
    made = load_mechanism("made.json")
    levels = made.level_numbers(read_column("r.csv", "simulated_level"))
    return PersonalisedCounts.from_reports(made, PersonalisedReports(levels, read_column("r.csv", "simulated_report")))


@pytest.mark.slow
def test_a_design_says_how_good_it_is_and_what_a_report_tells(reported):
    """The bound, a variance for each level, and a leakage within what was asked."""
    assert 0.99 < reported["report_leakage"] <= 1.0
    assert reported["level_leakage"] == pytest.approx(reported["report_leakage"] + 0.5)
    assert reported["relative_gap"] < 1e-4
    assert reported["status"] == "optimal"
    assert reported["value"] == pytest.approx(np.mean(reported["expected_variances"]), rel=1e-2)  # the uniform share


@pytest.mark.slow
def test_verify_proves_the_levels_and_says_the_leakage(optldp, reported):
    """From the file alone."""
    facts = found(optldp, "verify", "made.json")
    assert facts["verdict"] == "proved"
    assert facts["report_leakage"] == reported["report_leakage"]


@pytest.mark.slow
def test_the_mean_is_the_unbiased_one_by_default_and_the_likelihoods_if_asked(optldp, reported):
    """What the library makes of the same reports."""
    assert found(optldp, "estimate", "made.json", "r.csv")["value"] == personalised_mean(counted()).value
    by_likelihood = found(optldp, "estimate", "made.json", "r.csv", "--method", "em")
    assert by_likelihood["value"] == personalised_distribution(counted()).mean().value
    assert sum(by_likelihood["level_shares"]["value"]) == pytest.approx(1.0)


@pytest.mark.nightly
def test_distribution_and_quantiles_of_protected_levels(optldp, reported):
    """On as many cells as asked for, written row by row."""
    told = found(
        optldp, "estimate", "made.json", "r.csv", "--of", "distribution", "--cells", 6, "--out", "d.csv",
        "--between", 0, 30,
    )  # fmt: skip
    assert len(told["value"]) == 6
    assert read_column("d.csv", "value") == pytest.approx(np.array(told["value"]))
    assert told["between"]["value"] == pytest.approx(sum(told["value"][:3]), abs=1e-6)
    told = found(optldp, "estimate", "made.json", "r.csv", "--of", "quantiles", "--quantile", 0.5)
    assert told["quantiles"][0]["value"] == personalised_distribution(counted()).quantile(0.5).value


@pytest.mark.nightly
def test_shares_of_the_levels_favour_whoever_is_many(optldp, staff):
    """More users at the most generous level: its variance falls, that of the strictest rises."""
    few, many = (
        found(optldp, "design", staff, *COLUMN, *LEVELS, "--leakage", 1, "--level-shares", shares)["expected_variances"]
        for shares in ("8,1,1", "1,1,8")
    )
    assert many[2] < few[2]
    assert many[0] > few[0]


@pytest.mark.slow
def test_levels_in_the_clear_are_noted(optldp, staff):
    """What a report of the value tells does not matter where the level itself is sent."""
    done = optldp("design", staff, *COLUMN, *LEVELS, "--leakage", 1)
    assert "levels are reported in the clear" in done.stderr


@pytest.mark.slow
def test_tables_of_their_own_outputs_are_told_of_the_cure(optldp, staff):
    """Without a bound a report tells its level for certain."""
    done = optldp("design", staff, *COLUMN, *LEVELS, "--level-epsilon", 0.5)
    assert "level_leakage inf in all; --leakage bounds it" in done.stderr


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            ("--levels", "0.1,1", "--leakage", 1, "--outputs", "-100:160:60"),
            "for level 0.1, the strictest, to be unbia",
        ),
        ((*LEVELS, "--leakage", 1, "--outputs", "-100:160"), "must be LO:HI:N"),
        ((*LEVELS, "--leakage", 1, "--outputs", "9:3:60"), "with LO < HI"),
        ((*LEVELS, "--leakage", 1, "--outputs", "-999:999:1"), "N from 2"),
        ((*LEVELS, "--leakage", -1), "leakage must be at least 0"),
        ((*LEVELS, "--leakage", 1, "--level-shares", "1,2"), "3 positive numbers"),
        ((*LEVELS, "--leakage", 1, "--method", "duchi"), "--leakage is for method optimal"),
        ((*LEVELS, "--outputs", "-999:999:60"), "of no use without --leakage"),
        ((*LEVELS, "--level-shares", "1,1,1"), "of no use without --leakage"),
        (("--epsilon", 1, "--leakage", 1), "--leakage is of no use to one table"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_in_one_line(refusal, staff, options, says):
    """Which level, which option, and why."""
    assert says in refusal("design", staff, *COLUMN, *options)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--plot", "x.png"), "needs a distribution"),
        (("--of", "distribution", "--method", "population"), "estimates a mean"),
        (("--method", "ems"), "must be one of population, em"),
        (("--stop", "loglik"), "--stop is for --method em or ule: leave it out"),
        (("--quantile", 0.5), "--quantile is for --of quantiles: leave it out"),
    ],
    ids=str,
)
def test_estimates_that_make_no_sense_are_refused_in_one_line(refusal, reported, options, says):
    """Options for other results, and methods that protected levels do not have."""
    assert says in refusal("estimate", "made.json", "r.csv", *options)
