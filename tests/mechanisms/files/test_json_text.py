"""JSON text is read within limits that are known before it is parsed, and never written beyond them."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.mechanisms import InputError, TableError, TabulatedMechanism, load_table, save_table
from optldp.mechanisms.files import json_text as module
from optldp.mechanisms.files.json_text import MAX_DEPTH, MAX_JSON_BYTES, from_json, require_modest, to_json

from ..hostile_archives import MOST_MEMORY, outcome

UNITS = {
    "empty lists": b"[],",
    "lists of one": b"[1],",
    "empty objects": b"{},",
    "objects of one": b'{"a":1},',
    "objects in objects": b'{"a":{}},',
    "short numbers": b"1.5,",
    "whole numbers": b"1000,",
    "digits": b"1,",
    "long numbers": b"0.12345678901234567, ",
    "texts": b'"ab",',
    "wide texts": '"€",'.encode(),
    "wider texts": '"😀😀😀😀",'.encode(),
    "escapes": b'"\\u20ac",',
    "marks inside of texts": b'"[[[{{{:::\\\\\\",,,]",',
}
"""What takes much more memory than its text, over and over."""


def filled(unit: bytes, size: int) -> bytes:
    return b"[" + unit * (size // len(unit) - 2) + b"0]"


def admitted(unit: bytes) -> bytes:
    """The longest such text, nearly, that is parsed."""
    low, high = 0, MAX_JSON_BYTES
    while high - low > low // 20 + 1000:
        middle = (low + high) // 2
        try:
            require_modest(filled(unit, middle))
            low = middle
        except TableError:
            high = middle
    return filled(unit, low)


@pytest.mark.nightly
@pytest.mark.parametrize("name", UNITS)
def test_the_worst_text_of_each_kind_that_is_parsed_takes_little_memory(tmp_path, name):
    """And is then refused, as it is no table."""
    content = admitted(UNITS[name])
    assert len(content) > 200_000
    (tmp_path / "t.json").write_bytes(content)
    line, peak = outcome(tmp_path / "t.json")
    assert line.endswith("the file must hold one JSON object, got list")
    assert peak < MOST_MEMORY


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["empty lists", "empty objects", "short numbers", "texts", "wide texts"])
@pytest.mark.parametrize("size", [60_000_000, MAX_JSON_BYTES])
def test_a_longer_text_is_refused_before_it_is_parsed(tmp_path, name, size):
    """Sixty megabytes, and as many as a table may have."""
    (tmp_path / "t.json").write_bytes(filled(UNITS[name], size))
    line, peak = outcome(tmp_path / "t.json")
    assert "refused: JSON text must be at most" in line
    assert peak < 150e6


@pytest.mark.slow
def test_keys_without_end_are_refused(tmp_path):
    """Each would be looked for among all others."""
    (tmp_path / "t.json").write_text("{" + ",".join(f'"{i}":0' for i in range(78_000)) + ',"format":"","checksum":""}')
    line, peak = outcome(tmp_path / "t.json")
    assert "format must be" in line
    assert peak < MOST_MEMORY


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xef\xbb\xbf{}", "Unexpected UTF-8 BOM"),
        ('{"a": "ä"}'.encode("latin-1"), "can't decode byte 0xe4"),
        ('{"a": 1}'.encode("utf-16"), "can't decode byte 0xff"),
        (b'{"a": NaN}', "numbers must be finite, got NaN"),
        (b'{"a": [1, -Infinity]}', "numbers must be finite, got -Infinity"),
        (b'{"a": "\\ud800"}', "surrogates not allowed"),
        (b'{"a": [1, [2, "\\udc00"]]}', "surrogates not allowed"),
        (b'{"\\ud800": 1}', "surrogates not allowed"),
        (b'"\\ud800"', "surrogates not allowed"),
        (b"1" * 100_000, "numbers must have at most 4000 digits"),
        (b"0." + b"1" * 100_000, "numbers must have at most 4000 digits"),
        (b'{"a": 1, "b": 2, "a": 3}', "keys must not repeat, got 'a' twice"),
        (b'[{"b": {"a": 1, "a": 1}}]', "keys must not repeat, got 'a' twice"),
        (b'{"' + b"k" * 5000 + b'": 1, "' + b"k" * 5000 + b'": 1}', "got 'kkk"),
        (b"[" * MAX_DEPTH + b"[]" + b"]" * MAX_DEPTH, "nested at most 16 deep, got deeper"),
        (b"[" * 5000 + b"]" * 5000, "nested at most 16 deep, got deeper"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "at most 167772160 bytes once parsed"),
        (b'{"a": 1} {}', "Extra data"),
        (b'{"a": "\n"}', "Invalid control character"),
        (b'["', "Unterminated string"),
    ],
)
def test_what_is_no_plain_json_is_refused_in_one_line(content, message):
    with pytest.raises(TableError, match=message) as caught:
        from_json(content)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_text_that_is_paired_or_nested_as_deep_as_may_be_is_read():
    """Surrogates in pairs are one character."""
    assert from_json(b'{"a": "\\ud83d\\ude00", "b": "\\\\ud800"}') == {"a": "😀", "b": "\\ud800"}
    assert from_json(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)


@pytest.mark.nightly
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=10,
    )
)
def test_everything_else_is_what_the_standard_library_reads(value):
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    assert from_json(text.encode()) == json.loads(text)


@pytest.mark.slow
@given(st.lists(st.text(alphabet='"\\[]{},:a€', max_size=6), max_size=6))
def test_marks_inside_of_texts_are_not_counted(texts):
    """Wherever quotation marks and backslashes stand."""
    content = json.dumps(texts, ensure_ascii=False).encode()
    marks, inside = module._marks(content)
    assert marks[ord("[")] == 1
    assert marks[ord('"')] == 2 * len(texts)
    assert marks[ord(",")] == max(len(texts) - 1, 0)
    assert inside == sum(len(json.dumps(text, ensure_ascii=False).encode()) - 2 for text in texts)


def test_texts_are_told_across_blocks(monkeypatch):
    """A block may end inside of one."""
    content = json.dumps(["a" * 7, "[,[" * 9, {"b": ":"}]).encode()
    whole = module._marks(content)[0]
    for block in (1, 2, 5):
        monkeypatch.setattr(module, "BLOCK", block)
        np.testing.assert_array_equal(module._marks(content)[0], whole)


@pytest.mark.nightly
def test_a_table_that_would_not_be_read_is_not_written_as_text(tmp_path):
    """Two million short numbers fit the size, but not the memory; the other form holds them."""
    numerators = np.zeros((1000, 4800), dtype=np.int64)
    numerators[:, 0] = 2**53
    ends = np.arange(4800.0)
    table = TabulatedMechanism(np.arange(1000.0), ends, ends, numerators / 2**53, 1.0, exact=True)
    with pytest.raises(InputError, match=r"at most 167772160 bytes once parsed, .*: use a table's \.npz form"):
        save_table(table, tmp_path / "t.json")
    assert list(tmp_path.iterdir()) == []
    save_table(table, tmp_path / "t.npz")
    np.testing.assert_array_equal(load_table(tmp_path / "t.npz").numerators, numerators)


def test_the_text_of_a_large_document_is_not_made(monkeypatch):
    """It ends with the row that is too much."""
    monkeypatch.setattr(module, "MAX_JSON_BYTES", 1000)
    made = []
    dumps = "optldp.mechanisms.files.json_text.json.dumps"
    monkeypatch.setattr(dumps, lambda value, **_: made.append(value) or "x" * 100)
    with pytest.raises(InputError, match=r"at most 1000 bytes long, got more: use a table's \.npz form"):
        to_json({"rows": np.zeros((100, 3))})
    assert len(made) < 12


@pytest.mark.slow
def test_a_device_without_end_is_refused(tmp_path):
    """No more is read of it than a text may have."""
    (tmp_path / "t.json").symlink_to("/dev/zero")
    line, peak = outcome(tmp_path / "t.json")
    assert "JSON text must be at most 33554432 bytes long" in line
    assert peak < 150e6
