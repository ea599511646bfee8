"""Queries for engines: run by duckdb, said in other dialects and read back, their answers are `count`'s counts."""

import builtins

import duckdb
import numpy as np
import pytest
import sqlglot
from optldp.estimators import ReportCounts, Service, SupportCounts, count
from optldp.estimators.engines import DIALECTS, count_query, output_cells
from optldp.estimators.engines.daily import Daily
from optldp.mechanisms import FAMILIES, InputError, TabulatedMechanism, duchi, make_exact, piecewise
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.files.identifier import table_identifier
from optldp.mechanisms.third_party import adopt
from sqlglot.expressions import Select

NARROW = make_exact(duchi([0.0, 1.0], 2.0)).mechanism
WIDE = make_exact(piecewise([0.0, 0.3, 1.0], 1.0)).mechanism


def collected(mechanisms: list[TabulatedMechanism], connection: duckdb.DuckDBPyConnection) -> ReportCounts:
    """Some users report to some of the services, whose reports then stand in t0, t1, ... of the database."""
    rng, sources = np.random.default_rng(4), []
    for j, mechanism in enumerate(mechanisms):
        users = rng.permutation(60)[:45]
        outputs = mechanism.sample_index(rng.uniform(0, 1, 45), rng).astype(np.int32)
        names = np.array([table_identifier(mechanism), None])[users % 2]  # some rows are older than the column
        reports = {"user": users, "output": outputs, "table": names}
        connection.register(f"v{j}", reports)
        connection.sql(f"CREATE TABLE t{j} AS FROM v{j}")
        sources.append((f"s{j}", mechanism, reports))
    return count(sources, key="user")


def same(left: ReportCounts, right: ReportCounts) -> bool:
    pairs = zip(left.groups, right.groups, strict=True)
    return all(
        a.services == b.services and np.array_equal(a.outputs, b.outputs) and np.array_equal(a.counts, b.counts)
        for a, b in pairs
    )


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("mechanisms", [[WIDE], [WIDE, NARROW], [WIDE] * 25], ids=["one", "two", "two words"])
def test_the_answer_is_what_count_counts(mechanisms, dialect):
    """What is not duckdb's is translated back, so that a word which sqlglot changes on its way shows."""
    with duckdb.connect() as connection:
        expected = collected(mechanisms, connection)
        query = count_query(mechanisms, [f"t{j}" for j in range(len(mechanisms))], key="user", dialect=dialect)
        (again,) = sqlglot.transpile(query, read=dialect, write="duckdb")
        answer = connection.sql(again).fetchnumpy()
    services = [Service(f"s{j}", mechanism) for j, mechanism in enumerate(mechanisms)]
    assert ("output_2" in answer) == (len(mechanisms) > 20)
    assert same(ReportCounts.from_counts(services, answer), expected)


def test_users_without_a_key_with_two_reports_or_with_none_are_told_apart_and_refused():
    rows = "(1, 0), (1, 1), (2, 9), (NULL, 1), (NULL, 0), (3, 1), (4, NULL)"
    with duckdb.connect() as connection:
        connection.sql(f'CREATE TABLE t AS SELECT * FROM (VALUES {rows}) AS t("user", output)')
        answer = connection.sql(count_query([NARROW], ["t"], key="user", table=False))
        assert sorted(answer.fetchall()) == [(-3, 2), (-2, 2), (-1, 1), (1, 1)]
        with pytest.raises(InputError, match=r"got 5 of what is none, the first in row \d: (users|reports) with"):
            ReportCounts.from_counts(NARROW, answer.fetchnumpy())
        assert ReportCounts.from_counts(NARROW, answer.df(), skip_invalid=_account()).n_users == 1


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("key", [None, "user"])
def test_reports_of_another_table_are_found_where_they_lie(dialect, key):
    mine, other = table_identifier(NARROW), table_identifier(WIDE)
    with duckdb.connect() as connection:
        connection.sql(f'CREATE TABLE t AS SELECT range AS "user", 1 AS output, \'{mine}\' AS "table" FROM range(4)')
        query = count_query([NARROW], ["t"], key=key, dialect=dialect)
        (again,) = sqlglot.transpile(query, read=dialect, write="duckdb")
        assert ReportCounts.from_counts(NARROW, connection.sql(again).df()).n_users == 4
        connection.sql(f"INSERT INTO t VALUES (9, 0, '{other}')")
        with pytest.raises(InputError, match=f"must hold reports of table {mine} alone, got some of table {other}"):
            ReportCounts.from_counts(NARROW, connection.sql(again).df())


