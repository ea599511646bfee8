"""Archives that lie about what they hold are refused before anything is reserved for it."""

import io
import tracemalloc
import zipfile

import numpy as np
import pytest
from optldp.mechanisms import TableError
from optldp.mechanisms.npz_archive import pack_arrays, unpack_arrays

LIMIT = 2**20


def npy(header: str, body: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    """An npy file with a header of one's own."""
    text = header.encode() + b"\n"
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text + body


def archive(*members: tuple[str, bytes]) -> bytes:
    """A zip with these members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members:
            made.writestr(name, content)
    return buffer.getvalue()


def test_arrays_come_back_in_shape_type_and_order():
    """Empty ones, matrices by rows and by columns, whole numbers."""
    arrays = {
        "a": np.empty(0),
        "b": np.arange(6.0).reshape(2, 3),
        "c": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "d": np.frombuffer(b"text", dtype=np.uint8),
    }
    again = unpack_arrays(pack_arrays(arrays), LIMIT)
    assert sorted(again) == sorted(arrays)
    for name, array in arrays.items():
        assert again[name].dtype == array.dtype
        np.testing.assert_array_equal(again[name], array)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}", "must take 8000000000000 bytes"),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (9000000000, 9000000000)}", "must take 648"),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", "must take 8 bytes, got another"),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", "must take -8 bytes, got another"),
        ("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "pickled objects"),
        ("{'descr': '<f8', 'shape': (1,)}", "whole npz archive"),
        ("not a header", "whole npz archive"),
    ],
)
def test_a_header_that_promises_more_than_there_is_reserves_nothing(header, message):
    """Eight terabytes on paper, sixteen bytes in the file."""
    hostile = archive(("knots.npy", npy(header, b"\0" * 16)))
    tracemalloc.start()
    try:
        with pytest.raises(TableError, match=message) as caught:
            unpack_arrays(hostile, LIMIT)
        assert tracemalloc.get_traced_memory()[1] < 10 * LIMIT
    finally:
        tracemalloc.stop()
    assert "\n" not in str(caught.value)


def test_members_that_unpack_to_more_than_the_limit_are_not_unpacked():
    """A thousandfold compression: one hundred megabytes in a hundred kilobytes."""
    header = "{'descr': '|u1', 'fortran_order': False, 'shape': (100000000,)}"
    hostile = archive(("knots.npy", npy(header, b"\0" * 100_000_000)))
    tracemalloc.start()
    try:
        with pytest.raises(TableError, match="must take at most 1048576 bytes, got more"):
            unpack_arrays(hostile, LIMIT)
        assert tracemalloc.get_traced_memory()[1] < 10 * LIMIT
    finally:
        tracemalloc.stop()


def test_a_repeated_member_is_refused():
    """Two readers could pick different ones."""
    one = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", b"\0" * 8)
    with pytest.warns(UserWarning, match="Duplicate name"):
        hostile = archive(("knots.npy", one), ("knots.npy", one))
    with pytest.raises(TableError, match="different names, got a repeated one"):
        unpack_arrays(hostile, LIMIT)


def test_another_version_of_the_array_format_is_refused():
    """The page promises version 1.0."""
    later = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (0,)}", version=b"\x03\x00")
    with pytest.raises(TableError, match=r"npy version 1\.0, got \(3, 0\)"):
        unpack_arrays(archive(("a.npy", later)), LIMIT)
