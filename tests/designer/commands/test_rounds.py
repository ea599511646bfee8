"""Files of different times: known by their round, refused as services, estimated as rounds."""

import json
import shutil
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from optldp.designer.command_line import app
from optldp.estimators import count, load_counts, save_counts
from optldp.estimators.reading.columns import read_column
from optldp.mechanisms import InputError, load_table, make_exact, save_table, square_wave
from typer.testing import CliRunner

from ..conftest import PEOPLE, fill, found

BOOKED = ("--key", "name", "--ledger", "ledger", "--ledger-key", "key")
WEEKS = ("v1.json", "may.csv", "v1.json", "june.csv", "--key", "name")


@pytest.fixture(autouse=True)
def key(here: Path) -> None:
    (here / "key").touch(mode=0o600)
    (here / "key").write_bytes(bytes(range(32)))


@pytest.fixture(scope="module")
def booked(tmp_path_factory) -> Path:
    """A folder of v1.json, may.csv and june.csv: reports through a ledger, a third of 300 people have another value."""
    folder = tmp_path_factory.mktemp("booked")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        fill()
        Path("key").touch(mode=0o600)
        Path("key").write_bytes(bytes(range(32)))
        save_table(make_exact(square_wave(np.linspace(0, 100, 9), 2.0)).mechanism, "v1.json")
        moved = np.where(np.arange(300) % 3, PEOPLE, PEOPLE[::-1])
        rows = "".join(f"p{i},{x!r}\n" for i, x in enumerate(moved.tolist()))
        Path("june-people.csv").write_text("name,income\n" + rows)
        for data, month, budget in (("people", "May", ("--budget", "8")), ("june-people", "June", ())):
            words = ("perturb", "v1.json", f"{data}.csv", "--column", "income", *BOOKED, *budget, "--period", month)
            done = CliRunner().invoke(app, [*words, "--out", f"{month.lower()}.csv"], catch_exceptions=False)
            assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def weeks(here: Path, booked: Path) -> None:
    """The files of `booked`, and its ledger."""
    for name in ("v1.json", "may.csv", "june.csv", "ledger"):
        shutil.copy(booked / name, here / name)


def without_rounds(*names: str) -> None:
    """Write the same reports without the columns of their round and table, as another program would have."""
    for name in names:
        lines = Path(f"{name}.csv").read_text().splitlines()
        Path(f"{name}.csv").write_text("\n".join(line.rsplit(",", 2)[0] for line in lines) + "\n")


@pytest.mark.nightly
def test_reports_through_a_ledger_say_their_round(optldp, refusal, weeks):
    assert Path("may.csv").read_text().splitlines()[0] == "name,report,round,table"
    assert {line.split(",")[2] for line in Path("june.csv").read_text().splitlines()[1:]} == {"June"}
    optldp("perturb", "v1.json", "people.csv", "--column", "income", *BOOKED, "--as", "index", "--out", "day.parquet")
    assert read_column("day.parquet", "output").size == 300
    import pyarrow.parquet as pq

    (said,) = set(pq.read_table("day.parquet")["round"].to_pylist())
    assert date.fromisoformat(said)
    Path("named.csv").write_text("round,income\np1,5\n")
    words = ("perturb", "v1.json", "named.csv", "--column", "income", "--key", "round", *BOOKED[2:])
    assert "the round is written into the column 'round', got one of that name" in refusal(*words, "--out", "b.csv")


@pytest.mark.slow
def test_a_secret_writes_the_round_that_is_named(optldp, weeks):
    words = ("perturb", "v1.json", "people.csv", "--column", "income", "--key", "name", "--secret", "key")
    optldp(*words, "--out", "a.csv")
    optldp(*words, "--period", "May", "--out", "b.csv")
    assert Path("a.csv").read_text().startswith("name,report,table\n")
    assert Path("b.csv").read_text().startswith("name,report,round,table\np0,")


@pytest.mark.slow
@pytest.mark.parametrize("command", [("estimate",), ("estimate", "--of", "distribution"), ("count", "--out", "c.csv")])
def test_files_of_different_rounds_are_no_services(refusal, weeks, command):
    says = refusal(command[0], *WEEKS, *command[1:])
    assert "got round 'May' of service 'v1#1' ('may.csv') and 'June' of service 'v1#2' ('june.csv')" in says
    assert "rounds=True (--rounds)" in says