def test_reports_that_a_range_join_locates_are_held_to_their_table_too():
    with duckdb.connect() as connection:
        connection.register("cells", output_cells(WIDE))
        connection.sql("CREATE TABLE reports AS SELECT 0.5 AS report, 't0123456789ab' AS \"table\"")
        answer = connection.sql(count_query([WIDE], ["reports"], column="report", cells="cells")).df()
    with pytest.raises(InputError, match="got some of table t0123456789ab"):
        ReportCounts.from_counts(WIDE, answer)


def _account():
    from optldp.estimators.reading.columns import SkippedRows

    return SkippedRows()


def test_a_user_with_many_reports_overflows_nothing():
    """The sum of their codes would leave 64 bits, where some engines fail and some go on with another number."""
    with duckdb.connect() as connection:
        connection.sql("CREATE TABLE t AS SELECT 1 AS u, 1 AS output FROM range(100)")
        for dialect in DIALECTS:
            query = count_query([NARROW, NARROW], ["t", "t"], key="u", dialect=dialect)
            assert "SUM(code" not in query.upper()
        assert connection.sql(count_query([NARROW, NARROW], ["t", "t"], key="u", table=False)).fetchall() == [(-1, 1)]


def test_a_second_report_to_the_last_of_many_services_is_found_in_every_word():
    """25 services have two columns of codes; who is none is none in both."""
    with duckdb.connect() as connection:
        for j in range(25):
            connection.sql(f"CREATE TABLE t{j} AS SELECT 1 AS u, 1 AS output")
        connection.sql("INSERT INTO t24 VALUES (1, 0), (2, 1), (2, 1)")
        query = count_query([WIDE] * 25, [f"t{j}" for j in range(25)], key="u", table=False)
        assert connection.sql(query).fetchall() == [(-1, -1, 2)]
        services = [Service(f"s{j}", WIDE) for j in range(25)]
        with pytest.raises(InputError, match=r"got 2 of what is none.*users with several reports to a service"):
            ReportCounts.from_counts(services, connection.sql(query).fetchnumpy())


@pytest.mark.parametrize("name", FAMILIES)
def test_a_range_join_finds_the_output_of_every_report_and_counts_those_of_none(name):
    table = FAMILIES[name]([0.0, 0.5, 1.0], 1.0)
    edges = np.concatenate([table.low, table.high, np.nextafter(table.high, -np.inf), np.nextafter(table.low, -np.inf)])
    reports = np.concatenate([table.sample(np.linspace(0, 1, 500), np.random.default_rng(1)), edges, [1e9, -1e9]])
    located = table.locate(reports)
    with duckdb.connect() as connection:
        connection.register("reports", {"report": reports})
        connection.register("cells", output_cells(table))
        query = count_query([table], ["reports"], column="report", cells="cells", table=False)
        found = dict(connection.sql(query).fetchall())
    outputs, counts = np.unique(located, return_counts=True)
    assert found == {None if o < 0 else o: n for o, n in zip(outputs.tolist(), counts.tolist(), strict=True)}


def test_a_lattice_has_no_intervals():
    from optldp.designer import Prior
    from optldp.designer.methods.lattice import lattice_mechanism

    with pytest.raises(InputError, match="lie on a lattice"):
        output_cells(lattice_mechanism(Prior.on_knots(np.array([-1.0, 0.0, 1.0]), [1, 2, 1], source="public"), 1.0))


