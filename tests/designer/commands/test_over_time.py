"""A collection over time on the command line: `design`, `perturb` of each period, `estimate` of all."""

# pyright: reportAttributeAccessIssue=false

import json
from pathlib import Path

import numpy as np
import pytest
from optldp.estimators import count, estimate_mean
from optldp.mechanisms import grr, load_mechanism, make_exact, save_bundle
from optldp.mechanisms.ledger import Ledger
from optldp.mechanisms.over_time import Panel, panel_of
from optldp.mechanisms.over_time.panel import SALT_BYTES

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
    save_bundle(Panel(TABLE, 3, 1, 2.0, "0" * 2 * SALT_BYTES), "way.json")  # a salt of its own would draw other turns
    return "way.json"


def perturb(optldp, period, *more, out=None, data=None):
    asked = ("--column", "x", "--key", "user", "--period", period, "--out", out or f"r{period}.csv", *more)
    return optldp("perturb", "way.json", data or f"week{period}.csv", *asked)


@pytest.mark.slow
def test_design_makes_a_panel_whose_error_is_told(optldp):
    asked = (*ARGUMENTS, "--changes", 1, "--way", "panel", "--out", "made.json", "--json")
    told = json.loads(optldp("design", *asked).stdout)
    made = load_mechanism("made.json")
    assert (made.kind, made.periods, made.reports) == ("panel", 3, 1)
    variance = made.mechanism.expected_variance(made.mechanism.prior)
    spread = np.dot(made.mechanism.prior.weights, made.mechanism.knots**2)
    assert told["error_times_root_n"] ** 2 == pytest.approx(3 * variance + 2 * spread)


@pytest.mark.slow
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


@pytest.mark.nightly
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


def collected(optldp, *design):
    """Design made.json for three periods, ask for reports of all with a state, and return what was made."""
    told = json.loads(optldp("design", *ARGUMENTS, "--out", "made.json", "--json", *design).stdout)
    for period in (1, 2, 3):
        asked = ("--column", "x", "--key", "user", "--period", period, "--state", "made.db")
        done = optldp("perturb", "made.json", f"week{period}.csv", *asked, "--out", f"m{period}.csv")
        assert done.exit_code == 0, done.stderr
    return told


def estimated(optldp, *words):
    done = optldp("estimate", "made.json", "m1.csv", "m2.csv", "m3.csv", *words, "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)["periods"]


@pytest.mark.nightly
def test_rows_tell_all_periods_together(optldp, way):
    told = collected(optldp, "--changes", 1, "--answers", "at-end", "--way", "rows")
    assert (told["way"], told["reports"], told["life_epsilon"]) == ("rows", 1, 2.0)
    each, changes = estimated(optldp), estimated(optldp, "--of", "change", "--key", "user")
    assert [one["period"] for one in each] == [1, 2, 3]
    values = [one["value"] for one in each]
    assert [one["value"] for one in changes] == pytest.approx(np.diff(values))
    assert estimated(optldp, "--of", "average")[0]["value"] == pytest.approx(np.mean(values))
    assert estimated(optldp, "--smooth", 0.01)[0]["std_error"] < each[0]["std_error"]
    assert all(one["low"] < one["value"] < one["high"] for one in each)


@pytest.mark.slow
def test_a_tree_sends_signs_of_one_budget_and_the_same_again(optldp, way):
    told = collected(optldp, "--changes", 1, "--way", "tree")
    assert (told["way"], told["reports"], told["life_epsilon"]) == ("tree", 2, 2.0)
    assert [one["period"] for one in estimated(optldp, "--key", "user")] == [1, 2, 3]
    spent = json.loads(optldp("ledger", "made.db", "--json").stdout)
    assert {one["spent"] for one in spent["users"]} == {2.0}
    header, *rows = Path("m3.csv").read_text().splitlines()
    user, period, _, *more = rows[0].split(",")
    Path("m3.csv").write_text("\n".join([header, ",".join([user, period, "9", *more]), *rows[1:]]) + "\n")
    assert "reports must be of their users' branches" in optldp("estimate", "made.json", "m3.csv").stderr


@pytest.mark.nightly
def test_remembered_draws_are_sent_by_all_and_promise_no_life(optldp, way):
    told = collected(optldp, "--changes", 1, "--way", "memoised")
    assert (told["way"], told["life_epsilon"], told["epsilon"], told["reports"]) == ("memoised", None, 2.0, 3)
    each = estimated(optldp)
    assert [one["reports"] for one in each] == [USERS] * 3
    found = estimated(optldp, "--of", "average", "--key", "user")[0]
    assert found["value"] == pytest.approx(np.mean([one["value"] for one in each]))
    assert "of a whole life nothing is promised" in told["promise"]


@pytest.mark.slow
def test_directions_are_sent_when_the_last_period_ends(optldp, way):
    told = collected(optldp, "--changes", 1, "--answers", "at-end", "--way", "directions")
    assert (told["way"], told["reports"], told["life_epsilon"]) == ("directions", 1, 2.0)
    each = estimated(optldp)
    assert [(one["period"], one["reports"]) for one in each] == [(1, USERS), (2, USERS), (3, USERS)]
    values, average = [one["value"] for one in each], estimated(optldp, "--of", "average")[0]
    assert (average["value"], average["reports"]) == (pytest.approx(np.mean(values)), USERS)


@pytest.mark.nightly
def test_rows_of_another_way_or_another_user_are_refused(optldp, way):
    collected(optldp, "--changes", 1, "--answers", "at-end", "--way", "rows")
    header, *rows = Path("m3.csv").read_text().splitlines()
    user, period, row, *more = rows[0].split(",")
    other = "1" if row == "0" else "0"
    Path("m3.csv").write_text("\n".join([header, ",".join([user, period, other, *more]), *rows[1:]]) + "\n")
    done = optldp("estimate", "made.json", "m3.csv", "--key", "user")
    assert "reports must be of their users' rows in their last periods" in done.stderr
    done = optldp(
        "perturb",
        "made.json",
        "week1.csv",
        "--column",
        "x",
        "--key",
        "user",
        "--period",
        1,
        "--seed",
        1,
        "--out",
        "x.csv",
    )
    assert "which a simulation has no file for" in done.stderr


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
        (("--way", "directions"), "way directions answers when the last period ends, got --answers on-time"),
    ],
)
def test_what_design_cannot_make_is_one_line(optldp, words, said):
    asked = ("--prior", "prior.csv", "--epsilon", 2, *(() if "--periods" in words else ("--periods", 3)), *words)
    done = optldp("design", *asked, "--out", "w.json")
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1)
    assert said in done.stderr


