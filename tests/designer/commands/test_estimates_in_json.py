"""Whatever kind of mechanism reports are of: every estimate in JSON has the same words."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from optldp.estimators.methods import FREQUENCY_METHODS

from ...small_channels import JOBS, SMALL, columns, save

WORDS = {"value", "std_error", "low", "high", "confidence", "n", "method", "target"}
KINDS = {
    kind: SMALL[kind]
    for kind in (
        "numbers", "floor", "categories", "levels of numbers", "protected levels of categories", "pairs", "attributes",
        "levels of attributes", "protected levels of pairs",
    )
}  # fmt: skip
NUMBERS = [
    (),
    ("--winsorise", 0.1),
    ("--method", "decoder"),
    ("--method", "bias-aware", "--prior", "even.csv"),
    ("--method", "em"),
    ("--method", "em", "--between", 10, 20),
    ("--method", "em", "--of", "distribution"),
    ("--method", "em", "--of", "quantiles"),
]
ESTIMATES = [
    *(("numbers", options) for options in NUMBERS),
    *(("floor", options) for options in ((), ("--method", "em"))),
    *(("categories", ("--method", method)) for method in FREQUENCY_METHODS),
    ("levels of numbers", ()),
    *(("protected levels of categories", ("--method", method)) for method in ("unbiased", "mle")),
    *(("pairs", ("--method", method)) for method in ("unbiased", "em", "mr", "mle")),
    ("attributes", ()),
    ("levels of attributes", ()),
    ("levels of attributes", ("--attribute", "pay")),
    *(("protected levels of pairs", ("--method", method)) for method in ("unbiased", "em", "mr", "mle")),
]


def estimates(told: object) -> Iterator[dict]:
    """All objects in what was told that say something about a number that was estimated."""
    if isinstance(told, dict):
        if told.keys() & {"value", "std_error", "low", "high"}:
            yield told
        for within in told.values():
            yield from estimates(within)
    elif isinstance(told, list):
        for within in told:
            yield from estimates(within)


def require_words(told: dict, at_least: int = 1, target: str = "population") -> None:
    found = list(estimates(told))
    assert len(found) >= at_least
    for one in found:
        assert one.keys() >= WORDS
        values, errors = np.atleast_1d(one["value"]), np.atleast_1d(np.array(one["std_error"], dtype=float))
        assert values.shape == errors.shape == np.shape(np.atleast_1d(one["low"]))
        assert one["target"] == target


@pytest.fixture
def people(here) -> str:
    """some.csv: job, budget, pay and more of 200 people; even.csv: a prior of their pay."""
    Path("even.csv").write_text("value,weight\n" + "".join(f"{value},1\n" for value in range(61)))
    rows = "".join(f"{JOBS[i % 2]},{1.0 + i % 2},{i % 61},{i % 50}\n" for i in range(200))
    Path("some.csv").write_text("job,budget,pay,more\n" + rows)
    return "some.csv"


@pytest.mark.parametrize(("kind", "options"), ESTIMATES, ids=str)
def test_estimates_of_reports(optldp, people, kind, options):
    save(KINDS[kind], Path("made.json"))
    done = optldp("perturb", "made.json", people, *columns(kind), "--seed", 1, "--out", "reports.csv")
    assert done.exit_code == 0, done.output
    done = optldp("estimate", "made.json", "reports.csv", *options, "--confidence", 0.9, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    require_words(told, at_least=2 if "distribution" in options or "--between" in options else 1)
    assert {one["confidence"] for one in estimates(told)} == {0.9}


OF_USERS = {
    "numbers": "",
    "floor": "",
    "categories": "",
    "levels of numbers": "",
    "protected levels of categories": "",
    "pairs": "",
    "attributes": "",
    "levels of attributes": "",
    "protected levels of pairs": "--target is of the population alone for levels of pairs: leave it out",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", OF_USERS)
def test_every_kind_is_about_these_very_users_where_that_is_asked_or_says_that_it_is_not(optldp, people, kind):
    """Intervals are no longer than the population's, by default it is that, and both are said."""
    save(KINDS[kind], Path("made.json"))
    optldp("perturb", "made.json", people, *columns(kind), "--seed", 1, "--out", "reports.csv")
    asked = ("estimate", "made.json", "reports.csv", "--target", "users")
    if says := OF_USERS[kind]:
        done = optldp(*asked)
        assert (done.exit_code, done.stderr.splitlines()[-1]) == (2, f"optldp: error: {says}")
        return
    mine, theirs = (json.loads(optldp(*words, "--json").stdout) for words in (asked, asked[:-2]))
    shares = [told.pop("level_shares", None) for told in (mine, theirs)]  # of the levels, about the population
    assert shares[0] == shares[1]
    require_words(mine, target="users")
    require_words(theirs)
    assert mine["value"] == theirs["value"]
    assert (np.array(mine["std_error"]) <= np.array(theirs["std_error"])).all()
    assert optldp(*asked).stdout.count("users") == 1


