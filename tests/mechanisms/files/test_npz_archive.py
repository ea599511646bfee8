"""Arrays go into an archive and come out of it, of just the type and shape that is asked for, block by block."""

import io
import tracemalloc
import zipfile

import numpy as np
import pytest
from optldp.mechanisms import InputError, TableError
from optldp.mechanisms.files import npz_archive as module
from optldp.mechanisms.files.npz_archive import ALWAYS_ALLOWED, BLOCK, NpzArchive, largest_unpacked, pack_arrays


def opened(content: bytes, most: int = 8) -> NpzArchive:
    return NpzArchive(io.BytesIO(content), most)


@pytest.mark.slow
def test_arrays_come_back_in_shape_type_and_order():
    """Empty ones, matrices by rows and by columns, whole numbers, several blocks of them."""
    arrays = {
        "a": np.empty(0),
        "b": np.arange(6.0).reshape(2, 3),
        "c": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "d": np.frombuffer(b"text", dtype=np.uint8),
        "e": np.arange(3 * BLOCK // 8 + 5),
        "f": np.random.default_rng(1).random((7, BLOCK // 16)),
    }
    archive = opened(pack_arrays(arrays))
    assert archive.names == tuple(arrays)
    for name, array in arrays.items():
        again = archive.array(name, array.dtype.type, array.shape)
        assert again.dtype == array.dtype
        np.testing.assert_array_equal(again, array)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_what_numpy_writes_is_read(save):
    """Its headers of members have sizes of 64 bits."""
    buffer = io.BytesIO()
    save(buffer, a=np.arange(3.0), b=np.zeros((2, 2), dtype=np.int64))
    archive = opened(buffer.getvalue())
    assert archive.array("a", np.float64, (None,)).tolist() == [0.0, 1.0, 2.0]
    assert archive.array("b", np.int64, (2, None)).shape == (2, 2)


def test_numpy_reads_what_is_written_and_the_same_arrays_are_the_same_bytes():
    arrays = {"a": np.arange(3.0), "within.rate": np.eye(2)}
    with np.load(io.BytesIO(pack_arrays(arrays)), allow_pickle=False) as archive:
        assert all(np.array_equal(archive[name], array) for name, array in arrays.items())
    assert pack_arrays(arrays) == pack_arrays({name: array.copy() for name, array in arrays.items()})


@pytest.mark.slow
def test_a_check_sees_every_block_with_its_first_row_and_can_end_the_reading():
    """A gigabyte would not be unpacked for it."""
    array = np.arange(4 * BLOCK // 8).reshape(-1, 16)
    seen = []

    def check(block, first):
        seen.append((first, block[0, 0]))
        if first:
            raise TableError("enough")

    tracemalloc.start()
    try:
        with pytest.raises(TableError, match="enough"):
            opened(pack_arrays({"a": array})).array("a", np.int64, array.shape, check)
    finally:
        tracemalloc.stop()
    assert seen == [(0, 0), (BLOCK // 128, BLOCK // 8)]


def test_an_array_that_is_missing_is_named():
    with pytest.raises(TableError, match="must have the array 'b', which is missing"):
        opened(pack_arrays({"a": np.zeros(1)})).array("b", np.float64, (None,))


@pytest.mark.parametrize("wanted", [(3,), (None, None), (2, 2), (None,)])
def test_another_shape_than_is_wanted_is_refused(wanted):
    """Or a longer side than it may have."""
    with pytest.raises(TableError, match="'a' must have the shape"):
        opened(pack_arrays({"a": np.zeros(4)})).array("a", np.float64, wanted, most=3)


@pytest.mark.nightly
def test_an_archive_may_unpack_to_32_megabytes_or_to_four_times_its_size():
    """Whatever deflates better than that is stored, so that what is written is read."""
    large = np.zeros(ALWAYS_ALLOWED // 8 + 1)
    packed = pack_arrays({"a": large})
    assert len(packed) > large.nbytes
    assert opened(packed).array("a", np.float64, (None,)).size == large.size
    buffer = io.BytesIO()
    np.savez_compressed(buffer, a=large)
    with pytest.raises(TableError, match=r"at most 33554432 bytes, got 335\d+: store large ones without compression"):
        opened(buffer.getvalue())
    small = pack_arrays({"a": large[:-100]})
    assert len(small) < 100_000
    assert opened(small).array("a", np.float64, (None,)).size == large.size - 100
    assert largest_unpacked(10**8) == 4 * 10**8


def test_more_than_any_archive_may_hold_is_not_written(monkeypatch):
    monkeypatch.setattr(module, "MAX_UNPACKED", 1000)
    with pytest.raises(InputError, match="must take at most 1000 bytes, got 8128"):
        pack_arrays({"a": np.zeros(1000)})


def test_what_is_no_array_is_refused_by_its_name():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("notes.txt", "text")
    with pytest.raises(TableError, match=r"must be arrays named \*\.npy, got 'notes.txt'"):
        opened(buffer.getvalue())
