"""`optldp perturb --as index`, `count`, `count-sql` and `estimate --counts`: reports where they lie."""

import json
from pathlib import Path

import duckdb
import numpy as np
import pytest
from optldp.estimators.reading.columns.number_cells import write_columns
from optldp.mechanisms import load_table

from ..conftest import INCOME, PEOPLE

INDEX = ("perturb", "mech.json", *INCOME, "--as", "index")


def sql(query: str) -> duckdb.DuckDBPyRelation:
    found = duckdb.sql(query)
    assert found is not None
    return found


def estimated(optldp, *words: object) -> dict:
    return json.loads(optldp("estimate", *words, "--json").stdout)


@pytest.mark.usefixtures("table")
class TestNumbers:
    @pytest.mark.parametrize("suffix", ["csv", "parquet"])
    def test_an_index_is_the_number_of_the_reports_output(self, optldp, suffix):
        optldp(*INDEX, "--out", f"idx.{suffix}", "--seed", 7)
        table = load_table("mech.json")
        expected = table.sample_index(PEOPLE, np.random.default_rng(7))
        column = sql(f"SELECT simulated_output FROM 'idx.{suffix}'")
        assert column.types == ["BIGINT"]
        assert column.fetchnumpy()["simulated_output"].tolist() == expected.tolist()

    @pytest.mark.nightly
    def test_indices_and_their_counts_tell_what_the_reports_tell(self, optldp):
        """The table has points, so a report and its index say the same."""
        optldp("perturb", "mech.json", *INCOME, "--out", "r.csv", "--seed", 7)
        optldp(*INDEX, "--out", "idx.parquet", "--seed", 7)
        optldp("count", "mech.json", "idx.parquet", "--out", "counts.csv")
        query = optldp("count-sql", "mech.json", "--from", "idx.parquet", "--column", "simulated_output").stdout
        engines = sql(query.replace('"idx"."parquet"', "'idx.parquet'"))
        write_columns("engine.parquet", engines.fetchnumpy())
        expected = estimated(optldp, "mech.json", "r.csv")
        assert expected["simulated"]
        for words in (["idx.parquet"], ["--counts", "counts.csv"]):
            assert estimated(optldp, "mech.json", *words) == expected
        assert estimated(optldp, "mech.json", "--counts", "engine.parquet") == expected | {"simulated": False}
        found = estimated(optldp, "mech.json", "--counts", "counts.csv", "--of", "quantiles")
        assert found["quantiles"] == estimated(optldp, "mech.json", "r.csv", "--of", "quantiles")["quantiles"]

    @pytest.mark.nightly
    def test_several_services_are_matched_by_code(self, optldp):
        optldp(*INDEX, "--key", "name", "--out", "a.parquet")
        optldp("perturb", "mech.json", *INCOME, "--key", "name", "--out", "b.csv")
        pairs = ["mech.json", "a.parquet", "mech.json", "b.csv", "--key", "name"]
        done = json.loads(optldp("count", *pairs, "--out", "counts.parquet", "--json").stdout)
        assert done["n"] == 300
        found = estimated(optldp, "mech.json", "mech.json", "--counts", "counts.parquet")
        expected = estimated(optldp, *pairs)
        assert found["value"] == expected["value"]
        assert found["std_error"] == expected["std_error"]

    @pytest.mark.slow
    def test_indices_that_are_none_are_refused_or_counted(self, optldp, refusal):
        Path("idx.csv").write_text("output\n" + "0\n1\n" * 5 + "99\n-1\n1.5\nx\n\n")
        says = refusal("estimate", "mech.json", "idx.csv")
        assert "idx.csv" in says
        found = estimated(optldp, "mech.json", "idx.csv", "--skip-invalid")
        assert (found["n"], found["skipped"]) == (10, 5)

    @pytest.mark.slow
    def test_cells_are_written_for_a_range_join(self, optldp, refusal):
        done = optldp("count-sql", "mech.json", "--from", "r", "--column", "report", "--cells", "cells.parquet")
        assert 'LEFT JOIN "cells"' in done.stdout
        optldp("perturb", "mech.json", *INCOME, "--out", "r.parquet", "--seed", 1)
        reports = sql("FROM 'r.parquet'").fetchnumpy()
        write_columns("s.parquet", {"report": reports["simulated_report"], "table": reports["table"]})
        query = done.stdout.replace('"r" AS', "'s.parquet' AS").replace('"cells" AS', "'cells.parquet' AS")
        write_columns("counts.csv", sql(query).fetchnumpy())
        assert estimated(optldp, "mech.json", "--counts", "counts.csv")["value"] == pytest.approx(
            estimated(optldp, "mech.json", "r.parquet")["value"]
        )

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["estimate", "mech.json", "--counts", "c.csv", "--key", "name"], "--key is for reports"),
            (["estimate", "mech.json", "people.csv", "--counts", "c.csv"], "people.csv"),
            (["estimate", "mech.json", "--counts", "none.csv"], "must exist"),
            (["estimate", "mech.json"], "--counts"),
            (["estimate", "mech.json", "--counts", "people.csv"], "among them 'n'"),
            (["count", "mech.json", "--out", "o.csv"], "must come in pairs"),
            (["count", "mech.json", "c.csv", "--out", "c.csv"], "must not replace inputs"),
            (["count", "mech.json", "c.csv", "--out", "o.txt"], "must end in .csv or .parquet"),
            (["count-sql", "mech.json", "mech.json", "--from", "a", "--from", "b"], "--key"),
        ],
    )
    def test_bad_input(self, refusal, words, says):
        Path("c.csv").write_text("output,n\n0,3\n1,4\n")
        assert says in refusal(*words)
        assert not Path("o.csv").exists()


@pytest.mark.nightly
def test_categories_go_the_same_way(optldp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("job\n" + "cook\nnurse\nnurse\nsmith\n" * 25)
    for method in ("grr", "oue", "olh"):
        out = ("--public", "--force", "--out", "jobs.json")
        optldp("design", "people.csv", "--column", "job", "--categorical", "--epsilon", 1, "--method", method, *out)
        optldp("perturb", "jobs.json", "people.csv", "--column", "job", "--as", "index", "--force", "--out", "idx.csv")
        optldp("count", "jobs.json", "idx.csv", "--force", "--out", "counts.csv")
        assert Path("counts.csv").read_text().startswith("output,n,table\n")
        query = optldp("count-sql", "jobs.json", "--from", "idx").stdout
        duckdb.read_csv("idx.csv", all_varchar=True).create_view("idx", replace=True)
        write_columns("engine.csv", sql(query).fetchnumpy())
        expected = estimated(optldp, "jobs.json", "idx.csv")
        for name in ("counts.csv", "engine.csv"):
            assert estimated(optldp, "jobs.json", "--counts", name) == expected
