"""The checksum, and the page that documents it: the page's own code and numbers are run here."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from optldp.mechanisms import TableError, load_table, verify
from optldp.mechanisms.files.checksum import checksum

PAGE = (Path(__file__).parents[3] / "docs" / "table-format.md").read_text()


def block(language):
    """The first code block of that language on the page."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[0]


@pytest.fixture(scope="module")
def documented():
    """The function `checksum` as the page defines it."""
    names = {}
    exec(block("python"), names)
    return names["checksum"]


def test_the_documented_example_has_its_checksum_by_both_programs(documented):
    """The package and the twenty lines on the page agree with the printed digits."""
    document = json.loads(block("json"))
    assert checksum(document) == document["checksum"] == documented(document)
    assert checksum({}) == re.findall(r"`checksum\(\{\}\)` is `([^`]+)`", PAGE)[0] == documented({})


def test_the_documented_example_loads_and_is_what_the_page_says(tmp_path):
    """Two knots, two outputs, privacy ln 3, unbiased."""
    (tmp_path / "example.json").write_text(block("json"))
    table = load_table(tmp_path / "example.json", allow_unproved=True)
    result = verify(table)
    assert result.max_log_ratio == pytest.approx(np.log(3))
    assert result.max_abs_bias == 0
    assert result.expected_variance == pytest.approx(table.var(5.0)[0])


@pytest.mark.parametrize(
    "document",
    [
        {"é": "ü€😀", "a": [], "z": {}},
        {"n": [1, 2.5, -0.0, 1e300], "m": [[1, 2], [3.0, 4.0]], "mixed": [1, "x", None, True, False]},
        {"b": 2, "a": {"d": [True, 1.0], "c": None}},
    ],
)
def test_the_package_and_the_page_agree_on_any_document(documented, document):
    """Text beyond ASCII, nesting, negative zero, empty values, mixed lists."""
    assert checksum(document) == documented(document)


def test_arrays_and_lists_integers_and_doubles_are_the_same_numbers():
    """The form a number came in does not matter."""
    assert checksum({"m": [[1, 2], [3, 4]]}) == checksum({"m": np.array([[1.0, 2.0], [3.0, 4.0]])})
    assert checksum({"x": -0.0}) == checksum({"x": 0})
    assert checksum({"m": np.array([1, 2])}) == checksum({"m": [1, 2]})
    assert checksum({"m": [1, 2**70], "x": 2**70}) == checksum({"m": [1, 2.0**70], "x": 2.0**70})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"x": [1, 2]}, {"x": [2, 1]}),
        ({"x": [[1], [2]]}, {"x": [[1, 2]]}),
        ({"x": 1}, {"x": True}),
        ({"x": "1"}, {"x": 1}),
        ({"x": None}, {"x": False}),
        ({"x": 1.0}, {"x": np.nextafter(1.0, 2.0)}),
        ({"ab": "c"}, {"a": "bc"}),
    ],
)
def test_different_documents_have_different_checksums(one, other):
    """Order, shape, type and the last bit count."""
    assert checksum(one) != checksum(other)


@pytest.mark.parametrize("value", [float("nan"), [1.0, float("inf")], 10**400, "\ud800", object()])
def test_what_json_or_a_double_cannot_hold_has_no_checksum(value):
    """Refused rather than guessed."""
    with pytest.raises(TableError, match="must"):
        checksum({"x": value})


def test_a_value_that_is_no_json_is_refused_by_its_type():
    """Whoever made the document can then find it."""
    with pytest.raises(TableError, match="must hold JSON values, got complex"):
        checksum({"x": 1j})


def test_keys_are_hashed_by_the_order_of_their_bytes(documented):
    """Beyond the first 65,536 characters too, where the order of UTF-16 is another."""
    keys = ["\uffee", "\U0001f600", "é", "z", ""]
    assert checksum(dict.fromkeys(keys, 1)) == checksum(dict.fromkeys(reversed(keys), 1))
    assert checksum(dict.fromkeys(keys, 1)) == documented(dict.fromkeys(keys, 1))
