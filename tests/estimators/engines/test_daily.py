"""The query of counts by day: the same as counting once, in every dialect, and nothing of a filter gets into it."""

import duckdb
import pytest
import sqlglot
from optldp.estimators.engines import DIALECTS, count_query
from optldp.estimators.engines.daily import Daily
from optldp.estimators.engines.filters import Comparison, condition
from optldp.mechanisms import InputError
from optldp.mechanisms.categorical.unary_encoding import optimised_unary
from optldp.mechanisms.families.grr import grr
from sqlglot import expressions as exp

ROWS = """
(VALUES ('a', '2026-05-01', 0, 't1', '2026-05-01'), ('a', '2026-05-01', 0, 't1', '2026-05-03'),
('b', '2026-05-01', 1, 't1', '2026-05-06'), ('c', '2026-05-03', 1, 't1', '2026-05-03'),
('d', '2026-05-03', 0, 't1', '2026-05-03'), ('d', '2026-05-03', 1, 't1', '2026-05-03'),
(NULL, '2026-05-03', 1, 't1', '2026-05-03'), ('e', '2026-05-03', 1, 't2', '2026-05-04'),
('f', '2026-05-09', 1, 't1', '2026-05-09')) AS r(report_id, day, output, "table", came)
"""


def asked(query, dialect="duckdb"):
    if dialect != "duckdb":
        (query,) = sqlglot.transpile(query.replace("VARCHAR(MAX)", "VARCHAR"), read=dialect, write="duckdb")
    with duckdb.connect() as connection:
        connection.sql(f"CREATE TABLE r AS FROM {ROWS}")
        return sorted(connection.sql(query).fetchall(), key=str)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_copies_count_once_late_ones_apart_and_unsound_ones_are_told(dialect):
    daily = Daily(late=3, min_batch=1, today="2026-05-06", arrived="came")
    found = asked(count_query([grr([0, 1], 1.0)], ["r"], daily=daily, dialect=dialect), dialect)
    assert found == [
        ("t1", "2026-05-03", 1, 1, "counted"),
        ("t1", "2026-05-03", None, 2, "invalid"),
        ("t1", "2026-05-06", 1, 1, "late"),
        ("t2", "2026-05-03", 1, 1, "counted"),
    ]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_day_is_parted_by_any_column_and_an_id_in_two_windows_is_none(dialect):
    daily = Daily(late=9, min_batch=1, today="2026-05-06", window="came", day_column="came")
    found = asked(count_query([grr([0, 1], 1.0)], ["r"], daily=daily, dialect=dialect), dialect)
    assert ("t2", "2026-05-04", "2026-05-04", 1, 1, "counted") in found
    assert ("t1", "2026-05-01", "2026-05-01", None, 1, "invalid") in found  # an id of two days and windows
    assert ("t1", "2026-05-06", "2026-05-06", 1, 1, "counted") in found


def test_small_groups_wait_and_say_how_many():
    daily = Daily(late=9, min_batch=2, today="2026-05-06")
    found = asked(count_query([grr([0, 1], 1.0)], ["r"], daily=daily))
    assert ("t2", "2026-05-03", None, 1, "waiting") in found
    assert ("t1", "2026-05-01", 0, 1, "counted") in found


def test_bits_are_summed_by_day():
    oue = optimised_unary(range(20), 1.0)
    query = count_query([oue], ["bits"], daily=Daily(min_batch=1, today="2026-05-01"), table=False)
    with duckdb.connect() as connection:
        rows = "('a', 'c00010'), ('b', '800010'), ('c', '80001f'), ('d', 'xyz'), ('a', 'c00010')"
        rows += ", (NULL, 'c00010')" * 3
        connection.sql(
            f"CREATE TABLE bits AS SELECT *, '2026-05-01' AS day FROM (VALUES {rows}) AS r(report_id, output)"
        )
        found = {row[1]: row[2:] for row in connection.sql(query).fetchall()}
    assert found[0] == (2, 2, "counted")
    assert found[1] == (1, 2, "counted")
    assert found[19] == (2, 2, "counted")
    assert found[-1] == (0, 5, "invalid")  # a one beyond the last bit, what is no digit, and three without an id
    assert len(found) == 21


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("value", ["x' OR 1=1 --", "O''Brien", "'; DROP TABLE r; --"])
def test_a_hostile_value_is_a_text_or_refused(dialect, value):
    text = value.replace("'", "''")
    query = count_query([grr([0, 1], 1.0)], ["r"], where=[f"came = '{text}'"], dialect=dialect)
    (tree,) = sqlglot.parse(query, read=dialect)
    assert tree is not None
    where = tree.find(exp.Where)
    assert where is not None
    (compared,) = where.find_all(exp.Literal)
    assert compared.this == value
    with pytest.raises(InputError, match="COLUMN OP VALUE"):
        count_query([grr([0, 1], 1.0)], ["r"], where=[f"came = {value}"], dialect=dialect)


NONE = [
    "region", "= 3", "region =", "region LIKE 'a%'", "1 = 1", "a = b OR c = d", "a = (SELECT 1)", "a = 'x' --",
    "a = 'x", "a = x;",
    "f(a) = 1", "a.b = 1", "a = 1; DROP TABLE t", "a = 'b\\'", "a = 1\n", "", "a = " + "x" * 2000,
]  # fmt: skip


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_comparison_is_refused(text):
    with pytest.raises(InputError, match="--where") as refused:
        condition([text])
    assert "\n" not in str(refused.value)


def test_numbers_are_numbers_and_names_are_quoted():
    assert condition(["wave<3", '"my ""day""" >= 2026-05-01']) == '"wave" < 3 AND "my ""day""" >= \'2026-05-01\''
    assert Comparison.read("a != -1.5").sql() == '"a" <> -1.5'
