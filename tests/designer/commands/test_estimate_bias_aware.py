"""`optldp estimate --method bias-aware`: the library's mean, its parts in words, and refusals in one line."""

import json
from pathlib import Path

import numpy as np
import pytest
from optldp.designer import Prior
from optldp.estimators import bias_aware_mean, count
from optldp.estimators.bias_aware import bias_aware_attribute_means
from optldp.estimators.reading.columns import read_column
from optldp.mechanisms import AttributeSampling, load_table, make_exact, piecewise, save_bundle, save_table

PRIOR = ("--prior", "last.csv")
TRUSTED = (*PRIOR, "--trust", 2)
ASSUMED = ("--method", "bias-aware", *PRIOR, "--assume", "trust=2")
ASKED = ("estimate", "pay.json", "reports.csv")
KNOTS = np.linspace(0.0, 100.0, 11)
WEIGHTS = np.exp(-np.arange(0, 101) / 20)


@pytest.fixture(autouse=True)
def reports(here, optldp):
    save_table(make_exact(piecewise(KNOTS, 1.0)).mechanism, "pay.json")
    Path("last.csv").write_text("value,weight\n" + "".join(f"{v},{w!r}\n" for v, w in enumerate(WEIGHTS.tolist())))
    optldp("perturb", "pay.json", "people.csv", "--column", "income", "--out", "reports.csv")


def library(**options):
    prior = Prior.from_pairs(np.arange(101.0), WEIGHTS, knots=KNOTS).weights
    return bias_aware_mean(count(load_table("pay.json"), read_column("reports.csv", "report")), prior, **options)


@pytest.mark.slow
@pytest.mark.parametrize("words", [("--method", "bias-aware", *TRUSTED), TRUSTED, ("--prior", "last.csv"), ASSUMED])
def test_it_is_the_librarys_mean(optldp, words):
    """A prior or a trust asks for it."""
    found = json.loads(optldp(*ASKED, *words, "--confidence", 0.9, "--json").stdout)
    trust = 2.0 if {"--trust", "--assume"} & set(words) else None
    expected = library(trust=trust)
    told = {name: found.pop(name) for name in ("simulated", "skipped", "skipped_first", "seconds", "fit_p_value")}
    assert (told["simulated"], told["skipped"]) == (False, 0)
    assert found.pop("ratio_to_no_privacy") > 1
    assert found == pytest.approx(expected.to_dict(0.9))
    assert found["trust"] == (trust or 3.0)


@pytest.mark.slow
def test_text_says_what_is_noise_and_what_is_trust(optldp):
    shown, expected = optldp(*ASKED, *TRUSTED).stdout, library(trust=2.0)
    noise, trust = expected.reaches()
    assert f"is {noise:.4g} of noise and {trust:.4g} of trust" in shown
    assert (
        f"the bias is at most {expected.bias_high:.4g} if each weight of the prior is right within a factor of 2"
        in shown
    )
    assert f"the error is at most {expected.rmse:.4g}, before {expected.rmse_before:.4g}" in shown


@pytest.mark.nightly
def test_what_reports_count_as_is_written_and_drawn(optldp):
    assert optldp(*ASKED, *TRUSTED, "--out", "as.csv", "--plot", "as.svg").exit_code == 0
    part = library(trust=2.0).parts[0]
    for name, column in (("low", part.low), ("before", part.before), ("counts_as", part.values)):
        np.testing.assert_allclose(read_column("as.csv", name), column)
    assert "What reports of 300 users count as" in Path("as.svg").read_text()


@pytest.mark.nightly
def test_a_table_for_the_error_needs_no_words_and_warns_of_other_users(optldp):
    optldp(
        *("design", "--prior", "last.csv", "--public", "--knots", 11, "--epsilon", 1),
        *("--n", 5000, "--trust", 2, "--out", "made.json"),
    )
    optldp("perturb", "made.json", "people.csv", "--column", "income", "--out", "few.csv")
    done = optldp("estimate", "made.json", "few.csv", "--json")
    found = json.loads(done.stdout)
    assert (found["method"], found["trust"], found["n"]) == ("bias-aware", 2.0, 300)
    assert "warning: the table was designed for another number of users than these 300" in done.stderr
    assert f"{found['rmse_designed']:.7g} with a table designed for them" in done.stderr
    assert found["rmse_designed"] < found["rmse"] < found["rmse_before"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ("--prior", "last.csv", "--trust", 0.5),
            "trust is the factor by which a prior may be off, at least 1, got 0.5",
        ),
        (
            ("--prior", "last.csv", "--trust", "nan"),
            "trust of --method bias-aware must be a number, got 'nan'",
        ),
        (("--trust", 2), "needs a prior, and no table carries one: give it, --prior FILE"),
        (("--prior", "none.csv"), "a data file must exist, got 'none.csv'"),
        (("--prior", "wide.csv"), "the prior of 'wide.csv': values must lie in the range [0, 100], got 1 outside it"),
        ((*ASSUMED, "--assume", "unimodal"), "assumes one factor, got several: give --assume trust=FACTOR alone"),
        ((*ASSUMED[:-1], "shape=1.1"), "--assume must be one of trust, got 'shape'"),
        (("--method", "em", *TRUSTED), "--trust is for --method bias-aware: leave it out"),
        (("--method", "em", *PRIOR), "--prior is for --method bias-aware, a mean, and for --assume: leave it out"),
        ((*TRUSTED, "--of", "distribution"), "--method bias-aware estimates a mean, not distribution"),
        ((*PRIOR, "--winsorise", 0.1), "--prior is for --method bias-aware, a mean, and for --assume: leave it out"),
        (("--method", "bias-aware", "--of", "quantiles"), "--method bias-aware estimates a mean, not quantiles"),
        (("--method", "bias-aware", "--winsorise", 0.1), "--winsorise is for the plain mean of one table"),
        (("--method", "bias-aware", "--raw"), "--raw is for the plain mean of one table"),
        ((*TRUSTED, "--cells", 5), "--cells needs a distribution"),
        ((*TRUSTED, "--between", 1, 2), "--between needs a distribution"),
        ((*TRUSTED, "--out", "as.txt"), "the output must end in .csv or .parquet"),
    ],
)
def test_what_makes_no_sense_is_refused(refusal, words, says):
    Path("wide.csv").write_text("value,weight\n0,1\n200,1\n")
    assert says in refusal(*ASKED, *words)