@pytest.mark.slow
def test_plan_has_the_keys_that_scripts_read(optldp):
    asked = ("--prior", "prior.csv", "--epsilon", 2, "--n", 100_000, "--periods", 6, "--changes", 1)
    done = optldp("plan", *asked, "--answers", "at-end", "--of", "each", "--json")
    told = json.loads(done.stdout)
    keys = {
        "way", "error_per_period", "error_of_average", "error_of_change", "floor", "life_epsilon", "promise",
        "device_keeps",
    }  # fmt: skip
    assert keys | {"alternatives"} <= told.keys()
    assert {way["way"] for way in told["alternatives"]} == {"panel", "tree", "directions", "fresh", "memoised"}
    for way in (told, *told["alternatives"]):
        assert keys <= way.keys()
        assert (way["life_epsilon"] is None) == (way["way"] == "memoised")


@pytest.mark.nightly
def test_plan_says_in_one_sentence_what_is_best(optldp):
    asked = ("--prior", "prior.csv", "--epsilon", 2, "--n", 100_000, "--periods", 6)
    first = optldp("plan", *asked).stdout.splitlines()[0]
    assert first.startswith("By way panel, one report a user in 6 periods, each period's mean is told when each")
    assert "whatever a user's whole history" in first


@pytest.mark.slow
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


@pytest.mark.nightly
def test_a_span_is_a_panel_that_rotates_through_to_its_estimate(optldp):
    asked = ("--prior", "prior.csv", "--epsilon", 2, "--periods", 6, "--protects", "span:3", "--public")
    told = json.loads(optldp("design", *asked, "--out", "way.json", "--json").stdout)
    assert (told["way"], told["span"], told["epsilon"], told["life_epsilon"], told["reports"]) == ("panel", 3, 2, 4, 1)
    for period in range(1, 7):
        rows = "".join(f"u{user},0\n" for user in range(60))
        Path(f"week{period}.csv").write_text(f"user,x\n{rows}")
        perturb(optldp, period, "--seed", 1)
    first, fourth = (Path(f"r{period}.csv").read_text().splitlines()[1:] for period in (1, 4))
    assert [row.split(",")[0] for row in first] == [row.split(",")[0] for row in fourth]
    files = [f"r{period}.csv" for period in range(1, 7)]
    assert "name their column by --key" in optldp("estimate", "way.json", *files, "--of", "average").stderr
    told = json.loads(optldp("estimate", "way.json", *files, "--key", "user", "--of", "average", "--json").stdout)
    assert told["periods"][0]["reports"] == 120


@pytest.mark.nightly
def test_turns_that_devices_draw_are_in_no_file_and_are_kept_by_the_state(optldp, way):
    asked = ("design", *ARGUMENTS, "--turns", "devices", "--out", "way.json", "--force", "--json")
    assert json.loads(optldp(*asked).stdout)["turns"] == "devices"
    for period in (1, 2, 3):
        perturb(optldp, period, "--state", "state.db")
    rows = [row.split(",")[0] for period in (1, 2, 3) for row in Path(f"r{period}.csv").read_text().splitlines()[1:]]
    assert sorted(rows) == sorted(f"u{user}" for user in range(USERS))
    assert optldp("estimate", "way.json", "r1.csv", "r2.csv", "--key", "user").exit_code == 0
    assert perturb(optldp, 1, "--seed", 1, out="simulated.csv").exit_code == 0


