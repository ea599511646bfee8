"""`optldp estimate` for decisions: differences, groups, weights, frequencies in order, and what privacy costs."""

import json
from pathlib import Path

import numpy as np
import pytest
from optldp.mechanisms import grr, make_exact, save_bundle, save_table
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.key_value import key_value_unary

WORDS = {"value", "std_error", "low", "high", "confidence", "n", "method", "target", "ratio_to_no_privacy"}
JOBS = [f"job{k}" for k in range(30)]
N = 400


@pytest.fixture
def reports(here):
    """now.csv and then.csv: reports of two days, 200 people in both; of jobs in jobs-now.csv and jobs-then.csv."""
    rng = np.random.default_rng(1)
    table = make_exact(grr(np.linspace(0.0, 60.0, 4), 3.0)).mechanism
    jobs = categorical_grr(JOBS, 4.0)
    save_table(table, "pay.json")
    save_bundle(jobs, "jobs.json")
    pay, job = rng.choice([20.0, 40.0], 2 * N), rng.choice(JOBS[:4], 2 * N)
    for name, users, rise in (("now", slice(0, N), 20.0), ("then", slice(200, 200 + N), 0.0)):
        columns = [np.arange(2 * N)[users], rng.choice(["north", "south"], N), rng.choice([1, 3], N)]
        head = "user,region,weight,report\n"
        paid, works = table.sample(pay[users] + rise, rng), jobs.to_text(jobs.sample(job[users], rng))
        for path, made in ((f"{name}.csv", paid), (f"jobs-{name}.csv", works)):
            rows = zip(*columns, made, strict=True)
            Path(path).write_text(head + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return here


def told(done) -> dict:
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.mark.nightly
def test_a_change_is_told_with_and_without_matching(optldp, reports):
    asked = ("estimate", "pay.json", "now.csv", "--versus", "pay.json", "then.csv")
    apart, both = told(optldp(*asked, "--json")), told(optldp(*asked, "--key", "user", "--json"))
    assert apart.keys() >= WORDS
    assert both["low"] < 20 < both["high"]
    assert (apart["matched"], both["matched"], both["n"]) == (None, 200, 600)
    assert both["std_error"] < 0.95 * apart["std_error"]
    assert both["first_estimate"]["value"] - both["second_estimate"]["value"] == pytest.approx(both["value"])
    assert "taken as independent" in optldp(*asked).stderr
    shown = optldp(*asked, "--key", "user").stdout
    assert "with 95% confidence the first is above the second: first less second is" in shown
    assert "200 of 600 people are in both" in shown
    again = optldp("estimate", "pay.json", "then.csv", "--versus", "pay.json", "now.csv", "--key", "user", "--json")
    assert told(again)["value"] == pytest.approx(-both["value"])


@pytest.mark.nightly
def test_a_difference_of_shares_has_an_honest_interval_and_its_bound(optldp, reports):
    asked = ("estimate", "pay.json", "now.csv", "--versus", "pay.json", "then.csv", "--above", 20)
    found = told(optldp(*asked, "--json"))
    assert found["low"] < found["value"] < found["high"]
    assert found["high"] - found["low"] > found["shortest_possible"] > 0
    assert (found["interval"], found["assumed"], found["above"]) == ("affine-pair", "nothing", 20)
    assert "no honest interval below" in optldp(*asked).stdout


@pytest.mark.slow
def test_the_change_of_each_group_is_a_row(optldp, reports):
    asked = ("estimate", "pay.json", "now.csv", "--versus", "pay.json", "then.csv", "--by", "region")
    found = told(optldp(*asked, "--json"))
    assert [row["group"] for row in found["rows"]] == ["north", "south"]
    assert all(row["low"] < 20 < row["high"] < row["low"] + 12 for row in found["rows"])
    assert all(row["first"] - row["second"] == pytest.approx(row["value"]) for row in found["rows"])
    assert "taken as independent" in optldp(*asked).stderr
    above = told(optldp(*asked, "--above", 20, "--json"))
    assert all(0 < row["low"] < 0.5 < row["high"] for row in above["rows"])
    done = optldp(*asked, "--above", 20, "--out", "change.csv")
    assert "differences of the share above 20 by region" in done.stdout
    columns = dict(zip(*(line.split(",") for line in Path("change.csv").read_text().splitlines()[:2]), strict=True))
    assert columns["n"] == str(above["rows"][0]["n"])


@pytest.mark.nightly
def test_quantiles_of_groups_and_their_differences_are_rows(optldp, reports):
    asked = ("estimate", "pay.json", "now.csv", "--of", "quantiles:0.25,0.75")
    by = told(optldp(*asked, "--by", "region", "--json"))
    assert [(row["group"], row["quantile"]) for row in by["rows"]] == [
        (group, share) for group in ("north", "south") for share in (0.25, 0.75)
    ]
    assert all(row["low"] <= {0.25: 40, 0.75: 60}[row["quantile"]] <= row["high"] for row in by["rows"])
    versus = told(optldp(*asked, "--versus", "pay.json", "then.csv", "--json"))
    assert all(row["low"] <= 20 <= row["high"] for row in versus["rows"])
    assert "quantiles, first less second" in optldp(*asked, "--versus", "pay.json", "then.csv").stdout
    for option, value in (("--above", "20"), ("--top", "2")):
        said = optldp(*asked, "--by", "region", option, value).stderr
        assert f"{option} is of no use to quantiles" in said


@pytest.mark.slow
def test_shares_above_a_value_by_group_have_honest_intervals_and_their_bounds(optldp, reports):
    asked = ("estimate", "pay.json", "now.csv", "--by", "region", "--above", 40)
    each, at_once = told(optldp(*asked, "--json")), told(optldp(*asked, "--simultaneous", "--json", "--out", "s.csv"))
    assert [row["group"] for row in each["rows"]] == ["north", "south"]
    for row, longer in zip(each["rows"], at_once["rows"], strict=True):
        assert longer["low"] <= row["low"] < row["value"] < row["high"] <= longer["high"]
        assert row["high"] - row["low"] > 0.9 * row["shortest_possible"] > 0
    assert (each["interval"], each["assumed"], each["above"]) == ("affine-pair", "nothing", 40)
    assert "share above 40 by region" in optldp(*asked).stdout
    assert len(Path("s.csv").read_text().splitlines()) == 3


@pytest.mark.nightly
def test_changes_of_frequencies_are_rows_that_hold_at_once_if_asked(optldp, reports):
    asked = ("estimate", "jobs.json", "jobs-now.csv", "--versus", "jobs.json", "jobs-then.csv", "--key", "user")
    each, at_once = told(optldp(*asked, "--json")), told(optldp(*asked, "--simultaneous", "--out", "d.csv", "--json"))
    assert len(each["category"]) == len(each["low"]) == 30
    assert all(np.array(at_once["high"]) >= np.array(each["high"]))
    assert len(Path("d.csv").read_text().splitlines()) == 31
    assert "of 30 frequencies differ with 95% confidence, each by itself" in optldp(*asked, "--top", 3).stdout


@pytest.mark.nightly
def test_each_group_has_a_row(optldp, reports):
    asked = ("estimate", "pay.json", "now.csv", "--by", "region")
    found = told(optldp(*asked, "--weights", "weight", "--out", "r.csv", "--json"))
    assert [row["group"] for row in found["rows"]] == ["north", "south"]
    assert all(row.keys() >= WORDS | {"effective_n", "too_few"} for row in found["rows"])
    assert sum(row["n"] for row in found["rows"]) == found["users"] == N
    assert Path("r.csv").read_text().splitlines()[0].startswith("group,value,std_error,low,high,n")
    done = optldp(*asked, "--simultaneous")
    assert "all 2 intervals hold at once with 95% confidence" in done.stdout
    assert "the groups stand in clear" in done.stderr
    jobs = told(optldp("estimate", "jobs.json", "jobs-now.csv", "--by", "region", "--json"))
    assert len(jobs["rows"]) == 60
    assert jobs["rows"][0]["category"] == "job0"


@pytest.mark.slow
def test_a_group_of_few_is_said(optldp, reports):
    with Path("now.csv").open("a") as stream:
        stream.write("9999,west,1,0.0\n")
    done = optldp("estimate", "pay.json", "now.csv", "--by", "region")
    assert "too few reports for their intervals to be relied on: 'west'" in done.stderr
    assert "west !" in done.stdout
    rows = told(optldp("estimate", "pay.json", "now.csv", "--by", "region", "--json"))["rows"]
    assert (rows[-1]["std_error"], rows[-1]["too_few"]) == (None, True)


@pytest.mark.nightly
def test_weights_are_counted_and_said(optldp, reports):
    found = told(optldp("estimate", "pay.json", "now.csv", "--weights", "weight", "--json"))
    assert found.keys() >= WORDS
    assert found["effective_n"] < found["n"] == N
    jobs = told(optldp("estimate", "jobs.json", "jobs-now.csv", "--weights", "weight", "--top", 4, "--json"))
    assert sum(jobs["above_noise"]) >= 3
    assert jobs["others"]["categories"] == 26
    rows = Path("now.csv").read_text().splitlines()
    rows[1], rows[2] = "0,north,1000000,0.0", "1,north,0,0.0"
    Path("heavy.csv").write_text("\n".join(rows) + "\n")
    said = optldp("estimate", "pay.json", "heavy.csv", "--weights", "weight").stderr
    assert "1 users of weight 0 count for nothing" in said
    assert "399 users tell as much as 1.0 of equal weights" in said


@pytest.mark.slow
def test_frequencies_come_in_order_with_the_rest_in_one_line(optldp, reports):
    asked = ("estimate", "jobs.json", "jobs-now.csv", "--top", 5)
    shown, found = optldp(*asked).stdout, told(optldp(*asked, "--json"))
    values = [float(line.split()[1]) for line in shown.splitlines()[2:7]]
    assert values == sorted(values, reverse=True)
    assert "25 others, together" in shown
    assert "4 of 30 categories are above the noise, all at once with 95% confidence" in shown
    assert [JOBS[k] for k in np.flatnonzero(found["above_noise"])] == JOBS[:4]
    assert found["others"].keys() >= WORDS - {"ratio_to_no_privacy"}
    wide = told(optldp("estimate", "jobs.json", "jobs-now.csv", "--simultaneous", "--json"))
    assert (wide["confidence"], wide["simultaneous"]) == (0.95, True)
    assert wide["high"][0] > found["high"][0]


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--method", "em"), ("--method", "ua"), ("--winsorise", 0.2)], ids=str)
def test_a_mean_says_what_privacy_costs(optldp, reports, options):
    asked = ("estimate", "pay.json", "now.csv", *options)
    found = told(optldp(*asked, "--json"))
    plain = 10.0 / np.sqrt(N)  # half of the values are 40 and half are 60
    assert found["ratio_to_no_privacy"] == pytest.approx((found["high"] - found["low"]) / 3.92 / plain, rel=0.2)
    assert "times shorter" in optldp(*asked).stdout


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--by", "region", "--method", "em"), "--by is for unbiased estimates, got --method em"),
        (("--by", "region", "--of", "distribution"), "--of does not go with --by"),
        (("--by", "region", "--above", 99), "needs one from 0 to below 60, got 99"),
        (("--by", "region", "--above", 20, "--top", 3), "--top is of no use to shares above a value"),
        (("--by", "region", "--top", 3), "--top is for frequencies of categories"),
        (("--by", "nowhere"), "column 'nowhere' of 'now.csv' must exist"),
        (("--weights", "weight", "--out", "w.csv"), "--out is for results of several rows, got a mean"),
        (("--weights", "region"), "' is no number: correct them"),
        (("--versus", "pay.json", "then.csv", "--by", "region", "--key", "user"), "groups, which share no users"),
        (("--versus", "pay.json", "then.csv", "--key", "user", "--weights", "weight"), "--weights is for independent"),
        (("--versus", "pay.json", "then.csv", "--keep-first"), "--keep-first is for --key"),
        (("--versus", "pay.json", "then.csv", "--above", 20, "--key", "user"), "whose groups share no users"),
        (("--versus", "jobs.json", "jobs-then.csv", "--above", 20), "are of tables of numbers"),
        (("--versus", "jobs.json", "jobs-then.csv"), "one of each"),
        (("then.csv", "--by", "region"), "tables and reports must come in pairs"),
        (("--simultaneous",), "--simultaneous is for distributions"),
    ],
    ids=str,
)
def test_what_does_not_go_together_is_one_line(refusal, reports, options, says):
    assert says in refusal("estimate", "pay.json", "now.csv", *options)
    assert not Path("w.csv").exists()


def test_other_kinds_are_refused(refusal, reports):
    pay = make_exact(grr(np.linspace(0.0, 60.0, 4), 1.0)).mechanism
    save_bundle(key_value_unary(["a", "b"], pay, 2.0), "pairs.json")
    assert "are for tables of numbers and for categories" in refusal(
        "estimate", "pairs.json", "now.csv", "--by", "user"
    )
