"""`perturb --day`, `count --by table,day`, `count-sql --by`, `monitor` and estimates of counts by day."""

import json
from pathlib import Path

import duckdb
import numpy as np
import pytest
from optldp.mechanisms import save_bundle
from optldp.mechanisms.categorical.table import categorical_grr

from ..conftest import INCOME

DAY = "2026-05-0"


@pytest.fixture
def days(optldp, table):
    """Counts of two days, of 300 people each."""
    for number in (1, 2):
        words = ("--as", "index", "--day", f"{DAY}{number}", "--seed", number, "--out", f"{number}.csv")
        optldp("perturb", "mech.json", *INCOME, *words)
        optldp("count", "mech.json", f"{number}.csv", "--by", "table,day", "--today", f"{DAY}3", "--out", "counts")
    return "counts"


def facts(done):
    return json.loads(done.stdout)


def test_counts_by_day_tell_what_the_reports_of_all_days_tell(optldp, days):
    again = facts(
        optldp("count", "mech.json", "1.csv", "--by", "table,day", "--today", f"{DAY}3", "--out", days, "--json")
    )
    assert (again["new"], again["repeated"]) == (0, 300)
    query = optldp("count-sql", "mech.json", "--from", "r", "--column", "simulated_output", "--by", "table,day",
                   "--today", f"{DAY}3").stdout  # fmt: skip
    with duckdb.connect() as connection:
        connection.sql("CREATE TABLE r AS SELECT * REPLACE (CAST(day AS VARCHAR) AS day) FROM '[12].csv'")
        connection.sql(query).write_csv("engine.csv")
        connection.sql("COPY (SELECT simulated_output, \"table\" FROM r) TO 'all.csv'")
    expected = facts(optldp("estimate", "mech.json", "all.csv", "--json"))
    for source in (days, "engine.csv"):
        found = facts(optldp("estimate", "mech.json", "--counts", source, "--json"))
        assert (found["n"], found["value"]) == (600, pytest.approx(expected["value"]))
    assert facts(optldp("estimate", "mech.json", "--counts", days, "--json"))["simulated"]


def test_two_versions_of_a_table_are_estimated_together(optldp, days):
    made = optldp("design", *INCOME, "--range", 0, 100, "--knots", 5, "--epsilon", 2, "--out", "v2.json")
    assert made.exit_code == 0, made.output
    optldp("perturb", "v2.json", *INCOME, "--as", "index", "--day", f"{DAY}4", "--seed", 4, "--out", "4.csv")
    optldp("count", "v2.json", "4.csv", "--by", "table,day", "--today", f"{DAY}4", "--out", "counts2")
    both = ("estimate", "mech.json", "v2.json", "--counts", days, "--counts", "counts2", "--alike")
    found = facts(optldp(*both, "--json"))
    alone = [
        facts(optldp("estimate", name, "--counts", folder, "--json"))
        for name, folder in (("mech.json", days), ("v2.json", "counts2"))
    ]
    assert found["n"] == 900
    assert found["std_error"] < min(each["std_error"] for each in alone)