@pytest.mark.nightly
@pytest.mark.parametrize("of", ["distribution", "quantiles"])
def test_files_that_say_nothing_are_found_out_by_their_reports(refusal, weeks, of):
    without_rounds("may", "june")
    says = refusal("estimate", *WEEKS, "--of", of)
    assert "got reports to 'v1#1' and 'v1#2' that one value does not explain" in says
    assert "--rounds" in says


@pytest.mark.nightly
def test_a_mean_holds_and_is_warned_of(optldp, weeks):
    """A user's reports are one number, whatever they depend on; but whose value it is the mean of is not said."""
    without_rounds("may", "june")
    done = optldp("estimate", *WEEKS, "--json")
    fault = "reports to 'v1#1' and 'v1#2' that one value does not explain (p below 0.0001)"
    assert (
        f"warning: services that are joined have not measured one value of each user: {fault}; "
        "read each with its own table, and files of different times by --rounds\n"
    ) in done.stderr
    assert json.loads(done.stdout)["not_one_value"] == fault
    assert "warning" not in optldp("estimate", *WEEKS, "--rounds").stderr


@pytest.mark.slow
def test_rounds_have_one_mean_with_an_interval_by_user_and_each_file_beside_it(optldp, weeks):
    told = found(optldp, "estimate", *WEEKS, "--rounds")
    assert (told["n"], told["reports"]) == (300, 600)
    assert [one["round"] for one in told["rounds"]] == ["may", "june"]
    own = [found(optldp, "estimate", "v1.json", f"{name}.csv") for name in ("may", "june")]
    assert told["value"] == pytest.approx(np.mean([one["value"] for one in own]))
    for one, alone in zip(told["rounds"], own, strict=True):
        assert (one["value"], one["low"]) == pytest.approx((alone["value"], alone["low"]))
    independent = np.sqrt(np.sum([one["std_error"] ** 2 for one in own])) / 2
    assert 1.15 * independent < told["std_error"] < np.sqrt(2) * independent
    said = optldp("estimate", *WEEKS, "--rounds").stdout
    assert "600 reports of 300 users: intervals count users\neach round by itself:\n  may, 300 users: mean " in said


@pytest.mark.nightly
def test_rounds_have_one_distribution_and_quantiles(optldp, weeks):
    told = found(optldp, "estimate", *WEEKS, "--rounds", "--of", "distribution", "--method", "em", "--between", 0, 50)
    assert (told["n"], told["reports"]) == (300, 600)
    assert [set(one) for one in told["rounds"]] == [{"round", "n", "mean", "between"}] * 2
    told = found(optldp, "estimate", *WEEKS, "--rounds", "--of", "quantiles", "--method", "em", "--quantile", 0.5)
    assert [one["quantiles"][0]["quantile"] for one in told["rounds"]] == [0.5, 0.5]
    assert told["rounds"][0]["quantiles"][0]["interval"] == "affine-pair"
    assert (told["quantiles"][0]["interval"], told["quantiles"][0]["shortest_possible"]) == ("affine-pair", None)
    said = optldp("estimate", *WEEKS, "--rounds", "--of", "quantiles", "--method", "em", "--quantile", 0.5).stdout
    assert "intervals assume nothing of the distribution" in said
    found_mean = found(optldp, "estimate", *WEEKS, "--rounds", "--method", "em")
    assert [one["method"] for one in found_mean["rounds"]] == ["em", "em"]


@pytest.mark.nightly
def test_counts_of_rounds_stay_rounds(optldp, refusal, weeks):
    optldp("count", *WEEKS, "--rounds", "--out", "counts.csv")
    words = ("estimate", "v1.json", "v1.json", "--counts", "counts.csv")
    assert "counts of rounds are estimated by --rounds, got 'counts.csv' without it" in refusal(*words)
    told, direct = found(optldp, *words, "--rounds"), found(optldp, "estimate", *WEEKS, "--rounds")
    assert (told["value"], told["std_error"]) == (direct["value"], direct["std_error"])