@pytest.mark.nightly
@pytest.mark.parametrize(("kind", "group"), [("numbers", "job"), ("categories", "region")])
def test_contrasts_are_about_these_very_users_where_that_is_asked(optldp, people, kind, group):
    save(KINDS[kind], Path("made.json"))
    optldp("perturb", "made.json", people, *columns(kind), "--seed", 1, "--out", "reports.csv")
    rows = Path("reports.csv").read_text().splitlines()
    Path("reports.csv").write_text(
        "\n".join([f"{rows[0]},{group},w", *(f"{row},{'ew'[i % 2]},{1 + i % 3}" for i, row in enumerate(rows[1:]))])
    )
    report = ("estimate", "made.json", "reports.csv")
    for more in (("--by", group), ("--weights", "w"), ("--versus", "made.json", "reports.csv")):
        told = json.loads(optldp(*report, *more, "--target", "users", "--json").stdout)
        require_words(told, target="users")
        about = json.loads(optldp(*report, *more, "--json").stdout)
        for one, other in zip(estimates(told), estimates(about), strict=True):
            assert np.all(np.array(one["std_error"]) <= np.array(other["std_error"]))


@pytest.mark.parametrize(("kind", "column"), [("panel of numbers", "pay"), ("panel of jobs", "job")])
def test_estimates_of_periods(optldp, people, kind, column):
    save(SMALL[kind], Path("way.json"))
    rows = Path(people).read_text().splitlines()
    Path(people).write_text("\n".join([f"user,{rows[0]}", *(f"u{i},{row}" for i, row in enumerate(rows[1:]))]))
    for period in (1, 2):
        asked = ("--column", column, "--key", "user", "--period", period, "--seed", 1, "--out", f"r{period}.csv")
        done = optldp("perturb", "way.json", people, *asked, *(["--clip"] if column == "pay" else []))
        assert done.exit_code == 0, done.output
    told = json.loads(optldp("estimate", "way.json", "r1.csv", "r2.csv", "--target", "users", "--json").stdout)
    require_words(told, at_least=2, target="users")
    assert [one["period"] for one in told["periods"]] == [1, 2]


def test_there_is_a_case_of_every_kind():
    """A new kind in the registry needs one."""
    from optldp.designer.commands.handlers.registry import kinds
    from optldp.mechanisms.features import Features

    made = {type(mechanism) for mechanism in KINDS.values()}
    for kind in kinds():
        if kind.over_time or kind.of is Features:  # test_estimates_of_periods, test_features.py
            continue
        assert any(issubclass(one, kind.of) for one in made)


@pytest.mark.nightly
def test_estimates_of_both_phases_and_of_one_alone(optldp, people):
    command = ("two-phase", people, "--column", "pay", "--range", 0, 60, "--epsilon", 2, "--knots", 5, "--seed", 1)
    require_words(json.loads(optldp(*command, "--share", 0.5, "--json").stdout), at_least=4)
    shown = optldp(*command, "--share", 0.5).stdout
    assert " +- " in next(line for line in shown.splitlines() if "one_phase_mean" in line)


@pytest.mark.slow
def test_shares_of_levels_are_said_with_their_budgets(optldp, people):
    save(KINDS["protected levels of categories"], Path("made.json"))
    optldp(
        "perturb", "made.json", people, *columns("protected levels of categories"), "--seed", 1, "--out", "reports.csv"
    )
    told = json.loads(optldp("estimate", "made.json", "reports.csv", "--json").stdout)["level_shares"]
    shown = " ".join(optldp("estimate", "made.json", "reports.csv").stdout.split())
    assert f"level_shares {told['value'][0]:.7g} at 1, {told['value'][1]:.7g} at 2" in shown