@pytest.mark.nightly
def test_two_versions_of_categories_are_estimated_together_from_reports_and_from_days(optldp):
    for version, (epsilon, many) in enumerate(((1.0, 300), (2.0, 500))):
        save_bundle(categorical_grr(["cook", "nurse", "smith"], epsilon), f"m{version}.json")
        with open("people.csv", "w") as file:
            file.write("job\n" + "cook\nnurse\nnurse\nsmith\n" * (many // 4))
        out = ("--day", f"{DAY}1", "--seed", version, "--out", f"r{version}.csv", "--force")
        optldp("perturb", f"m{version}.json", "people.csv", "--column", "job", *out)
        optldp("count", f"m{version}.json", f"r{version}.csv", "--by", "table,day", "--today", f"{DAY}1",
               "--out", f"c{version}")  # fmt: skip
    tables = ("m0.json", "m1.json")
    files = ("estimate", "m0.json", "r0.csv", "m1.json", "r1.csv")
    found = facts(optldp("estimate", *tables, "--counts", "c1", "--counts", "c0", "--json"))
    assert found == facts(optldp(*files, "--json"))
    assert [each["n"] for each in found["versions"]] == [300, 500]
    alike = facts(optldp(*files, "--alike", "--json"))
    assert sum(alike["std_error"]) < sum(found["std_error"])
    for words, says in ((("--rounds",), "--rounds is for numbers"), (("--method", "mr"), "one of unbiased")):
        done = optldp(*files, *words)
        assert done.exit_code == 2
        assert says in done.stderr


def test_versions_of_categories_with_users_in_common_have_longer_intervals_and_count_them_once(optldp):
    reports = {"a": ("ann", "bo"), "b": ("cy", "dan"), "c": ("dan", "ann")}
    for number, (name, users) in enumerate(reports.items()):
        save_bundle(categorical_grr(["cook", "nurse"], 1.0 + number), f"{name}.json")
        Path(f"{name}.csv").write_text("id,report\n" + "".join(f"{user},{i}\n" for i, user in enumerate(users)))
    versions = {name: (f"{name}.json", f"{name}.csv") for name in reports}
    for names, users in (("ab", 4), ("ac", 3), ("abc", 4)):
        files = [word for name in names for word in versions[name]]
        found = facts(optldp("estimate", *files, "--key", "id", "--json"))
        apart = facts(optldp("estimate", *files, "--json"))
        assert (found["n"], apart["n"]) == (users, 2 * len(names))
        assert found["value"] == apart["value"]
        assert (found["std_error"][0] > apart["std_error"][0]) == (users < 2 * len(names))


def test_monitor_finds_nothing_wrong_and_then_what_is(optldp, days):
    found = facts(optldp("monitor", "mech.json", days, "--json", "--plot", "days.png"))
    assert found["wrong"] == []
    assert found["fit_p_value"] > 1e-4
    assert found["drift"]["p_value"] > 1e-4
    assert found["invalid_share"] == 0
    assert [day["n"] for day in found["days"]] == [300, 300]
    rows = duckdb.connect().sql("SELECT * FROM 'counts/2026-05-02.csv'").fetchnumpy()
    table = rows["table"][0]
    with open("odd.csv", "w") as file:
        file.write("table,day,simulated_output,n,state\n")
        file.write(f"{table},2026-05-04,0,1000,counted\n{table},2026-05-04,,50,invalid\n")
    done = optldp("monitor", "mech.json", days, "odd.csv", "--json")
    assert done.exit_code == 1
    found = facts(done)
    assert found["drift"]["p_value"] < 1e-10
    assert found["drift"]["day"] == "2026-05-04"
    assert [day["day"] for day in found["days"] if day["missing"]] == ["2026-05-03"]
    assert found["invalid_share"] == pytest.approx(50 / 1650)
    assert "days differ" in done.stderr


def test_reports_get_a_day_and_ids_unlike_each_other(optldp, days):
    rows = duckdb.connect().sql("SELECT * FROM '1.csv'").fetchnumpy()
    assert set(rows) == {"simulated_output", "day", "report_id", "table"}
    assert np.unique(rows["report_id"]).size == 300
    assert {len(name) for name in rows["report_id"].tolist()} == {32}


@pytest.mark.parametrize("kept", ["secret", "ledger"])
def test_reports_that_a_run_gives_again_have_the_same_ids_and_count_once(optldp, table, kept):
    Path("key").write_bytes(bytes(range(32)))
    Path("key").chmod(0o600)
    Path("few.csv").write_text("user,income\n" + "".join(f"u{i},{i}\n" for i in range(12)))
    told = []
    for run in (1, 2):
        source = ("--secret", "key") if kept == "secret" else ("--ledger", "people.ledger", "--ledger-key", "key")
        new = ("--budget", 2) if kept == "ledger" and run == 1 else ()
        words = ("--column", "income", "--key", "user", "--period", "May", "--day", f"{DAY}1", "--out", f"{run}.csv")
        made = optldp("perturb", "mech.json", "few.csv", *words, "--as", "index", *source, *new)
        assert made.exit_code == 0, made.output
        done = optldp("count", "mech.json", f"{run}.csv", "--by", "table,day", "--today", f"{DAY}1", "--out", "counts",
                      "--json")  # fmt: skip
        told.append(facts(done))
    assert [(each["new"], each["repeated"]) for each in told] == [(12, 0), (0, 12)]
    assert Path("1.csv").read_text() == Path("2.csv").read_text()
    assert len({line.split(",")[4] for line in Path("1.csv").read_text().splitlines()}) == 13


WRONG = {
    "a day that is none": (("perturb", "mech.json", *INCOME, "--day", "May", "--out", "x.csv"), "2026-05-01"),
    "parted by what is none": (("count-sql", "mech.json", "--from", "r", "--by", "user"), "--by must be"),
    "late without days": (("count-sql", "mech.json", "--from", "r", "--late", "2"), "--by table,day"),
    "no comparison": (("count-sql", "mech.json", "--from", "r", "--where", "1; DROP TABLE r"), "COLUMN OP VALUE"),
    "a batch that holds nothing back": (
        ("count-sql", "mech.json", "--from", "r", "--by", "table,day", "--min-batch", "0"),
        "at least 1",
    ),
    "no folder": (("count", "mech.json", "1.csv", "--by", "table,day", "--out", "1.csv"), "a folder"),
}


@pytest.mark.parametrize(("words", "says"), WRONG.values(), ids=list(WRONG))
def test_bad_input_is_said_in_one_line(optldp, days, words, says):
    done = optldp(*words)
    assert done.exit_code == 2
    (line,) = done.stderr.strip().splitlines()[-1:]
    assert says in line


def test_reports_that_are_no_outputs_are_refused_with_the_cure(optldp, table):
    made = optldp("perturb", "mech.json", *INCOME, "--day", f"{DAY}1", "--seed", 1, "--out", "numbers.csv")
    assert made.exit_code == 0, made.output
    done = optldp("count", "mech.json", "numbers.csv", "--by", "table,day", "--today", f"{DAY}1", "--out", "counts")
    assert (done.exit_code, Path("counts").exists()) == (2, False)
    assert "perturb --as index writes them" in done.stderr
