"""Files that are no tables, are cut short, have flipped bits, or were taken apart and put together again."""

import zipfile

import numpy as np
import pytest
from optldp.mechanisms import TableError, laplace, load_table, save_table
from optldp.mechanisms.documents.table import table_to_document
from optldp.mechanisms.files.checksum import checksum


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "whole JSON text"),
        (b"knots,low,high\n1,2,3\n", "whole JSON text"),
        (b"\xff\xfe\x00\x01", "whole JSON text"),
        (b"3", "one JSON object, got int"),
        (b"[" * 100_000, "whole JSON text"),
        (b'{"format": "a", "format": "b"}', "keys must not repeat, got 'format' twice"),
        (b'{"epsilon": ' + b"9" * 5000 + b"}", "whole JSON text"),
        (b"PK\x03\x04 not a zip", "whole npz archive"),
    ],
)
def test_what_is_no_table_at_all_is_refused(tmp_path, content, message):
    """Text, binary, other JSON, other zips."""
    path = tmp_path / "t.json"
    path.write_bytes(content)
    with pytest.raises(TableError, match=message):
        load_table(path, allow_unproved=True)


@pytest.mark.parametrize("suffix", [".json", ".npz"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_truncated_file_is_refused(tmp_path, suffix, share):
    """Wherever the cut is."""
    path = tmp_path / f"t{suffix}"
    save_table(laplace([0, 1, 2], 1.0), path, allow_unproved=True)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(TableError, match=r"must be (a )?whole"):
        load_table(path, allow_unproved=True)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_a_flipped_bit_anywhere_is_refused_or_harmless(tmp_path, suffix):
    """Harmless are bits that no reader looks at, such as a zip's time stamps: the table is then the same."""
    path = tmp_path / f"t{suffix}"
    table = laplace([0, 1, 2], 1.0)
    save_table(table, path, allow_unproved=True)
    digits = checksum(table_to_document(table))
    content, rng, refused = path.read_bytes(), np.random.default_rng(12), 0
    for place in rng.integers(0, len(content), 300):
        altered = bytearray(content)
        altered[place] ^= 1 << rng.integers(0, 8)
        path.write_bytes(altered)
        try:
            assert checksum(table_to_document(load_table(path, allow_unproved=True))) == digits
        except TableError:
            refused += 1
    assert refused > 200


def rearchive(path, change):
    """Alter the arrays of an npz file."""
    with np.load(path) as archive:
        arrays = dict(archive)
    change(arrays)
    np.savez_compressed(path, **arrays)


def reshape_knots(arrays):
    arrays["knots"] = arrays["knots"].reshape(1, -1)


def add_pickle(arrays):
    arrays["knots"] = np.array([{"a": 1}], dtype=object)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a.pop("document"), "array 'document', which is missing"),
        (lambda a: a.pop("knots"), "array 'knots', which is missing"),
        (lambda a: a.update(extra=np.zeros(1)), "'extra' has no place"),
        (lambda a: a.update({"epsilon": np.zeros(1)}), "'epsilon' has no place"),
        (lambda a: a.update({"no.where": np.zeros(1)}), "'no.where' has no place"),
        (lambda a: a.update(knots=np.arange(3)), "'knots' must hold float64"),
        (lambda a: a.update(knots=np.array([0.0, 1.0, 2.5])), "claims to be unbiased|checksum"),
        (lambda a: a["probabilities"].__setitem__((1, 1), np.nan), "got nan at row 1, output 1"),
        (reshape_knots, r"'knots' must have the shape \(up to 32768\), got \(1, 3\)"),
        (lambda a: a.update(low=np.array([[-np.inf, 0.0, 1.0]])), r"'low' must have the shape"),
        (lambda a: a.update({"within.step": np.array(1.0)}), "'within.step' has no place"),
        (lambda a: a.update({"within.tilt": a["within.rate"]}), r"must have the parameters \['rate'\]"),
        (add_pickle, r"'knots' must hold float64 \(<f8\) by rows, got \|O"),
    ],
)
def test_a_tampered_archive_is_refused(tmp_path, change, message):
    """Members missing, foreign, of another type, altered or pickled."""
    path = tmp_path / "t.npz"
    save_table(laplace([0, 1, 2], 1.0), path, allow_unproved=True)
    rearchive(path, change)
    with pytest.raises(TableError, match=message):
        load_table(path, allow_unproved=True)


def test_an_archive_of_something_else_is_refused(tmp_path):
    """A zip of text is no npz."""
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("document.npy", "hello")
    with pytest.raises(TableError, match="'document' must be whole, got 3 bytes too few"):
        load_table(tmp_path / "t.npz", allow_unproved=True)