@pytest.mark.parametrize(
    ("mechanisms", "relations", "options", "says"),
    [
        ([NARROW], ["t"], {"dialect": "oracle"}, "dialect must be one of"),
        ([NARROW], ["t", "u"], {}, "a relation for each mechanism, got 2 for 1"),
        ([NARROW, NARROW], ["t", "u"], {}, "must name the column of users"),
        ([categorical_grr("ab", 1.0)], ["t"], {"key": "user"}, "for tables of numbers"),
        ([NARROW], ["t"], {"key": "user", "cells": "c"}, "without a key"),
        ([NARROW], ["a..b"], {}, "a relation must have a name"),
        ([NARROW], ["a\nb"], {}, "a relation must have a name"),
    ],
)
def test_what_cannot_be_asked(mechanisms, relations, options, says):
    with pytest.raises(InputError, match=says):
        count_query(mechanisms, relations, **options)


def test_a_name_is_a_name_whatever_it_holds():
    """Nothing that a file or a column is called becomes a part of the query."""
    hostile = 'x"; DROP TABLE t; --'
    with duckdb.connect() as connection:
        connection.register("rows", {"o": np.array([1, 1])})
        connection.sql('CREATE TABLE t AS SELECT o AS "{}" FROM rows'.format(hostile.replace('"', '""')))
        assert connection.sql(count_query([NARROW], ["t"], column=hostile, table=False)).fetchall() == [(1, 2)]
        for dialect in DIALECTS:
            (again,) = sqlglot.parse(count_query([NARROW], ["t"], column=hostile, dialect=dialect), read=dialect)
            assert isinstance(again, Select)


def test_without_sqlglot_duckdb_is_still_spoken_and_the_extra_named_for_others(monkeypatch):
    real = builtins.__import__

    def hidden(name, *rest, **more):
        if name.split(".")[0] == "sqlglot":
            raise ModuleNotFoundError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", hidden)
    assert count_query([NARROW], ["t"]).startswith("SELECT")
    with pytest.raises(InputError, match=r"optldp\[sql\]"):
        count_query([NARROW], ["t"], dialect="spark")


def test_bits_that_others_wrote_in_columns_are_summed_in_every_dialect():
    """Numbers, numbers with a point and Booleans are bits; rows with anything else are told apart, none is lost."""
    made = adopt("oue", ["a", "b", "c"], 1.0, written="columns")
    with duckdb.connect() as connection:
        connection.sql("CREATE TABLE r AS SELECT 1 AS a, 0.0 AS b, true AS c UNION ALL SELECT 0, 1.0, true")
        told = connection.sql(count_query([made], ["r"], table=False)).fetchnumpy()
        counts = SupportCounts.from_sums(made, told)
        assert (counts.supports.tolist(), counts.n_users) == ([1, 1, 2], 2)
        connection.sql("INSERT INTO r VALUES (7, 1, true), (NULL, 1, true)")
        with pytest.raises(InputError, match="no report of the mechanism"):
            SupportCounts.from_sums(made, connection.sql(count_query([made], ["r"], table=False)).fetchnumpy())
    for dialect in DIALECTS:
        assert sqlglot.parse_one(count_query([made], ["r"], dialect=dialect, where=["a >= 0"]), dialect=dialect)


def test_bits_in_columns_without_a_name_for_their_table_or_with_a_day_are_refused():
    named = adopt("oue", ["a", "table"], 1.0, written="columns")
    with pytest.raises(InputError, match="--no-table"):
        count_query([named], ["r"])
    assert count_query([named], ["r"], table=False)
    with pytest.raises(InputError, match="write them as bits"):
        count_query([adopt("oue", ["a", "b"], 1.0, written="columns")], ["r"], daily=Daily())
