"""`optldp estimate --of queries`: the answers of the library, by name and by file."""

import json

import pytest


@pytest.mark.slow
def test_queries_by_name_and_by_file(optldp, refusal, tmp_path):
    prior, values, table, reports = (tmp_path / name for name in ("p.csv", "v.csv", "m.json", "r.csv"))
    prior.write_text("value,weight\n" + "".join(f"{i},{1 + i % 3}\n" for i in range(6)))
    values.write_text("v\n" + "0\n1\n2\n3\n4\n5\n" * 50)
    optldp("design", "--prior", prior, "--public", "--epsilon", 1, "--objective", "workload", "--out", table)
    optldp("perturb", table, values, "--column", "v", "--seed", 3, "--out", reports)
    told = json.loads(optldp("estimate", table, reports, "--of", "queries:prefix", "--json").stdout)
    assert told["query"] == [1, 2, 3, 4, 5, 6]
    assert told["value"][-1] == pytest.approx(1)
    (tmp_path / "w.csv").write_text("1,1,1,0,0,0\n")
    own = json.loads(optldp("estimate", table, reports, "--of", f"queries:{tmp_path / 'w.csv'}", "--json").stdout)
    assert (own["value"], own["workload"]) == ([pytest.approx(told["value"][2])], "own")
    assert "leave it out" in refusal("estimate", table, reports, "--of", "queries", "--method", "em")
    assert "a workload must be one of" in refusal("estimate", table, reports, "--of", "queries:cubes")
    assert "--above is of no use to queries" in refusal("estimate", table, reports, "--of", "queries", "--above", 1)


@pytest.mark.nightly
def test_queries_of_categories_and_of_several_services(optldp, refusal, tmp_path):
    values, prior = tmp_path / "v.csv", tmp_path / "p.csv"
    prior.write_text("value,weight\n0,2\n1,1\n2,1\n")
    values.write_text("user,v\n" + "".join(f"u{i},{i % 3}\n" for i in range(300)))
    pair = []
    for name, more in (("a", ()), ("b", ()), ("c", ("--categorical",))):
        table, reports = tmp_path / f"{name}.json", tmp_path / f"{name}.csv"
        optldp("design", "--prior", prior, "--public", "--epsilon", 2, *more, "--out", table)
        optldp("perturb", table, values, "--column", "v", "--key", "user", "--seed", 3, "--out", reports)
        pair += [table, reports]
    told = json.loads(optldp("estimate", *pair[4:], "--of", "queries:prefix", "--json").stdout)
    assert told["query"] == [1, 2, 3]
    assert abs(told["value"][0] - 1 / 3) < 4 * told["std_error"][0]
    assert "--of is for tables of numbers" in refusal("estimate", *pair[4:], "--of", "quantiles")
    assert "a workload must be prefix, ranges" in refusal("estimate", *pair[4:], "--of", "queries:moments")
    (tmp_path / "w.csv").write_text("0,1,2\n")
    both = json.loads(
        optldp("estimate", *pair[:4], "--key", "user", "--of", f"queries:{tmp_path / 'w.csv'}", "--json").stdout
    )
    assert abs(both["value"][0] - 1) < 4 * both["std_error"][0]


@pytest.mark.nightly
def test_an_estimate_says_where_another_table_would_have_told_far_more(optldp, tmp_path):
    """Of a share by the table for the mean, not by its own."""
    prior, values = tmp_path / "p.csv", tmp_path / "v.csv"
    prior.write_text("value,weight\n" + "".join(f"{x},{1 + x % 3}\n" for x in range(5)))
    values.write_text("value\n" + "".join(f"{x % 5}\n" for x in range(6000)))
    said = []
    for name, objective in (("mean", "expected"), ("share", "share:above=1.5")):
        table, reports = tmp_path / f"{name}.json", tmp_path / f"{name}.csv"
        design = "design", "--prior", prior, "--public", "--epsilon", 1, "--n", 6000, "--objective", objective
        assert optldp(*design, "--out", table).exit_code == 0
        optldp("perturb", table, values, "--column", "value", "--out", reports)
        said.append(optldp("estimate", table, reports, "--of", "distribution", "--above", 1.5).output)
    assert ["design --objective share:above=1.5" in each for each in said] == [True, False]
    assert "is reported as either" not in said[1]


@pytest.mark.nightly
def test_marginals_of_two_columns_from_design_to_answers(optldp, refusal, tmp_path):
    prior, people, table, reports = (tmp_path / name for name in ("p.csv", "v.csv", "m.json", "r.csv"))
    prior.write_text("x,y,weight\n" + "".join(f"{x},{y},{1 + (x + y) % 2}\n" for x in range(3) for y in range(2)))
    people.write_text("x,y\n" + "".join(f"{i % 3},{i % 2}\n" for i in range(6000)))
    asked = ("design", "--prior", prior, "--public", "--epsilon", 2, "--objective", "workload", "--out", table)
    made = json.loads(optldp(*asked, "--workload", "marginals", "--json").stdout)
    assert made["lower_bound"] <= made["value"] < 1.01 * made["lower_bound"]
    assert made["queries"] == 5
    optldp("perturb", table, people, "--column", "x", "--column", "y", "--seed", 1, "--out", reports)
    told = json.loads(optldp("estimate", table, reports, "--of", "queries:marginals", "--json").stdout)
    for value, error, truth in zip(told["value"], told["std_error"], [1 / 3] * 3 + [1 / 2] * 2, strict=True):
        assert abs(value - truth) < 4 * error < 0.2
    moments = json.loads(optldp("estimate", table, reports, "--of", "queries:moments", "--json").stdout)
    assert moments["query"] == [1, 2, 3, 4, 5]
    assert "marginals, moments, or numbers" in refusal(*asked, "--force", "--workload", "prefix")
    metric = (*asked, "--force", "--workload", "marginals", "--privacy", "metric", "--json")
    made = json.loads(optldp(*metric).stdout)
    assert made["lower_bound"] <= made["value"] < 1.01 * made["lower_bound"]