def test_other_kinds_of_reports_refuse_a_prior(refusal, optldp):
    Path("jobs.csv").write_text("job\n" + "cook\nnurse\n" * 20)
    optldp("design", "jobs.csv", "--column", "job", "--categorical", "--epsilon", 1, "--out", "jobs.json")
    optldp("perturb", "jobs.json", "jobs.csv", "--column", "job", "--out", "r.csv")
    assert "--prior is for tables of numbers: leave it out" in refusal("estimate", "jobs.json", "r.csv", *PRIOR)
    assert "--method must be one of" in refusal("estimate", "jobs.json", "r.csv", "--trust", 2)
    assert "--method must be one of" in refusal("estimate", "jobs.json", "r.csv", "--method", "bias-aware")


@pytest.mark.nightly
def test_several_services_have_one_mean(optldp):
    """Half of the users report to a second service as well."""
    rows = Path("people.csv").read_text().splitlines()
    Path("half.csv").write_text("\n".join(rows[:151]) + "\n")
    save_table(make_exact(piecewise(KNOTS, 2.0)).mechanism, "two.json")
    for table, data, out in (("pay.json", "people.csv", "a.csv"), ("two.json", "half.csv", "b.csv")):
        optldp("perturb", table, data, "--column", "income", "--key", "name", "--out", out)
    done = optldp("estimate", "pay.json", "a.csv", "two.json", "b.csv", "--key", "name", *TRUSTED, "--json")
    found = json.loads(done.stdout)
    assert (found["method"], found["n"]) == ("bias-aware", 300)
    assert found["low"] < 28.57 < found["high"]
    assert found["rmse"] < found["rmse_before"]


@pytest.mark.nightly
def test_attributes_have_one_each(optldp, refusal):
    tables = [make_exact(piecewise(KNOTS, 1.0)).mechanism] * 2
    made = AttributeSampling(["pay", "rent"], tables, 1, 1.0)
    save_bundle(made, "both.json")
    rng = np.random.default_rng(1)
    reports = made.sample({name: rng.exponential(20, 200).clip(0, 100) for name in made.attributes})
    rows = zip(*reports.values(), strict=True)
    lines = [",".join("" if np.isnan(x) else repr(float(x)) for x in row) for row in rows]
    Path("both.csv").write_text("pay,rent\n" + "\n".join(lines) + "\n")
    asked = ("estimate", "both.json", "both.csv", "--method", "bias-aware")
    found = json.loads(optldp(*asked, "--attribute", "rent", *TRUSTED, "--json").stdout)
    prior = Prior.from_pairs(np.arange(101.0), WEIGHTS, knots=KNOTS).weights
    expected = bias_aware_attribute_means(
        count(made, reports),
        {"pay": prior, "rent": prior},
        trust=2.0,
    )["rent"]
    assert found["attribute"] == "rent"
    assert found["value"] == pytest.approx(expected.value)
    assert found["bias_high"] == pytest.approx(expected.bias_high)
    even = [each.with_prior(Prior.even(KNOTS).knot_prior) for each in tables]
    save_bundle(AttributeSampling(["pay", "rent"], even, 1, 1.0), "both.json")
    every = json.loads(optldp(*asked, "--trust", 1.5, "--json").stdout)
    assert (every["trust"], every["attribute"]) == ([1.5, 1.5], ["pay", "rent"])
    assert min(every["bias_high"]) > 0
    save_bundle(made, "both.json")
    assert "--prior is of one attribute, got none: choose it by --attribute" in refusal(*asked, *TRUSTED)
    assert "'pay': a bias-aware mean needs a prior" in refusal(*asked)