@pytest.mark.slow
def test_counts_in_python_add_up_and_are_kept_as_rounds(weeks):
    table = load_table("v1.json")
    sources = [(name, table, f"{name}.csv") for name in ("may", "june")]
    with pytest.raises(InputError, match="rounds=True"):
        count(sources, key="name")
    counts = count(sources, key="name", rounds=True)
    save_counts(counts, "weeks.npz")
    again = load_counts("weeks.npz", [table, table])
    assert again.rounds
    assert (again + counts).rounds
    assert again.only([1]).rounds
    without_rounds("may", "june")
    joined = count(sources, key="name")
    with pytest.raises(InputError, match="both are of rounds or neither is"):
        _ = counts + joined
    with pytest.raises(InputError, match="rounds are several files, got one"):
        count(table, "may.csv", rounds=True)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("v1.json", "may.csv"), "--rounds is for several files of different times"),
        ((*WEEKS, "--method", "decoder"), "rounds have the mean of all decoded reports"),
        ((*WEEKS, "--alike"), "rounds have the mean of all decoded reports"),
        (
            (*WEEKS, "--method", "bias-aware", "--prior", "flat.csv"),
            "a bias-aware mean is of one time, got rounds of 2",
        ),
        (("v1.json", "may.csv", "--by", "name"), "--rounds does not go with --by"),
    ],
    ids=["one-file", "method", "alike", "bias-aware", "by"],
)
def test_what_rounds_do_not_go_with_is_refused(refusal, weeks, words, says):
    Path("flat.csv").write_text("value,weight\n0,1\n100,1\n")
    assert says in refusal("estimate", *words, "--rounds")


@pytest.mark.nightly
def test_rounds_of_attributes_have_a_mean_each_and_one_distribution(optldp, refusal, weeks):
    rows = "".join(f"u{i},{i % 40},{i % 70}\n" for i in range(600))
    Path("both.csv").write_text("user,age,hours\n" + rows)
    optldp("design", "both.csv", "--attribute", "age=0:40", "--attribute", "hours=0:80", "--epsilon", 2, "--knots", 5,
           "--public", "--out", "both.json")  # fmt: skip
    words = ("perturb", "both.json", "both.csv", "--key", "user", *BOOKED[2:])
    for day in ("mon", "tue"):
        done = optldp(*words, "--period", day, "--out", f"{day}.csv")
        assert done.exit_code == 0, done.output
    joined = ("estimate", "both.json", "mon.csv", "both.json", "tue.csv", "--key", "user")
    assert "got round 'mon' of service" in refusal(*joined)
    told = found(optldp, *joined, "--rounds")
    alone = found(optldp, "estimate", "both.json", "mon.csv")
    assert told["std_error"] == pytest.approx(alone["std_error"], rel=0.01)  # the same reports again
    assert [(one["round"], one["attribute"]) for one in told["rounds"]] == [
        ("mon", "age"), ("tue", "age"), ("mon", "hours"), ("tue", "hours"),
    ]  # fmt: skip
    one = found(optldp, *joined, "--rounds", "--attribute", "age", "--of", "distribution", "--method", "em")
    assert one["reports"] == 2 * one["n"]
    without_rounds("mon", "tue")
    assert "one value does not explain" in optldp(*joined).stderr


class TestRepeatedUsers:
    """Weekly files one under the other count a user twice: said where a column names users and repeats."""

    @pytest.fixture
    def both(self, optldp, weeks) -> None:
        may, june = (Path(f"{name}.csv").read_text().replace("name,", "user,") for name in ("may", "june"))
        Path("both.csv").write_text(may + june.partition("\n")[2])
        Path("may.csv").write_text(may)

    @pytest.mark.parametrize(
        "words", [("estimate",), ("estimate", "--of", "distribution", "--method", "em"), ("count",)]
    )
    def test_it_is_said_in_a_note_and_in_json(self, optldp, both, words):
        out = ("--out", "counts.csv") if words == ("count",) else ()
        done = optldp(words[0], "v1.json", "both.csv", *words[1:], *out, "--json")
        assert (
            "note: 600 rows of 'both.csv' are of 300 users by its column 'user', and each counts as a user of its own: "
            "intervals are too short; files of different times, each by itself, are for --key user --rounds\n"
        ) in done.stderr
        told = json.loads(done.stdout)["repeated_users"]
        assert told == [{"file": "both.csv", "column": "user", "rows": 600, "users": 300}]

    def test_nothing_is_said_of_users_with_one_row(self, optldp, both):
        done = optldp("estimate", "v1.json", "may.csv", "--json")
        assert "users by its column" not in done.stderr
        assert "repeated_users" not in json.loads(done.stdout)