def test_ledger_lists_states_and_forgets(optldp, way):
    sent = json.loads(perturb(optldp, 1, "--state", "state.db", "--json").stdout)["n"]
    told = json.loads(optldp("ledger", "state.db", "--json").stdout)
    assert (told["latest"], told["lost"], len(told["users"])) == (1, 0, sent)
    one = told["users"][0]
    assert one == {"user": one["user"], "periods": [1], "spent": 2.0}
    assert one["user"] in optldp("ledger", "state.db").stdout
    done = optldp("ledger", "state.db", "--user", one["user"], "--forget", "--json")
    assert json.loads(done.stdout)["users"] == [one]
    again = json.loads(perturb(optldp, 1, "--state", "state.db", "--json", out="again.csv").stdout)
    assert (again["n"], again["withheld"], again["new"]) == (sent - 1, 1, 0)


def test_a_state_that_was_put_back_is_told_and_sends_nothing_since(optldp, way):
    perturb(optldp, 1, "--state", "state.db")
    backup = Path("state.db").read_bytes()
    perturb(optldp, 2, "--state", "state.db")
    Path("state.db").write_bytes(backup)
    done = perturb(optldp, 2, "--state", "state.db", "--json", out="again.csv")
    assert json.loads(done.stdout)["n"] == 0
    assert "by another copy of this state" in done.stderr
    assert "until period 2 a lost copy may have sent reports" in optldp("ledger", "state.db").stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("none.db",), "there must be a state at"),
        (("way.json",), "must be a file of optldp-periods/1"),
        (("state.db", "--forget", "--ledger-key", "key"), "--forget is of no use to a sealed ledger"),
    ],
)
def test_what_ledger_cannot_read_is_one_line(optldp, way, words, said):
    done = optldp("ledger", *words)
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1)
    assert said in done.stderr


def test_a_sealed_ledger_states_what_a_user_has_spent(optldp):
    key = Path("ledger.key")
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    Ledger.create("people.ledger", key.read_bytes(), 3.0).report(TABLE, "ann", 0.5)
    told = json.loads(optldp("ledger", "people.ledger", "--ledger-key", key, "--user", "ann", "--json").stdout)
    assert told == {"budget": 3.0, "reports": 1, "user": "ann", "spent": 2.0}


@pytest.mark.nightly
def test_audit_tries_several_periods_of_a_way(optldp, way):
    told = json.loads(optldp("audit", way, "--samples", 2000, "--json").stdout)["over_time"]
    assert (told["ok"], told["changes_found"], told["linked"], told["periods"]) == (True, 0, 0, 3)


@pytest.mark.slow
def test_intervals_about_these_users_count_those_who_did_not_report(optldp, way):
    """Of a third that reports, two thirds of the spread between users come to the noise."""
    for period in (1, 2, 3):
        perturb(optldp, period, "--seed", 1)
    told = {}
    for target in ("users", "population"):
        done = optldp("estimate", way, "r1.csv", "r2.csv", "r3.csv", "--target", target, "--json")
        told[target] = json.loads(done.stdout)["periods"][0]["std_error"] ** 2
    numbers = [float(row.split(",")[2]) for row in Path("r1.csv").read_text().splitlines()[1:]]
    alone = estimate_mean(count(TABLE, numbers), target="users").std_error ** 2
    assert told["users"] == pytest.approx(alone + 2 / 3 * (told["population"] - alone))


@pytest.mark.nightly
def test_weeks_of_two_ways_are_estimated_together(optldp, way):
    """The second year has another table; a period that is in both is told better than by either."""
    perturb(optldp, 1, "--seed", 1)
    perturb(optldp, 2, "--seed", 1)
    save_bundle(panel_of(make_exact(grr([-1.0, 0.0, 1.0], 2.0)).mechanism, 3, 1, 2.0), "later.json")
    for period in (2, 3):
        Path(f"others{period}.csv").write_text(
            Path(f"week{period}.csv").read_text().replace("u", "v").replace("vser", "user")
        )
        asked = ("--column", "x", "--key", "user", "--period", period, "--seed", 2, "--out", f"s{period}.csv")
        optldp("perturb", "later.json", f"others{period}.csv", *asked)
    files = (way, "r1.csv", "r2.csv", "later.json", "s2.csv", "s3.csv", "--key", "user", "--json")
    told = json.loads(optldp("estimate", *files).stdout)["periods"]
    alone = json.loads(optldp("estimate", way, "r1.csv", "r2.csv", "--json").stdout)["periods"]
    assert [one["period"] for one in told] == [1, 2, 3]
    assert told[0]["value"] == pytest.approx(alone[0]["value"])
    assert told[1]["std_error"] < alone[1]["std_error"]
    smoothed = json.loads(optldp("estimate", *files, "--smooth", 0.01).stdout)["periods"]
    assert smoothed[1]["std_error"] < told[1]["std_error"]
    assert "users of several ways must be different people" in optldp("estimate", *files[:6], "--of", "average").stderr
