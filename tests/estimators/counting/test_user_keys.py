"""Key columns: which types are compared, in which type, and which are not."""

import pytest
from optldp.estimators.counting.user_keys import CSV_TEXT, KeyColumn, common_key_type
from optldp.estimators.reading.columns.files import connected
from optldp.mechanisms import InputError


def keys(*kinds: str) -> list[KeyColumn]:
    return [KeyColumn(f"source {number}", '"user"', kind) for number, kind in enumerate(kinds)]


@pytest.mark.parametrize(
    ("kinds", "common"),
    [
        (["VARCHAR"], "VARCHAR"),
        (["VARCHAR", "ENUM('a', 'b')"], "VARCHAR"),
        (["TINYINT", "BIGINT", "UINTEGER"], "BIGINT"),
        (["INTEGER", "UBIGINT"], "HUGEINT"),
        (["HUGEINT", "SMALLINT"], "HUGEINT"),
        (["UUID", "UUID"], "UUID"),
        ([CSV_TEXT, CSV_TEXT], "VARCHAR"),
        ([CSV_TEXT, "VARCHAR"], "VARCHAR"),
        ([CSV_TEXT, "INTEGER"], "BIGINT"),
        (["UTINYINT", CSV_TEXT], "BIGINT"),
    ],
)
def test_keys_are_compared_in_a_type_that_holds_both(kinds, common):
    """Integers of any width are integers; a CSV is what the others are."""
    assert common_key_type(keys(*kinds)) == common


@pytest.mark.parametrize(
    "kinds",
    [["VARCHAR", "INTEGER"], ["INTEGER", "DATE"], ["UUID", CSV_TEXT], ["DATE", "TIMESTAMP"], [CSV_TEXT, "BOOLEAN"]],
)
def test_keys_of_other_types_are_refused_with_both_names(kinds):
    """Each in its own words."""
    with pytest.raises(InputError) as caught:
        common_key_type(keys(*kinds))
    for number, kind in enumerate(kinds):
        assert f"{kind} in source {number}" in str(caught.value)


@pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT"])
def test_fractions_are_no_keys(kind):
    """Equal numbers may differ in the last digit."""
    with pytest.raises(InputError, match=f"got type {kind}: convert it"):
        common_key_type(keys(kind))


@pytest.mark.parametrize(
    ("text", "key"),
    [("7", 7), (" +7 ", 7), ("-07", -7), ("7.0", None), ("7e1", None), ("", None), ("9" * 30, None)],
)
def test_text_is_an_integer_only_if_it_is_written_as_one(text, key):
    """Nothing is rounded, nothing overflows."""
    expression = KeyColumn("a CSV", '"user"', CSV_TEXT).expression("BIGINT")
    with connected() as connection:
        query = f'SELECT {expression} FROM (SELECT ? AS "user")'
        assert connection.execute(query, [text]).fetchall() == [(key,)]
