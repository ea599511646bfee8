"""Exact tables on disk: they come back to the last unit, and every fault is refused in one line that names it."""

import json

import numpy as np
import pytest
from optldp.mechanisms import (
    TableError,
    TabulatedMechanism,
    load_mechanism,
    load_table,
    make_exact,
    piecewise,
    prove,
    save_table,
    verify,
)
from optldp.mechanisms.documents.table import table_to_document
from optldp.mechanisms.files.checksum import checksum
from optldp.mechanisms.files.table import read_unverified_table

from ..exact_documents import BAD, BROKEN_PROMISES, GOOD, PROMISED, write

ACCEPTED, REFUSED = GOOD | PROMISED, BAD | BROKEN_PROMISES


@pytest.mark.parametrize("name", sorted(ACCEPTED))
def test_good_documents_load_and_come_back_unit_by_unit_in_both_forms(tmp_path, name):
    """The numerators, the flag, the checksum: JSON to table to npz to table to JSON."""
    table = load_table(write(tmp_path, ACCEPTED[name]))
    assert table.exact
    assert table.numerators.tolist() == ACCEPTED[name]["numerators"]
    save_table(table, tmp_path / "t.npz")
    again = load_table(tmp_path / "t.npz")
    assert again.exact
    assert checksum(table_to_document(again)) == ACCEPTED[name]["checksum"]
    save_table(again, tmp_path / "t.json")
    assert json.loads((tmp_path / "t.json").read_text()) == ACCEPTED[name]


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_every_fault_is_refused_in_one_line_that_names_it(tmp_path, name):
    """With a checksum that fits, as a careful tamperer would have it."""
    made, message = REFUSED[name]
    with pytest.raises(TableError, match=message) as caught:
        load_table(write(tmp_path, made))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_one_unit_decides_and_the_refused_table_cannot_be_saved_either(tmp_path):
    """At the limit all is well; one unit beyond, neither reading nor verifying nor writing lets it pass."""
    assert verify(load_table(write(tmp_path, GOOD["at the limit"]))).ok
    table = read_unverified_table(write(tmp_path, BAD["one unit over the limit"][0]))
    assert not verify(table).ok
    assert not verify(table, epsilon=1.0 + 1e-12).failures
    with pytest.raises(TableError, match="log-ratio must be at most 1"):
        save_table(table, tmp_path / "new.json")
    assert not (tmp_path / "new.json").exists()


def test_only_exact_tables_are_written_as_version_2(tmp_path):
    """Also where the doubles of another table happen to be whole multiples."""
    table = piecewise([0.0, 1.0], 1.0)
    save_table(table, tmp_path / "doubles.json", allow_unproved=True)
    save_table(make_exact(table).mechanism, tmp_path / "exact.json")
    formats = [json.loads((tmp_path / name).read_text())["format"] for name in ("doubles.json", "exact.json")]
    assert formats == ["optldp-table/1", "optldp-table/2"]
    assert not load_table(tmp_path / "doubles.json", allow_unproved=True).exact
    assert load_table(tmp_path / "exact.json", allow_unproved=True).exact


def test_a_table_in_doubles_is_neither_written_nor_loaded_unless_asked_for(tmp_path):
    """Nor is an exact one beyond its budget let through by the question."""
    table, path = piecewise([0.0, 1.0], 1.0), tmp_path / "t.json"
    with pytest.raises(TableError, match="a table must be exact to be proved, got doubles: make it exact"):
        save_table(table, path)
    assert not path.exists()
    save_table(table, path, allow_unproved=True)
    for load in (load_table, load_mechanism):
        with pytest.raises(TableError, match="a table must be exact to be proved, got doubles"):
            load(path)
        loaded = load(path, allow_unproved=True)
        assert isinstance(loaded, TabulatedMechanism)
        np.testing.assert_array_equal(loaded.probabilities, table.probabilities)
        with pytest.raises(TableError, match="log-ratio must be at most 1"):
            load(write(tmp_path, BAD["one unit over the limit"][0]), allow_unproved=True)


def test_a_table_of_version_1_has_no_numerators_to_prove(tmp_path):
    """Its probabilities are what they are, not what they could be rounded to."""
    save_table(piecewise([0.0, 1.0], 1.0), tmp_path / "t.json", allow_unproved=True)
    with pytest.raises(TableError, match="a proof needs an exact table"):
        prove(load_table(tmp_path / "t.json", allow_unproved=True))


def test_the_json_text_has_whole_numbers_without_point_or_exponent(tmp_path):
    """So that a reader without doubles reads them too."""
    save_table(load_table(write(tmp_path, GOOD["lattice"])), tmp_path / "t.json")
    rows = json.loads((tmp_path / "t.json").read_text(), parse_float=lambda text: text)["numerators"]
    assert {type(entry) for row in rows for entry in row} == {int}


def test_an_archive_with_numerators_of_another_type_is_refused(tmp_path):
    """Doubles that hold whole numbers are not whole numbers."""
    save_table(load_table(write(tmp_path, GOOD["two points"])), tmp_path / "t.npz")
    with np.load(tmp_path / "t.npz") as archive:
        arrays = dict(archive)
    for wrong in (arrays["numerators"].astype(float), arrays["numerators"].astype(np.int32), arrays["numerators"][0]):
        np.savez(tmp_path / "bad.npz", **{**arrays, "numerators": wrong})
        with pytest.raises(TableError, match=r"'numerators' must (hold int64|have the shape \(2, 2\))"):
            load_table(tmp_path / "bad.npz")
