"""A collection over time on the command line: `design`, `perturb` of each period, `estimate` of all."""

# pyright: reportAttributeAccessIssue=false

import json
from pathlib import Path

import numpy as np
import pytest
from optldp.mechanisms import grr, load_mechanism, make_exact, save_bundle
from optldp.mechanisms.over_time import panel_of

TABLE = make_exact(grr([-1.0, -0.5, 0.0, 0.5, 1.0], 2.0)).mechanism
ARGUMENTS = ("--prior", "prior.csv", "--epsilon", 2, "--periods", 3, "--public")
USERS = 90


@pytest.fixture
def way(optldp):
    """way.json, and week1.csv to week3.csv of the same users."""
    rng = np.random.default_rng(1)
    for period in (1, 2, 3):
        rows = "".join(f"u{user},{rng.choice([-1, -0.5, 0, 0.5, 1])}\n" for user in range(USERS))
        Path(f"week{period}.csv").write_text(f"user,x\n{rows}")
    save_bundle(panel_of(TABLE, 3, 1, 2.0), "way.json")
    return "way.json"


def perturb(optldp, period, *more, out=None, data=None):
    asked = ("--column", "x", "--key", "user", "--period", period, "--out", out or f"r{period}.csv", *more)
    return optldp("perturb", "way.json", data or f"week{period}.csv", *asked)


def test_design_makes_a_panel_whose_error_is_told(optldp):
    asked = (*ARGUMENTS, "--changes", 1, "--way", "panel", "--out", "made.json", "--json")
    told = json.loads(optldp("design", *asked).stdout)
    made = load_mechanism("made.json")
    assert (made.kind, made.periods, made.reports) == ("panel", 3, 1)
    variance = made.mechanism.expected_variance(made.mechanism.prior)
    spread = np.dot(made.mechanism.prior.weights, made.mechanism.knots**2)
    assert told["error_times_root_n"] ** 2 == pytest.approx(3 * variance + 2 * spread)


def test_each_user_is_in_the_file_of_one_period_and_estimate_takes_all_files(optldp, way):
    for period in (1, 2, 3):
        assert perturb(optldp, period, "--state", "state.db").exit_code == 0
    rows = [Path(f"r{period}.csv").read_text().splitlines()[1:] for period in (1, 2, 3)]
    assert sorted(row.split(",")[0] for each in rows for row in each) == sorted(f"u{user}" for user in range(USERS))
    told = json.loads(optldp("estimate", way, *(f"r{p}.csv" for p in (1, 2, 3)), "--key", "user", "--json").stdout)
    assert [(one["period"], one["reports"]) for one in told["periods"]] == [(p, len(rows[p - 1])) for p in (1, 2, 3)]
    for one, mine in zip(told["periods"], rows, strict=True):
        assert one["low"] < one["value"] < one["high"]
        assert one["value"] == pytest.approx(np.mean([float(row.split(",")[2]) for row in mine]), abs=0.3)


def test_a_period_asked_again_is_the_same_file_and_spends_nothing(optldp, way):
    perturb(optldp, 2, "--state", "state.db")
    Path("week1.csv").rename("week2 changed.csv")
    done = perturb(optldp, 2, "--state", "state.db", "--json", out="again.csv", data="week2 changed.csv")
    assert Path("again.csv").read_text() == Path("r2.csv").read_text()
    assert json.loads(done.stdout)["new"] == 0


@pytest.mark.slow
def test_averages_changes_and_smoothing(optldp, way):
    for period in (1, 2, 3):
        perturb(optldp, period, "--seed", 1)
    told = {}
    for name, more in {"each": (), "average": (), "change": (), "smooth": ("--smooth", 0.005)}.items():
        of = ("--of", "each" if more else name)
        told[name] = json.loads(optldp("estimate", way, "r1.csv", "r2.csv", "r3.csv", *of, *more, "--json").stdout)
    each = [one["value"] for one in told["each"]["periods"]]
    assert told["average"]["periods"][0]["value"] == pytest.approx(np.mean(each))
    assert [one["value"] for one in told["change"]["periods"]] == pytest.approx(np.diff(each))
    assert all(
        smooth["std_error"] < 0.7 * plain["std_error"]
        for smooth, plain in zip(told["smooth"]["periods"], told["each"]["periods"], strict=True)
    )
    assert told["each"]["simulated"] is True


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--state", "s.db", "--period", 4), "the period must be a whole number from 1 to 3, got 4"),
        (("--period", 1), "a way over time needs --state FILE"),
        (("--state", "s.db", "--period", "May"), "--period of a way must be a whole number from 1 to 3"),
        (
            (
                "--state",
                "s.db",
            ),
            "a way over time needs --period",
        ),
        (("--state", "way.json", "--period", 1), "must be a file of optldp-periods/1"),
    ],
)
def test_what_perturb_lacks_is_one_line(optldp, way, words, said):
    done = optldp("perturb", way, "week1.csv", "--column", "x", "--key", "user", *words, "--out", "r.csv")
    assert done.exit_code == 2
    assert said in done.stderr
    assert not Path("r.csv").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--periods", 1), "periods must be a whole number from 2"),
        (("--changes", 3), "changes must be a whole number from 0 to 2"),
        (("--protects", "span:4"), "a span must be from 1 to 3 periods, got 4"),
        (("--answers", "delay"), "answers must be one of on-time, at-end, delay:N"),
        (("--of", "median"), "of must be one of each, average, change"),
        (("--way", "fast"), "--way must be one of"),
    ],
)
def test_what_design_cannot_make_is_one_line(optldp, words, said):
    asked = ("--prior", "prior.csv", "--epsilon", 2, *(() if "--periods" in words else ("--periods", 3)), *words)
    done = optldp("design", *asked, "--out", "w.json")
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1)
    assert said in done.stderr


def test_plan_has_the_keys_that_scripts_read(optldp):
    asked = ("--prior", "prior.csv", "--epsilon", 2, "--n", 100_000, "--periods", 6, "--changes", 2)
    done = optldp("plan", *asked, "--answers", "at-end", "--of", "each", "--json")
    told = json.loads(done.stdout)
    keys = {
        "way", "error_per_period", "error_of_average", "error_of_change", "floor", "life_epsilon", "promise",
        "device_keeps",
    }  # fmt: skip
    assert keys | {"alternatives"} <= told.keys()
    assert {way["way"] for way in told["alternatives"]} == {"rows", "directions", "fresh", "memoised"}
    for way in (told, *told["alternatives"]):
        assert keys <= way.keys()
        assert (way["life_epsilon"] is None) == (way["way"] == "memoised")


def test_plan_says_in_one_sentence_what_is_best(optldp):
    asked = ("--prior", "prior.csv", "--epsilon", 2, "--n", 100_000, "--periods", 6)
    first = optldp("plan", *asked).stdout.splitlines()[0]
    assert first.startswith("By way panel, one report a user in 6 periods, each period's mean is told when each")
    assert "whatever a user's whole history" in first


def test_a_way_that_is_fresh_in_each_period_says_what_a_life_spends(optldp):
    asked = ("--prior", "prior.csv", "--epsilon", 0.5, "--periods", 3, "--protects", "event", "--out", "w.json")
    told = json.loads(optldp("design", *asked, "--json").stdout)
    assert (told["way"], told["epsilon"], told["epsilon_of_a_report"], told["reports"]) == ("fresh", 1.5, 0.5, 3)


def test_categories_are_collected_over_time_too(optldp):
    Path("jobs.csv").write_text("user,job\n" + "".join(f"u{i},{'ab'[i % 2]}\n" for i in range(60)))
    asked = ("jobs.csv", "--column", "job", "--categorical", "--epsilon", 1, "--periods", 3, "--out", "way.json")
    assert optldp("design", *asked).exit_code == 0
    perturb = ("--column", "job", "--key", "user", "--period", 1, "--state", "state.db", "--out", "r.csv")
    assert optldp("perturb", "way.json", "jobs.csv", *perturb).exit_code == 0
    told = json.loads(optldp("estimate", "way.json", "r.csv", "--json").stdout)
    assert told["categories"] == ["a", "b"]
    assert sum(told["periods"][0]["value"]) == pytest.approx(1.0)


def test_options_over_time_without_periods_are_refused(optldp):
    done = optldp("design", "--prior", "prior.csv", "--epsilon", 2, "--changes", 1, "--out", "w.json")
    assert "--changes is for a collection over time, with --periods" in done.stderr


def test_reports_of_another_way_or_of_users_out_of_turn_are_refused(optldp, way):
    perturb(optldp, 1, "--seed", 1)
    save_bundle(panel_of(TABLE, 3, 1, 2.0), "other.json")
    assert "got some of table" in optldp("estimate", "other.json", "r1.csv").stderr
    head, *rows = Path("r1.csv").read_text().splitlines()
    Path("forged.csv").write_text("\n".join([head, *(row.replace(",1,", ",2,") for row in rows)]) + "\n")
    assert "users must report in their turns" in optldp("estimate", way, "forged.csv", "--key", "user").stderr
